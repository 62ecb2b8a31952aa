"""Selection of recorded values for a live board: runs and tags, their names, panels and colours."""
from __future__ import annotations

import fnmatch
from collections.abc import Callable, Sequence
from posixpath import basename
from typing import Any

import numpy as np

from tfnb.core.text import did_you_mean
from tfnb.notebook.plots import panels
from tfnb.notebook.plots.media import Picture, Ridge, Sparse, ridge
from tfnb.notebook.plots.recorder import Key, Recorder
from tfnb.notebook.plots.series import Series, points
from tfnb.notebook.plots.style import Look

HINTS = 8                   # tags told where none matches
SVG_COLUMNS = 140


class BoardData:
    """Series, histograms and pictures of a recorder whose runs and tags match. Colours go by the order they came in.

    find_others: finds the curves of other runs, drawn faintly where the look asks for them; None: nobody does.
    """

    def __init__(self, tags: tuple[str, ...], runs: tuple[str, ...], look: Look, recorder: Recorder) -> None:
        self.tags, self.runs, self.look, self.recorder = tags, runs, look, recorder
        self.find_others: Callable[[], Sequence[Series]] | None = None
        self._others: list[Series] | None = None
        self._keys: list[Key] = []              # what was shown, in the order it came: colours stay

    def series(self) -> list[Series]:
        """The recorded series that the board shows, in the order they first came."""
        with self.recorder.lock:
            for key in self.recorder.series:
                if key not in self._keys and self._wants(*key):
                    self._keys.append(key)
            return [self.recorder.series[key] for key in self._keys
                    if key in self.recorder.series and not self.look.hist]

    def others(self) -> list[Series]:
        """The curves of other runs under tags that are shown, where they are asked for."""
        if not self.look.others or self.find_others is None:
            self._others = None
            return []
        if self._others is None:                # read once, from disk
            self._others = list(self.find_others())
        shown = {series.tag for series in self.series()}
        return [series for series in self._others if series.tag in shown]

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
        made += [panels.Curve(basename(series.run), points(series, columns, began=_first(series)), panels.FAINT,
                              panels.group_of(series.tag)) for series in self.others()]
        tags = [curve.share for curve in made]
        return sorted(made, key=lambda curve: tags.index(curve.share)) if self.look.apart else made

    def marks(self) -> list[panels.Noted]:
        """The marks on the curves of the runs that are shown."""
        runs, found = self._shown_runs(), []
        for place, run in enumerate(runs):
            began, called = self._began(run), f"{basename(run)}: " if len(runs) > 1 else ""
            found += [panels.Noted(mark.step, mark.time - began, mark.kind, called + mark.text,
                                   place if called else panels.NO_COLOR) for mark in self.recorder.marks.get(run, ())]
        return found

    def _began(self, run: str) -> float:
        """Return the time of the first value that is kept of a run: its seconds count from there."""
        return min((float(series.times[0]) for (name, _), series in self.recorder.series.items()
                    if name == run and len(series)), default=0.0)

    def _count(self) -> int:
        return (self.recorder.noted + sum(series.count for series in self.series())
                + sum(kept.count for kind in ("ridge", "pictures") for _, kept in self._rich(kind)))

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


def _matches(patterns: tuple[str, ...], *names: str) -> bool:
    return not patterns or any(fnmatch.fnmatchcase(name, pattern) or name == pattern
                               for pattern in patterns for name in names)


def _first(series: Series) -> float:
    return float(series.times[0]) if len(series) else 0.0
