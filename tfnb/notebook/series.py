"""The history of one scalar, thinned to its extremes when it gets long, and what a plot needs of it."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

CAPACITY = 1 << 16      # points of one series; 1 MB


class Series:
    """Steps and values of one tag of one run. Steps never fall.

    A step that goes back is a new start, as for TensorBoard: the points from that step on are dropped. When CAPACITY
    is reached, each four neighbours are replaced by the lowest and highest of them, so that the whole run stays
    visible. `generation` counts such changes of what was there: places of points hold within a generation.
    """

    def __init__(self, tag: str, run: str = "", capacity: int = CAPACITY) -> None:
        self.tag, self.run = tag, run
        self.count = 0                          # points ever added
        self.generation = 0
        self._capacity = capacity
        self._n = 0
        self._steps = np.empty(1024, np.float64)
        self._values = np.empty(1024, np.float32)

    def __len__(self) -> int:
        return self._n

    @property
    def steps(self) -> np.ndarray:
        """float64, a view."""
        return self._steps[:self._n]

    @property
    def values(self) -> np.ndarray:
        """float32, a view."""
        return self._values[:self._n]

    def extend(self, steps: Sequence[float | None], values: np.ndarray) -> None:
        """Add points. A step of None is one more than the step before it (0 at the start)."""
        filled = _filled(steps, float(self._steps[self._n - 1]) if self._n else -1.0)
        self.count += len(filled)
        falls = filled[1:] < filled[:-1]
        starts = np.flatnonzero(falls) + 1 if falls.any() else ()
        for some_steps, some in zip(_split(filled, starts), _split(values, starts), strict=True):
            self._start_at(some_steps[0])
            for begin in range(0, len(some), self._capacity // 2):
                end = begin + self._capacity // 2
                self._append(some_steps[begin:end], some[begin:end])

    def _start_at(self, step: float) -> None:
        if self._n and step < self._steps[self._n - 1]:
            self._n = int(np.searchsorted(self.steps, step))
            self.generation += 1

    def _append(self, steps: np.ndarray, values: np.ndarray) -> None:
        if self._n + len(steps) > self._capacity:
            self._thin()
        end = self._n + len(steps)
        if end > len(self._steps):
            size = min(self._capacity, max(end, 2 * len(self._steps)))
            self._steps, self._values = np.resize(self._steps, size), np.resize(self._values, size)
        self._steps[self._n:end] = steps
        self._values[self._n:end] = values
        self._n = end

    def _thin(self) -> None:
        kept = extremes(self.values, 4)
        self._steps[:len(kept)], self._values[:len(kept)] = self.steps[kept], self.values[kept]
        self._n = len(kept)
        self.generation += 1


def _split(values: np.ndarray, starts: Sequence[int] | np.ndarray) -> list[np.ndarray]:
    return np.split(values, starts) if len(starts) else [values]


def _filled(steps: Sequence[float | None], last: float) -> np.ndarray:
    if None not in steps:
        return np.array(steps, np.float64)
    if steps.count(None) == len(steps):
        return np.arange(last + 1, last + 1 + len(steps))
    filled = []
    for step in steps:
        last = last + 1 if step is None else step
        filled.append(last)
    return np.array(filled, np.float64)


def bucket_size(n: int, width: int) -> int:
    """How many neighbours share a column of a plot `width` columns wide: a power of two, 1 while all points fit."""
    return 1 if n <= 2 * width else 1 << (-(-n // width) - 1).bit_length()


def extremes(values: np.ndarray, bucket: int) -> np.ndarray:
    """Indices of the lowest and the highest value of each `bucket` neighbours, two a bucket, in order.

    A bucket with a NaN in it gives that NaN twice: a plot must show it. The last bucket may be short.
    """
    n = len(values)
    whole = n - n % bucket
    table = values[:whole].reshape(-1, bucket)
    pairs = np.stack([table.argmin(axis=1), table.argmax(axis=1)], axis=1)
    pairs.sort(axis=1)
    pairs += np.arange(0, whole, bucket)[:, None]
    if whole == n:
        return pairs.ravel()
    tail = values[whole:]
    return np.concatenate([pairs.ravel(), whole + np.sort([tail.argmin(), tail.argmax()])])


def points(series: Series, width: int, first: int = 0) -> np.ndarray:
    """(step, value) float32 pairs for a plot `width` columns wide: all points while they fit, else two a column.

    first: the first column wanted (a point, while all fit). Shape (n, 2).
    """
    bucket = bucket_size(len(series), width)
    steps, values = series.steps[first * bucket:], series.values[first * bucket:]
    if bucket > 1:
        chosen = extremes(values, bucket)
        steps, values = steps[chosen], values[chosen]
    return np.stack([steps.astype(np.float32), values], axis=1)


def smooth(values: np.ndarray, weight: float) -> np.ndarray:
    """The running mean that TensorBoard draws: exponential with `weight` in [0, 1), corrected at the start.

    What is not finite is passed over. float64.
    """
    out, mean, total = np.empty(len(values)), 0.0, 0.0
    for i, value in enumerate(values.tolist()):
        if value - value == 0:                  # finite
            mean, total = mean * weight + value * (1 - weight), total * weight + 1 - weight
        out[i] = mean / total if total else np.nan
    return out
