"""Functions over the elements of a dataset that hold for a batch of them, too: one call instead of one an element.

A function lifts if all that it computes of its inputs is elementwise arithmetic and host ops whose records say so, such
as Examples of fixed sizes and decoded strings: each gives, for inputs with one more axis in front, the stacked results.
"""
from __future__ import annotations

from tfnb.graph.function import FunctionGraph
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.opdef import kinds


def lifts(body: FunctionGraph) -> bool:
    """Return whether the outputs of a function for stacked inputs are its stacked outputs."""
    if body.captured or body.targets or not body.inputs:
        return False
    known: dict[Tensor, bool] = {tensor: True for tensor in body.inputs}
    return all(_varies(tensor, known) for tensor in body.outputs)


def _varies(tensor: Tensor, known: dict[Tensor, bool]) -> bool:
    """Return whether a tensor gets the axis of the batch; False also where it is not known to be right with it."""
    if tensor not in known:
        known[tensor] = False                                        # (no cycles: bodies have no loops that lift)
        known[tensor] = _op_lifts(tensor.op, known)
    return known[tensor]


def _op_lifts(op: Operation, known: dict[Tensor, bool]) -> bool:
    spec, varying = op.spec, [tensor for tensor in op.inputs if _varies(tensor, known)]
    fixed = [constant_value(tensor) for tensor in op.inputs if tensor not in varying]
    constant = all(value is not None for value in fixed)
    if not varying or op.control_inputs:
        return False
    if isinstance(spec, kinds.Host):
        return spec.lifts is not None and varying == [op.inputs[0]] and constant and bool(spec.lifts(op))
    ranks = {tensor.shape.ndims for tensor in varying}
    return isinstance(spec, kinds.Elementwise) and spec.align is None and len(op.outputs) == 1 and len(ranks) == 1 and (
        None not in ranks or len(op.inputs) == 1) and all(value is not None and value.ndim <= max(ranks)
                                                          for value in fixed)
