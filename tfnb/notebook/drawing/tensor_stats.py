"""The numbers of a tensor in a few: range, mean, spread, norm, what is not finite; and how it moved since last seen."""
from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

import numpy as np

MOST = 1 << 22          # elements that are looked at, evenly spaced; of a larger tensor the figures are estimates
SAMPLE = 1 << 14        # elements that are kept, to see how far a tensor moved
KEPT = 240              # norms remembered


@dataclass(frozen=True, slots=True)
class Stats:
    """Of the finite elements: mean, standard deviation, least, greatest, L2 norm; nan, inf: shares of all elements.

    Where there is none, the numbers are NaN. Of complex numbers those of the absolute values.
    """

    size: int
    mean: float
    std: float
    low: float
    high: float
    norm: float
    nan: float
    inf: float

    @property
    def bad(self) -> float:
        """The share of elements that are NaN or infinite."""
        return self.nan + self.inf


def as_reals(array: np.ndarray) -> np.ndarray | None:
    """The elements as real numbers that NumPy computes with; None for strings and the like."""
    if array.dtype.kind == "c":
        return np.asarray(np.abs(array))
    if array.dtype.kind == "b":
        return array.astype(np.float32)
    if array.dtype.kind in "fiu":
        return array.astype(np.float32) if array.dtype == np.float16 else array
    if array.dtype.kind == "V" and array.dtype.names is None:          # bfloat16 and its kin
        return array.astype(np.float32)
    return None


def spread_sample(array: np.ndarray, most: int) -> np.ndarray:
    """At most `most` elements, evenly spaced, as a flat array; the array itself, flat, if it has no more."""
    flat = array.reshape(-1)
    return flat if flat.size <= most else flat[::-(-flat.size // most)]


@np.errstate(over="ignore", invalid="ignore")      # a training that has gone astray is told of, not warned of
def stats(array: np.ndarray, most: int = MOST) -> Stats | None:
    """The figures of an array; None for one that has no numbers. most: elements that are looked at."""
    numbers = as_reals(spread_sample(array, most))
    if numbers is None or not numbers.size:
        return None
    finite = np.isfinite(numbers)
    good = numbers if finite.all() else numbers[finite]
    nans = 0 if good is numbers else int(np.count_nonzero(np.isnan(numbers)))
    nan, inf = nans / numbers.size, (numbers.size - good.size - nans) / numbers.size
    if not good.size:
        return Stats(array.size, math.nan, math.nan, math.nan, math.nan, 0.0, nan, inf)
    wide = good.astype(np.float64)
    norm = float(np.sqrt(_squares(wide) * (array.size / numbers.size)))
    mean, std, low, high = (float(fn(wide)) for fn in (np.mean, np.std, np.min, np.max))
    return Stats(array.size, mean, std, low, high, norm, nan, inf)


def _squares(values: np.ndarray) -> float:
    """The sum of squares; not by BLAS, whose threads wait for one another when the training has the cores."""
    return float(np.sum(values * values))


@dataclass(slots=True)
class Motion:
    """A variable over time: its norm whenever it was seen changed, and how far it moved the last time.

    ratio: |change| / |value before|, or of the value now if it was zero, a step if the steps are known, NaN until it
    was seen to move. Changes are measured
    on `SAMPLE` elements; moves: how often it was seen changed.
    """

    norms: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT))
    ratio: float = float("nan")
    step: int | None = None
    moves: int = 0
    _before: np.ndarray | None = None

    @np.errstate(over="ignore", invalid="ignore")
    def see(self, array: np.ndarray, step: int | None) -> bool:
        """Look at the variable now; step: the global step, if there is one. True if it moved (or is new)."""
        numbers = as_reals(spread_sample(array, SAMPLE))
        if numbers is None or not numbers.size:
            return False
        now, before = numbers.astype(np.float64), self._before
        if before is not None and before.shape == now.shape and np.array_equal(before, now, equal_nan=True):
            return False
        if before is not None and before.shape == now.shape:
            start = float(np.sqrt(_squares(before))) or float(np.sqrt(_squares(now)))
            moved = float(np.sqrt(_squares(now - before)))
            steps = max(1, step - self.step) if step is not None and self.step is not None else 1
            self.ratio = moved / start / steps if start else 0.0        # squares of less than 1e-154 are 0
        self._before, self.step, self.moves = now, step, self.moves + 1
        self.norms.append(float(np.sqrt(_squares(now) * (array.size / now.size))))
        return True
