"""Histograms of any finite values: NumPy's raises for bins below the floating-point spacing, and on overflow."""
from __future__ import annotations

import numpy as np


def bin_counts(values: np.ndarray, low: float, high: float, bins: int) -> np.ndarray:
    """Count the values, all within [low, high], in each of `bins` equal-width bins of that range (int64).

    If low equals high, all are in the middle bin.
    """
    with np.errstate(all="ignore"):             # halves: high - low may overflow
        share = (values / 2 - low / 2) / (high / 2 - low / 2) if high / 2 > low / 2 else np.full(values.shape, 0.5)
    return np.bincount(np.minimum(share * bins, bins - 1).astype(np.int64).reshape(-1), minlength=bins)
