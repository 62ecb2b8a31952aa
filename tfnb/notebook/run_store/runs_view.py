"""`runs`: the trainings that are kept on disk as a table, and the curves of those that are chosen over one another."""
from __future__ import annotations

import operator
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.core.text import counted, did_you_mean
from tfnb.notebook.plots.board import LiveBoard
from tfnb.notebook.plots.panels import number
from tfnb.notebook.plots.recorder import Recorder
from tfnb.notebook.plots.style import Look
from tfnb.notebook.plots.training import FAILED
from tfnb.notebook.run_store import run_folder
from tfnb.notebook.run_store.kept_run import KILLED, KeptRun
from tfnb.notebook.run_store.run_folder import find_run, kept_runs, root_of
from tfnb.notebook.run_store.train_panel import duration
from tfnb.notebook.state.tables import Cell, Column, Table, number_cell, words_cell
from tfnb.notebook.state.tables_view import Inside, SheetView

_pandas = lazy_module("pandas")

TAGS = 4                # of values that have columns
COLUMNS = [Column("draw", "draw its curves below"), Column("name"), Column("status"),
           Column("started", "when it began, by this machine's clock"),
           Column("steps", "how many were done", True), Column("time", "that it ran, without pauses", True),
           Column("rate", "the learning rate it ended with", True), Column("seed", "of the graph", True),
           Column("cells", "equal for runs of equal cells")]
COMPARE = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt, "=": operator.eq}
_condition = re.compile(r"(.+?)(<=|>=|<|>|=)(.+)").fullmatch


class RunsView(SheetView):
    """The kept runs that match, newest first; made by `runs`. A sequence of KeptRun."""

    def __init__(self, pattern: str = "", folder: str | Path | None = None, x: str = "step") -> None:
        super().__init__("runs")
        self.folder, self.filter, self.x = root_of(folder), pattern, x
        self.found: list[KeptRun] = []
        self.chosen: list[KeptRun] = []         # whose curves are drawn
        self.board: LiveBoard | None = None
        self._renamed = ""                      # the run that is being renamed
        self._deleted = 0                       # how many were, here
        self._sorted: tuple[int, bool] | None = None
        self._matches = conditions(pattern)
        self.refresh()

    # from code

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[KeptRun]:
        return iter(self.found)

    def __getitem__(self, which: int | str) -> KeptRun:
        return self.found[which] if isinstance(which, int) else find_run(self.found, which)

    def dicts(self) -> list[dict[str, Any]]:
        """A dict for each run: name, status, steps, rate, the last and the best of each value..."""
        return [run.as_dict() for run in self.found]

    def frame(self) -> Any:
        """A DataFrame of pandas, which must be installed: a row for each run."""
        return _pandas.DataFrame(self.dicts())

    def sort(self, column: str, descending: bool = False) -> RunsView:
        """Sort by the column of that title: "steps", "loss", "best loss"... Returns itself. Raises ValueError."""
        titles = [each.title for each in self.table("runs").columns] if self.tables else []
        if column not in titles:
            raise ValueError(f"the table has no column {column!r}{did_you_mean(column, titles)}; it has "
                             f"{', '.join(filter(None, titles)) or 'no rows'}")
        self._sort("runs", titles.index(column), descending)
        return self

    def _sort(self, name: str, column: int, descending: bool) -> None:
        super()._sort(name, column, descending)
        self._sorted = self.table(name).sort

    def compare(self, *names: str) -> RunsView:
        """Draw the curves of these runs over one another, below the table; without names of all. Returns itself.

        Raises KeyError for a name that no run has.
        """
        self.chosen = [find_run(self.found, name) for name in names] if names else list(self.found)
        self._show()
        return self

    def rename(self, name: str, new: str) -> None:
        """Call a run otherwise. Raises KeyError, ValueError for an empty name and while it runs, OSError."""
        run_folder.rename(self[name], new)
        self.refresh()

    def delete(self, name: str) -> None:
        """Delete a run; `undo` takes it back. Raises KeyError, ValueError while it runs, OSError."""
        run = self[name]
        run_folder.delete(run)
        self._deleted += 1
        self.chosen = [each for each in self.chosen if each.folder != run.folder]
        self._show()

    def undo(self) -> str:
        """Take back the run that was deleted last. Returns its name, "" if there is none."""
        gone = run_folder.deleted_runs(self.folder)
        run = run_folder.restore(gone[0].folder) if gone else None
        self._deleted -= 1
        self.refresh()
        return run.name if run is not None else ""

    # the table

    def refresh(self) -> None:
        """Read the folder again."""
        every = kept_runs(self.folder)
        self.found = [run for run in every if all(test(run) for test in self._matches)]
        folders = {run.folder: run for run in self.found}
        self.chosen = [folders.get(run.folder, run) for run in self.chosen]
        tags = [tag for tag, _ in Counter(tag for run in self.found for tag in run.tags).most_common(TAGS)]
        self.tables = [self._table(tags)] if self.found else []
        self.buttons = [("undo", "Take back what was deleted")] if self._deleted > 0 else []
        where = self.folder.as_posix()
        more = f" of {len(every)}" if len(every) > len(self.found) else ""
        self.note = f"{len(self.found)}{more} in {where}/" if every else \
            f"none in {where}/ yet: each %%train makes one (%config Tfnb.keep_runs)"
        self.tell()

    def _table(self, tags: Sequence[str]) -> Table:
        values = [column for tag in tags for column in
                  (Column(tag, f"the last {tag}", True), Column(f"best {tag}", "and the step that it is of", True))]
        rows = [(run.folder.name, self._row(run, tags)) for run in self.found]
        made = Table("runs", [*COLUMNS, *values, Column("")], rows, pickable=False)
        made.sort = self._sorted if self._sorted is None or self._sorted[0] < len(made.columns) else None
        return made

    def _row(self, run: KeptRun, tags: Sequence[str]) -> list[Cell]:
        name = run.folder.name
        acts = (("rename", "✎", "Rename"), ("delete", "✕", "Delete"))
        drawn = next((i for i, each in enumerate(self.chosen) if each.folder == run.folder), None)
        cells = [Cell(check=int(drawn is not None), swatch=drawn if len(self.chosen) > 1 else None),
                 Cell(run.name, edit=f"New name of {run.name}" if name == self._renamed else ""),
                 Cell(run.status, bad=run.status in (FAILED, KILLED)),
                 Cell(when(run.started), run.started), number_cell(run.steps, 9),
                 Cell(duration(run.seconds), run.seconds), number_cell(run.rate), number_cell(run.seed, 12),
                 words_cell(run.sources_hash)]
        for tag in tags:
            last, best = run.last(tag), run.best(tag)
            cells += [number_cell(last[1]) if last else Cell(),
                      Cell(f"{number(best[1])} at {number(best[0])}", best[1]) if best else Cell()]
        return [*cells, Cell(acts=acts)]

    # the curves

    def _show(self) -> None:
        """Draw what is chosen: the browser must know of the panels before their values come."""
        self._draw()
        self.refresh()
        if self.board is not None:
            self.board.tick(time.monotonic())

    def _draw(self) -> None:
        """Make the board of the chosen runs."""
        if not self.chosen:
            self.board = None
            return
        recorder, known = Recorder(), Counter[str]()
        for run in self.chosen:
            known[run.name] += 1
            key = f"{run.key} ({known[run.name]})" if known[run.name] > 1 else run.key
            run.load(recorder, key)
        look = self.board.state if self.board is not None else {"smooth": 0.6, "x": self.x}
        self.board = LiveBoard(recorder=recorder)
        self.board.look = Look(**look)
        inside = Inside(self)
        inside.send({"type": "reset"})
        object.__setattr__(inside, "state", self.board._state())
        self.board.widget = inside

    def widget_state(self) -> dict[str, Any]:
        """The state that the browser shows."""
        live = self.board.widget.state if self.board is not None and self.board.widget is not None else None
        return super().widget_state() | {"filter": self.filter, "live": live}

    def forms(self) -> dict[str, str]:
        """The table, and the curves below it, as text and as HTML."""
        found = super().forms()
        if self.board is not None:
            found["text/plain"] += f"\n\n{self.board!r}"
            found["text/html"] += self.board.svg()
        return found

    # the browser

    def hear(self, message: Mapping[str, Any]) -> None:
        """Answer a request of the front end; what can't be done is said in the note."""
        kind, inner = message.get("type"), message.get("message")
        if kind == "live" and isinstance(inner, Mapping) and self.board is not None:
            self.board.answer(inner)
        elif kind == "filter":
            self._narrow(str(message.get("text", "")))
        else:
            super().hear(message)

    def _narrow(self, pattern: str) -> None:
        try:
            self._matches = conditions(pattern)
        except ValueError as problem:
            self.note = str(problem)
            self.tell()
            return
        self.filter = pattern
        self.refresh()

    def act(self, act: str, row: str) -> None:
        """A button or box in a row, or the one in the head, was pressed."""
        if act == "check":
            there = [run for run in self.chosen if run.folder.name != row]
            self.chosen = there if len(there) < len(self.chosen) else [*self.chosen, self._of(row)]
            self._show()
        elif act == "rename":
            self._renamed = "" if self._renamed == row else row
            self.refresh()
        elif act == "delete":
            self.delete(self._of(row).folder.name)
        elif act == "undo":
            self.undo()

    def edit(self, table: str, row: str, text: str) -> None:
        """A new name was typed."""
        self._renamed = ""
        self.rename(self._of(row).folder.name, text)

    def _of(self, row: str) -> KeptRun:
        for run in self.found:
            if run.folder.name == row:
                return run
        raise ValueError("that run is not there any more")


def conditions(pattern: str) -> list[Any]:
    """Tests that a run must pass, one for each word: `loss<0.1`, `status=done`, or a regular expression.

    Expressions are looked for in name, status and reason. Raises ValueError for what is none.
    """
    return [_test(word) for word in pattern.split()]


def _test(word: str) -> Any:
    found = _condition(word)
    if found is not None:
        name, sign, wanted = found.groups()
        return lambda run: _holds(run.as_dict().get(name), sign, wanted)
    try:
        search = re.compile(word, re.IGNORECASE).search
    except re.error as problem:
        raise ValueError(f"{word!r} is no regular expression: {problem}") from None
    return lambda run: any(map(search, (run.name, run.status, str(run.about.get("why", "")), run.sources_hash)))


def _holds(value: Any, sign: str, wanted: str) -> bool:
    if value is None:
        return False
    if isinstance(value, str):
        return sign == "=" and value == wanted
    try:
        return bool(COMPARE[sign](value, float(wanted)))
    except ValueError:
        return False


def when(seconds: float) -> str:
    """A time as a person says it: "14:05" today, "yesterday 14:05", "2026-11-20 14:05"."""
    if not seconds:
        return ""
    then, now = time.localtime(seconds), time.localtime()
    clock = time.strftime("%H:%M", then)
    if then[:3] == now[:3]:
        return clock
    yesterday = time.localtime(time.mktime(now) - 86400)
    return f"yesterday {clock}" if then[:3] == yesterday[:3] else time.strftime("%Y-%m-%d %H:%M", then)


def runs(pattern: str = "", folder: str | Path | None = None, *, sort: str = "", descending: bool = False,
         x: str = "step") -> RunsView:
    """The trainings that are kept on disk: a table to sort, filter and draw, and a sequence of them, newest first.

    pattern: words that each must hold: regular expressions for names, or conditions as "loss<0.1", "rate=0.01";
    folder: by default `settings.runs_folder`; sort: the title of a column; x: of the curves, "step", "time" or "share".
    Raises ValueError for what is no expression, and for an unknown column.

    >>> found = tf.notebook.runs("lenet", folder="no_such_folder")
    >>> len(found), found.dicts()
    (0, [])
    """
    view = RunsView(pattern, folder, x)
    return view.sort(sort, descending) if sort else view


def newest(count: int) -> tuple[int, list[KeptRun]]:
    """Return how many runs there are, and the newest of them."""
    found = kept_runs()
    return len(found), found[:count]


def sentence(run: KeptRun) -> str:
    """A run in a few words: "lenet, 14:05: done, 2,000 steps, loss 0.12"."""
    values = [f"{tag} {number(last[1])}" for tag in run.tags[:2] if (last := run.last(tag))]
    return f"{run.name}, {when(run.started)}: {', '.join([run.status, counted(run.steps, 'step'), *values])}"
