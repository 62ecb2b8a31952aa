"""%tfnb: what there is, and how this notebook stands: stale cells, variables without a value, sessions, trainings.

Protocol with the front end, widget kind "start": trait `state` has lines [[text, label of a button or "", its name]],
cells (the ids of those that lines name), groups [[title, [[magic, what it does]]]], note, and sheet (null, or the table
of runs that was asked for). Back comes {type: "do", name: "stale" | "init" | "stop" | "runs" | "run ID"} or
{type: "sheet", message}.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

from tfnb.core.options import has_compiler
from tfnb.core.text import counted, listed
from tfnb.graph.stack import get_default_graph
from tfnb.notebook.cells.marks import Orphan
from tfnb.notebook.frontend.fetch import find_session, open_sessions
from tfnb.notebook.frontend.locations import cells_in, linked
from tfnb.notebook.frontend.settings import settings
from tfnb.notebook.frontend.widget import ActingView
from tfnb.notebook.ownership.hooks import active
from tfnb.notebook.ownership.rerun import run_stale, stale
from tfnb.notebook.plots.active_runs import active_runs
from tfnb.notebook.run_store.runs_view import RunsView, newest, sentence
from tfnb.notebook.state.initialize import initialize, variables_of, without_value
from tfnb.notebook.state.tables_view import Inside

FEW_RUNS = 3
FEW = 6                 # names in a line
Groups = Sequence[tuple[str, Sequence[tuple[str, str]]]]


class StartPage(ActingView):
    """The start page; made by `%tfnb`. groups: title -> the magics under it, each with a sentence."""

    kind = "start"

    def __init__(self, groups: Groups = ()) -> None:
        super().__init__()
        self.groups = groups
        if (hooks := active()) is not None:
            hooks.badges.listeners.add(self)
        self.runs: RunsView | None = None
        count, self._newest = newest(FEW_RUNS)
        head = f"{counted(count, 'training')} kept in {settings.runs_folder}", "All of them", "runs"
        self._kept = [head] * bool(count)
        self._kept += [(sentence(run), "Draw it", f"run {run.folder.name}") for run in self._newest]

    def update(self) -> None:
        """Cells have become stale, or run again."""
        if self.widget is not None:
            self.tell()

    def lines(self) -> list[tuple[str, str, str]]:
        """Return the state of the notebook: (text, label of the button that changes it, name of that)."""
        graph = get_default_graph()
        ops, variables = len(graph.get_operations()), len(variables_of(graph))
        found = [(f"The graph has {counted(ops, 'op')} and {counted(variables, 'variable')}.", "", "")]
        old = [cell for cell in stale() if not isinstance(cell.key, Orphan)]      # as the badges count
        if old:
            labels = " ".join(cell.label for cell in old)
            found.append((f"{counted(len(old), 'cell')} must run again: {labels}",
                          f"Run {counted(len(old), 'stale cell')}", "stale"))
        if not has_compiler():
            found.append(("Runs are interpreted by NumPy: llvmlite, which compiles kernels, is not installed.", "", ""))
        found += self._sessions()
        for run in active_runs():
            found.append((f"The training {run.name!r} is {run.status} at step {run.steps:,}.", "Stop it", "stop"))
        return found + self._kept

    @staticmethod
    def _sessions() -> list[tuple[str, str, str]]:
        sessions = open_sessions(get_default_graph())
        if not sessions:
            return [("No session is open: sess = tf.InteractiveSession() makes one.", "", "")]
        found = [(f"{counted(len(sessions), 'session')} open: {', '.join(list(sessions)[:FEW])}", "", "")]
        for name, session in sessions.items():
            empty = [each.op.name for each in without_value(session)]
            if empty:
                text = f"{counted(len(empty), 'variable')} without a value in {name}: {listed(empty, FEW)}"
                found.append((text, "Initialize" if len(sessions) == 1 else "", "init"))
        return found

    def widget_state(self) -> dict[str, Any]:
        """See the module's docstring."""
        lines = self.lines()
        return {"lines": [list(line) for line in lines], "note": self.note,
                "cells": cells_in(" ".join([text for text, _, _ in lines])),
                "sheet": self.runs.widget_state() if self.runs is not None else None,
                "groups": [[title, [list(pair) for pair in pairs]] for title, pairs in self.groups]}

    def acts(self) -> Mapping[Any, Callable[[], str]]:
        """The buttons of the lines."""
        return {"stale": lambda: run_stale().head(), "init": _initialize, "stop": _stop, "runs": self._show_runs,
                **{f"run {run.folder.name}": partial(self._show_runs, run.folder.name) for run in self._newest}}

    def _show_runs(self, *drawn: str) -> str:
        """Put the table of runs into the page, with these drawn."""
        self.runs = RunsView()
        self.runs.widget = Inside(self)
        if drawn:
            self.runs.compare(*drawn)
        return ""

    def hear(self, message: Mapping[str, Any]) -> None:
        """A button was pressed, here or in the table of runs."""
        inner = message.get("message")
        if message.get("type") == "sheet" and self.runs is not None and isinstance(inner, Mapping):
            self.runs.hear(inner)
        else:
            super().hear(message)

    def forms(self) -> dict[str, str]:
        """The page as text and as HTML."""
        return {"text/plain": self._text(), "text/html": self._html()}

    def _text(self) -> str:
        wide = max((len(magic) for _, pairs in self.groups for magic, _ in pairs), default=0)
        found = [text for text, _, _ in self.lines()]
        for title, pairs in self.groups:
            found += ["", title, *(f"  {magic:{wide}}  {what}" for magic, what in pairs)]
        return "\n".join([*found, "", "%tfnb help NAME tells of one of them, --help behind a magic of its options."])

    def _html(self) -> str:
        lines = "".join(f"<li>{linked(text)}</li>" for text, _, _ in self.lines())
        cell = "text-align: left; padding: 2px 14px 2px 0; vertical-align: top"
        rows = "".join(
            f'<tr><th colspan="2" style="{cell}; padding-top: 8px">{escape(title)}</th></tr>' + "".join(
                f'<tr><td style="{cell}"><code>{escape(magic)}</code></td><td style="{cell}">{escape(what)}</td></tr>'
                for magic, what in pairs) for title, pairs in self.groups)
        return (f'<div style="font: 13px system-ui, sans-serif"><ul style="margin: 0 0 6px 18px">{lines}</ul>'
                f'<table style="border-collapse: collapse">{rows}</table></div>')


def _initialize() -> str:
    done = initialize(find_session(get_default_graph()))
    if (hooks := active()) is not None:
        hooks.look_again()
    return f"initialized: {', '.join(done) or 'all have values'}"


def _stop() -> str:
    return "; ".join(f"{run.name} ended at step {run.stop('by its button').steps:,}" for run in active_runs())
