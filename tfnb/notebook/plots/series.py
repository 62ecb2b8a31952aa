"""The history of one scalar, thinned to its extremes when it gets long, and what a plot needs of it."""
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

CAPACITY = 1 << 16      # points of one series; 1 MB


class Series:
    """Steps, times and values of one tag of one run. Steps never fall.

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
        self._columns = [np.empty(1024, kind) for kind in (np.float64, np.float64, np.float32)]

    def __len__(self) -> int:
        return self._n

    @property
    def steps(self) -> np.ndarray:
        """float64, a view."""
        return self._columns[0][:self._n]

    @property
    def times(self) -> np.ndarray:
        """The time of each report, in seconds of `time.monotonic`: float64, a view."""
        return self._columns[1][:self._n]

    @property
    def values(self) -> np.ndarray:
        """float32, a view."""
        return self._columns[2][:self._n]

    def extend(self, steps: np.ndarray | Sequence[float | None], values: np.ndarray,
               times: np.ndarray | float = 0.0) -> None:
        """Add points. A step of None, or no finite one, is one more than the step before it (0 at the start)."""
        filled = _filled(np.asarray(steps, np.float64), float(self.steps[-1]) if self._n else -1.0)
        self.count += len(filled)
        falls = filled[1:] < filled[:-1]
        starts = np.flatnonzero(falls) + 1 if falls.any() else ()
        columns = filled, np.broadcast_to(times, filled.shape), values
        for part in zip(*(_split(column, starts) for column in columns), strict=True):
            self._start_at(part[0][0])
            for begin in range(0, len(part[0]), self._capacity // 2):
                self._append([column[begin:begin + self._capacity // 2] for column in part])

    def _start_at(self, step: float) -> None:
        if self._n and step < self.steps[-1]:
            self._n = int(np.searchsorted(self.steps, step))
            self.generation += 1

    def _append(self, columns: Sequence[np.ndarray]) -> None:
        if self._n + len(columns[0]) > self._capacity:
            self._thin()
        end, room = self._n + len(columns[0]), len(self._columns[0])
        if end > room:
            size = min(self._capacity, max(end, 2 * room))
            self._columns = [np.resize(column, size) for column in self._columns]
        for column, more in zip(self._columns, columns, strict=True):
            column[self._n:end] = more
        self._n = end

    def _thin(self) -> None:
        kept = extremes(self.values, 4)
        for column in self._columns:
            column[:len(kept)] = column[kept]
        self._n = len(kept)
        self.generation += 1


def _split(values: np.ndarray, starts: Sequence[int] | np.ndarray) -> list[np.ndarray]:
    return np.split(values, starts) if len(starts) else [values]


def _filled(steps: np.ndarray, last: float) -> np.ndarray:
    """`steps`, with one more than the step before it (`last` before the first one) where there is no number."""
    counted = ~np.isfinite(steps)
    if not counted.any():
        return steps
    if counted.all():
        return np.arange(last + 1, last + 1 + len(steps))
    filled = []
    for step in steps.tolist():
        last = step if math.isfinite(step) else last + 1
        filled.append(last)
    return np.array(filled)


def bucket_size(n: int, width: int) -> int:
    """Return how many points share a column of a plot `width` columns wide: a power of two, 1 while all fit."""
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


def points(series: Series, width: int, first: int = 0, began: float = 0.0) -> np.ndarray:
    """(step, value, seconds) as float32 for a plot `width` columns wide: all points while they fit, else two a column.

    The newest point is always the last one. first: the first column wanted (a point, while all fit); began: the time
    from which seconds count. Shape (n, 3).
    """
    bucket = bucket_size(len(series), width)
    return _thinned(series, slice(first * bucket, None), bucket, began)


def points_within(series: Series, width: int, bounds: tuple[float, float], x: str, began: float = 0.0) -> np.ndarray:
    """As `points`, of the part that is within bounds of the x axis ("step", "time" or "share") and one point around it.

    Empty if the plot has all of them already.
    """
    if bucket_size(len(series), width) == 1:
        return np.empty((0, 3), np.float32)
    along = series.times - began if x == "time" else series.steps
    low, high = (bound * along[-1] / 100 for bound in bounds) if x == "share" else bounds
    part = slice(max(0, int(np.searchsorted(along, low)) - 1), int(np.searchsorted(along, high, "right")) + 1)
    return _thinned(series, part, bucket_size(len(along[part]), width), began)


def _thinned(series: Series, part: slice, bucket: int, began: float) -> np.ndarray:
    steps, values, times = (column[part] for column in (series.steps, series.values, series.times))
    if bucket > 1 and len(values):
        chosen = np.append(extremes(values, bucket), len(values) - 1)
        steps, values, times = steps[chosen], values[chosen], times[chosen]
    return np.stack([steps, values, times - began], axis=1, dtype=np.float32, casting="same_kind")


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
