"""Stale cells, running them again, and taking a run back: `%stale`, `%stale run` and `%graph undo`.

No front end has a way for a kernel to ask that another cell be run. So `run_stale` runs the text that ran last, here
in the kernel, and sends what it prints and shows under the name of the request that the cell was run by: JupyterLab
and Notebook put that into the cell itself, in place of its old output. Where no ids of cells are known the output
stays with the cell that asked. What was typed into a cell since it ran last is not known here, and does not run.
"""
from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from html import escape
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.core.stale import StaleTensorError
from tfnb.core.text import counted
from tfnb.notebook.cells.marks import Orphan
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.badge import FRESH_COLOR, STALE_COLOR
from tfnb.notebook.frontend.locations import cells_in, linked
from tfnb.notebook.frontend.widget import ActingView
from tfnb.notebook.ownership.badges import Source
from tfnb.notebook.ownership.hooks import Hooks, active
from tfnb.notebook.plots.active_runs import active_runs

_display = lazy_module("IPython.display")


@dataclass(frozen=True, slots=True)
class StaleCell:
    """A cell that must be run again: `label` as messages call it, why, and the labels of the cells to run, in order."""

    key: Hashable
    label: str
    why: str
    run: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StaleCells:
    """The stale cells, in the order of the notebook; ran: the labels of those that were run again just now; done: the
    variables that got their first values then; waits: the reason why the rest was not run, if there is one."""

    cells: tuple[StaleCell, ...] = ()
    ran: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    waits: str = ""

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[StaleCell]:
        return iter(self.cells)

    def head(self) -> str:
        """The list in one line."""
        parts = [f"ran {' '.join(self.ran)} again"] if self.ran else []
        parts += [f"initialized {', '.join(self.done)}"] if self.done else []
        parts += [counted(len(self.cells), "stale cell") if self.cells else "no cell is stale"]
        return "; ".join([*parts, *([self.waits] if self.waits else [])])

    def __repr__(self) -> str:
        lines = [f"{cell.label}  {cell.why} - run {' '.join(cell.run) or 'it'}" for cell in self.cells]
        return "\n".join([self.head(), *lines])

    def _repr_html_(self) -> str:
        mark, color = ("⚠", STALE_COLOR) if self.cells else ("●", FRESH_COLOR)
        rows = "".join(f"<tr><td style='text-align:left'><b>{linked(cell.label)}</b></td>"
                       f"<td style='text-align:left'>{linked(cell.why).replace(' -&gt; ', ' → ')}</td>"
                       f"<td style='text-align:left'>run {linked(' '.join(cell.run) or 'it')}</td></tr>"
                       for cell in self.cells)
        table = f"<table><tr><th>cell</th><th style='text-align:left'>why</th><th></th></tr>{rows}</table>"
        return (f'<div style="font: 13px system-ui, sans-serif"><span style="color: {color}" aria-hidden="true">{mark}'
                f"</span> {escape(self.head())}</div>" + (table if rows else ""))


class StaleView(ActingView):
    """The stale cells as `%stale` shows them: while a front end shows it, the list is that of now, with a button."""

    kind = "start"

    def __init__(self) -> None:
        super().__init__()
        self.cells = stale()
        if (hooks := active()) is not None:
            hooks.badges.listeners.add(self)

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[StaleCell]:
        return iter(self.cells)

    def forms(self) -> dict[str, str]:
        """The list as text and as HTML."""
        return {"text/plain": repr(self.cells), "text/html": self.cells._repr_html_()}

    def update(self) -> None:
        """Cells have become stale, or run again."""
        self.cells = stale()
        self.tell()

    def widget_state(self) -> dict[str, Any]:
        """See start_page.py: no groups here."""
        head, *rest = repr(self.cells).splitlines()
        button = f"Run {counted(len(self.cells), 'stale cell')}" if rest else ""
        lines = [[head, button, "stale"], *([line.replace(" -> ", " → "), "", ""] for line in rest)]
        return {"lines": lines, "groups": [], "note": self.note, "sheet": None, "cells": cells_in(" ".join(rest))}

    def acts(self) -> Mapping[Any, Callable[[], str]]:
        """The button."""
        return {"stale": lambda: run_stale().head()}


def stale() -> StaleCells:
    """The stale cells of this notebook, each with the reason. None outside of a notebook."""
    hooks = active()
    return StaleCells(tuple(_stale_cells(hooks)) if hooks else ())


def _stale_cells(hooks: Hooks) -> list[StaleCell]:
    cells = hooks.cells
    found = [StaleCell(key, cells.labels.get(key, f"{key.name!r}" if isinstance(key, Orphan) else str(key)), mark.why,
                       cells.named(mark.run)) for key, mark in cells.marks.items()]
    return sorted(found, key=lambda cell: cells.values.place(cell.key))


def run_stale() -> StaleCells:
    """Run the stale cells again, in the order of the notebook, until none is left that can be: see the module.

    A cell that is stale only because it uses ops of another stale one is fresh again once that has run, if dtypes and
    shapes are what they were; then it does not run. One that needs a stale cell below it (the initializer of all
    variables, one of which is made there) runs after that. Variables that a cell makes anew get their first values, in
    the sessions where others have theirs; what has a value keeps it. While a training goes on no `%%train` cell runs:
    two would train the same variables at the same time.

    Returns what is left stale. Raises RuntimeError if a cell fails or was interrupted, if it awaits something while a
    loop is running (run it by hand), and if the cell that asks has made ops itself.
    """
    hooks = active()
    if hooks is None:
        return StaleCells()
    ran: dict[Hashable, str] = {}
    done: dict[str, None] = {}
    waits: dict[Hashable, int] = {}         # cells that needed one which is stale -> how many had run by then
    told = ""
    with hooks.aside("%stale run"):
        while todo := [cell for cell in _stale_cells(hooks) if cell.key not in ran and cell.key in hooks.sources]:
            cell = min(todo, key=lambda cell: waits.get(cell.key, -1))
            if busy := _trains(hooks, cell):
                told = f"{cell.label} waits for the training {busy!r}"
                break
            try:
                _run_again(hooks, cell)
            except RuntimeError as error:
                if not isinstance(error.__cause__, StaleTensorError) or not _others_can(todo, waits, len(ran)):
                    raise
                waits[cell.key] = len(ran)
            else:
                ran[cell.key] = cell.label
                if new := hooks.initialize(cell.key):
                    done |= dict.fromkeys(new)
                    hooks.badges.show([cell.key])
    return StaleCells(tuple(_stale_cells(hooks)), tuple(ran.values()), tuple(done), told)


def _trains(hooks: Hooks, cell: StaleCell) -> str:
    """Return the training that goes on, if the cell would begin another one; "" if there is none."""
    others = [run.name for run in active_runs() if run.cell != cell.key]
    return others[0] if others and hooks.sources[cell.key].code.lstrip().startswith("%%train") else ""


def _others_can(todo: list[StaleCell], waits: dict[Hashable, int], ran: int) -> bool:
    """One of the other cells has not run into a stale one since the last that ended well."""
    return sum(waits.get(cell.key) != ran for cell in todo) > 1


def _run_again(hooks: Hooks, cell: StaleCell) -> None:
    ip, source = hooks.ip, hooks.sources[cell.key]
    code = ip.transform_cell(source.code)
    if ip.should_run_async(source.code, transformed_cell=code) and _loop_runs():
        raise RuntimeError(f"cell {cell.label} awaits something, so only the front end can run it: run {cell.label}, "
                           "then %stale run again")
    file = ip.compile.get_code_name(source.code, code, source.number + shell.counts_first())
    hooks.again[file] = cell.label
    try:
        with _in_its_place(ip, source):
            result = ip.run_cell(source.code, store_history=False, cell_id=cell.key)
    finally:
        del hooks.again[file]
        ip.compile.cache(code, source.number, raw_code=source.code)     # lines that errors show: those of this number
    error = result.error_before_exec or result.error_in_exec
    if error is not None:
        raise RuntimeError(f"cell {cell.label} failed: {type(error).__name__}: {error}") from error


@contextmanager
def _in_its_place(ip: Any, source: Source) -> Iterator[None]:
    """Redirect what is printed and shown to the cell of `source`, with numbers of its own."""
    count = ip.execution_count
    ip.execution_count = source.number + shell.counts_first()
    try:
        with shell.in_place_of(source.parent, ip) if source.has_place else nullcontext():
            if source.has_place:
                _display.clear_output(wait=True)
            yield
    finally:
        ip.execution_count = count


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Undone:
    """Report of what was taken back."""

    what: str
    left: int

    def __repr__(self) -> str:
        more = f"{self.left} more can be undone" if self.left else "nothing more can be undone"
        return f"{self.what} was undone: graphs and names are as they were before; {more}"


def undo() -> Undone:
    """Take back the last run of a cell that made or removed ops, or the last deletion of one.

    Graphs, their collections, the stale marks, the default graph and the user's names of tensors are as they were
    before; values of variables stay. Raises LookupError if there is nothing to undo, RuntimeError if the cell that
    asks has made ops.
    """
    hooks = active()
    if hooks is None or not hooks.cells.journal.entries:
        raise LookupError("there is nothing to undo: no cell has made ops, or too long ago (%config Tfnb.undo_depth)")
    past = hooks.undo()
    return Undone(past.what, len(hooks.cells.journal.entries))
