"""Live plots: boards that draw the scalars, histograms and pictures that training reports, while it runs.

Protocol with the front end (`extension/`), widget kind "live": trait `state` has title, tags [{name, color_index}, and
group where runs are compared, share where panels have one scale], ridges and pictures (the same), smoothing, x ("step"
or "time"), grid (panels side by side, 0 for as many as fit) and empty (said while there is nothing). Custom messages:
    {type: "points", tag, start}    the points of state.tags[tag] from index `start` on are the (step, value, seconds)
                                    of float32 in the buffer; 0 replaces all
    {type: "ridge", ridge, low, high, steps}    the histograms of state.ridges[ridge]: a row of float32 for each step
    {type: "pictures", picture, steps}          the PNG files of state.pictures[picture], a buffer for each step
    {type: "reset"}                 all points are gone
and back: {type: "ready"}: a view was made, or lost points; it gets everything again.
          {type: "look", smoothing, x}: the reader chose these.
          {type: "error", message}: something failed in the browser; it is logged.
"""
from __future__ import annotations

import fnmatch
import itertools
import logging
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from posixpath import basename
from typing import Any

import numpy as np

from tfnb.core import taps
from tfnb.core.text import did_you_mean
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.settings import settings
from tfnb.notebook.frontend.widget import make_widget, with_widget
from tfnb.notebook.plots import panels
from tfnb.notebook.plots.board_messages import Frames, Message
from tfnb.notebook.plots.figure import draw
from tfnb.notebook.plots.media import Picture, Ridge, Sparse, ridge
from tfnb.notebook.plots.recorder import Key, Recorder
from tfnb.notebook.plots.sender import Sender
from tfnb.notebook.plots.series import Series, points
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


class LiveBoard:
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
        self.tags, self.runs, self.hz, self.title, self.recorder = tags, tuple(runs), hz, title, recorder
        self.look = Look(smooth, x, grid, hist, apart)
        self.display_id = f"tfnb-live-{next(_numbers)}-{id(self):x}"
        self.widget: Any | None = None
        self.cell: Hashable = None              # the cell that shows it
        self._keys: list[Key] = []              # what was shown, in the order it came: colours stay
        self._frames = Frames()                 # what the browser has
        self._next_rich = 0.0
        self._heard = False
        self._told = self._drawn = -1           # how many values the browser and the saved form know of
        self._next = self._next_full = 0.0
        self.shown_in: int | None = None
        self._lock = threading.RLock()          # a "ready" may come in any thread

    @property
    def state(self) -> dict[str, Any]:
        """The style: smooth, x, grid, hist and apart. May be assigned, in part, while it is on display.

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

    # what is plotted

    def series(self) -> list[Series]:
        """The recorded series that the board shows, in the order they first came."""
        with self.recorder.lock:
            for key in self.recorder.series:
                if key not in self._keys and self._wants(*key):
                    self._keys.append(key)
            return [self.recorder.series[key] for key in self._keys
                    if key in self.recorder.series and not self.look.hist]

    def _wants(self, run: str, tag: str) -> bool:
        return _matches(self.runs, run, basename(run)) and _matches(self.tags, tag, f"{basename(run)}/{tag}")

    def histograms(self) -> list[tuple[str, Ridge]]:
        """Name and histograms over time of each tag that has them."""
        with self.recorder.lock:
            name = self._namer()
            return [(name(*key), ridge(kept)) for key, kept in self._rich("ridge")]

    def pictures(self) -> list[tuple[str, float, Picture]]:
        """Name, step and newest picture of each tag that has them."""
        with self.recorder.lock:
            name = self._namer()
            return [(name(*key), *kept.items(1)[-1]) for key, kept in self._rich("pictures")]

    def _rich(self, kind: str) -> list[tuple[Key, Sparse[Any]]]:
        table: dict[Key, Any] = self.recorder.histograms if kind == "ridge" else \
            self.recorder.pictures if not self.look.hist else {}
        with self.recorder.lock:
            return [(key, kept) for key, kept in table.items() if self._wants(*key)]

    def _namer(self) -> Callable[[str, str], str]:
        """Return the label of (run, tag): the tag, with the name of the run before it where several runs are shown."""
        several = len(self._shown_runs()) > 1
        return lambda run, tag: f"{basename(run)}/{tag}" if run and several else tag

    def _shown_runs(self) -> list[str]:
        """The runs that are shown, in the order they came."""
        tables = self.recorder.series, self.recorder.histograms, self.recorder.pictures
        with self.recorder.lock:
            return list(dict.fromkeys(key[0] for table in tables for key in table if self._wants(*key)))

    def __getitem__(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Steps (float64) and values (float32) of the curve of that name. Raises KeyError where there is none."""
        self.recorder.file(everything=True)
        found = dict(zip(*self._named(), strict=True))
        if name not in found:
            raise KeyError(f"no curve {name!r}; there are {', '.join(map(repr, found)) or 'none yet'}")
        with self.recorder.lock:
            return found[name].steps.copy(), found[name].values.copy()

    def _named(self) -> tuple[list[str], list[Series]]:
        """The series and how they are called."""
        found, name = self.series(), self._namer()
        return [name(series.run, series.tag) for series in found], found

    def _looks(self) -> list[tuple[str, str, int]]:
        """Panel, name in it and colour of each series. Runs are compared in a panel for each tag, a colour a run."""
        found, runs = self.series(), self._shown_runs()
        if len(runs) < 2:
            return [("", "", place) for place in range(len(found))]
        looks = [(series.tag, basename(series.run) or "this", runs.index(series.run)) for series in found]
        return [(f"{tag} · {run}", run, color) for tag, run, color in looks] if self.look.apart else looks

    def curves(self, columns: int = SVG_COLUMNS) -> list[panels.Curve]:
        """The curves as they are drawn, at most 2 * `columns` points each."""
        names, found = self._named()
        looks = self._looks()
        with self.recorder.lock:
            made = [panels.Curve(name, points(series, columns, began=self._began(series.run)), color, group, short,
                          series.tag if self.look.apart and group else "")
                    for name, series, (group, short, color) in zip(names, found, looks, strict=True)]
        tags = [curve.share for curve in made]
        return sorted(made, key=lambda curve: tags.index(curve.share)) if self.look.apart else made

    def _began(self, run: str) -> float:
        """Return the time of the first value that is kept of a run: its seconds count from there."""
        return min((float(series.times[0]) for (name, _), series in self.recorder.series.items()
                    if name == run and len(series)), default=0.0)

    def _count(self) -> int:
        return (sum(series.count for series in self.series())
                + sum(kept.count for kind in ("ridge", "pictures") for _, kept in self._rich(kind)))

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
                          pictures=self.pictures(), x=self.look.x, across=self.look.grid, empty=self._empty_text())

    def __repr__(self) -> str:
        self.recorder.file(everything=True)
        return panels.text(self.curves(), self.title, ridges=self.histograms(), pictures=self.pictures(),
                           empty=self._empty_text())

    def _empty_text(self) -> str:
        """Return the message for an empty board: with what else was reported, if names were asked for."""
        with self.recorder.lock:
            keys = {*self.recorder.series, *self.recorder.histograms, *self.recorder.pictures}
        runs = {basename(run) for run, _ in keys if run}
        known = {tag for run, tag in keys if _matches(self.runs, run, basename(run))}
        if keys and not known:
            there = f"there are {', '.join(sorted(runs)[:HINTS])}" if runs else "no run has a name"
            return f"no values of the run{'s' * (len(self.runs) > 1)} {', '.join(self.runs)} yet; {there}"
        if not self.tags or not known:
            return "no values yet"
        near = "".join(did_you_mean(name, known, show=str) for name in self.tags)
        return f"no values of {', '.join(self.tags)} yet{near or '; there are ' + ', '.join(sorted(known)[:HINTS])}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> shell.Bundle:
        return with_widget({"text/plain": repr(self), "image/svg+xml": self.svg()}, self.widget)

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
        return {"title": self.title, "tags": tags, **look,
                "empty": "" if tags or any(more.values()) else self._empty_text(), **more}

    def _on_message(self, _widget: Any, content: Any, _buffers: Any) -> None:
        kind = content.get("type") if isinstance(content, Mapping) else None
        if kind == "look":
            with suppress(ValueError, TypeError):           # from a page: it may say anything
                known = {"smoothing": self.look.smooth, "x": self.look.x, **content}
                self.state = {"smooth": float(known["smoothing"]), "x": known["x"]}
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

    def rich_frames(self) -> list[tuple[Message, list[bytes]]]:
        """The messages, with their buffers, of the histograms and pictures that changed since they were sent last."""
        with self.recorder.lock:
            return [message for kind in ("ridge", "pictures") for message in self._frames.rich(kind, self._rich(kind))]

    def frames(self) -> list[tuple[Message, np.ndarray]]:
        """The messages, with their points, that bring the browser up to date with what `frames` gave before."""
        found = self.series()
        with self.recorder.lock:
            return self._frames.curves(found, self._began)


def _matches(patterns: tuple[str, ...], *names: str) -> bool:
    return not patterns or any(fnmatch.fnmatchcase(name, pattern) or name == pattern
                               for pattern in patterns for name in names)


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
