"""Reads of variables across stages.

A read is a view: who comes after an update of the variable sees the new value. What an earlier stage hands on is a
copy, so for such an op the read is done once more, and so is what only gives it another shape (Identity, Reshape, ...).
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from tfnb.graph.operation import Operation, Tensor
from tfnb.opdef.spec import Kind
from tfnb.ops.evaluate import ref_variable, refers

_WRITERS = (Kind.UPDATE, Kind.SCATTER)

Written = Callable[[Operation, Operation], bool]
Memory = tuple[bytes, bytes]


def writes_variables(op: Operation) -> bool:
    """Does the op write to the variables behind its references?"""
    return op.spec.kind in _WRITERS or op.spec.writes


def memory_of(variable: Operation) -> Memory:
    """What tells a variable from others: two ops may share one."""
    return variable.attrs.get("container", b""), variable.attrs.get("shared_name", b"") or variable.name.encode()


def written_memory(op: Operation) -> set[Memory]:
    """The variables that the op writes to itself."""
    if not writes_variables(op):
        return set()
    return {memory_of(ref_variable(t)) for t in op.inputs if refers(t)}


@dataclass(frozen=True)
class Look:
    """What shows the memory of a variable: a reference, and the ops that give its value other shapes, in order."""

    ref: Tensor
    ops: tuple[Operation, ...] = ()

    @property
    def memory(self) -> Memory:
        """The variable."""
        return memory_of(ref_variable(self.ref))


def look_of(tensor: Tensor, fed: Collection[Tensor], known: Mapping[Tensor, Look]) -> Look | None:
    """How `tensor` shows a variable, through branches and into loops; None if it shows none.

    An op that takes a shape from another op than a constant counts as a copy. known: looks that were found before.
    """
    ops: list[Operation] = []
    while tensor not in known:
        if tensor in fed:
            return None
        if refers(tensor):
            return Look(ref_variable(tensor).outputs[0], tuple(ops[::-1]))
        op = tensor.op
        if op.spec.in_order and all(t.op.spec.kind is Kind.CONST and t not in fed for t in op.inputs[1:]):
            if op.type != "Identity":
                ops.append(op)
        elif not (op.spec.kind is Kind.SWITCH or op.spec.kind is Kind.ENTER and op.attrs["is_constant"]):
            return None
        tensor = op.inputs[0]
    found = known[tensor]
    return Look(found.ref, (*found.ops, *ops[::-1]))


def read_again(ops: Sequence[Operation], fits: Callable[[Operation], bool],
               maker: Callable[[Tensor], Operation | None], written: Written) -> list[Operation]:
    """What of earlier stages has to be repeated in the stage of `ops`, in order.

    fits: whether an op can be in this stage; what takes a shape that only a run tells is no kernel, and then the copy
    has to do. maker: of a tensor, None if it is fed; written: see `updates_before`.
    """
    here = set(ops)
    found: dict[Operation, None] = {}
    shows: dict[Operation, bool] = {}
    for op in ops:
        for t in op.inputs:
            looks = _looks(t, maker, shows)
            missing = [look for look in looks if look not in here and look not in found]
            if missing and all(map(fits, missing)) and written(op, ref_variable(looks[0].inputs[0])):
                found.update(dict.fromkeys(missing))
    return list(found)


def _looks(tensor: Tensor, maker: Callable[[Tensor], Operation | None],
           shows: dict[Operation, bool]) -> list[Operation]:
    """The read of a variable that `tensor` shows, and what shows that under other shapes; empty if it shows none.

    shows: whether an op's output does, as found so far: long chains of Reshape are walked once.
    """
    found: list[Operation] = []
    op, reads = maker(tensor), False
    while op is not None and op.spec.in_order and shows.get(op, True):
        found.append(op)
        reads = refers(op.inputs[0])
        op = None if reads else maker(op.inputs[0])
    shows.update(dict.fromkeys(found, reads))
    return found[::-1] if reads else []


def updates_before(before: Callable[[Operation], Iterable[Operation]]) -> Written:
    """written(op, variable) -> whether an op that must run before `op`, directly or not, writes to the variable.

    before: the ops that one waits for, and those in it if it is a loop; there must be no cycle.
    """
    bits: dict[Memory, int] = {}                   # of each variable that is written to
    known: dict[Operation, int] = {}               # op -> the bits of those written before it

    def own(op: Operation) -> int:
        """The bits of the variables that an op writes to itself."""
        found = 0
        for memory in written_memory(op):
            found |= 1 << bits.setdefault(memory, len(bits))
        return found

    def written(op: Operation, variable: Operation) -> bool:
        """The answer; what is found on the way serves later questions."""
        waits: dict[Operation, Iterable[Operation]] = {}
        todo = [op]
        while todo:
            at = todo[-1]
            if at not in waits:
                waits[at] = before(at)
                todo += [b for b in waits[at] if b not in known]
            else:
                todo.pop()
                known[at] = reduce(or_, (known[b] | own(b) for b in waits[at]), 0)
        memory = memory_of(variable)
        return memory in bits and bool(known[op] >> bits[memory] & 1)

    return written
