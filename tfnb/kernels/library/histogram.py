"""Histograms in one pass: both sums, the extremes and the buckets, 2.5 ns a value (arrays/histogram.py takes 16)."""
from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from tfnb.kernels.arrays.histogram import Histogram, bucket_limits, guide
from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, bits, uint64, where

TYPES = frozenset(["float32", "float64"])
LEAST = 500              # numbers: fewer are not worth a kernel
FRACTION = np.uint64(48)


@kernel_function(fastmath=())
def measure(numbers: Array, moments: Array, counts: Array, reached: Array, following: Array, n: int,
            item: int) -> None:
    """Compute least, largest, sum and sum of squares of `n` values, in order, and count them by buckets.

    The upper 16 bits of a value say where to look in the guide: `reached`, `following`.
    """
    total, squares, low, high = 0.0, 0.0, moments[0], moments[1]
    for j in range(n):
        x = float(numbers[j])
        total += x
        squares += x * x
        low = where(x < low, x, low)
        high = where(x > high, x, high)
        cell = uint64(bits(x)) >> FRACTION
        place = reached[cell]
        counts[uint64(where(x >= following[cell], place + 1, place))] += 1
    moments[0], moments[1], moments[2], moments[3] = low, high, total, squares




def histogram(values: np.ndarray) -> Histogram:
    """Compute `kernels.histogram.histogram` of a contiguous array of one of TYPES."""
    largest = float(np.finfo(np.float64).max)
    words = np.zeros(10 + len(bucket_limits()) + 2, np.int64)       # the argument block, the moments and the counts
    start, moments, counts = words.ctypes.data, words[6:10].view(np.float64), words[10:-1]     # (the last: infinity)
    moments[:2] = largest, -largest
    words[:6] = values.ctypes.data, start + 6 * 8, start + 10 * 8, *_tables(), values.size
    _native(values.dtype.name)(start, 0, 1)
    low, high, total, squares = moments.tolist()
    return Histogram(low, high, values.size, total, squares, counts)


@cache
def _tables() -> tuple[int, int]:
    """Return the addresses of the guide, which lives as long as the process."""
    reached, following = guide()
    return reached.ctypes.data, following.ctypes.data


@cache
def _native(type: str) -> Callable[[int, int, int], None]:
    return measure.native({"numbers": type, "moments": "float64", "counts": "int64", "reached": "int64",
                           "following": "float64"})
