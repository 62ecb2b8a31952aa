"""Keeps a training on disk while it runs: an event file for TensorBoard, and a JSON of what was done.

Nothing of it happens in a step. The sender thread of the live plots writes what came in since it last did, thinned to
the extremes, and the training's thread the rest when it ends.
"""
from __future__ import annotations

import atexit
import os
import re
import socket
import threading
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from tfnb.core.errors import OpError
from tfnb.core.version import __version__
from tfnb.graph.graph import Graph
from tfnb.notebook.plots.board import SENDER
from tfnb.notebook.plots.marks import RATE
from tfnb.notebook.plots.media import ROWS, Sparse, rich_value
from tfnb.notebook.plots.recorder import Key
from tfnb.notebook.plots.series import Series, extremes
from tfnb.notebook.plots.training import STOPPED, Run
from tfnb.notebook.run_store.kept_run import SCHEMA, now_text, process_start, whole, write_about
from tfnb.proto.event_files import EventFile
from tfnb.proto.event_pb2 import Event
from tfnb.proto.summary_pb2 import Summary

PERIOD = 5.0, 60.0      # seconds between two writings, at first and at most
POINTS, FEW = 1024, 128     # of a tag that one writing adds, at first and once there are MANY
MANY = 8192
SEEDS = 40              # ops whose seeds are listed
LONGEST = 40            # letters of the name in the name of a folder
TRIES = 20


class Keeper:
    """Writes one run into a new folder below `root`. Raises OSError or OpError if it can't.

    about: what the JSON says beside what the run knows itself; problem: why nothing is written any more, or "".
    """

    hz = 1.0

    def __init__(self, run: Run, root: Path, about: Mapping[str, Any]) -> None:
        self.run, self.recorder, self.problem = run, run.recorder, ""
        self.folder = new_folder(root, run.name)
        self._began, self._wall = time.monotonic(), time.time()
        self._first_rate = run.rate.value if run.rate is not None else None
        self._about = {"schema": SCHEMA, "id": self.folder.name, "name": run.name, "started": now_text(), **about,
                       "tfnb": __version__,
                       "process": {"host": socket.gethostname(), "pid": os.getpid(), "started": process_start()}}
        self._written: dict[str, tuple[float, int]] = {}    # tag -> time of the newest point in the file, and how many
        self._earlier = {key: kept.items(1)[-1][0] for key, kept in self._rich()}    # of a run of the same name
        self._next = self._began + PERIOD[0]
        self._lock = threading.Lock()
        self._describe(run.status)
        self._file: EventFile | None = EventFile(self.folder, max_queue=2 * POINTS, flush_secs=PERIOD[1])

    def open(self) -> None:
        """Write from now on, in the sender thread."""
        atexit.register(self._exit)
        SENDER.open(self)

    def tick(self, now: float) -> None:
        """Write what is new, if it is time."""
        if now >= self._next:
            self._next = now + min(PERIOD[1], max(PERIOD[0], (now - self._began) / 20))
            self._guarded(self.run.status, None)

    def finish(self, status: str, error: BaseException | None) -> None:
        """Write the rest: the run has ended so."""
        atexit.unregister(self._exit)
        SENDER.close(self)
        self.recorder.file(everything=True)
        self._guarded(status, error)
        with self._lock:
            if self._file is not None:
                file, self._file = self._file, None
                try:
                    self._add_rich(file)
                    file.close()
                except Exception as problem:    # as above
                    self.problem = self.problem or f"not kept on disk whole: {_reason(problem)}"

    def _guarded(self, status: str, error: BaseException | None) -> None:
        with self._lock:
            if self._file is None or self.problem:
                return
            try:
                self._add_points(self._file)
                self._file.flush()
                self._describe(status, error)
            except PermissionError:             # on Windows, while somebody reads the JSON: the next time
                if status != self.run.status:
                    self._insist(status, error)
            except Exception as problem:        # whatever it is: a training goes on without it
                self.problem = f"not kept on disk any more: {_reason(problem)}"
                self.run.on_change()

    def _insist(self, status: str, error: BaseException | None) -> None:
        for _ in range(TRIES):
            time.sleep(0.02)
            try:
                self._describe(status, error)
                return
            except PermissionError as problem:
                self.problem = f"not kept on disk whole: {_reason(problem)}"

    def _exit(self) -> None:
        self.run.why = "its kernel was shut down"
        self.finish(STOPPED, None)

    # curves

    def _own(self) -> list[Series]:
        with self.recorder.lock:
            return [series for (run, _), series in self.recorder.series.items() if run == self.run.name]

    def _add_points(self, file: EventFile) -> None:
        offset = self._wall - self._began
        for series in self._own():
            after, count = self._written.get(series.tag, (self._began, 0))
            steps, times, values = self._fresh(series, after, FEW if count > MANY else POINTS)
            tag = whole(series.tag)
            for step, moment, value in zip(steps.tolist(), times.tolist(), values.tolist(), strict=True):
                summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
                file.add(Event(wall_time=moment + offset, step=_integer(step), summary=summary).SerializeToString())
            if len(times):
                self._written[series.tag] = float(times[-1]), count + len(times)

    def _rich(self) -> list[tuple[Key, Sparse[Any]]]:
        with self.recorder.lock:
            return [(key, kept) for table in (self.recorder.histograms, self.recorder.pictures)
                    for key, kept in table.items() if key[0] == self.run.name]

    def _add_rich(self, file: EventFile) -> None:
        """Histograms and pictures, as the live boards have thinned them."""
        for key, kept in self._rich():
            for step, item in kept.items(ROWS):
                if step > self._earlier.get(key, -np.inf):
                    summary = Summary(value=[rich_value(whole(key[1]), item)])
                    file.add(Event(wall_time=time.time(), step=_integer(step), summary=summary).SerializeToString())

    def _fresh(self, series: Series, after: float, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The points of a series that came after a time, thinned."""
        with self.recorder.lock:
            first = int(np.searchsorted(series.times, after, "right"))
            columns = series.steps[first:], series.times[first:], series.values[first:]
            count = len(columns[0])
            chosen = np.arange(count) if count <= most else \
                np.unique(np.append(extremes(columns[2], -(-2 * count // most)), count - 1))
            steps, times, values = (column[chosen] for column in columns)
            return steps, times, values

    # the JSON

    def _describe(self, status: str, error: BaseException | None = None) -> None:
        run = self.run
        rate = None if run.rate is None else \
            {"name": run.rate.name, "first": _float(self._first_rate), "last": _float(run.rate.value)}
        why = f"{type(error).__name__}: {error}"[:2000] if error is not None else run.why
        marks = [[mark.step, round(mark.time - self._began, 3), mark.kind, mark.text, list(map(_float, mark.values))]
                 for mark in run.marks]
        write_about(self.folder, {
            **self._about, "updated": now_text(), "status": status, "why": why, "steps": run.steps, "total": run.total,
            "seconds": round(run.elapsed(), 3), "rate": rate, "marks": marks, "checkpoint": run.saved,
            "rates": [[mark.step, _float(mark.values[-1])] for mark in run.marks if mark.kind == RATE],
            "values": {series.tag: points for series in self._own() if (points := self._extremes(series))}})

    def _extremes(self, series: Series) -> dict[str, tuple[float, float]]:
        with self.recorder.lock:
            first = int(np.searchsorted(series.times, self._began, "right"))
            steps, values = series.steps[first:], series.values[first:]
            if not len(values):
                return {}
            good = np.flatnonzero(np.isfinite(values))
            places = {"first": 0, "last": len(values) - 1}
            if len(good):
                places |= {"least": int(good[values[good].argmin()]), "greatest": int(good[values[good].argmax()])}
            return {name: (float(steps[place]), float(str(values[place]))) for name, place in places.items()}


def keep(run: Run, root: Path, about: Mapping[str, Any]) -> str:
    """Keep a run on disk from its beginning. Returns why that can't be, or ""."""
    try:
        keeper = Keeper(run, root, about)
    except (OSError, OpError) as problem:       # a read-only disk, a full one
        return f"not kept on disk: {_reason(problem)}"
    run.keeper = keeper
    keeper.open()
    return ""


def seeds(graph: Graph) -> dict[str, Any]:
    """The seed of a graph, and those of its ops: name -> (seed, seed2)."""
    found = {op.name: (op.attrs["seed"], op.attrs.get("seed2", 0)) for op in graph.get_operations()
             if op.attrs.get("seed")}
    return {"graph": graph.seed, "ops": dict(list(found.items())[:SEEDS])}


def new_folder(root: Path, name: str) -> Path:
    """Make the folder of a run, named by the time and what any file system takes of its name. Raises OSError."""
    root.mkdir(parents=True, exist_ok=True)
    stem = f"{datetime.now():%Y%m%d-%H%M%S}-{slug(name)}"
    for number in range(1, 1000):
        folder = root / (stem if number == 1 else f"{stem}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise FileExistsError(f"{root} has 999 folders that begin with {stem}")


def slug(name: str) -> str:
    """The letters, digits and hyphens of a name: a file name on every system."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name)[:LONGEST].strip("-") or "run"


def _reason(problem: Exception) -> str:
    if isinstance(problem, OSError) and problem.strerror:
        return f"{problem.strerror}: {problem.filename}" if problem.filename else problem.strerror
    return problem.message if isinstance(problem, OpError) else str(problem)


def _float(value: float | None) -> float | None:
    """A number in the digits of float32, as which rates come back from graphs: 0.01, not 0.009999999776."""
    return None if value is None else float(f"{value:.7g}")


def _integer(step: float) -> int:
    return int(min(max(step, -2.0 ** 62), 2.0 ** 62))
