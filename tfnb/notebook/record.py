"""What a training loop reports, kept for the live plots at a cost the loop does not notice.

The step only appends to a deque (0.2 us). Filing by tag, reading Summary bytes and thinning are done in batches, by
the sender thread of the live boards or, while there is none, every BATCH steps.
"""
from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfnb.notebook.series import Series
from tfnb.notebook.wire import read_scalars

BATCH = 4096
LARGE = 4096            # bytes of a Summary with more than scalars in it, not worth keeping while nobody watches
Key = tuple[str, str]   # run, tag


class Recorder:
    """The series of one process, by run and tag. Safe for several threads."""

    def __init__(self) -> None:
        self.series: dict[Key, Series] = {}
        self.watched = False                    # a board is open: keep large summaries too
        self.lock = threading.Lock()            # held while series change or are read
        self._inbox: deque[list[Any]] = deque()   # [step or None, Summary bytes or {tag: value}, run]
        self._held: list[Any] | None = None
        self._written = False                   # a writer reports: what is only fetched does not count
        self._names: dict[int, str] = {}        # thread -> the run that its fetches belong to

    def scalars(self, values: dict[str, Any], step: float | None = None, run: str = "") -> None:
        """Take the values of one step of a run; anything `float` reads."""
        self._inbox.append([step, values, run])
        if len(self._inbox) >= BATCH:
            self.file()

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
            if last is not None and last[0] is None and (last[1] is data or last[1] == data):
                last[0], last[2] = step, run
                return
        if len(data) < LARGE or self.watched:
            inbox.append([step, data, run])
            if len(inbox) >= BATCH:
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
        """Another cell runs: its fetches count again, until it writes."""
        self._written = False

    def file(self, everything: bool = False) -> None:
        """Move what came in to the series.

        The newest fetched Summary stays behind once: a writer may yet say which step it is of. everything: not so.
        """
        with self.lock:
            by_run: dict[str, list[list[Any]]] = {}
            for entry in self._take(everything):
                by_run.setdefault(entry[2], []).append(entry)
            for run, entries in by_run.items():
                self._file_summaries(run, [entry for entry in entries if isinstance(entry[1], bytes)])
                for tag, (steps, numbers) in _by_tag(entries).items():
                    self._series(run, tag).extend(steps, np.array(numbers, np.float32))

    def _take(self, everything: bool) -> list[list[Any]]:
        inbox, entries = self._inbox, []        # other threads only append: what stands first may be looked at
        while len(inbox) > 1:
            entries.append(inbox.popleft())
        if inbox:
            newest = inbox[0]
            if everything or newest is self._held or newest[0] is not None or isinstance(newest[1], dict):
                entries.append(inbox.popleft())
            else:
                self._held = newest
        return entries

    def _file_summaries(self, run: str, entries: list[list[Any]]) -> None:
        found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
        for tag, indices, values in read_scalars([entry[1] for entry in entries]):
            found.setdefault(tag, []).append((indices, values))
        for tag, parts in found.items():
            indices, values = _in_order(parts)
            self._series(run, tag).extend([entries[i][0] for i in indices.tolist()], values)

    def _series(self, run: str, tag: str) -> Series:
        found = self.series.get((run, tag))
        if found is None:
            found = self.series[run, tag] = Series(tag, run)
        return found

    def clear(self) -> None:
        """Forget everything."""
        with self.lock:
            self._inbox.clear()
            self.series.clear()


def _by_tag(entries: list[list[Any]]) -> dict[str, tuple[list[float | None], list[float]]]:
    found: dict[str, tuple[list[float | None], list[float]]] = {}
    for step, values, _ in entries:
        if isinstance(values, dict):
            for tag, value in values.items():
                steps, numbers = found.setdefault(tag, ([], []))
                steps.append(step)
                numbers.append(_number(value))
    return found


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
