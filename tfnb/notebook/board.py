"""Live plots of scalars: boards that draw what training reports while it runs.

Protocol with the front end (`extension/`), widget kind "live": trait `state` has title, tags [{name, color_index}],
smoothing and x ("step"). Custom messages, each with one buffer of float32 pairs (step, value):
    {type: "points", tag, start}    the points of state.tags[tag] from index `start` on are these; 0 replaces all
    {type: "reset"}                 all points are gone
and back: {type: "ready"}: a view was made, or lost points; it gets everything again.
          {type: "error", message}: something failed in the browser; it is logged.
"""
from __future__ import annotations

import fnmatch
import itertools
import logging
import threading
from collections.abc import Hashable, Mapping
from posixpath import basename
from typing import Any

import numpy as np

from tfnb.core import taps
from tfnb.notebook import panels, shell
from tfnb.notebook.panels import Curve
from tfnb.notebook.record import Key, Recorder
from tfnb.notebook.sender import Sender
from tfnb.notebook.series import Series, bucket_size, points
from tfnb.notebook.settings import settings
from tfnb.notebook.widget import make_widget, with_widget

MAX_HZ = 10.0
COLUMNS = 400               # of a plot in the browser: at most 800 points of a curve are sent
SVG_COLUMNS = 140
UNHEARD_EVERY = 0.5         # seconds between full frames to a front end that never said "ready": its kernel is busy

log = logging.getLogger(__name__)
RECORDER = Recorder()
SENDER = Sender()
_numbers = itertools.count(1)


class LiveBoard:
    """Curves of the scalars whose tags match, drawn while the kernel works; made by `live`.

    tags: names or patterns ("loss", "train/*"), none for all; hz: frames a second, at most 10; smooth: weight of the
    running mean, in [0, 1). Raises ValueError for numbers out of range.
    """

    def __init__(self, *tags: str, hz: float = 5.0, smooth: float = 0.6, title: str = "",
                 recorder: Recorder = RECORDER) -> None:
        if not 0 < hz <= MAX_HZ:
            raise ValueError(f"hz must be above 0 and at most {MAX_HZ:g}, not {hz!r}")
        if not 0 <= smooth < 1:
            raise ValueError(f"smooth must be at least 0 and below 1, not {smooth!r}")
        self.tags, self.hz, self.smooth, self.title, self.recorder = tags, hz, smooth, title, recorder
        self.display_id = f"tfnb-live-{next(_numbers)}-{id(self):x}"
        self.widget: Any | None = None
        self.cell: Hashable = None              # the cell that shows it
        self._keys: list[Key] = []              # what was shown, in the order it came: colours stay
        self._sent: dict[Key, tuple[int, int, int]] = {}     # generation, bucket and whole columns in the browser
        self._heard = False
        self._told = self._drawn = -1           # how many values the browser and the saved form know of
        self._next = self._next_full = 0.0
        self._shown_in: int | None = None
        self._lock = threading.RLock()          # a "ready" may come in any thread

    # what is plotted

    def series(self) -> list[Series]:
        """The recorded series that the board shows, in the order they first came."""
        with self.recorder.lock:
            for key, series in self.recorder.series.items():
                if key not in self._keys and self._wants(series):
                    self._keys.append(key)
            return [self.recorder.series[key] for key in self._keys if key in self.recorder.series]

    def _wants(self, series: Series) -> bool:
        names = series.tag, f"{basename(series.run)}/{series.tag}"
        return not self.tags or any(fnmatch.fnmatchcase(name, tag) or name == tag
                                    for tag in self.tags for name in names)

    def __getitem__(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Steps (float64) and values (float32) of the curve of that name. Raises KeyError where there is none."""
        self.recorder.file(everything=True)
        found = dict(zip(*self._named(), strict=True))
        if name not in found:
            raise KeyError(f"no curve {name!r}; there are {', '.join(map(repr, found)) or 'none yet'}")
        with self.recorder.lock:
            return found[name].steps.copy(), found[name].values.copy()

    def _named(self) -> tuple[list[str], list[Series]]:
        """Tags, with the name of the run before them where several runs are shown."""
        found = self.series()
        several = len({series.run for series in found}) > 1
        return [f"{basename(series.run)}/{series.tag}" if several and series.run else series.tag
                for series in found], found

    def curves(self, columns: int = SVG_COLUMNS) -> list[Curve]:
        """The curves as they are drawn, at most 2 * `columns` points each."""
        names, found = self._named()
        with self.recorder.lock:
            return [Curve(name, points(series, columns), place)
                    for place, (name, series) in enumerate(zip(names, found, strict=True))]

    def _count(self) -> int:
        return sum(series.count for series in self.series())

    # forms

    def svg(self) -> str:
        """The plot as it is now, as SVG."""
        self.recorder.file(everything=True)
        return panels.svg(self.curves(), title=self.title, smoothing=self.smooth)

    def __repr__(self) -> str:
        self.recorder.file(everything=True)
        return panels.text(self.curves(), self.title)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return with_widget({"text/plain": repr(self), "image/svg+xml": self.svg()}, self.widget)

    def _ipython_display_(self) -> None:
        # `%live` both shows the board and returns it: not a second time in the same cell
        running = shell.current()
        if running is None:
            print(repr(self))
        elif self._shown_in != running.execution_count:
            self.show()

    def show(self) -> LiveBoard:
        """Show the board in the running cell and keep it up to date. Returns itself."""
        self.recorder.file(everything=True)
        if shell.has_front_end() and self.widget is None:
            self.widget = make_widget("live", self._state())
            if self.widget is not None:
                self.widget.on_msg(self._on_message)
        self.recorder.watched = True
        SENDER.open(self)
        self._drawn = self._count()
        running = shell.current()
        if running is not None:
            self._shown_in, self.cell = running.execution_count, shell.running
            if shell.has_front_end() or self._drawn:
                shell.show(self._repr_mimebundle_(), self.display_id)
        return self

    def settle(self) -> None:
        """Write the present state into the saved notebook (a terminal prints it), if there is something new."""
        self.recorder.file(everything=True)
        count = self._count()
        if count != self._drawn:
            self._drawn = count
            shell.update(self._repr_mimebundle_(), self.display_id)

    def record(self, values: Mapping[str, Any] | None = None, /, *, step: float | None = None, **more: Any) -> None:
        """As the function `record`."""
        self.recorder.scalars({**values, **more} if values else more, step)

    def close(self) -> None:
        """Stop updating. What is shown stays as it is."""
        SENDER.close(self)
        self.settle()

    def clear(self) -> None:
        """Forget what was recorded, for all boards."""
        self.recorder.clear()
        for board in {self, *open_boards()}:
            board._empty()

    def _empty(self) -> None:
        with self._lock:
            self._sent.clear()
            self._keys.clear()
            self._told = -1
            if self.widget is not None:
                self.widget.send({"type": "reset"})

    # the browser

    def _state(self) -> dict[str, Any]:
        tags = [{"name": name, "color_index": place} for place, name in enumerate(self._named()[0])]
        return {"title": self.title, "tags": tags, "smoothing": self.smooth, "x": "step"}

    def _on_message(self, _widget: Any, content: Any, _buffers: Any) -> None:
        kind = content.get("type") if isinstance(content, Mapping) else None
        if kind == "error":
            log.error("in the browser: %s", content.get("message", ""))
        elif kind == "ready":
            with self._lock:
                self._heard = True
                self._sent.clear()
                self._told = -1
                self._next = 0.0
            SENDER.wake()

    def tick(self, now: float) -> None:
        """Send what is new, if it is time (seconds of `time.monotonic`). The sender thread calls this."""
        count = self._count()
        if now < self._next or count == self._told:
            return
        if self.widget is not None:
            self._next = now + 1 / self.hz
            self._told = count
            self._send(self.widget, now)
        elif shell.has_front_end():
            self._next = now + 1.0              # without a widget a frame is a whole picture: once a second will do
            self._told = self._drawn = count
            shell.update(self._repr_mimebundle_(), self.display_id)

    def _send(self, widget: Any, now: float) -> None:
        with self._lock:
            if not self._heard and now >= self._next_full:
                self._next_full = now + UNHEARD_EVERY
                self._sent.clear()
            state = self._state()
            if state != widget.state:
                widget.state = state
            for content, pairs in self.frames():
                widget.send(content, buffers=[pairs.tobytes()])

    def frames(self) -> list[tuple[dict[str, Any], np.ndarray]]:
        """The messages, with their pairs, that bring the browser up to date with what `frames` gave before."""
        found = self.series()
        messages = []
        with self.recorder.lock:
            for place, series in enumerate(found):
                key, bucket = (series.run, series.tag), bucket_size(len(series), COLUMNS)
                generation, before, columns = self._sent.get(key, (-1, 0, 0))
                first = columns if (generation, before) == (series.generation, bucket) else 0
                pairs = points(series, COLUMNS, first)
                if len(pairs):
                    start = first if bucket == 1 else 2 * first
                    messages.append(({"type": "points", "tag": place, "start": start}, pairs))
                self._sent[key] = series.generation, bucket, len(series) // bucket      # whole columns stay
        return messages


def live(*tags: str, hz: float | None = None, smooth: float = 0.6, title: str = "") -> LiveBoard:
    """Plot the scalars whose tags match, here, while the kernel works. Shows the board and returns it.

    Scalars come from summaries that are fetched or written to event files, and from `record`.
    tags: names or patterns ("loss", "train/*"), none for all that come; hz: frames a second, at most 10, by default
    `settings.live_hz`; smooth: weight of the running mean, in [0, 1), 0 for none. Raises ValueError for numbers out of
    range.
    """
    return LiveBoard(*tags, hz=settings.live_hz if hz is None else hz, smooth=smooth, title=title).show()


def record(values: Mapping[str, Any] | None = None, /, *, step: float | None = None, **more: Any) -> None:
    """Report the scalars of one step: `record(loss=0.3, accuracy=0.9)` or `record({"train/loss": 0.3}, step=17)`.

    Costs less than a microsecond, so call it every step. Without a step they are counted.
    """
    RECORDER.scalars({**values, **more} if values else more, step)


def listen() -> None:
    """Take the scalars of all summaries that are fetched or written from now on."""
    taps.on_summary = RECORDER.summary


def open_boards() -> list[LiveBoard]:
    """The boards that are kept up to date."""
    return [board for board in SENDER.boards if isinstance(board, LiveBoard)]


def close_boards_of(cell: Hashable) -> None:
    """The cell runs again or was deleted: what it showed is gone from the page, and need not be fed any more."""
    for board in open_boards():
        if cell is not None and board.cell == cell:
            SENDER.close(board)
            if board.widget is not None:
                board.widget.close()


def settle_boards() -> None:
    """A cell ended: bring the saved form of each open board up to date."""
    RECORDER.new_cell()
    for board in open_boards():
        board.settle()
