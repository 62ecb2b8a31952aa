"""A two-layer digits network with Adam and summaries as plain rows: graph views are tested on it with no engine."""
from __future__ import annotations

from typing import Any

Row = tuple[Any, ...]
Shape = tuple[int | None, ...]


class Rows(list[Row]):
    """Rows of (name, type, inputs, control inputs, attrs, shapes)."""

    def op(self, name: str, kind: str, inputs: tuple[str, ...] = (), shapes: tuple[Shape | None, ...] = (),
           control: tuple[str, ...] = (), **attrs: Any) -> str:
        self.append((name, kind, inputs, control, attrs, shapes))
        return name

    def variable(self, name: str, shape: Shape) -> str:
        """A ref variable as tf.Variable makes it; returns its `read`."""
        self.op(f"{name}/initial_value", "Const", shapes=(shape,))
        self.op(name, "VariableV2", shapes=(shape,), dtype="float32_ref")
        self.op(f"{name}/Assign", "Assign", (name, f"{name}/initial_value"), (shape,))
        return self.op(f"{name}/read", "Identity", (name,), (shape,))


def digits() -> Rows:
    """x -> layer1 -> layer2 -> loss, accuracy; gradients; Adam; summaries; init."""
    rows = Rows()
    x = rows.op("x", "Placeholder", shapes=((None, 64),), dtype="float32")
    labels = rows.op("y_", "Placeholder", shapes=((None,),), dtype="int64")
    hidden = rows.op("layer1/Relu", "Relu", (_layer(rows, "layer1", x, 64, 32),), ((None, 32),))
    logits = _layer(rows, "layer2", hidden, 32, 10)
    xent = "loss/SparseSoftmaxCrossEntropyWithLogits"
    rows.op(f"{xent}/Shape", "Shape", (labels,), ((1,),))
    rows.op(f"{xent}/{xent[5:]}", xent[5:], (logits, labels), ((None,), (None, 10)))
    rows.op("loss/Const", "Const", shapes=((1,),), value=[0])
    loss = rows.op("loss/Mean", "Mean", (f"{xent}/{xent[5:]}", "loss/Const"), ((),))
    rows.op("accuracy/ArgMax/dimension", "Const", shapes=((),), value=1)
    rows.op("accuracy/ArgMax", "ArgMax", (logits, "accuracy/ArgMax/dimension"), ((None,),))
    rows.op("accuracy/Equal", "Equal", ("accuracy/ArgMax", labels), ((None,),))
    rows.op("accuracy/Cast", "Cast", ("accuracy/Equal",), ((None,),))
    rows.op("accuracy/Const", "Const", shapes=((1,),), value=[0])
    accuracy = rows.op("accuracy/Mean", "Mean", ("accuracy/Cast", "accuracy/Const"), ((),))
    _train(rows, loss, f"{xent}/{xent[5:]}")
    merged = []
    for tag, value in (("loss", loss), ("accuracy", accuracy)):
        rows.op(f"{tag}_1/tags", "Const", shapes=((),), value=tag)
        merged.append(rows.op(f"{tag}_1", "ScalarSummary", (f"{tag}_1/tags", value), ((),)))
    rows.op("Merge/MergeSummary", "MergeSummary", tuple(merged), ((),))
    assigns = tuple(row[0] for row in rows if row[1] == "Assign" and not row[0].startswith("Adam/"))
    rows.op("init", "NoOp", control=assigns)
    return rows


def _layer(rows: Rows, name: str, source: str, n: int, m: int) -> str:
    weights, biases = rows.variable(f"{name}/weights", (n, m)), rows.variable(f"{name}/biases", (m,))
    rows.op(f"{name}/MatMul", "MatMul", (source, weights), ((None, m),))
    return rows.op(f"{name}/add", "Add", (f"{name}/MatMul", biases), ((None, m),))


def _train(rows: Rows, loss: str, xent: str) -> None:
    g = "gradients"
    rows.op(f"{g}/Shape", "Shape", (loss,), ((0,),))
    rows.op(f"{g}/grad_ys_0", "Const", shapes=((),), value=1.0)
    rows.op(f"{g}/Fill", "Fill", (f"{g}/Shape", f"{g}/grad_ys_0"), ((),))
    rows.op(f"{g}/loss/Mean_grad/truediv", "RealDiv", (f"{g}/Fill", loss), ((None,),))
    flow = rows.op(f"{g}/loss/xent_grad/mul", "Mul", (f"{g}/loss/Mean_grad/truediv", f"{xent}:1"), ((None, 10),))
    found: dict[str, str] = {}
    for layer, source in (("layer2", "layer1/Relu"), ("layer1", "x")):
        if layer == "layer1":
            flow = rows.op(f"{g}/layer1/Relu_grad/ReluGrad", "ReluGrad", (flow, "layer1/Relu"), ((None, 32),))
        found[f"{layer}/biases"] = rows.op(f"{g}/{layer}/add_grad/Sum", "Sum", (flow,), ((None,),))
        found[f"{layer}/weights"] = rows.op(f"{g}/{layer}/MatMul_grad/MatMul_1", "MatMul", (source, flow), (None,))
        flow = rows.op(f"{g}/{layer}/MatMul_grad/MatMul", "MatMul", (flow, f"{layer}/weights/read"), (None,))
    powers = rows.variable("beta1_power", ()), rows.variable("beta2_power", ())
    rate = rows.op("Adam/learning_rate", "Const", shapes=((),), value=0.001)
    updates = []
    for name in sorted(found):
        shape = next(row[5][0] for row in rows if row[0] == name)
        slots = [rows.variable(f"{name}/{slot}", shape).removesuffix("/read") for slot in ("Adam", "Adam_1")]
        updates.append(rows.op(f"Adam/update_{name}/ApplyAdam", "ApplyAdam",
                               (name, *slots, *powers, rate, found[name]), (shape,)))
    rows.op("Adam/mul", "Mul", (powers[0],), ((),), tuple(updates))
    rows.op("Adam/Assign", "Assign", ("beta1_power", "Adam/mul"), ((),))
    rows.op("Adam", "NoOp", control=(*updates, "Adam/Assign"))
