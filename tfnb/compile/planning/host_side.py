"""Placement fix-up: keeps on the host ops that have kernels but only forward values between host calls."""
from __future__ import annotations

from collections.abc import Collection, Sequence

from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.references import refers
from tfnb.opdef import kinds
from tfnb.ops.declaration.evaluate import reads_operand


def keep_on_host(ops: Sequence[Operation], feeds: Collection[Tensor], device: set[Operation]) -> None:
    """Remove from `device` the ops that only connect host calls.

    These are assignments of values that a host call made (a restored value goes from the file's memory map to the
    variable in one copy, without an array between), and views of variables that only host calls read (a slice of a
    partitioned variable that is saved is not copied first). ops: in topological order.
    """
    for op in ops:
        if op in device and isinstance(op.spec, kinds.Update) and not reads_operand(op, op.spec.body, 0) \
                and _only_from_host(op, feeds, device):
            device.discard(op)
    users: dict[Tensor, list[Operation]] = {}
    for op in ops:
        for tensor in op.inputs:
            users.setdefault(tensor, []).append(op)
    for op in reversed(ops):
        if op in device and isinstance(op.spec, (kinds.Movement, kinds.Read)) and refers(op.inputs[0]):
            taken = [user for tensor in op.outputs for user in users.get(tensor, ())]
            if taken and not any(user in device for user in taken):
                device.discard(op)


def _only_from_host(op: Operation, feeds: Collection[Tensor], device: set[Operation]) -> bool:
    """Return whether host calls compute all inputs of the op."""
    values = [t for t in op.inputs if not refers(t)]
    return bool(values) and all(t not in feeds and t.op not in device for t in values)
