"""Recognisers of mistakes that raise no error, in the ops that a cell made."""
from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from tfnb.graph.closure import upstream
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.python_names import names_in
from tfnb.notebook.lessons.evidence import Evidence, names_below
from tfnb.notebook.lessons.lesson import Words

MOST = 500_000          # elements of a value that are looked at
THROUGH = ("Reshape", "Identity", "Cast", "Squeeze", "ExpandDims")      # what leaves probabilities as they are


def _origin(tensor: Tensor) -> Operation:
    """The op whose values a tensor has, in whatever shape."""
    while tensor.op.type in THROUGH and tensor.op.inputs:
        tensor = tensor.op.inputs[0]
    return tensor.op


def _told(seen: Evidence, found: Operation, function: str) -> Words:
    names = names_in(seen.names, found.graph)
    given = names.get(found.name, [""])[0]
    logits = found.inputs[0]
    while not names.get(logits.op.name) and logits.op.type in THROUGH and logits.op.inputs:
        logits = logits.op.inputs[0]
    raw = names.get(logits.op.name, ["the logits"])[0]
    return {"what": f"`{given}`" if given else "What is passed as logits", "function": function, "logits": raw,
            "fix": f"logits={raw}" if raw.isidentifier() else ""}


def softmax_twice(seen: Evidence) -> Iterator[Words]:
    """Probabilities passed as logits to a cross entropy, which applies softmax or sigmoid itself."""
    for op in seen.made:
        if op.type in ("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"):
            found = _origin(op.inputs[0])
            if found.type == "Softmax":
                yield _told(seen, found, "softmax")
                return
        elif op.type == "Log1p" and op.inputs[0].op.type == "Exp" and op.inputs[0].op.inputs[0].op.type == "Select":
            given = op.inputs[0].op.inputs[0].op.inputs[2]          # log(1 + exp(-|x|)) of the sigmoid cross entropy
            if _origin(given).type == "Sigmoid":
                yield _told(seen, _origin(given), "sigmoid")
                return


def log_of_softmax(seen: Evidence) -> Iterator[Words]:
    """A value that is NaN or infinite, of `tf.log(tf.nn.softmax(x))`, where the probability underflowed."""
    given = {name.id: node.value for node in seen.nodes if isinstance(node, ast.Assign)
             and isinstance(node.value, ast.Call) for target in node.targets for name in names_below(target)}
    bad = next((name for name in given if _infinite(seen.names.get(name))), "")
    ran = [seen.element(part) for part in (seen.fetched(given[bad]) if bad else ())]
    for op in upstream(each.op if isinstance(each, Tensor) else each for each in ran if each is not None):
        if op.type == "Log" and _origin(op.inputs[0]).type == "Softmax":
            told = _told(seen, _origin(op.inputs[0]), "softmax")
            yield {**told, "bad": bad, "fix": f"{seen.tf}.nn.log_softmax({told['logits']})" if told["fix"] else ""}
            return


def _infinite(value: Any) -> bool:
    """Return whether a value of the notebook has NaN or infinity in it."""
    return (type(value) in (float, np.ndarray) or issubclass(type(value), np.floating)) and \
        np.asarray(value).dtype.kind == "f" and np.size(value) <= MOST and not bool(np.isfinite(value).all())


def negative_rate(seen: Evidence) -> Iterator[Words]:
    """An optimizer with a learning rate below zero."""
    for op in seen.made:
        if op.spec.role != "optimizer":
            continue
        for arg, tensor in zip(op.spec.inputs, op.inputs, strict=False):
            value = constant_value(tensor) if arg.name in ("lr", "alpha") else None
            if value is not None and value.ndim == 0 and value < 0:
                yield {"rate": f"{float(value):g}"}
                return


def argmax_over_batch(seen: Evidence) -> Iterator[Words]:
    """Predictions and labels compared by `argmax` over axis 0, which is that of the batch."""
    for op in seen.made:
        pair = [t.op for t in op.inputs] if op.type == "Equal" else []
        if pair and all(each.type == "ArgMax" and _over_batch(each) for each in pair):
            yield {"tf": seen.tf}
            return


def _over_batch(op: Operation) -> bool:
    shape, axis = op.inputs[0].static, constant_value(op.inputs[1])
    return shape is not None and len(shape) == 2 and shape[0] is None and shape[1] is not None and axis is not None \
        and int(axis) == 0
