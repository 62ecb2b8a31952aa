"""Rematerialization of variable reads across stages.

A read aliases the variable's memory: an op ordered after an update sees the new value. A value that an earlier stage
passes on is a copy, so the stage of such an op repeats the read, and the ops that only reshape it (Identity,
Reshape, ...). So does a stage before which nothing writes to the variable: it needs no copy.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from tfnb.core.dtypes import resource
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.references import is_identity, ref_variable, refers
from tfnb.opdef import kinds

Written = Callable[[Operation, Operation], bool]
Memory = tuple[bytes, bytes]


def writes_variables(op: Operation) -> bool:
    """Return whether the op writes to the variables behind its references."""
    return isinstance(op.spec, kinds.Writer) or op.spec.writes


def memory_of(variable: Operation) -> Memory:
    """Return the identity of a variable's memory, container and shared name: two ops may share one variable."""
    return variable.attrs.get("container", b""), variable.attrs.get("shared_name", b"") or variable.name.encode()


def written_memory(op: Operation) -> set[Memory]:
    """Return the identities of the variables that the op itself writes to."""
    if not writes_variables(op):
        return set()
    return {memory_of(ref_variable(t)) for t in op.inputs if refers(t)}


@dataclass(frozen=True)
class Alias:
    """An alias of a variable's memory: a reference, and the ops that reshape its value, in order."""

    ref: Tensor
    ops: tuple[Operation, ...] = ()

    @property
    def memory(self) -> Memory:
        """The identity of the variable; see `memory_of`."""
        return memory_of(ref_variable(self.ref))


def alias_of(tensor: Tensor, fed: Collection[Tensor], known: Mapping[Tensor, Alias]) -> Alias | None:
    """Return how `tensor` aliases a variable, through branches and into loops; None if it aliases none.

    A reshape whose shape is no constant counts as a copy. known: aliases that were found before.
    """
    ops: list[Operation] = []
    while tensor not in known:
        if tensor in fed or tensor.dtype is resource:
            return None
        if refers(tensor):
            return Alias(ref_variable(tensor).outputs[0], tuple(ops[::-1]))
        op = tensor.op
        if op.spec.in_order and all(isinstance(t.op.spec, kinds.Const) and t not in fed for t in op.inputs[1:]):
            if not is_identity(op):
                ops.append(op)
        elif not (isinstance(op.spec, kinds.Switch) or isinstance(op.spec, kinds.Enter) and op.attrs["is_constant"]):
            return None
        tensor = op.inputs[0]
    found = known[tensor]
    return Alias(found.ref, (*found.ops, *ops[::-1]))


def read_again(ops: Sequence[Operation], fits: Callable[[Operation], bool],
               maker: Callable[[Tensor], Operation | None], written: Written) -> list[Operation]:
    """Return the ops of earlier stages that the stage of `ops` has to repeat, in order.

    fits: whether an op can be in this stage; a reshape whose shape is known only at run time is no kernel, and then the
    copy is used. maker: the op that computes a tensor, None if it is fed; written: see `updates_before`.
    """
    here = set(ops)
    found: dict[Operation, None] = {}
    shows: dict[Operation, bool] = {}
    for op in ops:
        for t in op.inputs:
            alias_ops = _alias_ops(t, maker, shows)
            missing = [each for each in alias_ops if each not in here and each not in found]
            if missing and all(map(fits, missing)) and written(op, ref_variable(alias_ops[0].inputs[0])):
                found.update(dict.fromkeys(missing))
    return list(found)


def _alias_ops(tensor: Tensor, maker: Callable[[Tensor], Operation | None],
               shows: dict[Operation, bool]) -> list[Operation]:
    """Return the read of the variable that `tensor` aliases, and the reshapes behind it; empty if it aliases none.

    shows: whether an op's output is an alias, as found so far: long chains of Reshape are walked once.
    """
    found: list[Operation] = []
    op, reads = maker(tensor), False
    while op is not None and op.spec.in_order and shows.get(op, True):
        found.append(op)
        reads = refers(op.inputs[0])
        op = None if reads else maker(op.inputs[0])
    shows.update(dict.fromkeys(found, reads))
    return found[::-1] if reads else []


def first_writes(runs: Iterable[Iterable[Operation]]) -> dict[Memory, int]:
    """Return the number of the first run of ops that writes to each variable.

    The runs up to it read the variable itself: what an earlier one hands on is a copy, 25 MB for an embedding of whose
    rows a sampler, a host call, chooses 64.
    """
    found: dict[Memory, int] = {}
    for i, ops in enumerate(runs):
        for op in ops:
            for memory in written_memory(op):
                found.setdefault(memory, i)
    return found


def updates_before(before: Callable[[Operation], Iterable[Operation]]) -> Written:
    """Return a function written(op, variable): whether a transitive predecessor of `op` writes to the variable.

    before: the predecessors of an op, and those inside it if it is a loop; there must be no cycle.
    """
    bits: dict[Memory, int] = {}                   # of each variable that is written to
    known: dict[Operation, int] = {}               # op -> the bits of those written before it

    def own(op: Operation) -> int:
        """Return the bits of the variables that an op itself writes to."""
        found = 0
        for memory in written_memory(op):
            found |= 1 << bits.setdefault(memory, len(bits))
        return found

    def written(op: Operation, variable: Operation) -> bool:
        """Return whether the variable is written before `op`; memoized for all predecessors."""
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
