"""%step: a run op by op, in a table of its ops with buttons, and a table of what the next one takes."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tfnb.core.describe import one_line
from tfnb.notebook.fetch import in_session
from tfnb.notebook.pill import pill_of
from tfnb.notebook.sheet import Cell, Column, Table
from tfnb.notebook.sheet_view import SheetView
from tfnb.runtime.session import BaseSession
from tfnb.runtime.stepper import Stepper

AROUND = 9              # ops shown before and after the next one
BUTTONS = [("step", "Step"), ("back", "Back"), ("go", "Go on"), ("restart", "Restart")]


class StepView(SheetView):
    """A Stepper as it is displayed; made by `step`. A click on an op goes there, forth or back."""

    def __init__(self, stepper: Stepper) -> None:
        super().__init__("Step")
        self.stepper = stepper
        self.buttons = list(BUTTONS)
        self._draw()

    def step(self, calls: int = 1) -> StepView:
        """Run so many ops. Returns the view."""
        return self._after(self.stepper.step(calls))

    def back(self, calls: int = 1) -> StepView:
        """Go back to before so many ops. Returns the view."""
        return self._after(self.stepper.back(calls))

    def go(self, until: str = "") -> StepView:
        """Go on to the next breakpoint, to the next op that `until` is found in the name of, or to the end."""
        return self._after(self.stepper.go(until))

    def restart(self) -> StepView:
        """Go back to the begin. Returns the view."""
        return self._after(self.stepper.restart())

    def value(self, name: str) -> np.ndarray:
        """The value that a tensor has now. Raises NotFoundError while it has none."""
        return self.stepper.value(name)

    def set(self, name: str, value: Any) -> StepView:
        """Let a tensor, a fed one or a variable have another value: what has run since runs again. Returns the view."""
        return self._after(self.stepper.set(name, value))

    def act(self, act: str, row: str) -> None:
        """A button was pressed."""
        moves = {"step": self.step, "back": self.back, "go": self.go, "restart": self.restart}
        if act in moves:
            moves[act]()

    def pick(self, table: str, row: str) -> None:
        """An op was clicked: go there. Raises ValueError for what is no place in the run."""
        if table != "ops":
            return
        if not row.isdecimal() or int(row) >= len(self.stepper.calls):
            raise ValueError(f"the run has {len(self.stepper.calls)} calls of ops, and no {row!r}")
        self.stepper.restart().step(int(row))
        self._draw()

    def _after(self, _stepper: Stepper) -> StepView:
        with self._lock:
            self._draw()
            self.tell()
        return self

    def _draw(self) -> None:
        here = self.stepper
        if here.error is not None:
            self.note = f"{here.op.name if here.op else ''} failed: {str(here.error).partition(chr(10))[0]}"
        elif here.op is None:
            self.note = f"the run is over: {here.position} ops"
        else:
            self.note = f"next is {here.op.name}, {here.position + 1} of {len(here.calls)}, made at {here.op.made_at}"
        self.tables = [self._ops(), self._takes(), *([self._changes()] if here.changes else [])]

    def _ops(self) -> Table:
        here = self.stepper
        first = max(0, min(here.position - AROUND, len(here.calls) - 2 * AROUND - 1))
        rows = []
        for i, op in list(enumerate(here.calls))[first:first + 2 * AROUND + 1]:
            stops = any(pattern.search(op.name) for pattern in here.breaks)
            made = here.values.get(op.outputs[0].name) if i < here.position and op.outputs else None
            mark = "▶" if i == here.position and here.op is not None else "●" if stops else ""
            rows.append((str(i), [Cell(mark), Cell(str(i + 1), float(i)), Cell(op.name), Cell(op.type),
                                  *_value_cells(made)]))
        columns = [Column("", "▶ is next, ● is a breakpoint"), Column("#", "", True), Column("op"), Column("type"),
                   Column("made", "the first output"), Column("")]
        return Table("ops", columns, rows, picked=str(here.position) if here.op is not None else "")

    def _takes(self) -> Table:
        here = self.stepper
        if here.op is None:
            fetches = here.result or []
            rows = [(str(i), [Cell("fetched"), Cell(str(i)), *_value_cells(a)]) for i, a in enumerate(fetches)]
        else:
            rows = [(str(i), [Cell("takes"), Cell(tensor.name), *_value_cells(array)])
                    for i, (tensor, array) in enumerate(here.inputs)]
        return Table("takes", [Column(""), Column("tensor"), Column("value"), Column("")], rows,
                     title=f"{here.op.name} takes" if here.op is not None else "Fetched", pickable=False)

    def _changes(self) -> Table:
        rows = [(str(i), [Cell(c.tensor.name), *_value_cells(c.value)]) for i, c in enumerate(self.stepper.changes)]
        return Table("changes", [Column("tensor"), Column("value"), Column("")], rows, title="Changed", pickable=False)


def _value_cells(array: np.ndarray | None) -> list[Cell]:
    if array is None:
        return [Cell(), Cell()]
    pill = pill_of(array)
    drawn = (pill.counts,) if pill is not None and array.size > 1 else ()
    return [Cell(one_line(array), bad=pill is not None and bool(pill.bad)), Cell(hist=drawn)]


def step(*fetches: Any, feed: Mapping[Any, Any] | None = None, session: BaseSession | None = None,
         breaks: str | Iterable[str] = ()) -> StepView:
    """Go through a run of `fetches` op by op, on a copy of the session's values.

    feed: tensor or name -> value. breaks: regular expressions of the names of ops before which `go` stops.

    Raises NoSessionError if it is not clear which session, KeyError for a name that is not there, ValueError for a
    wrong expression, and what `Session.run` raises for wrong feeds.
    """
    chosen, wanted, fed = in_session(fetches, feed, session)
    stepper = Stepper(chosen._inspect(wanted, fed), breaks)
    return StepView(stepper.go() if stepper.breaks else stepper)
