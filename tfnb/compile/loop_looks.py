"""Alias analysis for loops: the tensors that alias the memory of a variable that the loop writes to.

As in TensorFlow, a read is the variable's memory, also behind the Enter that carries it into a loop, and as the value
of a loop variable: whoever takes it after an update in order sees the new value.
"""
from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from tfnb.compile.loops import Frame
from tfnb.compile.reads import Look, look_of, written_memory
from tfnb.graph.operation import Tensor
from tfnb.ops.evaluate import refers

Shown = Mapping[int, Look]


class LoopLooks(NamedTuple):
    """Aliases of variables in a loop. constants: the loop-invariant inputs; first, steady: the indices of the loop
    variables that alias a variable in the first iteration, and in all others."""

    constants: dict[Tensor, Look]
    first: Shown
    steady: Shown


def loop_looks(frame: Frame, fed: Collection[Tensor], around: Mapping[Tensor, Look]) -> LoopLooks:
    """Return the aliases of variables to which an op of the loop writes.

    fed: tensors around the loop that have values; around: those in the loops around that show variables.
    """
    written = set().union(*map(written_memory, frame.ops))
    if not written:
        return LoopLooks({}, {}, {})

    def look(tensor: Tensor, fed: Collection[Tensor], known: Mapping[Tensor, Look]) -> Look | None:
        found = look_of(tensor, fed, known)
        return found if found is not None and found.memory in written else None

    constants = {op.outputs[0]: found for op in frame.constants
                 if not refers(op.outputs[0]) and (found := look(op.inputs[0], fed, around)) is not None}
    insides = {k: [v.merge.outputs[0], *(op.outputs[1] for op in v.switches)] for k, v in enumerate(frame.variables)}
    values = {t for tensors in insides.values() for t in tensors}
    values |= {op.outputs[0] for op in frame.constants if not refers(op.outputs[0])} - constants.keys()

    def behind(shown: Shown) -> Shown:
        """Return the aliases in the iteration after one."""
        known = {**constants, **{t: found for k, found in shown.items() for t in insides[k]}}
        return _shown(look(v.next, values - known.keys(), known) for v in frame.variables)

    first = _shown(look(v.enter.inputs[0], fed, around) for v in frame.variables)
    steady: Shown = behind(first)
    while True:
        after = behind(steady)
        kept = {k: found for k, found in steady.items() if after.get(k) == found}
        if kept == steady:
            return LoopLooks(constants, first, steady)
        steady = kept                                   # what differs between iterations is copied


def _shown(found: Iterable[Look | None]) -> dict[int, Look]:
    return {k: look for k, look in enumerate(found) if look is not None}
