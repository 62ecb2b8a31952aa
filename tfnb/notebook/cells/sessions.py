"""Ops that cells run in sessions, and collections that they read: what changes there makes their output out of date.

Counts only if the ops are others: that a training moved the variables does not. Runs of initializers alone do not
count either: the values that variables began with are long gone.
"""
from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from tfnb.compile.planning.plan import Plan
from tfnb.core import taps
from tfnb.graph.graph import Graph
from tfnb.graph.parts.collection import op_of
from tfnb.graph.parts.operation import Operation
from tfnb.graph.stack import all_graphs
from tfnb.notebook.cells.compare import form
from tfnb.notebook.cells.effects import initializes
from tfnb.notebook.cells.marks import Reason

Key = Hashable
Entries = dict[str, str]                # name of an op in a collection -> dtype and shape
State = tuple[int, int, int]            # of a graph and a collection: while it is the same, so are the entries
# What reads a collection for the user who calls it. Optimizers, layers and savers look for things that new entries
# above don't change, or that effects.py answers for.
ASKED = frozenset({"tfnb.graph.graph", "tfnb.graph.parts.collection", "tfnb.graph.stack", "tfnb.variables.helpers",
                   "tfnb.variables.scope", "tfnb.losses.losses", "tfnb.losses.regularizers"})


@dataclass
class Ran:
    """Record of a cell's run: ops by graph and owner, and collections by graph and key, with their entries then.

    seen: the names of ops by graph that it shows: it is right as long as they are what they were.
    """

    ops: WeakKeyDictionary[Graph, dict[Key, set[str]]] = field(default_factory=WeakKeyDictionary)
    read: WeakKeyDictionary[Graph, dict[Hashable, Entries]] = field(default_factory=WeakKeyDictionary)
    seen: WeakKeyDictionary[Graph, set[str]] = field(default_factory=WeakKeyDictionary)
    checked: WeakKeyDictionary[Graph, dict[Hashable, tuple[State, Reason | None]]] = \
        field(default_factory=WeakKeyDictionary)

    def __bool__(self) -> bool:
        return bool(self.ops or self.read or self.seen)

    def note(self, graph: Graph, ops: Iterable[Operation], key: Key) -> None:
        """The cell ran these ops, which are not its own."""
        known = self.ops.setdefault(graph, {})
        for op in ops:
            if op.owner is not None and op.owner != key:
                known.setdefault(op.owner, set()).add(op.name)

    def note_seen(self, ops: Iterable[Operation], key: Key) -> None:
        """The cell shows these ops, which are not its own."""
        for op in ops:
            if op.owner is not None and op.owner != key:
                self.seen.setdefault(op.graph, set()).add(op.name)

    def following(self, graph: Graph, other: Graph, owner: Key) -> Ran:
        """Return the record with what it says of an owner's ops in one graph said of another one, too."""
        names = self.ops.get(graph, {}).get(owner)
        if not names:
            return self
        made = Ran(self.ops.copy(), self.read, self.seen, self.checked)
        made.ops[other] = made.ops.get(other, {}) | {owner: names}
        return made

    def reason(self, graph: Graph, why: Mapping[str, str], removed: Collection[str], where: str) -> Reason | None:
        """Return why its output does not hold any more; why: changed op -> the op to name; removed: those that are
        made no longer."""
        for did, names in (("ran", set[str]().union(*self.ops.get(graph, {}).values())),
                           ("shows", self.seen.get(graph, set()))):
            if name := _outermost(why, names):
                return Reason(f"{why[name]!r} changed in {where}", f"{did} {why[name]!r}, which changed in {where}")
            if name := _outermost(removed, names):
                return Reason(f"{name!r} is no longer made in {where}", f"{did} {name!r}, no longer made in {where}")
        return None


    def other_entries(self, above: Callable[[Key], bool]) -> Iterator[Reason]:
        """The collections that have other entries of cells above now, and what is different."""
        for graph, read in self.read.items():
            known = self.checked.setdefault(graph, {})
            for key, before in read.items():
                state = graph.version, graph.mutations, len(graph._collections.lists.get(key, ()))
                if key not in known or known[key][0] != state:
                    known[key] = state, changed_entries(before, entries(graph, key, above), key)
                if (reason := known[key][1]) is not None:
                    yield reason


def _outermost(changed: Iterable[str], names: Collection[str]) -> str:
    """The one of `names` that changed and stands in the fewest scopes: a layer, not what fills its weights."""
    return min((name for name in changed if name in names), key=lambda name: name.count("/"), default="")


def of_plan(plan: Plan) -> Iterator[Operation]:
    """The ops that a plan runs, and the variables and constants that they take; none if it only initializes."""
    if plan.fetches or not all(map(_initializes, plan.targets)):
        yield from (t.op for t in plan.fetches)
        for op in plan.ops:
            yield op
            yield from (t.op for t in op.inputs)


def _initializes(op: Operation) -> bool:
    return initializes(op) if op.inputs else bool(op.control_inputs) and all(map(_initializes, op.control_inputs))


def entries(graph: Graph, key: Hashable, above: Callable[[Key], bool]) -> Entries:
    """The entries of a collection that cells above made."""
    found = [op for each in graph._collections.lists.get(key, ()) if (op := op_of(each)) is not None]
    return {op.name: form(op.outputs[0]) if op.outputs else "" for op in found if op.owner is None or above(op.owner)}


def changed_entries(before: Entries, now: Entries, key: Hashable) -> Reason | None:
    """Return the first difference of a collection from what a cell read."""
    for name in now.keys() - before.keys():
        return Reason(f"{name!r} is new in the collection {key!r}", f"reads {key!r}, where {name!r} is new")
    for name in before.keys() - now.keys():
        return Reason(f"{name!r} is no longer in the collection {key!r}", f"reads {key!r}, where {name!r} is gone")
    for name, what in before.items():
        if now[name] != what:
            return Reason(f"{name!r} in the collection {key!r} was {what} and is {now[name]}",
                          f"reads {key!r}, where {name!r} was {what} and is {now[name]}")
    return None


def asked_by_user() -> bool:
    """Return whether a collection is read for the user's own code, not for an optimizer, a layer or a view."""
    frame: Any = sys._getframe(3)
    while frame is not None and (name := frame.f_globals.get("__name__", "")).startswith("tfnb."):
        if name not in ASKED:
            return False
        frame = frame.f_back
    return True


class Listener:
    """Notes what sessions run, and which collections are read, while a cell does. Only one listens at a time.

    What other threads do, such as a training's, counts for no cell.
    """

    def __init__(self, thread: threading.Thread, cells: Any) -> None:
        self._thread, self._cells = thread, cells

    def start(self) -> None:
        """Listen, to all cells that begin from now on."""
        taps.on_run, taps.on_collection = self._run, self._read

    def stop(self) -> None:
        """Listen no more."""
        taps.on_run = taps.on_collection = taps.cell = None

    def _run(self, graph: Graph, plan: Plan) -> bool:
        run = self._cells.run if threading.current_thread() is self._thread else None
        if run is not None:
            run.ran.note(graph, of_plan(plan), run.key)
        return run is not None

    def _read(self, collections: Any, name: Hashable) -> None:
        run = self._cells.run if threading.current_thread() is self._thread else None
        if run is not None and asked_by_user():
            graph = next(graph for graph in all_graphs() if graph._collections is collections)
            run.ran.read.setdefault(graph, {}).setdefault(name, self._cells.entries(graph, name, run.key))
