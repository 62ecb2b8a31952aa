"""Names that a run from top to bottom would not give: checkpoints and saved graphs go by name."""
from __future__ import annotations

import re
from collections.abc import Sequence

from tfnb.graph.parts.operation import Operation
from tfnb.graph.stack import graph_of
from tfnb.opdef import kinds

_last = re.compile(r"_([1-9]\d*)\Z").finditer
_numbers = re.compile(r"_([1-9]\d*)(?=/|\Z)").finditer         # those of scopes, too: of "dense_2/kernel"


def drifted(made: Sequence[Operation]) -> tuple[str, ...]:
    """A note if an op of a cell, in order, was numbered after one that stands later in the graph.

    That happens when a cell that is run again makes more ops of a kind than before: a fresh run of the notebook would
    give it the lower number.
    """
    if not made or all(graph._ops[-1] in made[-1:] for graph in {graph_of(made[0]), graph_of(made[-1])}):
        return ()                               # nothing stands later
    later = _Later(made)
    for op in made:
        name = op.name
        for match in (_numbers if isinstance(op.spec, kinds.Variable) else _last)(name):
            number = int(match[1])
            if later(op, _numbered(name, match, number - 1)):
                number -= sum(later(op, _numbered(name, match, lower)) for lower in range(number))
                return (f"{name!r} would be {_numbered(name, match, number)!r} in a fresh run",)
    return ()


def _numbered(name: str, match: re.Match[str], number: int) -> str:
    """`name` with another number where `match` is; the first of its kind has none."""
    return f"{name[:match.start()]}{f'_{number}' if number else ''}{name[match.end():]}"


class _Later:
    """Return whether a name is numbered after another one. The graph is walked only if ops follow the cell's."""

    def __init__(self, made: Sequence[Operation]) -> None:
        self._places: dict[Operation, int] | None = None
        self._own = set(made)

    def __call__(self, op: Operation, name: str) -> bool:
        other = op.graph._by_name.get(name)
        if other is None or other in self._own:
            return False
        if self._places is None:
            self._places = {each: place for place, each in enumerate(op.graph.get_operations())}
        return self._places[other] > self._places[op]
