"""Histograms of any finite numbers: NumPy's raises where the bins are finer than the numbers, and where these are huge.
"""
from __future__ import annotations

import numpy as np


def bin_counts(values: np.ndarray, low: float, high: float, bins: int) -> np.ndarray:
    """How many of the values, all within [low, high], lie in each of `bins` equal parts of that range (int64).

    Where low is high, all are in the middle one.
    """
    with np.errstate(all="ignore"):             # halves: the whole range may be larger than any number
        share = (values / 2 - low / 2) / (high / 2 - low / 2) if high / 2 > low / 2 else np.full(values.shape, 0.5)
    return np.bincount(np.minimum(share * bins, bins - 1).astype(np.int64).reshape(-1), minlength=bins)
