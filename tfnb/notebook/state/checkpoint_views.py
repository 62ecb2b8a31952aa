"""`%ckpt`: the checkpoints of a directory, what is in one, how two differ, and what restoring would do."""
from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tfnb.core.text import counted, did_you_mean
from tfnb.graph.stack import get_default_graph
from tfnb.notebook.drawing.heat_map import Window, common_side, picture, zoomed
from tfnb.notebook.drawing.svg import short
from tfnb.notebook.drawing.tensor_stats import stats
from tfnb.notebook.frontend.fetch import find_session
from tfnb.notebook.state.tables import Cell, Column, Table, number_cell, share_cell, words_cell
from tfnb.notebook.state.tables_view import SheetView
from tfnb.runtime.session import BaseSession
from tfnb.tools import session_state
from tfnb.tools.checkpoints import CheckpointInfo, list_checkpoints
from tfnb.tools.diff import histograms, value_change
from tfnb.tools.report import bytes_text
from tfnb.tools.session_state import Fate, held_variables, in_scope, restore_plan, session_tensors, stored_name
from tfnb.tools.tensors import TensorFile, open_tensors

SESSION = "session"     # the word for the running session where a checkpoint is asked for
FIGURES = 1 << 28       # bytes of a checkpoint up to which the figures of all its tensors are shown


class CheckpointView(SheetView):
    """Checkpoints, tensors and differences; made by `checkpoints`, `checkpoint` and `checkpoint_diff`.

    A click on a checkpoint shows its tensors, one on a tensor its heat map; of a tensor of two checkpoints both, and
    the change.
    """

    def __init__(self, title: str, session: BaseSession | None) -> None:
        super().__init__(title)
        self.session = session
        self.files: list[TensorFile] = []                   # the checkpoint that is shown, or the two compared
        self.difference: dict[str, dict[str, Any]] = {}     # of tensors that both have: what changed
        self._directory, self._infos = "", list[CheckpointInfo]()
        self._drawn: list[tuple[str, np.ndarray]] = []
        self._window: Window | None = None

    # what is shown

    def browse(self, directory: str) -> CheckpointView:
        """Show the checkpoints of a directory, the newest first. Returns the view."""
        self._directory, self._infos = directory, list_checkpoints(directory)[::-1]
        self.buttons = [("refresh", "Refresh")]
        self.title = f"{directory}: {counted(len(self._infos), 'checkpoint')}"
        names = [info.path for info in self._infos]
        rows = [(info.path, _info_row(info, i + 1 < len(names), self.session is not None))
                for i, info in enumerate(self._infos)]
        columns = [Column("checkpoint"), Column("step", "", True), Column("written"), Column("size", "", True),
                   Column("tensors", "", True), Column("", "what is remarkable"), Column("compare with")]
        self.tables = [Table("checkpoints", columns, rows)]
        return self

    def show(self, path: Any, scope: str = "") -> CheckpointView:
        """Show the tensors of a checkpoint, of those in `scope`. Returns the view."""
        file = _within(self.tensors_of(path), scope)
        self.files, self.difference = [file], {}
        size = sum(t.bytes for t in file.tensors.values())
        rows = [(name, _tensor_row(file, name, size <= FIGURES)) for name in sorted(file.tensors)]
        columns = [Column("tensor"), Column("dtype"), Column("shape"), Column("size", "", True),
                   *(Column(title, "", True) for title in ("mean", "sd", "min", "max", "NaN, inf"))]
        title = f"{file.path}: {counted(len(rows), 'tensor')}, {bytes_text(size)}"
        self._replace([Table("tensors", columns, rows, title if self._infos else "")])
        self.title = self.title if self._infos else title
        return self

    def diff(self, a: Any, b: Any, renamed: Mapping[str, str] | None = None, scope: str = "") -> CheckpointView:
        """Show how two checkpoints differ; either may be "session". renamed, scope: of b. Returns the view."""
        known, scope = renamed or {}, scope.rstrip("/")
        there = stored_name(scope, known) if scope in known else stored_name(f"{scope}/", known) if scope else ""
        first, second = self.files = [
            _within(self.tensors_of(a), there),
            _within(self.tensors_of(b), scope).called(lambda name: stored_name(name, known))]
        common = sorted(first.tensors.keys() & second.tensors.keys())
        self.difference = {name: _difference(first, second, name) for name in common}
        only = [sorted(x.tensors.keys() - y.tensors.keys()) for x, y in ((first, second), (second, first))]
        labels = [_short_path(file.path) for file in self.files]
        same = sum(not change for change in self.difference.values())
        both = Table("both", [
            Column("tensor"), Column("shape"), Column("relative L2", "|B - A| / |A|", True),
            Column("max change", "", True), Column("elements", "how many differ", True),
            Column("values", "histograms, or the values themselves"), Column("range")],
            [(name, _change_row(first, name, change)) for name, change in self.difference.items()],
            f"In both: {counted(len(common), 'tensor')}, {same:,} of them equal",
            f"values: filled {labels[0]}, outlined {labels[1]}" if same < len(common) else "", sort=(2, True))
        sides = [Table(f"only {i}", [Column("tensor"), Column("dtype"), Column("shape")],
                       [(name, [words_cell(name), words_cell(file.tensors[name].dtype.name),
                                _shape(file.tensors[name].shape)]) for name in names],
                       f"Only in {label}: {len(names):,}", pickable=False)
                 for i, (file, names, label) in enumerate(zip(self.files, only, labels, strict=True))]
        self._replace([sides[0], both, sides[1]])
        if not self._infos:
            self.title = f"A: {labels[0]}  B: {labels[1]}"
        return self

    def tensors_of(self, path: Any) -> TensorFile:
        """The file of a checkpoint, or of the session for "session". Raises ValueError where there is none."""
        if isinstance(path, BaseSession):
            return session_tensors(path)
        if path == SESSION and not os.path.exists(SESSION):
            if self.session is None:
                raise ValueError("no session is open on this graph to compare with")
            return session_tensors(self.session)
        return open_tensors(path)

    def _replace(self, tables: Sequence[Table]) -> None:
        """Show these tables under the list of checkpoints."""
        self.tables = [*(table for table in self.tables if table.name == "checkpoints"), *tables]
        self.panels = []

    # clicks

    def pick(self, table: str, row: str) -> None:
        """Show the checkpoint `row`, or the heat maps of the tensor `row`; nothing if it is ""."""
        self.note = ""
        self.table(table).picked = row
        if table == "checkpoints":
            self.show(row) if row else self._replace([])
        elif row:
            self.draw(row)
        else:
            self.panels = []

    def act(self, act: str, row: str) -> None:
        """Compare the checkpoint `row` with the one before it, or with the session; or list the directory again."""
        self.note = ""
        if act == "refresh":
            shown = self.tables[1:]
            self.browse(self._directory).tables += shown
            return
        paths = [info.path for info in self._infos]
        self.table("checkpoints").picked = row
        if act == "before" and row in paths[:-1]:
            self.diff(paths[paths.index(row) + 1], row)
        elif act == SESSION and row in paths:
            self.diff(row, SESSION)

    def draw(self, name: str) -> CheckpointView:
        """Show the heat map of a tensor; of two checkpoints both and the change, as they are now. Returns the view.

        Raises ValueError for a name that is not there, with the nearest one.
        """
        for file in self.files:
            if name not in file.tensors:
                raise ValueError(f"{file.path} has no tensor {name!r}{did_you_mean(name, file.tensors)}")
        if name in self.difference:
            self._compare_again(name)
        values = [np.asarray(file.read(name)) for file in self.files]
        self._drawn = [(_short_path(f.path), v) for f, v in zip(self.files, values, strict=True)]
        if len(values) == 2 and values[0].shape == values[1].shape and values[0].dtype == values[1].dtype \
                and values[0].dtype.kind in "fiuc":
            wide = np.promote_types(values[0].dtype, np.float32)
            with np.errstate(over="ignore", invalid="ignore"):
                self._drawn.append(("change", np.subtract(values[1], values[0], dtype=wide)))
        self.panels_title = name
        self._look(None)
        return self

    def _compare_again(self, name: str) -> None:
        """Bring the row of a tensor up to date: a session may have trained since."""
        both = self.table("both")
        self.difference[name] = _difference(self.files[0], self.files[1], name)
        fresh = _change_row(self.files[0], name, self.difference[name])
        both.rows = [(row, fresh if row == name else cells) for row, cells in both.rows]

    def _look(self, window: Window | None) -> None:
        self._window = window
        shape = self._drawn[0][1].shape
        drawn = [picture(value, window=window if value.shape == shape else None) for _, value in self._drawn]
        limit = max(one.limit for one in drawn[:2])         # of both checkpoints the same colour is the same value
        side = common_side(one.side for one in drawn[:2])
        drawn[:2] = [replace(one, limit=limit, side=side) for one in drawn[:2]]
        self.panels = [(name, one) for (name, _), one in zip(self._drawn, drawn, strict=True)]

    @property
    def window(self) -> Window | None:
        """The part of the matrices that is seen; None for all."""
        return self._window

    def zoom(self, panel: int, row: int, column: int) -> None:
        """Look at the surroundings of a cell."""
        window = zoomed(self.panels[panel][1], row, column)
        if window is not None:
            self._look(window)

    def whole(self) -> None:
        """Look at the whole matrices again."""
        self._look(None)


class RestoreView(SheetView):
    """Report of what restoring a checkpoint did, or (dry) would do, by `restore_checkpoint`. plan: a Fate for each."""

    def __init__(self, file: TensorFile, plan: Sequence[Fate], dry: bool) -> None:
        counts = {action: sum(fate.action == action for fate in plan) for action in ("restored", "kept", "unused")}
        super().__init__(f"{_short_path(file.path)}: {counted(counts['restored'], 'variable')} "
                         f"{'would be ' if dry else ''}restored, {counts['kept']} not, "
                         f"{counted(counts['unused'], 'tensor')} without a variable")
        self.plan, self.dry, order = plan, dry, ("kept", "unused", "restored")
        rows = [(f"{fate.action} {fate.variable} {fate.name}", _fate_row(fate, dry))
                for fate in sorted(plan, key=lambda fate: order.index(fate.action))]
        self.tables = [Table("plan", [Column("variable"), Column("tensor"), Column("shape"), Column("what happens"),
                                      Column("why")], rows, pickable=False)]


def _within(file: TensorFile, scope: str) -> TensorFile:
    """The tensors that are called so or are below it. Raises ValueError where there is none."""
    scope = scope.rstrip("/")
    if not scope:
        return file
    found = file.called(lambda name: name if in_scope(name, scope) else None)
    if not found.tensors:
        raise ValueError(f"{file.path} has nothing below {scope!r}{_other_scopes(scope, file.tensors)}")
    return found


def _other_scopes(scope: str, names: Iterable[str]) -> str:
    """The end of a message: the scope that may be meant, or all there are."""
    scopes = {name[:at] for name in names for at in range(len(name)) if name[at] == "/"}
    return did_you_mean(scope.rstrip("/"), scopes, 0.4) or f"; there are {', '.join(sorted(scopes)) or 'no scopes'}"


def _fate_row(fate: Fate, dry: bool) -> list[Cell]:
    words = {"restored": "would be restored" if dry else "restored", "kept": "keeps its value", "unused": "not used"}
    return [words_cell(fate.variable), words_cell(fate.name), _shape(fate.shape) if fate.shape is not None else Cell(),
            Cell(words[fate.action], bad=fate.action == "kept"), words_cell(fate.why)]


def _info_row(info: CheckpointInfo, has_before: bool, has_session: bool) -> list[Cell]:
    written = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(info.time)) if info.time else ""
    said = [word for word, holds in (("newest", info.newest), ("with its graph", info.meta)) if holds]
    acts = [("before", "the one before")] if has_before else []
    acts += [(SESSION, "the session")] if has_session and not info.problem else []
    return [words_cell(info.name), Cell("" if info.step is None else f"{info.step:,}", info.step),
            Cell(written, info.time), Cell(bytes_text(info.bytes), info.bytes),
            Cell(f"{info.tensors:,}", info.tensors), Cell(info.problem or ", ".join(said), bad=bool(info.problem)),
            Cell(acts=tuple(acts))]


def _tensor_row(file: TensorFile, name: str, figures: bool) -> list[Cell]:
    told = file.tensors[name]
    cells = [words_cell(name), words_cell(told.dtype.name), _shape(told.shape),
             Cell(bytes_text(told.bytes), told.bytes)]
    found = stats(np.asarray(file.read(name))) if figures else None
    if found is None:
        return [*cells, *[Cell()] * 5]
    return [*cells, *(number_cell(n, 3) for n in (found.mean, found.std, found.low, found.high)), share_cell(found.bad)]


def _difference(a: TensorFile, b: TensorFile, name: str) -> dict[str, Any]:
    first, second = a.tensors[name], b.tensors[name]
    if first != second:
        return {"form": " → ".join(f"{told.dtype.name} {_shape(told.shape).text}" for told in (first, second))}
    before, after = np.asarray(a.read(name)), np.asarray(b.read(name))
    change = value_change(before, after)
    if change and before.size == 1:
        change["values"] = f"{_one_value(before)} → {_one_value(after)}"
    elif change and before.dtype != object:
        change["histograms"] = histograms(before, after)
    return change


def _change_row(a: TensorFile, name: str, change: Mapping[str, Any]) -> list[Cell]:
    cells = [words_cell(name), _shape(a.tensors[name].shape)]
    if not change:
        return [*cells, Cell("equal", 0.0), *[Cell()] * 4]
    if "form" in change:
        return [cells[0], Cell(change["form"], bad=True), *[Cell()] * 5]
    share = f"{change['elements']:,} of {change['of']:,}"
    odd = change.get("not finite", [0, 0])
    found = [number_cell(change.get("relative L2"), 3), number_cell(change.get("max change"), 3),
             Cell(share + (f", not finite: {odd[0]} → {odd[1]}" if any(odd) else ""), change["elements"] / change["of"],
                  bad=any(odd))]
    low, high, *counts = change.get("histograms", (0.0, 0.0))
    return [*cells, *found, Cell(change.get("values", ""), hist=tuple(counts)),
            Cell(f"{short(low, 3)} to {short(high, 3)}" if counts else "")]


def _one_value(value: np.ndarray) -> str:
    only = value.reshape(-1)[0]
    return short(float(only)) if value.dtype.kind == "f" else str(only)[:40]


def _shape(shape: tuple[int, ...]) -> Cell:
    return Cell("×".join(map(str, shape)) or "()", float(np.prod(shape, dtype=np.float64)))


def _short_path(path: str) -> str:
    return path if len(path) < 40 else f"…/{os.path.basename(path)}"


def _session(session: BaseSession | None) -> BaseSession | None:
    if session is not None:
        return session
    try:
        return find_session(get_default_graph())
    except ValueError:
        return None


def checkpoints(directory: Any = ".", *, session: BaseSession | None = None) -> CheckpointView:
    """The checkpoints of a directory, the newest first: steps, times, sizes; damaged ones say why they can't be read.

    session: to compare with; by default the default session, else the only open one. Files stay memory-mapped: of a
    large tensor some megabytes are in memory at once, except while its heat map is drawn. Raises NotFoundError if there
    is no such directory.
    """
    return CheckpointView("", _session(session)).browse(os.fsdecode(directory))


def checkpoint(path: Any, *, session: BaseSession | None = None, scope: str = "") -> CheckpointView:
    """The tensors of a checkpoint (its prefix, one of its files, or a directory with one), .npz or .safetensors file.

    scope: only those below it. Raises NotFoundError, DataLossError for a damaged file, ValueError for an empty scope.
    """
    return CheckpointView("", _session(session)).show(path, scope)


def checkpoint_diff(a: Any, b: Any = SESSION, *, session: BaseSession | None = None,
                    renamed: Mapping[str, str] | None = None, scope: str = "") -> CheckpointView:
    """Difference between two checkpoints: tensors of one only, and for each other tensor how far it moved.

    a, b: as for `checkpoint`; "session", or a Session, stands for the variables of a session as they are now. The
    result's `difference` has the numbers. renamed: name in b, or "scope/" -> name in a; names are shown as in a. scope:
    only what is below it in b. Raises as `checkpoint`, ValueError where there is no session.
    """
    return CheckpointView("", _session(session)).diff(a, b, renamed, scope)


def restore_checkpoint(path: Any, *, session: BaseSession | None = None, dry_run: bool = False, partial: bool = False,
                       renamed: Mapping[str, str] | None = None, scope: str = "") -> RestoreView:
    """Give the variables of a session the values of a checkpoint, and tell of each what happened and why.

    dry_run: change nothing, only tell. partial: restore what fits; without it nothing changes if a variable is missing
    or has another dtype or shape (InvalidArgumentError). renamed: a variable, or "scope/" -> the tensor, or "scope/",
    that it takes; scope: only the variables below it. No op is added to the graph. Raises NoSessionError, and as
    `checkpoint`.
    """
    running = session or find_session(get_default_graph())
    file = open_tensors(path)
    plan = restore_plan(running, file, renamed, scope) if dry_run \
        else session_state.restore(running, file, renamed, partial, scope)
    if scope and not plan:
        names = [held.name for held in held_variables(running)]
        raise ValueError(f"the graph has no variables below {scope!r}{_other_scopes(scope, names)}")
    return RestoreView(file, plan, dry_run)


def save_checkpoint(path: Any, *, session: BaseSession | None = None, step: int | None = None) -> str:
    """Save the variables of a session as `tf.train.Saver` does, without adding ops to the graph. Returns the prefix.

    step: what is appended to `path`. The checkpoint is entered in the directory's file "checkpoint"; none is removed,
    and no meta graph is written. Raises NoSessionError; FailedPreconditionError for a variable without a value.
    """
    return session_state.save(session or find_session(get_default_graph()), path, step)
