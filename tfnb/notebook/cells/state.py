"""State of the cells of a notebook between runs, and of the one that runs."""
from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from tfnb.graph.graph import Graph
from tfnb.graph.mutation import Detached, Snapshot
from tfnb.notebook.cells.history import Story
from tfnb.notebook.cells.marks import Reason
from tfnb.notebook.cells.sessions import Ran
from tfnb.notebook.cells.values import Reading
from tfnb.notebook.frontend.badge import Badge
from tfnb.opdef.op import Op

Key = Hashable


@dataclass
class Books:
    """The state of the cells of a notebook, by key.

    badges: of the cells that own ops, as they should be shown; reasons: why cells are stale of themselves, by graph;
    stories: what the last run of each changed, by graph; makers: the cell that made each graph; replaced: why a graph
    is not the one that a run from top to bottom would put ops into: its maker has made another one since; readings:
    the values that the cells read; ran: what they ran in sessions, and the collections that they read; ended: why what
    they ran is other now; declared: the op types that they declared (tf.custom).
    """

    labels: dict[Key, str] = field(default_factory=dict)
    badges: dict[Key, Badge] = field(default_factory=dict)
    reasons: WeakKeyDictionary[Graph, dict[Key, str]] = field(default_factory=WeakKeyDictionary)
    stories: WeakKeyDictionary[Graph, dict[Key, Story]] = field(default_factory=WeakKeyDictionary)
    makers: WeakKeyDictionary[Graph, Key] = field(default_factory=WeakKeyDictionary)
    replaced: WeakKeyDictionary[Graph, str] = field(default_factory=WeakKeyDictionary)
    readings: dict[Key, Reading] = field(default_factory=dict)
    ran: dict[Key, Ran] = field(default_factory=dict)
    ended: dict[Key, Reason] = field(default_factory=dict)
    declared: dict[Key, dict[str, Op]] = field(default_factory=dict)

    def copy(self) -> Books:
        """The same, to go back to."""
        made = Books(dict(self.labels), dict(self.badges), makers=self.makers.copy(), replaced=self.replaced.copy(),
                     readings=dict(self.readings), ran=dict(self.ran), ended=dict(self.ended),
                     declared=dict(self.declared))
        for graph, reasons in self.reasons.items():
            made.reasons[graph] = dict(reasons)
        for graph, stories in self.stories.items():
            made.stories[graph] = dict(stories)
        return made

    def forget(self, key: Key) -> None:
        """Drop what is known of the last run of a cell."""
        for known in (self.badges, self.readings, self.ran, self.ended):
            known.pop(key, None)


@dataclass
class Run:
    """A cell that runs: what it took out of each graph at its begin, and how things stood."""

    key: Key
    label: str
    books: Books
    default: Graph | None
    snapshots: dict[Graph, Snapshot] = field(default_factory=dict)
    versions: dict[Graph, int] = field(default_factory=dict)    # of the graphs at the beginning
    detached: dict[Graph, list[Detached]] = field(default_factory=dict)
    keys: list[Key] = field(default_factory=list)               # under which the cell ran before
    thawed: list[Graph] = field(default_factory=list)           # that were finalized
    names: Mapping[str, Any] = field(default_factory=dict)      # the user's names of graph objects at the start
    declared: dict[str, Op] = field(default_factory=dict)       # the op types that there were (tf.custom)
    ran: Ran = field(default_factory=Ran)
    marked: bool = False                                        # it was to be run again
