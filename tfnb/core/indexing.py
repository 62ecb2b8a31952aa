"""NumPy functions that take indices or counts as `intp` alone: where it has 32 bits (browsers), they refuse int64.

TensorFlow's indices are int64 as often as int32. Fancy indexing, `unravel_index` and others convert by themselves.
"""
from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def _places(indices: Any) -> Array:
    return np.asarray(indices).astype(np.intp, copy=False)


def bincount(places: Any, weights: Any = None, minlength: int = 0) -> Array:
    """Count the occurrences of each index, or sum the weights of each. Raises ValueError for negative ones."""
    return np.bincount(_places(places), weights, minlength)


def repeat(array: Any, counts: Any, axis: int | None = None) -> Array:
    """Repeat each element along an axis, of the flattened array by default."""
    return np.repeat(array, _places(counts), axis)


def take(array: Any, indices: Any, axis: int | None = None) -> Any:
    """Take elements along an axis, of the flattened array by default. Raises IndexError for places out of range."""
    return np.take(array, _places(indices), axis)


def reduceat(ufunc: np.ufunc, array: Any, starts: Any, axis: int = 0) -> Array:
    """Reduce the slices of an array that begin at `starts`. Raises IndexError for places out of range."""
    return np.asarray(ufunc.reduceat(array, _places(starts), axis))


def bin_counts(values: np.ndarray, low: float, high: float, bins: int) -> np.ndarray:
    """Count the values, all within [low, high], in each of `bins` equal-width bins of that range (int64).

    If low equals high, all are in the middle bin. (NumPy's histogram raises for bins below the floating-point spacing,
    and on overflow.)
    """
    with np.errstate(all="ignore"):             # halves: high - low may overflow
        share = (values / 2 - low / 2) / (high / 2 - low / 2) if high / 2 > low / 2 else np.full(values.shape, 0.5)
    return bincount(np.minimum(share * bins, bins - 1).astype(np.int64).reshape(-1), minlength=bins).astype(
        np.int64, copy=False)
