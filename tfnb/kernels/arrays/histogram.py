"""Histograms with TensorFlow's buckets, each a tenth wider than the one before."""
from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from tfnb.core import indexing

_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, slots=True)
class Histogram:
    """Histogram of values. counts: for each of `bucket_limits()`, how many values reach it.

    total, squares: sums of doubles from first to last; not finite if one of the values is not (or they are huge).
    """

    low: float
    high: float
    number: int
    total: float
    squares: float
    counts: np.ndarray

    def buckets(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the limit of each bucket and its count; runs of empty ones are one bucket, with the limit of all."""
        counts = self.counts[:-1].copy()
        counts[-1] += self.counts[-1]              # numbers that are the last limit are in the last bucket
        full = counts > 0
        kept = full.copy()
        kept[:-1] |= full[1:]
        kept[-1] = True
        places = kept.nonzero()[0]
        return bucket_limits()[places], counts[places]


@cache
def bucket_limits() -> np.ndarray:
    """Return the upper limits of all buckets, increasing: both signs of 1e-12, 1.1e-12, ... < 1e20; 0; the largest."""
    positive, limit = [], 1e-12
    while limit < 1e20:
        positive.append(limit)
        limit *= 1.1
    positive.append(_LARGEST)
    return np.array([*(-v for v in reversed(positive)), 0.0, *positive])


def histogram(values: np.ndarray) -> Histogram:
    """Compute the histogram of an array of any real dtype."""
    numbers = np.ascontiguousarray(values, np.float64).ravel()
    counts = indexing.bincount(places(numbers), minlength=len(bucket_limits()) + 1)
    with np.errstate(all="ignore"):                # the moments of huge numbers are infinite
        total, squares = _in_order(numbers), _in_order(numbers * numbers)
    return Histogram(float(numbers.min(initial=_LARGEST)), float(numbers.max(initial=-_LARGEST)), len(numbers), total,
                     squares, counts)


@cache
def guide() -> tuple[np.ndarray, np.ndarray]:
    """Return, for the upper 16 bits of a double, how many limits its least value has reached, and the next limit.

    Doubles with the same 16 bits lie within 6.25 %, limits 10 % apart: at most one of them lies in between.
    """
    low = np.arange(1 << 16, dtype=np.uint64) << np.uint64(48)
    low[1 << 15:] |= np.uint64((1 << 48) - 1)      # of negative numbers the least is the longest
    with np.errstate(invalid="ignore"):
        reached = np.searchsorted(bucket_limits(), low.view(np.float64), side="right")
    return reached, np.append(bucket_limits(), np.inf)[reached]


def places(numbers: np.ndarray) -> np.ndarray:
    """Return how many limits each value has reached: np.searchsorted from the right, five times as fast."""
    reached, following = guide()
    cell = (numbers.view(np.uint64) >> np.uint64(48)).astype(np.intp)
    return reached[cell] + (numbers >= following[cell])


def _in_order(numbers: np.ndarray) -> float:
    """Return the sum from first to last, not pairwise: bit for bit that of a loop over doubles."""
    return float(np.cumsum(numbers)[-1]) if len(numbers) else 0.0
