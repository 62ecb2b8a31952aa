"""The program of a row of the sweep, in tfnb or TensorFlow: an op of variables, fetched, assigned or differentiated."""
from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import Program

Tf = Any
RENAMED = {"reduction_indices": "axis", "dim": "axis", "split_dim": "axis", "concat_dim": "axis"}


def read(tf: Tf, path: str) -> Program:
    """Build the row that sweep.py wrote into a file of its own."""
    return build(tf, pickle.loads(Path(path).read_bytes()))


def build(tf: Tf, row: Any) -> Program:
    """Build a row (sweep_rows.Row as a dict of plain values). Its session lives as long as the program."""
    graph = tf.Graph()
    with graph.as_default():
        starts: list[tuple[Any, dict[Any, Any]]] = []
        feeds: dict[Any, Any] = {}
        inputs = {name: [_input(tf, v, starts, feeds) for v in value] if isinstance(value, list)
                  else _input(tf, value, starts, feeds) for name, value in row["inputs"]}
        sources = [x for x in _flat(inputs.values()) if hasattr(x, "initializer")]
        given = dict(inputs)
        if row["transposed"]:
            first = next(iter(inputs))
            given[first] = tf.transpose(given[first])
        made = _called(getattr(tf.raw_ops, row["op"]), given, row["attrs"])
        outputs = _outputs(tf, made)
        session = tf.Session(graph=graph)
        for variable, value in starts:
            session.run(variable.initializer, value)
        fetches = _form(tf, row["form"], outputs, sources, session, feeds)
        return Program(lambda: session.run(fetches, feeds), lambda: _facts(session.run(fetches, feeds)),
                       lambda: _stages(session, fetches, feeds))


def _called(op: Any, inputs: dict[str, Any], attrs: dict[str, Any]) -> Any:
    """Add the op. TensorFlow's raw_ops call some inputs by other names than the OpDef."""
    try:
        return op(**inputs, **attrs)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
    return op(**{RENAMED.get(name, name): value for name, value in inputs.items()}, **attrs)


def _flat(values: Any) -> list[Any]:
    return [x for value in values for x in (value if isinstance(value, list) else [value])]


def _input(tf: Tf, given: dict[str, Any], starts: list[Any], feeds: dict[Any, Any]) -> Any:
    array, how, dtype = given["array"], given["how"], getattr(tf, given["dtype"])
    if how == "constant":
        return tf.constant(array, dtype)
    fed = tf.placeholder(array.dtype if dtype == tf.bfloat16 else dtype, array.shape)
    if how == "fed":
        feeds[fed] = array
        return fed
    variable = tf.Variable(tf.cast(fed, dtype) if dtype == tf.bfloat16 else fed, use_resource=how == "handle")
    starts.append((variable, {fed: array}))
    return variable.handle if how == "handle" else variable


def _outputs(tf: Tf, made: Any) -> list[Any]:
    if isinstance(made, tf.Operation):
        return [made]
    return _flat(made) if isinstance(made, (list, tuple)) else [made]


def _form(tf: Tf, form: str, outputs: list[Any], sources: list[Any], session: Any, feeds: dict[Any, Any]) -> Any:
    """Return what is fetched, or the operation that is run."""
    if form == "gradient":
        floats = [x for x in sources if x.dtype.base_dtype.is_floating]
        slopes = tf.gradients([y for y in outputs if y.dtype.base_dtype.is_floating], floats)
        found = [g for g in slopes if g is not None]
        if not found:
            raise ValueError("no gradient")
        return found
    if form == "assign":
        kept = [tf.Variable(np.zeros(y.shape.as_list(), y.dtype.base_dtype.as_numpy_dtype)) for y in outputs]
        session.run([v.initializer for v in kept])
        return tf.group(*[v.assign(y).op for v, y in zip(kept, outputs, strict=True)])
    updates = [y for y in outputs if isinstance(y, tf.Operation) or y.dtype._is_ref_dtype]
    return tf.group(*updates) if updates else outputs


def _facts(values: Any) -> list[float]:
    """Number of elements and mean of the finite ones, for each output that is of numbers."""
    found: list[float] = []
    for value in values if isinstance(values, list) else []:
        array = np.asarray(getattr(value, "values", value))
        if array.dtype.kind in "biuf" or array.dtype.name == "bfloat16":
            wide = array.astype(np.float64)
            found += [float(array.size), float(np.mean(wide[np.isfinite(wide)])) if np.isfinite(wide).any() else 0.0]
    return found


def _stages(session: Any, fetches: Any, feeds: dict[Any, Any]) -> str:
    """Name the kinds of stage of tfnb's plan: "kernels", "BLAS", "loop", and the ops that are host calls."""
    plan, found = session.plan(fetches, feeds), []
    for stage in plan.stages:
        if stage.loop is not None:
            found.append("loop")
        elif stage.on_device:
            found.append("kernels")
        else:
            calls = {op.type for op in stage.ops} - {"Const", "VariableV2", "Identity"}
            found.append("host: " + ", ".join(sorted(calls)))
    return "; ".join(dict.fromkeys(found))
