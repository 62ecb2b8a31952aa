"""Alias analysis for loops: the tensors that alias the memory of a variable that the loop writes to.

As in TensorFlow, a read is the variable's memory, also behind the Enter that carries it into a loop, and as the value
of a loop variable: whoever takes it after an update in order sees the new value.
"""
from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from tfnb.compile.planning.loops import Frame
from tfnb.compile.planning.reads import Alias, alias_of, written_memory
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.parts.references import refers

Shown = Mapping[int, Alias]


class LoopAliases(NamedTuple):
    """Aliases of variables in a loop. constants: the loop-invariant inputs; first, steady: the indices of the loop
    variables that alias a variable in the first iteration, and in all others."""

    constants: dict[Tensor, Alias]
    first: Shown
    steady: Shown


def loop_aliases(frame: Frame, fed: Collection[Tensor], around: Mapping[Tensor, Alias]) -> LoopAliases:
    """Return the aliases of variables to which an op of the loop writes.

    fed: tensors around the loop that have values; around: those in the loops around that show variables.
    """
    written = set().union(*map(written_memory, frame.ops))
    if not written:
        return LoopAliases({}, {}, {})

    def alias(tensor: Tensor, fed: Collection[Tensor], known: Mapping[Tensor, Alias]) -> Alias | None:
        found = alias_of(tensor, fed, known)
        return found if found is not None and found.memory in written else None

    constants = {op.outputs[0]: found for op in frame.constants
                 if not refers(op.outputs[0]) and (found := alias(op.inputs[0], fed, around)) is not None}
    insides = {k: [v.merge.outputs[0], *(op.outputs[1] for op in v.switches)] for k, v in enumerate(frame.variables)}
    values = {t for tensors in insides.values() for t in tensors}
    values |= {op.outputs[0] for op in frame.constants if not refers(op.outputs[0])} - constants.keys()

    def behind(shown: Shown) -> Shown:
        """Return the aliases in the iteration after one."""
        known = {**constants, **{t: found for k, found in shown.items() for t in insides[k]}}
        return _shown(alias(v.next, values - known.keys(), known) for v in frame.variables)

    first = _shown(alias(v.enter.inputs[0], fed, around) for v in frame.variables)
    steady: Shown = behind(first)
    while True:
        after = behind(steady)
        kept = {k: found for k, found in steady.items() if after.get(k) == found}
        if kept == steady:
            return LoopAliases(constants, first, steady)
        steady = kept                                   # what differs between iterations is copied


def _shown(found: Iterable[Alias | None]) -> dict[int, Alias]:
    return {k: alias for k, alias in enumerate(found) if alias is not None}
