"""A run as it is kept on disk: `run.json`, and the curves of the event file beside it.

The JSON has "schema" (1), id (the folder's name), name, started and updated (ISO 8601, UTC), status, why, steps, total,
seconds (without pauses), rate {name, first, last}, marks [[step, seconds, kind, text, values]], seed {graph, ops},
sources (label of a cell -> SHA-256 of its text), values (tag -> {first, last, least, greatest: [step, value]}),
checkpoint, tfnb (version) and process {host, pid, started}. Numbers that JSON lacks are the strings "nan", "inf" and
"-inf".
"""
from __future__ import annotations

import json
import math
import os
import re
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from tfnb.core.errors import OpError
from tfnb.core.lazy import lazy_module
from tfnb.notebook.plots.marks import Mark
from tfnb.notebook.plots.media import read_rich
from tfnb.notebook.plots.recorder import Recorder
from tfnb.notebook.plots.series import Series
from tfnb.notebook.plots.training import PAUSED, RUNNING
from tfnb.proto.event_pb2 import Event
from tfnb.proto.summary_pb2 import Summary
from tfnb.summary.events import summary_iterator

_psutil = lazy_module("psutil")

SCHEMA = 1
ABOUT = "run.json"
KILLED = "killed"
NO_SLASH = "\u2215"     # looks like one: boards call a run by what is behind the last slash
SILENT = 180.0          # seconds after which a run is taken for dead, where processes can't be asked
GREATEST = re.compile(r"acc|auc|precision|recall|f1|score|reward|return|bleu|iou|psnr", re.IGNORECASE)
_ODD = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


@dataclass(frozen=True)
class KeptRun:
    """One run on disk. folder: where it is; about: what its JSON says."""

    folder: Path
    about: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of its curves, which `rename` changes."""
        return str(self.about.get("name", self.folder.name))

    @property
    def key(self) -> str:
        """Name of its curves among those of other runs: the folder, which is unique, before the name."""
        return f"{self.folder.name}/{self.name.replace('/', NO_SLASH)}"

    @property
    def status(self) -> str:
        """"running", "paused", "done", "stopped", "failed", or "killed" where its kernel is gone."""
        said = str(self.about.get("status", KILLED))
        return KILLED if said in (RUNNING, PAUSED) and not self._alive() else said

    def _alive(self) -> bool:
        process = self.about.get("process", {})
        if process.get("host") == socket.gethostname():
            alive = process_alive(process.get("pid"), process.get("started"))
            if alive is not None:
                return alive
        return time.time() - self._time("updated") < SILENT

    def _time(self, what: str) -> float:
        try:
            return datetime.fromisoformat(str(self.about.get(what))).timestamp()
        except ValueError:
            return 0.0

    @property
    def started(self) -> float:
        """Time of its beginning, in seconds since 1970; 0 if nobody knows."""
        return self._time("started")

    @property
    def steps(self) -> int:
        """The steps that were done when it was written last."""
        return int(_number(self.about.get("steps", 0)))

    @property
    def seconds(self) -> float:
        """The seconds that it ran, without pauses."""
        return _number(self.about.get("seconds", 0.0))

    @property
    def rate(self) -> float | None:
        """The learning rate it ended with, None if it was told of none."""
        rate = self.about.get("rate")
        return _number(rate["last"]) if isinstance(rate, Mapping) and "last" in rate else None

    @property
    def seed(self) -> int | None:
        """The seed of the graph."""
        return (self.about.get("seed") or {}).get("graph")

    @property
    def sources_hash(self) -> str:
        """Eight digits that are equal for runs of equal cells; "" where no cell is known."""
        sources = self.about.get("sources")
        return digest("\n".join(sorted(map(str, sources.values()))))[:8] if isinstance(sources, Mapping) and sources \
            else ""

    @property
    def tags(self) -> list[str]:
        """The names of its values."""
        return list(self.about.get("values", {}))

    def last(self, tag: str) -> tuple[float, float] | None:
        """Return (step, value) of the last value of a tag, or None."""
        return self._point(tag, "last")

    def best(self, tag: str) -> tuple[float, float] | None:
        """Return (step, value) of the least value of a tag; of the greatest for accuracies, scores and their like."""
        return self._point(tag, "greatest" if GREATEST.search(tag) else "least")

    def _point(self, tag: str, which: str) -> tuple[float, float] | None:
        found = self.about.get("values", {}).get(tag, {}).get(which)
        return (_number(found[0]), _number(found[1])) if found else None

    def as_dict(self) -> dict[str, Any]:
        """Its facts, flat: a row for tables. Values are "loss" (the last one), "loss best" and "loss best step"."""
        row: dict[str, Any] = {
            "name": self.name, "status": self.status, "started": self.about.get("started", ""), "steps": self.steps,
            "seconds": self.seconds, "rate": self.rate, "seed": self.seed, "sources": self.sources_hash,
            "why": self.about.get("why", ""), "folder": str(self.folder)}
        for tag in self.tags:
            last, best = self.last(tag), self.best(tag)
            row |= {tag: last[1] if last else None, f"{tag} best": best[1] if best else None,
                    f"{tag} best step": best[0] if best else None}
        return row

    @property
    def marks(self) -> list[Mark]:
        """The marks on its curves; times count from its beginning."""
        return [Mark(_number(step), _number(seconds), str(kind), str(text), tuple(map(_number, values)))
                for step, seconds, kind, text, values in self.about.get("marks", [])]

    @property
    def series(self) -> dict[str, Series]:
        """Tag -> its curve; `times` count from the beginning of the run. What is damaged at the end is left out."""
        return {series.tag: series for series in self.load().series.values()}

    def load(self, recorder: Recorder | None = None, key: str = "") -> Recorder:
        """Put its curves, histograms, pictures and marks into a recorder, under the name `key`. Returns that.

        recorder: by default a new one; key: by default `self.key`.
        """
        recorder, key = recorder or Recorder(), key or self.key
        columns: dict[str, tuple[list[float], list[float], list[float]]] = {}
        began = self.started
        for event in self._events():
            for value in event.summary.value:
                if value.HasField("simple_value"):
                    point = event.step, event.wall_time - began, value.simple_value
                    for column, number in zip(columns.setdefault(value.tag, ([], [], [])), point, strict=True):
                        column.append(number)
                else:
                    for tag, item in read_rich(Summary(value=[value]).SerializeToString()):
                        recorder.add_rich(key, tag, event.step, item)
        for tag, (steps, times, values) in columns.items():
            made = recorder.series[key, tag] = Series(tag, key)
            with np.errstate(over="ignore"):
                made.extend(steps, np.array(values, np.float32), np.array(times))
        recorder.note(key, self.marks)
        return recorder

    def _events(self) -> Iterator[Event]:
        for path in sorted(self.folder.glob("events.out.tfevents.*")):
            with suppress(OpError, OSError):            # damaged from here on
                yield from summary_iterator(path)

    def __repr__(self) -> str:
        values = ", ".join(f"{tag} {last[1]:.4g}" for tag in self.tags if (last := self.last(tag)))
        return f"<{self.name}: {self.status}, {self.steps:,} steps{', ' * bool(values)}{values}>"


def process_alive(pid: Any, started: Any) -> bool | None:
    """Return whether this machine's process of that id and time of start runs; None where nobody can say."""
    try:
        return bool(_psutil.pid_exists(pid)) and (started is None or
                                                  abs(_psutil.Process(pid).create_time() - started) < 2)
    except ImportError:
        return None
    except Exception:           # psutil's own classes, and whatever a damaged file has for a number
        return False


def process_start() -> float | None:
    """Time of this process's start, in seconds since 1970, where that can be known."""
    try:
        return float(_psutil.Process().create_time())
    except Exception:           # no psutil, or a system that does not tell
        return None


def read_run(folder: Path) -> KeptRun | None:
    """The run in a folder, or None where there is none that can be read."""
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return KeptRun(folder, about) if isinstance(about, dict) and isinstance(about.get("schema"), int) else None


def write_about(folder: Path, about: Mapping[str, Any]) -> None:
    """Write the JSON of a run in one go: a reader finds the old one or the new one, whole. Raises OSError."""
    partial = folder / f".{ABOUT}.{os.getpid()}"
    partial.write_text(json.dumps(_plain(about), indent=1, ensure_ascii=False, allow_nan=False), encoding="utf-8")
    os.replace(partial, folder / ABOUT)


def now_text() -> str:
    """The time of now as the JSON has it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def digest(text: str) -> str:
    """SHA-256 of a text, as hexadecimal digits."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()


def whole(text: str) -> str:
    """A text as UTF-8 can hold it: without lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _plain(value: Any) -> Any:
    """A value as JSON has it: numbers of NumPy as Python's, and strings in place of NaN and infinities."""
    if isinstance(value, Mapping):
        return {whole(str(key)): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, str):
        return whole(value)
    return value


def _number(value: Any) -> float:
    if isinstance(value, str):
        return _ODD.get(value, math.nan)
    return float(value) if isinstance(value, (int, float)) else math.nan
