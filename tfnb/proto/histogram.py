"""Numbers into a HistogramProto, with TensorFlow's buckets: each a tenth wider than the one before."""
from __future__ import annotations

from functools import cache

import numpy as np

from tfnb.proto.histogram_pb2 import HistogramProto

_LARGEST = float(np.finfo(np.float64).max)


@cache
def bucket_limits() -> np.ndarray:
    """The upper limits of all buckets, increasing: both signs of 1e-12, 1.1e-12, ... below 1e20; 0; the largest."""
    positive, limit = [], 1e-12
    while limit < 1e20:
        positive.append(limit)
        limit *= 1.1
    positive.append(_LARGEST)
    return np.array([*(-v for v in reversed(positive)), 0.0, *positive])


def histogram_proto(values: np.ndarray) -> HistogramProto:
    """The histogram of finite numbers; runs of empty buckets are one bucket."""
    numbers = np.ascontiguousarray(values, np.float64).ravel()
    limits = bucket_limits()
    places = np.minimum(_places(numbers), len(limits) - 1)
    counts = np.bincount(places, minlength=len(limits))
    # Of a run of empty buckets the last one stays, with the limit of all.
    kept = (counts > 0) | np.append(counts[1:] > 0, True)
    with np.errstate(over="ignore"):               # the moments of huge numbers are infinite
        total, squares = _in_order(numbers), _in_order(numbers * numbers)
    return HistogramProto(
        min=numbers.min(initial=_LARGEST), max=numbers.max(initial=-_LARGEST), num=len(numbers),
        sum=total, sum_squares=squares, bucket_limit=limits[kept].tolist(), bucket=counts[kept].tolist())


@cache
def _guide() -> tuple[np.ndarray, np.ndarray]:
    """For the upper 16 bits of a double: how many limits its least value has reached, and which limit comes next.

    Doubles with the same 16 bits lie within 6.25 %, limits 10 % apart: at most one of them lies in between.
    """
    low = np.arange(1 << 16, dtype=np.uint64) << np.uint64(48)
    low[1 << 15:] |= np.uint64((1 << 48) - 1)      # of negative numbers the least is the longest
    with np.errstate(invalid="ignore"):
        reached = np.searchsorted(bucket_limits(), low.view(np.float64), side="right")
    return reached, np.append(bucket_limits(), np.inf)[reached]


def _places(numbers: np.ndarray) -> np.ndarray:
    """How many limits each number has reached: np.searchsorted from the right, five times as fast."""
    reached, following = _guide()
    cell = (numbers.view(np.uint64) >> np.uint64(48)).astype(np.intp)
    return reached[cell] + (numbers >= following[cell])


def _in_order(numbers: np.ndarray) -> float:
    """The sum from first to last, not by pairs: bit for bit what a loop over doubles gives."""
    return float(np.cumsum(numbers)[-1]) if len(numbers) else 0.0
