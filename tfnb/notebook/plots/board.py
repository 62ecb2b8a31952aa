"""Live plots: boards that draw the scalars, histograms and pictures that training reports, while it runs.

Protocol with the front end (`extension/`), widget kind "live": trait `state` has title, tags [{name, color_index}, and
group where runs are compared, share where panels have one scale], ridges and pictures (the same), smoothing, x ("step"
"time" or "share"), grid (panels side by side, 0 for as many as fit), marks [[step, seconds, kind, text, colour or -1]]
and empty (said while there is nothing); where there may be other runs others_shown and others [{name, group}], whose
points are those of the tags OTHERS and on. Custom messages:
    {type: "points", tag, start}    the points of state.tags[tag] from index `start` on are the (step, value, seconds)
                                    of float32 in the buffer; 0 replaces all
    {type: "ridge", ridge, low, high, steps, top}   the histograms of state.ridges[ridge]: a row of float32 for each
                                    step; top: the count that 1 is
    {type: "pictures", picture, steps}          the PNG files of state.pictures[picture], a buffer for each step
    {type: "reset"}                 all points are gone
and back: {type: "ready"}: a view was made, or lost points; it gets everything again.
          {type: "look", smoothing, x, others}: the reader chose these.
          {type: "zoom", range}: of the x axis; {type: "detail", tag, range} with the points within it comes back.
          {type: "error", message}: something failed in the browser; it is logged.
"""
from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, astuple, replace
from posixpath import basename
from typing import Any

import numpy as np

from tfnb.core import taps
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.page import page_script
from tfnb.notebook.frontend.settings import settings
from tfnb.notebook.frontend.widget import make_widget, with_widget
from tfnb.notebook.plots import panels
from tfnb.notebook.plots.board_data import BoardData
from tfnb.notebook.plots.board_messages import OTHERS, Frames, Message
from tfnb.notebook.plots.figure import draw
from tfnb.notebook.plots.recorder import Recorder
from tfnb.notebook.plots.sender import Sender
from tfnb.notebook.plots.style import Look

MAX_HZ = 10.0
HINTS = 8                   # tags told where none matches
SVG_COLUMNS = 140
PAPER_COLUMNS = 2000
RICH_EVERY = 1.0            # seconds between histograms and pictures
UNHEARD_EVERY = 0.5         # seconds between full frames to a front end that never said "ready": its kernel is busy

log = logging.getLogger(__name__)
RECORDER = Recorder()
record = RECORDER.reporter()
SENDER = Sender()
_numbers = itertools.count(1)


class LiveBoard(BoardData):
    """Curves, histograms and pictures whose tags match, drawn while the kernel works; made by `live`.

    tags: names or patterns ("loss", "train/*"), none for all; runs: the same of runs; hz: frames a second, at most 10;
    smooth: weight of the running mean, in [0, 1); x, grid, hist, apart: as for `live`. Raises ValueError for numbers
    out of range.
    """

    def __init__(self, *tags: str, runs: Iterable[str] = (), hz: float = 5.0, smooth: float = 0.6, title: str = "",
                 x: str = "step", grid: int = 0, hist: bool = False, apart: bool = False,
                 recorder: Recorder = RECORDER) -> None:
        if not 0 < hz <= MAX_HZ:
            raise ValueError(f"hz must be above 0 and at most {MAX_HZ:g}, not {hz!r}")
        super().__init__(tags, tuple(runs), Look(smooth, x, grid, hist, apart), recorder)
        self.hz, self.title = hz, title
        self.display_id = f"tfnb-live-{next(_numbers)}-{id(self):x}"
        self.widget: Any | None = None
        self.cell: Hashable = None              # the cell that shows it
        self._frames = Frames()                 # what the browser has
        self._next_rich = 0.0
        self._heard = False
        self._told = self._drawn = -1           # how many values the browser and the saved form know of
        self._next = self._next_full = 0.0
        self.shown_in: int | None = None
        self._lock = threading.RLock()          # a "ready" may come in any thread

    @property
    def state(self) -> dict[str, Any]:
        """The style: smooth, x, grid, hist, apart and others. May be assigned, in part, while it is on display.

        Raises ValueError for other words and for numbers out of range.
        """
        return asdict(self.look)

    @state.setter
    def state(self, state: Mapping[str, Any]) -> None:
        """Draw it otherwise; words that are left out stay as they are."""
        unknown = [word for word in state if word not in self.state]
        if unknown:
            raise ValueError(f"the state of a board has {', '.join(self.state)}, not {', '.join(unknown)}")
        with self._lock:
            self.look = replace(self.look, **state)
            self._told = self._drawn = -1
        SENDER.wake()

    def figure(self, columns: int | None = None, smooth: float | None = None) -> Any:
        """A matplotlib Figure of the same data, `columns` panels side by side: `board.figure().savefig("loss.pdf")`.

        columns: by default `grid` of the board, or 2; smooth: by default that of the board. Curves of more than 4000
        points are thinned to their extremes.
        """
        self.recorder.file(everything=True)
        look = self.look
        return draw(panels.by_panel(self.curves(PAPER_COLUMNS)), self.histograms(), self.pictures(),
                    look.smooth if smooth is None else smooth, columns or look.grid or panels.ACROSS, look.x)

    # forms

    def svg(self) -> str:
        """The plot as it is now, as SVG."""
        self.recorder.file(everything=True)
        return panels.svg(self.curves(), title=self.title, smoothing=self.look.smooth, ridges=self.histograms(),
                          pictures=self.pictures(), x=self.look.x, across=self.look.grid, empty=self._empty_text(),
                          marks=self.marks())

    def __repr__(self) -> str:
        self.recorder.file(everything=True)
        return panels.text(self.curves(), self.title, ridges=self.histograms(), pictures=self.pictures(),
                           empty=self._empty_text(), marks=self.marks())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> shell.Bundle:
        return with_widget({"text/plain": repr(self), "image/svg+xml": self.svg()}, self.widget, self._script)

    def _script(self, forms: Mapping[str, str]) -> str:
        return page_script(forms["image/svg+xml"], numbers=panels.numbers(self.curves(), self.look.x))

    def _ipython_display_(self) -> None:
        shell.show_once(self)

    def show(self) -> LiveBoard:
        """Show the board in the running cell and keep it up to date. Returns itself."""
        self.recorder.file(everything=True)
        if shell.has_front_end() and self.widget is None:
            self.widget = make_widget("live", self._state())
            if self.widget is not None:
                self.widget.on_msg(self._on_message)
        SENDER.open(self)
        self._drawn = self._count()
        if shell.note_shown(self):
            self.cell = shell.running
            shell.show(self._repr_mimebundle_(), self.display_id)
        return self

    def settle(self) -> None:
        """Write the present state into the saved notebook (a terminal prints it), if there is something new."""
        self.recorder.file(everything=True)
        count = self._count()
        if count != self._drawn:
            self._drawn = count
            shell.update(self._repr_mimebundle_(), self.display_id)

    def record(self, values: Mapping[str, Any] | None = None, /, *, step: float | None = None, run: str = "",
               **more: Any) -> None:
        """As the function `record`."""
        self.recorder.reporter(run)(values, step=step, **more)

    def close(self) -> None:
        """Stop updating. What is shown stays as it is."""
        SENDER.close(self)
        self.settle()

    def clear(self) -> None:
        """Forget what was recorded, for all boards."""
        self.recorder.clear()
        for board in {self, *open_boards()}:
            board._forget()

    def _forget(self) -> None:
        with self._lock:
            self._frames.forget()
            self._keys.clear()
            self._told = -1
            if self.widget is not None:
                self.widget.send({"type": "reset"})

    # the browser

    def _state(self) -> dict[str, Any]:
        names, found = self._named()
        tags = [{"name": short, "color_index": color, "group": group} if group else
                {"name": name, "color_index": color} for name, (group, short, color) in
                zip(names, self._looks(), strict=True)]
        if self.look.apart:
            tags = [{**tag, "share": series.tag} if "group" in tag else tag
                    for tag, series in zip(tags, found, strict=True)]
        called = self._namer()
        more = {name: [{"name": called(*key), "color_index": place} for place, (key, _) in enumerate(self._rich(kind))]
                for name, kind in (("ridges", "ridge"), ("pictures", "pictures"))}
        look = {"smoothing": self.look.smooth, "x": self.look.x, "grid": self.look.grid}
        if self.find_others is not None:
            look |= {"others_shown": self.look.others,
                     "others": [{"name": basename(series.run), "group": panels.group_of(series.tag)}
                                for series in self.others()]}
        return {"title": self.title, "tags": tags, **look, "marks": [list(astuple(mark)) for mark in self.marks()],
                "empty": "" if tags or any(more.values()) else self._empty_text(), **more}

    def answer(self, content: Any) -> None:
        """Take a message of the browser, for a view that this board is part of, and send what is new at once."""
        self._on_message(self.widget, content, [])
        self._next = self._next_rich = 0.0
        self.tick(time.monotonic())

    def _on_message(self, _widget: Any, content: Any, _buffers: Any) -> None:
        kind = content.get("type") if isinstance(content, Mapping) else None
        if kind == "look":
            with suppress(ValueError, TypeError):           # from a page: it may say anything
                known = {"smoothing": self.look.smooth, "x": self.look.x, "others": self.look.others, **content}
                self.state = {"smooth": float(known["smoothing"]), "x": known["x"], "others": bool(known["others"])}
        elif kind == "zoom":
            with suppress(ValueError, TypeError):
                low, high = map(float, content["range"])
                self._detail((low, high))
        elif kind == "error":
            log.error("in the browser: %s", content.get("message", ""))
        elif kind == "ready":
            with self._lock:
                self._heard = True
                self._frames.forget()
                self._told = -1
                self._next = self._next_rich = 0.0
            SENDER.wake()

    def tick(self, now: float) -> None:
        """Send what is new, if it is time (seconds of `time.monotonic`). The sender thread calls this."""
        count = self._count()
        if now < self._next or count == self._told:
            return
        if self.widget is not None:
            self._next = now + 1 / self.hz
            self._told = count if self._send(self.widget, now) else -1
        elif shell.has_front_end():
            self._next = now + 1.0              # without a widget a frame is a whole picture: once a second will do
            self._told = self._drawn = count
            shell.update(self._repr_mimebundle_(), self.display_id)

    def _send(self, widget: Any, now: float) -> bool:
        """Send what is new. False if histograms and pictures, once a second, have yet to follow."""
        with self._lock:
            if not self._heard and now >= self._next_full:
                self._next_full = now + UNHEARD_EVERY
                self._frames.forget()
            state = self._state()
            if state != widget.state:
                widget.state = state
            for content, pairs in self.frames():
                widget.send(content, buffers=[pairs.tobytes()])
            if now < self._next_rich:
                return False
            self._next_rich = now + RICH_EVERY
            for content, buffers in self.rich_frames():
                widget.send(content, buffers=buffers)
            return True

    def _detail(self, bounds: tuple[float, float]) -> None:
        """Send the points that a plot lacks which is zoomed to bounds of its x axis."""
        found, others = self.series(), self.others()
        with self.recorder.lock:
            messages = self._frames.details(found, self._began, bounds, self.look.x)
            messages += self._frames.details(others, lambda _: 0.0, bounds, self.look.x, OTHERS)
        if self.widget is not None:
            for content, pairs in messages:
                self.widget.send(content, buffers=[pairs.tobytes()])

    def rich_frames(self) -> list[tuple[Message, list[bytes]]]:
        """The messages, with their buffers, of the histograms and pictures that changed since they were sent last."""
        with self.recorder.lock:
            return [message for kind in ("ridge", "pictures") for message in self._frames.rich(kind, self._rich(kind))]

    def frames(self) -> list[tuple[Message, np.ndarray]]:
        """The messages, with their points, that bring the browser up to date with what `frames` gave before."""
        found, others = self.series(), self.others()
        with self.recorder.lock:
            return self._frames.curves(found, self._began) + self._frames.curves(others, lambda _: 0.0, OTHERS)


def live(*tags: str, runs: Iterable[str] = (), hz: float | None = None, smooth: float = 0.6, title: str = "",
         x: str = "step", grid: int = 0, hist: bool = False, apart: bool = False) -> LiveBoard:
    """Plot what training reports under the tags that match, here, while the kernel works. Shows the board, returns it.

    Scalars, histograms and images come from summaries that are fetched or written to event files, and from `record`.
    Boards draw all that was recorded before, too.
    tags: names or patterns ("loss", "train/*"), none for all that come; runs: the same of runs (folders of event
    files, `%%train --run NAME`), of which several are compared; hz: frames a second, at most 10, by default
    `settings.live_hz`; smooth: weight of the running mean, in [0, 1), 0 for none. x: "step", or "time" for the seconds
    since each run began; grid: panels side by side, 0 for as many as fit; hist: only histograms; apart: a panel of its
    own for each run, side by side in one scale. Raises ValueError for numbers out of range.
    """
    return LiveBoard(*tags, runs=runs, hz=settings.live_hz if hz is None else hz, smooth=smooth, title=title, x=x,
                     grid=grid, hist=hist, apart=apart).show()


def listen() -> None:
    """Take the scalars of all summaries that are fetched or written from now on."""
    taps.on_summary = RECORDER.summary


def open_boards() -> list[LiveBoard]:
    """The boards that are kept up to date."""
    return [board for board in SENDER.boards if isinstance(board, LiveBoard)]


def close_boards_of(cell: Hashable) -> None:
    """The cell runs again or was deleted: what it showed is gone from the page, and need not be fed any more."""
    for board in list(SENDER.boards):
        if cell is not None and getattr(board, "cell", None) == cell:
            SENDER.close(board)
            widget = getattr(board, "widget", None)
            if widget is not None:
                widget.close()


def settle_boards() -> None:
    """A cell ended: bring the saved form of each open board up to date."""
    RECORDER.new_cell()
    for board in open_boards():
        board.settle()
