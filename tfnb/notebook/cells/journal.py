"""Undo journal of `%graph undo`: for each run of a cell that changed graphs, their state and the notebook's before it.

The snapshots stand at the graphs (`Graph.past`), so that a graph which nobody uses any more can go, with all of them.
"""
from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tfnb.graph.graph import Graph
from tfnb.graph.mutation import Snapshot
from tfnb.graph.parts.collection import op_of
from tfnb.graph.parts.operation import Operation
from tfnb.graph.stack import all_graphs, graph_of, set_global_graph
from tfnb.notebook.frontend.settings import settings
from tfnb.opdef import kinds

Key = Hashable
MOST_BYTES = 64 << 20   # of constants in ops that are kept for `undo`: data sets that were typed in as constants


def size_of(ops: Iterable[Operation]) -> int:
    """The bytes of the constants among some ops."""
    return sum(int(op.attrs["value"].nbytes) for op in ops if isinstance(op.spec, kinds.Const))


@dataclass(frozen=True, slots=True)
class Past:
    """A change that can be taken back.

    what: "run [7]" or "the deletion of [3]"; key: of the cell; books: labels, badges... as they were; default: the
    graph that was the default one before, if the change made another one that; size: see `size_of`.
    """

    what: str
    key: Key
    books: Any = field(repr=False)
    default: Graph | None = None
    size: int = 0


@dataclass(frozen=True, slots=True)
class Kept:
    """An entry of `Graph.past`. names: the user's names of what is in the graph."""

    past: Past
    snapshot: Snapshot
    names: dict[str, Any]


class Journal:
    """The changes that can be taken back, newest last."""

    def __init__(self) -> None:
        self.entries: list[Past] = []

    def keep(self, past: Past, snapshots: Mapping[Graph, Snapshot], names: Mapping[str, Any]) -> None:
        """Enter a change, with the states of the graphs before it. Old entries go."""
        self.entries.append(past)
        for graph, snapshot in snapshots.items():
            own = {name: value for name, value in names.items() if _graph_of(value) is graph}
            graph.past.append(Kept(past, snapshot, own))
        while len(self.entries) > settings.undo_depth or (
                len(self.entries) > 1 and sum(entry.size for entry in self.entries) > MOST_BYTES):
            self._drop(self.entries.pop(0))

    def clear(self) -> None:
        """Let nothing be taken back any more."""
        while self.entries:
            self._drop(self.entries.pop(0))

    def _drop(self, past: Past) -> None:
        for graph in all_graphs():
            for kept in [kept for kept in graph.past if kept.past is past]:
                graph.past.remove(kept)
                graph.forget(kept.snapshot)

    def take_back(self) -> tuple[Past, dict[str, Any]]:
        """Bring graphs back to what they were before the newest change.

        Returns it, and the user's names of what was in the graphs then. Raises IndexError if there is none.
        """
        past = self.entries.pop()
        names: dict[str, Any] = {}
        reason = f"{past.what} of its cell was undone"
        for graph in all_graphs():
            if graph.past and graph.past[-1].past is past:
                kept = graph.past.pop()
                graph.rollback(kept.snapshot, reason)
                names |= kept.names
            elif made := graph.ops_of(past.key):        # a graph that the change made
                graph.detach(made, reason, [past.key])
        if past.default is not None:
            set_global_graph(past.default)
        return past, names


def _graph_of(value: Any) -> Graph | None:
    op = op_of(value)
    return graph_of(op) if op is not None else None
