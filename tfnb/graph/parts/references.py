"""References and handles: which tensors stand for a variable, and for which one."""
from __future__ import annotations

from tfnb.core.dtypes import DType, resource
from tfnb.core.shape import Static
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.opdef import kinds

_FARTHEST = 1000         # nodes between a handle and its variable: an edited graph may have a cycle of them


def refers(tensor: Tensor) -> bool:
    """Return whether the tensor is a reference to a variable, or the handle of one that the graph itself names.

    References of host ops are handles of queues, and pass as values, unless the op has written to the variable.
    """
    if tensor.dtype is resource:
        return _behind_handle(tensor) is not None
    return tensor.dtype._is_ref_dtype and (not isinstance(tensor.op.spec, kinds.Host) or tensor.op.spec.writes)


def _behind_handle(tensor: Tensor) -> Operation | None:
    """Return the variable behind a handle, through branches and into loops.

    None for another resource, and for a handle that only a run decides (a merged one, an argument of a function).
    """
    for _ in range(_FARTHEST):
        op = tensor.op
        if op.outputs[tensor.value_index] is not tensor:       # a copy, which only a plan has
            return None
        if isinstance(op.spec, kinds.Handle):
            return op
        if not (is_identity(op) or isinstance(op.spec, (kinds.Switch, kinds.Enter))):
            return None
        tensor = op.inputs[0]
    return None


def ref_variable(tensor: Tensor) -> Operation:
    """Return the variable that a tensor refers to: its own op, or what the updates before it write to."""
    op = tensor.op
    while not isinstance(op.spec, kinds.Variable):
        op = next(t for t in op.inputs if t.dtype._is_ref_dtype or t.dtype is resource).op
    return op


def handle_shape(tensor: Tensor) -> Static:
    """Return the static shape of the variable behind a handle."""
    op = _behind_handle(tensor)
    return None if op is None else op.attrs["shape"]


def element_dtype(op: Operation, index: int) -> DType:
    """Return the dtype of the elements of an input; for the handle of a variable, that which the op states."""
    if index in op.spec.handles:
        stated: DType = op.attrs["T"] if "T" in op.attrs else op.attrs["dtype"]
        return stated
    return op.inputs[index].dtype.base_dtype


def is_identity(op: Operation) -> bool:
    """Return whether the output of the op is its input, shape and all."""
    return isinstance(op.spec, kinds.Movement) and op.spec.same
