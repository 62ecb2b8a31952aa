"""Panel of a training: its progress, what it reported, and buttons where there is a browser.

Protocol with the front end, widget kind "train": trait `state` has title, status, note, done, total (null: no end),
facts (short texts), values [[tag, number text]], rate {name, value} or null, error {what, where} or null.
Back come {type: "pause"}, "resume", "step", "stop", and {type: "rate", value}.
"""
from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from tfnb.core.source import describe, innermost
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.widget import View
from tfnb.notebook.plots.board import SENDER
from tfnb.notebook.plots.panels import number
from tfnb.notebook.plots.training import FAILED, Run

WORDS = {"running": "#0072b2", "paused": "#8a5a00", "done": "#00845f", "stopped": "#5b6773", "failed": "#b3261e"}
MOST = 6                # values told
_numbers = itertools.count(1)


def no_lessons(error: BaseException) -> list[str]:
    """Return the lessons on an error: none, until lessons/teacher.py takes this place."""
    return []


explain: Callable[[BaseException], list[str]] = no_lessons


class TrainPanel(View):
    """The panel of one training."""

    kind = "train"
    hz = 5.0

    def __init__(self, run: Run, title: str = "") -> None:
        super().__init__()
        self.run, self.title, self.recorder = run, title or run.name or "training", run.recorder
        self.display_id = f"tfnb-train-{next(_numbers)}-{id(self):x}"
        self._next = 0.0
        self._failure: dict[str, str] | None = None     # what is said of the error of the run, once there is one
        self._told: Any = None                  # the state that the widget has,
        self._drawn: Any = None                 # and that of the forms in the cell, which are drawn less often
        self.shown_in: int | None = None
        run.on_change = SENDER.wake

    def show(self) -> TrainPanel:
        """Show it in the running cell, and keep it up to date until the training ends. Returns itself."""
        shell.note_shown(self)
        state = self.widget_state()             # once: a training that ends now must not be told as ended twice
        if self._told is None:                  # where it was shown before, it is still to be told of what is new
            self._told = self._drawn = state
        shell.show(self.bundle(forms(state)), self.display_id)
        SENDER.open(self)
        return self

    def tick(self, now: float) -> None:
        """Tell what is new, if it is time; at the end the last time."""
        ended = not self.run.active
        if not ended and now < self._next:
            return
        with self._lock:                        # who waits for the end tells of it, too: once is enough
            state = self.widget_state()
            self._next = now + (1 / self.hz if self.widget is not None else 1.0)
            if state != self._told:
                self._told = state
                self.tell()
            if state != self._drawn and (ended or self.widget is None and shell.has_front_end()):
                self._drawn = state
                shell.update(self.bundle(forms(state)), self.display_id)
        if ended:
            SENDER.close(self)

    def hear(self, message: Mapping[str, Any]) -> None:
        """A button was pressed or the slider was moved."""
        run, kind = self.run, message.get("type")
        if kind == "rate":
            value = message.get("value")
            if run.rate is not None and isinstance(value, (int, float)) and value >= 0:
                run.set_rate(value)
        elif kind == "step":
            run.step(wait=False)
        elif kind == "pause":
            run.pause()
        elif kind == "resume":
            run.resume()
        elif kind == "stop":
            run.stop("by its button", wait=False)
        SENDER.wake()

    def widget_state(self) -> dict[str, Any]:
        """See the module's docstring."""
        run = self.run
        rate = {"name": run.rate.name, "value": run.rate.value} if run.rate is not None else None
        return {"title": self.title, "status": run.status, "note": self._note(), "done": run.steps,
                "total": run.total, "facts": [_count(run), *_pace(run)], "rate": rate,
                "values": [[tag, _number(value)] for tag, value in [*run.last.items()][:MOST]], "error": self._error()}

    def _note(self) -> str:
        run = self.run
        notes = [run.why] if run.why and run.status != FAILED else []
        if run.held and run.active:
            notes.append("held while a cell makes ops of its graph again")
        if run.saved:
            notes.append(f"saved as {run.saved}")
        unkept = run.unkept or (run.keeper.problem if run.keeper is not None else "")
        if unkept:
            notes.append(unkept)
        return "; ".join(notes)

    def _error(self) -> dict[str, str] | None:
        error = self.run.error
        if error is not None and self._failure is None:
            lessons = "".join(f"\n{told}" for told in explain(error))
            self._failure = {"what": f"{type(error).__name__}: {error}{lessons}", "where": place_of(error)}
        return self._failure

    def forms(self) -> dict[str, str]:
        """The panel as text and as HTML."""
        return forms(self.widget_state())


def place_of(error: BaseException) -> str:
    """The innermost line of a cell that an error went through, else the innermost line."""
    frames = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    return describe(tuple(reversed(frames))) if innermost(tuple(frames)) else ""


def forms(state: Mapping[str, Any]) -> dict[str, str]:
    """A state as text and as HTML."""
    return {"text/plain": text(state), "text/html": html(state)}


def text(state: Mapping[str, Any]) -> str:
    """One line; with an error two more."""
    line = f"{state['title']}: {state['status']} · {_line(state)}"
    return f"{line}\n{state['error']['what']}\nat {state['error']['where']}" if state["error"] else line


def _line(state: Mapping[str, Any]) -> str:
    rate = [f"{state['rate']['name']} = {number(state['rate']['value'])}"] if state["rate"] else []
    values = [f"{tag} {value}" for tag, value in state["values"]]
    return " · ".join([*state["facts"], *values, *rate, *[state["note"]] * bool(state["note"])])


def _count(run: Run) -> str:
    return f"step {run.steps:,}" + (f" of {run.total:,}" if run.total else "")


def _pace(run: Run) -> list[str]:
    speed = run.speed
    pace = [f"{float(f'{speed:.3g}'):,g} steps/s"] if speed else []
    if run.total and speed and run.active:
        pace.append(f"{duration((run.total - run.steps) / speed)} left")
    return pace


def duration(seconds: float) -> str:
    """As "40 ms", "12 s", "3 min 20 s", "2 h 5 min"."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    large, small, names = (whole // 60, whole % 60, "min s") if whole < 3600 else (whole // 3600, whole % 3600 // 60,
                                                                                 "h min")
    first, second = names.split()
    return f"{large} {first} {small} {second}"


def html(state: Mapping[str, Any]) -> str:
    """A bar and a line under it, for saved notebooks; nothing to press."""
    color = WORDS[state["status"]]
    share = 100 * state["done"] / state["total"] if state["total"] else 100 * (state["status"] == "done")
    bar = (f'<div style="background: #8884; border-radius: 3px; height: 6px; margin: 3px 0; max-width: 640px">'
           f'<div style="background: {color}; border-radius: 3px; height: 6px; width: {share:.1f}%"></div></div>')
    error = state["error"]
    failure = (f'<pre style="border-left: 3px solid {color}; margin: 4px 0; padding-left: 8px; white-space: pre-wrap">'
               f'{escape(error["what"])}\nat {escape(error["where"])}</pre>') if error else ""
    head = f'<b>{escape(state["title"])}</b> <span style="color: {color}">{state["status"]}</span>'
    return f'<div style="font: 12px system-ui, sans-serif">{head}{bar}{escape(_line(state))}{failure}</div>'


def _number(value: Any) -> str:
    try:
        return number(float(value))
    except (TypeError, ValueError, OverflowError):
        return str(value)[:20]
