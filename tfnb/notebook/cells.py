"""Cells own the ops they make: running a cell again replaces them, a failing cell leaves the graphs as they were.

Independent of IPython: `hooks.py` calls `begin`, then `commit` or `rollback`, around each cell, and `delete`.
"""
from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from weakref import WeakKeyDictionary

from tfnb.graph.graph import Graph
from tfnb.graph.mutation import Detached, Snapshot
from tfnb.graph.operation import Operation
from tfnb.graph.ownership import all_graphs, own
from tfnb.notebook.badge import Badge
from tfnb.notebook.compare import Changes, compare
from tfnb.notebook.drift import drifted
from tfnb.notebook.effects import Effects, Orphan, Stale, apply_changes, is_variable, spread

Key = Hashable
VariableForm = tuple[str, object, object]


@dataclass
class Run:
    """A cell that runs: what it took out of each graph at its begin."""

    key: Key
    label: str
    snapshots: dict[Graph, Snapshot] = field(default_factory=dict)
    versions: dict[Graph, int] = field(default_factory=dict)    # of the graphs at the begin
    detached: dict[Graph, list[Detached]] = field(default_factory=dict)
    reasons: list[tuple[Graph, Key, str]] = field(default_factory=list)     # why the cell was stale until now
    keys: list[Key] = field(default_factory=list)               # under which the cell ran before


class Cells:
    """The cells of a notebook, by key (the front end's cell id, or anything hashable)."""

    def __init__(self) -> None:
        self.labels: dict[Key, str] = {}
        self.badges: dict[Key, Badge] = {}          # of the cells that own ops, as they should be shown
        self.run: Run | None = None
        self._reasons: WeakKeyDictionary[Graph, dict[Key, str]] = WeakKeyDictionary()

    # around a cell

    def begin(self, key: Key, label: str) -> None:
        """A cell is about to run: its ops leave the graphs, and ops that are made from now on are its own.

        label: what messages call the cell: "[3]". Raises RuntimeError if a cell is running: see `save`.
        """
        if self.run is not None:
            raise RuntimeError(f"cell {self.run.label} is running: {label} can't begin")
        run = self.run = Run(key, label)
        for graph in all_graphs():
            run.snapshots[graph], run.versions[graph] = graph.snapshot(), graph.version
        self._take_out(run, key)
        own(key)

    def take_over(self, key: Key) -> None:
        """The running cell, which has made no op yet, is the one that ran as `key` before: `%%graph NAME`."""
        if self.run is not None and key not in (self.run.key, *self.run.keys):
            self._take_out(self.run, key)

    def _take_out(self, run: Run, key: Key) -> None:
        run.keys.append(key)
        for graph in run.snapshots:
            reason = self._reasons.get(graph, {}).pop(key, None)
            if reason is not None:
                run.reasons.append((graph, key, reason))
            graph.stale.pop(key, None)
            owned = graph.ops_of(key) if key in self.badges else []
            if owned:
                why = (f"it was made when its cell ran as {self.labels.get(key, run.label)}, and that cell is running "
                       f"again as {run.label}")
                record = graph.detach(owned, why, [key])
                run.detached.setdefault(graph, []).append(record)
                graph.cursor = record.position

    def commit(self, rebound: Mapping[str, str] | None = None) -> list[Key]:
        """The cell ended well: other cells' ops take its new tensors or become stale.

        rebound: name of an op that the cell made before -> why a user's name of it means another op now. Returns the
        keys of the cells whose badge is new or another one now.
        """
        run = self._end()
        before = [self.labels.pop(key, run.label) for key in run.keys]
        self.labels[run.key] = run.label
        made: list[Operation] = []
        effects, changes = Effects(), list[Changes]()
        for graph in all_graphs():
            if graph.version != run.versions.get(graph):
                made += graph.ops_of(run.key)
            graph.cursor = None
            if graph in run.detached:
                changes.append(self._replace(graph, run, before[0], effects, rebound or {}))
            if graph in run.snapshots:
                graph.forget(run.snapshots[graph])
        for key in run.keys:
            self.badges.pop(key, None)
        badge = _badge(run.label, made, changes, effects)
        if badge.ops or badge.removed:
            self.badges[run.key] = badge
        shown = self._refresh()
        return list(dict.fromkeys([*shown, run.key])) if run.key in self.badges else shown

    def _replace(self, graph: Graph, run: Run, before: str, total: Effects, rebound: Mapping[str, str]) -> Changes:
        records = run.detached[graph]
        changes = compare([op for record in records for op in record.ops], graph.ops_of(run.key))
        for op in changes.old.values():
            op._dead = (f"it was made when its cell ran as {before}; the cell ran again as {run.label} and "
                        + ("made a new one" if op.name in changes.new else "no longer makes it"))
        effects = apply_changes(graph, records, changes, run.label, rebound)
        self._blame(graph, effects.reasons)
        total.rewired += effects.rewired
        return changes

    def rollback(self) -> list[Key]:
        """The cell failed or was interrupted: the graphs are as they were before it, ops it made are unusable."""
        run = self._end()
        for graph in all_graphs():
            reason = f"it was made by the run {run.label} of its cell, which failed: its ops were taken back"
            if graph in run.snapshots:
                graph.rollback(run.snapshots[graph], reason)
            else:                               # made in the cell
                _drop(graph, run.key, reason)
        for graph, key, why in run.reasons:
            self._blame(graph, {key: why})
        return self._refresh()

    def disown(self) -> None:
        """Let the ops of the running cell belong to nobody: running it again adds more, as in plain Python."""
        if self.run is not None:
            own(None)

    def _end(self) -> Run:
        if self.run is None:
            raise RuntimeError("no cell is running")
        run, self.run = self.run, None
        own(None)
        return run

    # inside a cell

    def save(self) -> dict[Graph, Snapshot]:
        """A state to go back to inside of a running cell, for a cell in a cell (`%run notebook.ipynb`)."""
        return {graph: graph.snapshot() for graph in all_graphs()}

    def restore(self, saved: dict[Graph, Snapshot], failed: bool) -> None:
        """Leave the inner cell: what it made goes if it failed, and is the outer cell's if not."""
        for graph, snapshot in saved.items():
            if failed:
                graph.rollback(snapshot, "it was made by code that failed: its ops were taken back")
            else:
                graph.forget(snapshot)

    # other changes

    def delete(self, key: Key) -> list[Key]:
        """The cell was deleted: its ops leave, and what uses them is stale. Returns the keys of changed badges."""
        where = self.labels.get(key, "a cell")
        for graph in all_graphs() if key in self.badges else ():
            owned = graph.ops_of(key)
            if owned:
                record = graph.detach(owned, f"its cell {where} was deleted", [key])
                effects = apply_changes(graph, [record], compare(record.ops, ()), f"{where}, which was deleted")
                self._blame(graph, effects.reasons)
            self._reasons.get(graph, {}).pop(key, None)
        self.badges.pop(key, None)
        return self._refresh()

    def stale(self, graph: Graph) -> dict[Key, Stale]:
        """The stale cells of a graph, and why."""
        return spread(graph, self._reasons.get(graph, {}), self.labels)

    def _blame(self, graph: Graph, reasons: dict[Key, str]) -> None:
        known = self._reasons.setdefault(graph, {})
        for key, why in reasons.items():
            known.setdefault(key, why)

    def _refresh(self) -> list[Key]:
        """Bring the marks of all graphs and the badges up to date. Returns the keys of badges that changed."""
        everything: dict[Key, Stale] = {}
        for graph in all_graphs():
            found = self.stale(graph)
            marks = {key: self._sentence(key, stale) for key, stale in found.items()}
            if marks != graph.stale:
                graph.stale.clear()
                graph.stale.update(marks)
                graph.mutations += 1            # sessions look again whether what they run is fresh
            everything |= found
        changed = []
        for key, badge in self.badges.items():
            stale = everything.get(key)
            now = replace(badge, stale=stale.why if stale else "", run=self._labels(stale.run) if stale else ())
            if now != badge:
                self.badges[key] = now
                changed.append(key)
        return changed

    def _sentence(self, key: Key, stale: Stale) -> str:
        if isinstance(key, Orphan):
            return f"{stale.why}, and no cell of the notebook made this op"
        where = self.labels.get(key, "")
        return f"its cell {where} is stale, because {stale.why}: run {' '.join(self._labels(stale.run))} again"

    def _labels(self, keys: Iterable[Key]) -> tuple[str, ...]:
        return tuple(self.labels.get(key, str(key)) for key in keys if not isinstance(key, Orphan))


def _badge(label: str, made: list[Operation], changes: list[Changes], effects: Effects) -> Badge:
    variables = [op for op in made if is_variable(op)]
    names = {op.name for op in made}
    return Badge(
        label, len(made), len(variables), sum(map(_kept, changes)),
        identical=bool(changes) and all(part.identical for part in changes), rewired=effects.rewired,
        removed=len({name for part in changes for name in part.old} - names), notes=drifted(made))


def _kept(changes: Changes) -> int:
    """How many variables go on: a session keeps a value by name, dtype and shape."""
    before = {_form(op) for op in changes.old.values() if is_variable(op)}
    return sum(is_variable(op) and _form(op) in before for op in changes.new.values())


def _form(op: Operation) -> VariableForm:
    return op.name, op.outputs[0].dtype, op.outputs[0].static


def _drop(graph: Graph, key: Key, reason: str) -> None:
    made = graph.ops_of(key)
    if made:
        graph.detach(made, reason, [key])
