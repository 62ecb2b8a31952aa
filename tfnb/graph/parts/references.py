"""References: which tensors stand for the memory of a variable, and of which one."""
from __future__ import annotations

from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.opdef import kinds


def refers(tensor: Tensor) -> bool:
    """Return whether the tensor refers to a variable. Those of host ops are handles, and pass as values, unless the
    op has written to the variable."""
    return tensor.dtype._is_ref_dtype and (not isinstance(tensor.op.spec, kinds.Host) or tensor.op.spec.writes)


def ref_variable(tensor: Tensor) -> Operation:
    """Return the variable that a ref tensor refers to: its own op, or what the updates before it write to."""
    op = tensor.op
    while not isinstance(op.spec, kinds.Variable):
        op = next(t for t in op.inputs if t.dtype._is_ref_dtype).op
    return op


def is_identity(op: Operation) -> bool:
    """Return whether the output of the op is its input, shape and all."""
    return isinstance(op.spec, kinds.Movement) and op.spec.same
