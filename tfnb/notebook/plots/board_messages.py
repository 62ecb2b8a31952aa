"""State of a live board in a browser, and the messages that bring it up to date: `board.py` lists them."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfnb.notebook.plots.media import PICTURES, Histogram, Picture, Sparse, ridge
from tfnb.notebook.plots.recorder import Key
from tfnb.notebook.plots.series import Series, bucket_size, points, points_within

OTHERS = 1000               # place of the first curve of another run
COLUMNS = 400               # of a plot in the browser: at most 800 points of a curve are sent

Message = dict[str, Any]


class Frames:
    """Data sent so far of each curve, histogram and picture. The recorder's lock is held around its methods."""

    def __init__(self) -> None:
        self._curves: dict[Key, tuple[int, int, float, int]] = {}   # generation, bucket, begin; whole columns
        self._rich: dict[tuple[str, Key], int] = {}     # kind, key -> how many items were known

    def forget(self) -> None:
        """The browser has nothing."""
        self._curves.clear()
        self._rich.clear()

    def curves(self, found: Sequence[Series], began: Callable[[str], float],
               first_place: int = 0) -> list[tuple[Message, np.ndarray]]:
        """The messages, with their points, that bring curves up to date. began: run -> where its seconds count from."""
        messages = []
        origins = {run: began(run) for run in {series.run for series in found}}
        for place, series in enumerate(found, first_place):
            key, bucket, origin = (series.run, series.tag), bucket_size(len(series), COLUMNS), origins[series.run]
            *before, columns = self._curves.get(key, (-1, 0, 0.0, 0))
            first = columns if before == [series.generation, bucket, origin] else 0
            fresh = points(series, COLUMNS, first, origin)
            if len(fresh):
                messages.append(({"type": "points", "tag": place, "start": first * min(bucket, 2)}, fresh))
            self._curves[key] = series.generation, bucket, origin, len(series) // bucket    # whole columns stay
        return messages

    @staticmethod
    def details(found: Sequence[Series], began: Callable[[str], float], bounds: tuple[float, float], x: str,
                first_place: int = 0) -> list[tuple[Message, np.ndarray]]:
        """The messages, with their points, of what a plot that is zoomed to bounds of its x axis lacks."""
        made = [(place, points_within(series, COLUMNS, bounds, x, began(series.run)))
                for place, series in enumerate(found, first_place)]
        return [({"type": "detail", "tag": place, "range": list(bounds)}, fresh) for place, fresh in made if len(fresh)]

    def rich(self, kind: str, found: Sequence[tuple[Key, Sparse[Any]]]) -> list[tuple[Message, list[bytes]]]:
        """The messages, with their buffers, of the histograms ("ridge") or pictures that are new."""
        messages = []
        for place, (key, kept) in enumerate(found):
            if self._rich.get((kind, key)) != kept.count:
                self._rich[kind, key] = kept.count
                messages.append(_ridge(place, kept) if kind == "ridge" else _pictures(place, kept))
        return messages


def _ridge(place: int, kept: Sparse[Histogram]) -> tuple[Message, list[bytes]]:
    found = ridge(kept)
    return ({"type": "ridge", "ridge": place, "low": found.low, "high": found.high, "steps": list(found.steps),
             "top": found.top},
            [found.table.tobytes()])


def _pictures(place: int, kept: Sparse[Picture]) -> tuple[Message, list[bytes]]:
    items = kept.items(PICTURES)
    return {"type": "pictures", "picture": place, "steps": [step for step, _ in items]}, [one.data for _, one in items]
