"""Cells own the ops they make: running a cell again replaces them, a failing cell leaves the graphs as they were.

Independent of IPython: `hooks.py` calls `begin`, then `commit` or `rollback`, around each cell, and `delete`.
"""
from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tfnb.graph.graph import Graph
from tfnb.graph.mutation import Snapshot
from tfnb.graph.parts.operation import Operation
from tfnb.graph.parts.ownership import own
from tfnb.graph.stack import all_graphs, global_graph, set_global_graph
from tfnb.notebook.cells import relations
from tfnb.notebook.cells.compare import Changes, compare
from tfnb.notebook.cells.counts import badge_of, counted_again
from tfnb.notebook.cells.effects import Effects, apply_changes
from tfnb.notebook.cells.functions import Functions
from tfnb.notebook.cells.history import story_of
from tfnb.notebook.cells.journal import Journal, Past, size_of
from tfnb.notebook.cells.marks import Mark, Orphan, Reason, Stale, spread, spread_all
from tfnb.notebook.cells.sessions import entries
from tfnb.notebook.cells.state import Books, Run
from tfnb.notebook.cells.statements import Text
from tfnb.notebook.cells.values import Values
from tfnb.notebook.frontend.badge import Badge
from tfnb.opdef import registry

Key = Hashable


class Cells:
    """The cells of a notebook, by key (the front end's cell id, or anything hashable)."""

    def __init__(self) -> None:
        self.books = Books()
        self.journal = Journal()
        self.functions = Functions()
        self.values = Values()
        self.run: Run | None = None
        self.marks: dict[Key, Mark] = {}        # of the cells that must run again

    @property
    def labels(self) -> dict[Key, str]:
        """Key -> what messages call the cell: "[3]"."""
        return self.books.labels

    @property
    def badges(self) -> dict[Key, Badge]:
        """Key -> the badge, as it should be shown, of the cells that own ops, or must run again."""
        return self.books.badges

    # around a cell

    def begin(self, key: Key, label: str, names: Mapping[str, Any] | None = None) -> None:
        """A cell is about to run: its ops leave the graphs, and ops that are made from now on are its own.

        label: what messages call the cell: "[3]"; names: the user's names of graph objects, for `undo`. Raises
        RuntimeError if a cell is running: see `save`.
        """
        if self.run is not None:
            raise RuntimeError(f"cell {self.run.label} is running: {label} can't begin")
        run = self.run = Run(key, label, self.books.copy(), global_graph(), names=names or {},
                             declared=dict(registry.CUSTOM))
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
        run.marked |= key in self.marks
        self._forget_ops(key)
        for graph in run.snapshots:
            self.books.reasons.get(graph, {}).pop(key, None)
            graph.stale.pop(key, None)
            owned = graph.ops_of(key) if key in self.labels else []     # also those that later cells made for it
            if owned or graph.owns_entries(key):
                why = (f"it was made when its cell ran as {self.labels.get(key, run.label)}, and that cell is running "
                       f"again as {run.label}")
                record = graph.detach(owned, why, [key])
                run.detached.setdefault(graph, []).append(record)
                graph.cursor = record.position
                if graph.finalized:             # by a cell that comes later in a run from top to bottom
                    graph._unsafe_unfinalize()
                    run.thawed.append(graph)

    def observe(self, names: Mapping[str, Any], text: Text | None = None) -> None:
        """The cell has ended, well or not: see which functions and values the user's names stand for now."""
        if self.run is not None:
            self.functions.observe(names, self.run.key, self.run.label)
            self.values.observe(names, self.run.key, self.run.label, text, self.run.marked)

    def commit(self, rebound: Mapping[str, str] | None = None, names: Mapping[str, Any] | None = None,
               text: Text | None = None) -> list[Key]:
        """The cell ended well: other cells' ops take its new tensors or become stale.

        rebound: name of an op that the cell made before -> why a user's name of it means another op now; names: what
        the user's names stand for; text: the cell in plain Python, if it is any. Returns the keys of the cells whose
        badge is new or another one now.
        """
        run = self._end()
        before = [self.labels.pop(key, run.label) for key in run.keys]
        self.labels[run.key] = run.label
        made: list[Operation] = []
        effects, changes, changed = Effects(), list[Changes](), list[Graph]()
        new = 0 if run.default is None else None        # whoever asks first for the default graph makes it
        for graph in all_graphs():
            if graph.version != run.versions.get(graph, new):
                made += graph.ops_of(run.key)
                changed.append(graph)
            elif graph.owns_entries(run.key):
                changed.append(graph)
            graph.cursor = None
            if graph in run.detached:
                changes.append(self._replace(graph, run, before[0], effects, rebound or {}))
                changed.append(graph)
        self._keep(run, changed)
        self._note_graphs(run)
        self.books.declared[run.key] = {name: op for name, op in registry.CUSTOM.items()
                                        if run.declared.get(name) is not op}
        for key in run.keys:
            self.books.forget(key)
        if names:
            self.books.readings[run.key] = self.values.read(made, names, text)
        if run.ran:
            self.books.ran[run.key] = run.ran
        badge = badge_of(run.label, made, changes, effects)
        if badge.ops or badge.removed:
            self.badges[run.key] = badge
        shown = self._refresh()
        return list(dict.fromkeys([*shown, run.key])) if run.key in self.badges else shown

    def _keep(self, run: Run, changed: list[Graph]) -> None:
        """Enter a run that changed graphs into the journal."""
        for graph in run.snapshots.keys() - set(changed):
            graph.forget(run.snapshots[graph])
        if changed:
            default = run.default if run.default is not global_graph() else None
            size = sum(size_of(record.ops) for records in run.detached.values() for record in records)
            self.journal.keep(Past(f"run {run.label}", run.key, run.books, default, size),
                              {graph: run.snapshots[graph] for graph in changed if graph in run.snapshots}, run.names)

    def _note_graphs(self, run: Run) -> None:
        """Note who made which graph. If a cell makes graphs again, other cells' ops are in those of before."""
        new, books = [graph for graph in all_graphs() if graph not in run.snapshots], self.books
        for graph, maker in list(books.makers.items()) if new else ():
            if maker in run.keys and graph is not global_graph():
                books.replaced[graph] = f"its graph was replaced by a new one in {run.label}"
        books.makers.update(dict.fromkeys(new, run.key))

    def _replace(self, graph: Graph, run: Run, before: str, total: Effects, rebound: Mapping[str, str]) -> Changes:
        records = run.detached[graph]
        changes = compare([op for record in records for op in record.ops], graph.ops_of(run.key))
        start = f"it was made when its cell ran as {before}; the cell ran again as {run.label} and "
        replaced, gone = start + "made a new one", start + "no longer makes it"
        for name, op in changes.old.items():
            op._dead = replaced if name in changes.new else gone
        effects = apply_changes(graph, records, changes, run.label, rebound)
        self._blame(graph, effects.reasons)
        removed = self._made_elsewhere(graph, run, changes) if changes.removed else ()
        self._end_runs(graph, changes, removed, effects, run.label)
        self.books.stories.setdefault(graph, {})[run.key] = story_of(before, run.label, changes, effects)
        total.rewired += effects.rewired
        return changes

    def _made_elsewhere(self, graph: Graph, run: Run, changes: Changes) -> list[str]:
        """Let runs in a graph count for the cell's new one (`g = tf.Graph()`). Returns what is not the same there."""
        removed = list(changes.removed)
        for other in [each for each in all_graphs() if each not in run.snapshots]:
            again = compare(changes.old.values(), other.ops_of(run.key))
            removed = [name for name in removed if not again.same(name)]
            for key, ran in self.books.ran.items():
                self.books.ran[key] = ran.following(graph, other, run.key)
        return removed

    def rollback(self) -> list[Key]:
        """The cell failed or was interrupted: the graphs are as they were before it, ops it made are unusable."""
        run = self._end()
        for graph in all_graphs():
            reason = f"it was made by the run {run.label} of its cell, which failed: its ops were taken back"
            if graph in run.snapshots:
                graph.rollback(run.snapshots[graph], reason)
            else:                               # made in the cell
                _drop(graph, run.key, reason)
        set_global_graph(run.default)
        registry.restore_custom(run.declared)
        self._return_to(run.books)
        return self._refresh()

    def _forget_ops(self, key: Key) -> None:
        """Let the op types that a cell declared be known no more; nodes of theirs stay as they are."""
        gone = self.books.declared.pop(key, {})
        registry.restore_custom({name: op for name, op in registry.CUSTOM.items() if gone.get(name) is not op})

    def _return_to(self, books: Books) -> None:
        """Go back to what was known, but for the badges: `_refresh` tells which of these change."""
        self.books = replace(books, badges=self.badges)

    def untouched(self) -> bool:
        """The running cell has made no op yet."""
        run = self.run
        return run is None or all(graph.version == run.versions.get(graph) for graph in all_graphs())

    def undo(self) -> tuple[Past, dict[str, Any], list[Key]]:
        """Take the newest change back: the last run of a cell that made or removed ops, or the deletion of one.

        Returns it, the names that the user had for what is in the graphs again, and the keys of changed badges.
        Raises IndexError if there is nothing to undo, RuntimeError while a cell runs.
        """
        if self.run is not None:
            raise RuntimeError(f"cell {self.run.label} is running")
        past, names = self.journal.take_back()
        self._return_to(past.books)
        now, before = self.badges.get(past.key), past.books.badges.get(past.key)
        note = f"{past.what} was undone"
        changed = [key for key, badge in self.badges.items() if badge != past.books.badges.get(key)]
        told = {key: replace(badge, why="") for key, badge in self.badges.items() if not badge.ops}
        self.books.badges = told | past.books.badges
        if before is not None:
            self.badges[past.key] = replace(before, notes=(*before.notes, note))
        elif now is not None:                   # the cell owns nothing now, but its line is still there
            self.badges[past.key] = Badge(now.label, removed=now.ops, notes=(note,))
        return past, names, list(dict.fromkeys([*changed, past.key, *self._refresh()]))

    def disown(self) -> None:
        """Let the ops of the running cell belong to nobody: running it again adds more, as in plain Python."""
        if self.run is not None:
            own(None)

    def own_again(self) -> None:
        """Take `disown` back for what the running cell makes from now on."""
        if self.run is not None:
            own(self.run.key)

    def _end(self) -> Run:
        if self.run is None:
            raise RuntimeError("no cell is running")
        run, self.run = self.run, None
        own(None)
        for graph in run.thawed:
            graph.finalize()
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

    def delete(self, key: Key, names: Mapping[str, Any] | None = None) -> list[Key]:
        """The cell was deleted: its ops leave, and what uses them is stale. Returns the keys of changed badges."""
        where, books = self.labels.get(key, "a cell"), self.books.copy()
        left: dict[Graph, Snapshot] = {}
        for graph in all_graphs():
            owned = graph.ops_of(key) if key in self.badges else []
            if owned or graph.owns_entries(key):
                left[graph] = graph.snapshot()
                record = graph.detach(owned, f"its cell {where} was deleted", [key])
                effects = apply_changes(graph, [record], compare(record.ops, ()), f"{where}, which was deleted")
                self._blame(graph, effects.reasons)
                changes = compare(record.ops, ())
                self._end_runs(graph, changes, changes.removed, effects, f"{where}, which was deleted")
            self.books.reasons.get(graph, {}).pop(key, None)
        self.books.forget(key)
        self._forget_ops(key)
        self.values.forget(key)
        if left:
            self.journal.keep(Past(f"the deletion of {where}", key, books), left, names or {})
        return self._refresh()

    def stale(self, graph: Graph) -> dict[Key, Stale]:
        """The stale cells of a graph, and why."""
        return spread(graph, self.books.reasons.get(graph, {}), self.labels)

    def entries(self, graph: Graph, name: Hashable, key: Key) -> dict[str, str]:
        """The entries of a collection that a cell would find in a run from top to bottom, but its own."""
        return entries(graph, name, partial(self.values.sees, key))

    def _end_runs(self, graph: Graph, changes: Changes, removed: Sequence[str], effects: Effects, where: str) -> None:
        """The output of cells that ran ops which are others now is out of date."""
        why = {name: name for name in changes.why} | effects.moved
        for key, ran in self.books.ran.items():
            if key not in self.books.ended and (reason := ran.reason(graph, why, removed, where)) is not None:
                self.books.ended[key] = reason

    def doubts(self, graph: Graph, ops: Iterable[str], names: Iterable[str] = (), key: Key = None) -> str:
        """Say why a training should not go on with some ops of a graph, and which cells to run; "" if it may.

        names: those that its body reads, in the cell `key`.
        """
        if not self.marks:
            return ""
        owners = [op.owner for name in ops if (op := graph._by_name.get(name)) is not None]
        owners += [maker for name in names if (maker := self.values.maker(name, key)) is not None]
        found = {owner: self.marks[owner] for owner in owners if owner in self.marks}
        if not found:
            return ""
        first, mark = next(iter(found.items()))
        why = mark.why if mark.run[:-1] else f"depends on {self.labels.get(first, 'a cell')}, which {mark.clause}"
        keys = {each for mark in found.values() for each in mark.run}
        return f"it {why}: run {' '.join(self.named(sorted(keys, key=self.values.place)))}"

    def look_again(self) -> list[Key]:
        """See which variables have values by now. Returns the keys of the badges that changed."""
        now = {key: counted_again(badge, key) for key, badge in self.badges.items() if badge.empty}
        changed = [key for key, badge in now.items() if badge != self.badges[key]]
        self.badges.update(now)
        return changed

    def _blame(self, graph: Graph, reasons: dict[Key, str]) -> None:
        known = self.books.reasons.setdefault(graph, {})
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
        reasons: dict[Key, Reason] = {}
        for key, reason in relations.reasons(self.books, self.values, self.functions):
            reasons.setdefault(key, reason)
        users = relations.users(self.books, self.values) if everything or reasons else {}
        self.marks = spread_all(everything, reasons, users, self.labels)
        return self._mark_badges()

    def _mark_badges(self) -> list[Key]:
        """Bring the badges up to date with the marks. Returns the keys of those that changed."""
        cells = [key for key in self.marks if key in self.labels]
        for key in cells:
            self.badges.setdefault(key, Badge(self.labels[key]))
        changed = []
        for key, badge in self.badges.items():
            mark = self.marks.get(key)
            if mark is None and not badge.why:
                continue
            now = replace(badge, why=mark.why, run=self.named(mark.run), usable=mark.usable, many=len(cells)) \
                if mark is not None else replace(badge, why="", run=(), usable=True, many=0)
            if now != badge:
                self.badges[key] = now
                changed.append(key)
        return changed

    def _sentence(self, key: Key, stale: Stale) -> str:
        if isinstance(key, Orphan):
            return f"{stale.why}, and no cell of the notebook made this op"
        where = self.labels.get(key, "")
        return f"its cell {where} is stale, because {stale.why}: run {' '.join(self.named(stale.run))} again"

    def named(self, keys: Iterable[Key]) -> tuple[str, ...]:
        """The labels of cells; ops that no cell made have none."""
        return tuple(self.labels.get(key, str(key)) for key in keys if not isinstance(key, Orphan))


def _drop(graph: Graph, key: Key, reason: str) -> None:
    made = graph.ops_of(key)
    if made:
        graph.detach(made, reason, [key])
