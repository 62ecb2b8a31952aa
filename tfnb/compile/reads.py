"""Reads of variables across stages.

A read is a view: who comes after an update of the variable sees the new value. What an earlier stage hands on is a
copy, so for such an op the read is done once more, and so is what only gives it another shape (Identity, Reshape, ...).
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tfnb.graph.operation import Operation, Tensor
from tfnb.opdef.spec import Kind
from tfnb.ops.evaluate import ref_variable, refers

WRITERS = (Kind.UPDATE, Kind.SCATTER)

Before = Callable[[Operation], Iterable[Operation]]


def read_again(ops: Sequence[Operation], fits: Callable[[Operation], bool],
               maker: Callable[[Tensor], Operation | None], before: Before) -> list[Operation]:
    """What of earlier stages has to be repeated in the stage of `ops`, in order.

    fits: whether an op can be in this stage; what takes a shape that only a run tells is no kernel, and then the copy
    has to do. maker: of a tensor, None if it is fed; before: the ops that must run before one, and those in it if it is
    a loop.
    """
    here = set(ops)
    found: dict[Operation, None] = {}
    for op in ops:
        for t in op.inputs:
            looks = _looks(t, maker)
            missing = [look for look in looks if look not in here and look not in found]
            if missing and all(map(fits, missing)) and _after_update(op, ref_variable(looks[0].inputs[0]), before):
                found.update(dict.fromkeys(missing))
    return list(found)


def _looks(tensor: Tensor, maker: Callable[[Tensor], Operation | None]) -> list[Operation]:
    """The read of a variable that `tensor` shows, and what shows that under other shapes; empty if it shows none."""
    found: list[Operation] = []
    op = maker(tensor)
    while op is not None and op.spec.in_order:
        found.append(op)
        if refers(op.inputs[0]):
            return found[::-1]
        op = maker(op.inputs[0])
    return []


def _after_update(op: Operation, variable: Operation, before: Before) -> bool:
    """Is there an op before `op` that writes to the variable?"""
    seen: set[Operation] = set()
    todo = [op]
    while todo:
        for earlier in before(todo.pop()):
            if earlier not in seen:
                if earlier.spec.kind in WRITERS and any(refers(t) and ref_variable(t) is variable
                                                        for t in earlier.inputs):
                    return True
                seen.add(earlier)
                todo.append(earlier)
    return False
