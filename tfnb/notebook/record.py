"""What a training loop reports, kept for the live plots at a cost the loop does not notice.

The step only appends to a deque (0.2 us). Filing by tag, reading Summary bytes and thinning are done in batches, by
the sender thread of the live boards or, while there is none, every BATCH steps and at the end of each cell. The clock
is read when a batch begins and when it is filed; what came between is taken as evenly spread.
"""
from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfnb.notebook.rich import PICTURES, ROWS, Histogram, Picture, Sparse, histogram_of, read_rich
from tfnb.notebook.series import Series
from tfnb.notebook.wire import read_scalars

BATCH = 256             # entries that wait at most: so few that they are gone before the garbage collector counts them
LARGE = 4096            # bytes of a Summary with more than scalars in it
WAITING = 4 << 20       # bytes of such ones that wait to be filed at most
Key = tuple[str, str]   # run, tag
Steps = Sequence[float | None]


class Recorder:
    """The series of one process, by run and tag: of scalars, histograms and pictures. Safe for several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.series: dict[Key, Series] = {}
        self.histograms: dict[Key, Sparse[Histogram]] = {}
        self.pictures: dict[Key, Sparse[Picture]] = {}
        self._began = 0.0                       # when the oldest that waits came in
        self._waiting = 0                       # bytes of large summaries that came in since they were filed last
        self.lock = threading.RLock()           # held while series change or are read
        self._inbox: deque[Any] = deque()   # [step or None, Summary bytes, run] or (step or None, {tag: value}, run)
        self._held: Any = None
        self._written = False                   # a writer reports: what is only fetched does not count
        self._names: dict[int, str] = {}        # thread -> the run that its fetches belong to

    def scalars(self, values: dict[str, Any], step: float | None = None, run: str = "") -> None:
        """Take the values of one step of a run; anything `float` reads."""
        self._inbox.append((step, values, run))
        if not 1 < len(self._inbox) < BATCH:
            self._turn()

    def summary(self, data: bytes, step: int | None, run: str) -> None:
        """Take a serialized Summary: one that was fetched (step None), or one that a writer of `run` was given.

        Fetches count until a writer reports: then the fetch was only on its way to the writer.
        """
        inbox = self._inbox
        if step is None:
            if self._written:
                return
            run = self._names.get(threading.get_ident(), run) if self._names else run
        elif not self._written:
            self._written = True
            last = inbox[-1] if inbox else None
            if type(last) is list and last[0] is None and (last[1] is data or last[1] == data):
                last[0], last[2] = step, run
                return
        inbox.append([step, data, run])
        if len(data) >= LARGE:
            self._waiting += len(data)
        if not 1 < len(inbox) < BATCH or self._waiting > WAITING:
            self._turn()

    def _turn(self) -> None:
        """The first of a batch came in, or the last one."""
        if len(self._inbox) == 1:
            self._began = self._clock()
        if len(self._inbox) >= BATCH or self._waiting > WAITING:
            self.file()

    @contextmanager
    def named(self, run: str) -> Iterator[None]:
        """What the calling thread fetches inside belongs to `run`."""
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
            self._waiting = 0
            began, self._began = self._began, self._clock()
            entries = self._take(everything)
            if not entries:
                return
            steps, values, runs = zip(*entries, strict=True)
            times = np.linspace(began, self._began, len(entries))
            if len(set(runs)) == 1 and set(map(type, values)) == {dict}:
                self._file_reports(runs[0], steps, values, times)       # as a rule
                return
            for run in dict.fromkeys(runs):
                for told, file in ((True, self._file_summaries), (False, self._file_reports)):
                    mine = [i for i, entry in enumerate(entries)
                            if entry[2] == run and (type(entry[1]) is bytes) is told]
                    file(run, [steps[i] for i in mine], [values[i] for i in mine], times[mine])

    def _file_reports(self, run: str, steps: Steps, values: Sequence[dict[str, Any]], times: np.ndarray) -> None:
        for tag, places, column in _columns(values):
            some = steps if places is None else [steps[i] for i in places]
            self._file_column(run, tag, some, column, times if places is None else times[places])

    def _take(self, everything: bool) -> list[list[Any]]:
        inbox = self._inbox                     # other threads only append: what stands first may be looked at
        entries = [inbox.popleft() for _ in range(len(inbox) - 1)]
        if inbox:
            newest = inbox[0]
            if everything or newest is self._held or newest[0] is not None or type(newest[1]) is not bytes:
                entries.append(inbox.popleft())
            else:
                self._held = newest
        return entries

    def _file_column(self, run: str, tag: str, steps: Steps, column: list[Any], times: np.ndarray) -> None:
        """What was reported under one tag: numbers, arrays, or some of both."""
        try:
            numbers = np.array(column, np.float32)
        except (TypeError, ValueError):
            numbers = np.empty((0, 0), np.float32)
        if numbers.ndim == 1:
            self._series(run, tag).extend(steps, numbers, times)
            return
        for step, value, at in zip(steps, column, times.tolist(), strict=True):
            if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "fiub":
                self._add(run, tag, step, histogram_of(value))
            else:
                self._series(run, tag).extend([step], np.array([_number(value)], np.float32), at)

    def _file_summaries(self, run: str, steps: Steps, data: Sequence[bytes], times: np.ndarray) -> None:
        found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
        rich: list[int] = []
        for tag, indices, values in read_scalars(data, rich):
            found.setdefault(tag, []).append((indices, values))
        for tag, parts in found.items():
            indices, values = _in_order(parts)
            self._series(run, tag).extend([steps[i] for i in indices.tolist()], values, times[indices])
        for i in sorted(rich):
            for tag, item in read_rich(data[i]):
                self._add(run, tag, steps[i], item)

    def _add(self, run: str, tag: str, step: float | None, item: Histogram | Picture | None) -> None:
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
            for kept in (self.series, self.histograms, self.pictures):
                kept.clear()


def _columns(values: Sequence[dict[str, Any]]) -> Iterator[tuple[str, list[int] | None, list[Any]]]:
    """Tag, places (None: all) and numbers of what was reported. As a rule all reports have the same tags."""
    tags = values[0] if values else {}
    if len(tags) * len(values) == sum(map(len, values)):
        try:
            columns = [[each[tag] for each in values] for tag in tags]
        except KeyError:
            pass
        else:
            yield from zip(tags, [None] * len(columns), columns, strict=True)
            return
    found: dict[str, tuple[list[int], list[Any]]] = {}
    for place, each in enumerate(values):
        for tag, value in each.items():
            one = found.setdefault(tag, ([], []))
            one[0].append(place)
            one[1].append(value)
    for tag, (places, column) in found.items():
        yield tag, places, column


def _in_order(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    if len(parts) == 1:
        return parts[0]
    indices = np.concatenate([part[0] for part in parts])
    order = np.argsort(indices, kind="stable")
    return indices[order], np.concatenate([part[1] for part in parts])[order]


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")
