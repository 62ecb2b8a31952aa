"""Recorder of what a training loop reports, for the live plots, at a cost the loop does not notice.

What costs in a step is memory that it has not touched for a while. So a reported number goes to the end of an array of
its tag at once (16 bytes), and leaves no object behind; Summary bytes, arrays and the like wait in a list. Filing in
series, reading Summary bytes and thinning are done in batches, by the sender thread of the live boards or, while there
is none, when a batch is full and at the end of each cell. The clock is read when a batch begins and when it is filed;
what came between is taken as evenly spread.
"""
from __future__ import annotations

import threading
import time
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import dropwhile
from typing import Any

import numpy as np

from tfnb.notebook.plots.marks import Mark
from tfnb.notebook.plots.media import PICTURES, ROWS, Histogram, Picture, Sparse, histogram_of, read_rich
from tfnb.notebook.plots.series import Series
from tfnb.notebook.plots.wire import read_scalars

FIRST, BATCH = 64, 1024     # entries that wait at first, and at most: filing finds none of its code in the caches,
NUMBERS = 4                 # which takes 300 us for 256 as for 1024. As many times more numbers of a tag wait: 64 kB
SPAN = 2.0              # seconds: how long a batch should take, for the times of its points are estimates
LARGE = 4096            # bytes of an array, or of a Summary with more than scalars in it
WAITING = 4 << 20       # bytes of such ones that wait to be filed at most
COUNTED = float("nan")  # for a step that is one more than the one before it
Key = tuple[str, str]   # run, tag


class Recorder:
    """The series of one process, by run and tag: of scalars, histograms and pictures. Safe for several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.series: dict[Key, Series] = {}
        self.histograms: dict[Key, Sparse[Histogram]] = {}
        self.pictures: dict[Key, Sparse[Picture]] = {}
        self.marks: dict[str, list[Mark]] = {}  # run -> what happened to it
        self.noted = 0                          # how often marks changed
        self.on_entry: Callable[[], None] | None = None     # called at each report, where no thread files them
        self._began: float | None = None        # when the oldest that waits came in
        self._room, self._full = FIRST, 2 * NUMBERS * FIRST     # how long the inbox gets, and a column
        self._waiting = 0                       # bytes of large entries since what came in was filed last
        self.lock = threading.RLock()           # held while series change or are read
        self._columns: dict[str, dict[str, array[float]]] = defaultdict(dict)      # run -> tag -> step, value...
        self._reporters: dict[str, Callable[..., None]] = {}
        self._inbox: list[Any] = []     # fetched Summary bytes; (step, Summary bytes or {tag: array}, run)
        self._held: Any = None
        self._written = False                   # a writer reports: what is only fetched does not count
        self._names: dict[int, str] = {}        # thread -> the run that its fetches belong to
        self.places: dict[str, str] = {}        # target of a session -> the run that its fetches belong to

    def reporter(self, run: str = "") -> Callable[..., None]:
        """The function `record` of a run, for others as well."""
        found = self._reporters.get(run)
        if found is None:
            found = self._reporters[run] = self._reporter(run)
        return found

    def _reporter(self, own: str) -> Callable[..., None]:
        columns = self._columns[own]            # what a step looks up is looked up here

        def record(values: Mapping[str, Any] | None = None, /, *, step: float | None = None, run: str | None = None,
                   **more: Any) -> None:
            """Report what one step gave: `record(loss=0.3, accuracy=0.9)` or `record({"train/loss": 0.3}, step=17)`.

            Numbers become curves, arrays histograms. Costs about a microsecond, so call it every step; arrays must not
            be changed afterwards. Without a step they are counted. Runs are compared by their names:
            `record(loss=0.3, run="fast")`.
            """
            if run is not None and run != own:
                self.reporter(run)(values, step=step, **more)
                return
            if values:
                more = {**values, **more}
            at, tag = COUNTED if step is None else step, None
            try:
                for tag in more:
                    column = columns[tag]
                    column.fromlist([at, more[tag]])    # one call, so that threads don't come between
                    if not 2 < len(column) < self._full:
                        self._turn(len(column) >= self._full)
            except (KeyError, TypeError, OverflowError):
                self._others(more, tag, step, own)
            if self.on_entry is not None:
                self.on_entry()
        return record

    def scalars(self, values: Mapping[str, Any], step: float | None = None, run: str = "") -> None:
        """Take the values of one step of a run; anything `float` reads."""
        self.reporter(run)(values, step=step)

    def _others(self, values: Mapping[str, Any], first: str | None, step: float | None, run: str) -> None:
        """Take the values from the tag `first` on: under a new tag, or no numbers."""
        at = COUNTED if step is None else float(step)
        for tag in dropwhile(lambda tag: tag != first, values):
            value = values[tag]
            if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "fiub":
                self._enter((step, {tag: value}, run), value.nbytes)
            else:
                column = self._columns[run].setdefault(tag, array("d"))
                column.fromlist([at, _number(value)])
                self._turn(len(column) >= self._full)

    def summary(self, data: bytes, step: int | None, run: str) -> None:
        """Take a serialized Summary: one that was fetched (step None), or one that a writer of `run` was given.

        run: of a fetched one, the target of its session if that is a server.

        Fetches count until a writer reports: then the fetch was only on its way to the writer.
        """
        if step is None:
            if self._written:
                return
            run = self.places.get(run, run)
            if self._names:
                run = self._names.get(threading.get_ident(), run)
            entry: Any = (None, data, run) if run else data
        else:
            if not self._written:
                self._written = True
                if self._tell_step(data, step, run):
                    return
            entry = step, data, run
        self._enter(entry, len(data))

    def _tell_step(self, data: bytes, step: int, run: str) -> bool:
        """If this is the Summary that came in last, fetched: note its step and run."""
        with self.lock:                         # nobody files meanwhile
            inbox = self._inbox
            if inbox and _is_fetched(inbox[-1]) and _data(inbox[-1]) == data:
                inbox[-1] = step, data, run
                return True
        return False

    def _enter(self, entry: Any, size: int) -> None:
        """Let something of `size` bytes wait to be filed."""
        inbox = self._inbox
        inbox.append(entry)
        if size >= LARGE:
            self._waiting += size
        if not 1 < len(inbox) < self._room or self._waiting > WAITING:
            self._turn(len(inbox) >= self._room)
        if self.on_entry is not None:
            self.on_entry()

    def _turn(self, full: bool) -> None:
        """The first of a batch came in, or the last one."""
        now = self._clock()
        if self._began is None:
            self._began = now
        if full:
            took = now - self._began
            self._room = min(2 * self._room, BATCH) if took < SPAN else max(self._room // 2, FIRST)
            self._full = 2 * NUMBERS * self._room
        if full or self._waiting > WAITING:
            self.file()

    def note(self, run: str, marks: list[Mark]) -> None:
        """Take the marks of a run in place of those that it has."""
        with self.lock:
            self.marks[run] = marks
            self.noted += 1

    @contextmanager
    def named(self, run: str) -> Iterator[None]:
        """Attribute what the calling thread fetches inside to `run`."""
        self._names[threading.get_ident()] = run
        try:
            yield
        finally:
            self._names.pop(threading.get_ident(), None)

    def new_cell(self) -> None:
        """A cell ended: its numbers are filed, and fetches count again, until the next one writes."""
        self._written = False
        self.file()

    def file(self, everything: bool = False) -> None:
        """Move what came in to the series.

        The newest fetched Summary stays behind once: a writer may yet say which step it is of. everything: not so.
        """
        with self.lock:
            now = self._clock()
            began = now if self._began is None else self._began
            self._file_columns(began, now)
            self._waiting = 0
            entries = self._take(everything)
            self._began = now if self._inbox else None
            if not entries:
                return
            times = np.linspace(began, now, len(entries))
            if set(map(type, entries)) == {bytes}:
                self._file_summaries("", [None] * len(entries), entries, times)         # as a rule
                return
            steps, values, runs = zip(*[(None, e, "") if type(e) is bytes else e for e in entries], strict=True)
            for run in dict.fromkeys(runs):
                mine = [i for i in range(len(runs)) if runs[i] == run and type(values[i]) is bytes]
                self._file_summaries(run, [steps[i] for i in mine], [values[i] for i in mine], times[mine])
            for step, value, run in zip(steps, values, runs, strict=True):
                if type(value) is not bytes:
                    for tag, values_of_tag in value.items():
                        self.add_rich(run, tag, step, histogram_of(values_of_tag))

    def _file_columns(self, began: float, now: float) -> None:
        for run, columns in list(self._columns.items()):
            for tag, column in list(columns.items()):
                count = len(column)             # other threads only append: what stands first may be taken
                if count:
                    pairs = np.array(column[:count]).reshape(-1, 2)
                    del column[:count]
                    with np.errstate(over="ignore"):
                        values = pairs[:, 1].astype(np.float32)
                    self._series(run, tag).extend(pairs[:, 0], values, np.linspace(began, now, len(values)))

    def _take(self, everything: bool) -> list[Any]:
        inbox = self._inbox                     # other threads only append: what stands first may be taken
        count = len(inbox)
        if count and not everything:
            newest = inbox[count - 1]
            if newest is not self._held and _is_fetched(newest):
                self._held = newest
                count -= 1
        entries = inbox[:count]
        del inbox[:count]
        return entries

    def _file_summaries(self, run: str, steps: list[float | None], messages: list[bytes], times: np.ndarray) -> None:
        found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
        rich: list[int] = []
        for tag, indices, values in read_scalars(messages, rich):
            found.setdefault(tag, []).append((indices, values))
        filled = np.array(steps, np.float64)    # NaN for None
        for tag, parts in found.items():
            indices, values = _in_order(parts)
            self._series(run, tag).extend(filled[indices], values, times[indices])
        for i in sorted(rich):
            for tag, item in read_rich(messages[i]):
                self.add_rich(run, tag, steps[i], item)

    def add_rich(self, run: str, tag: str, step: float | None, item: Histogram | Picture | None) -> None:
        """Add a histogram or a picture of a step; None is no item."""
        key = run, tag
        if isinstance(item, Histogram):
            self.histograms.setdefault(key, Sparse(tag, run, ROWS)).add(step, item)
        elif isinstance(item, Picture):
            self.pictures.setdefault(key, Sparse(tag, run, PICTURES)).add(step, item)

    def _series(self, run: str, tag: str) -> Series:
        found = self.series.get((run, tag))
        if found is None:
            found = self.series[run, tag] = Series(tag, run)
        return found

    def clear(self) -> None:
        """Forget everything."""
        with self.lock:
            self._inbox.clear()
            for columns in self._columns.values():
                columns.clear()
            self.series.clear()
            self.histograms.clear()
            self.pictures.clear()
            self.marks.clear()


def _is_fetched(entry: Any) -> bool:
    """Return whether the value is a Summary that was fetched, of which no writer has said the step."""
    return type(entry) is bytes or (entry[0] is None and type(entry[1]) is bytes)


def _data(entry: Any) -> bytes:
    data: bytes = entry if type(entry) is bytes else entry[1]
    return data


def _in_order(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    if len(parts) == 1:
        return parts[0]
    indices = np.concatenate([part[0] for part in parts])
    order = np.argsort(indices, kind="stable")
    return indices[order], np.concatenate([part[1] for part in parts])[order]


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")
