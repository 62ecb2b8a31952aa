"""Derivative of the regularized incomplete gamma function with respect to its parameter, in NumPy.

By its power series for x <= 1 or x <= a, else by the continued fraction of its complement; each with its derivative,
term by term. kernels/library/gamma.py has the same as a kernel.
"""
from __future__ import annotations

import numpy as np

from tfnb.kernels.scalar.definition import numpy_form

_lgamma = numpy_form("lgamma")
_digamma = numpy_form("digamma")
MOST_TERMS = 20000                        # the series needs some multiples of sqrt(a)
EPSILON = 2.0**-53
LARGE = 2.0**52                           # of convergents: beyond it numerator and denominator are scaled back


def _by_series(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return x / a * d/da of log-scaled P(a, x): its sum is multiplied by x**a exp(-x) / gamma(a + 1)."""
    r, term, slope = a.copy(), np.ones_like(a), np.zeros_like(a)
    total, total_slope = term.copy(), slope.copy()
    live = np.arange(a.size)
    for _ in range(MOST_TERMS):
        r[live] += 1
        ratio = x[live] / r[live]
        slope[live] = ratio * (slope[live] - term[live] / r[live])
        term[live] *= ratio
        total[live] += term[live]
        total_slope[live] += slope[live]
        live = live[np.abs(slope[live]) > EPSILON * np.abs(total_slope[live])]
        if not live.size:
            break
    return np.asarray(total_slope + total * (np.log(x) - _digamma(a + 1)))


def _by_fraction(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return d/da of log-scaled Q(a, x): its fraction is multiplied by x**a exp(-x) / gamma(a)."""
    y, z = 1 - a, x + 2 - a
    p2, q2, p1, q1 = np.ones_like(x), x.copy(), x + 1, z * x
    dp2, dq2, dp1, dq1 = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x), -x
    value = p1 / q1
    slope = (dp1 - value * dq1) / q1
    live = np.arange(a.size)
    for count in range(1, MOST_TERMS):
        i = live
        y[i] += 1
        z[i] += 2
        yc = y[i] * count
        p, q = p1[i] * z[i] - p2[i] * yc, q1[i] * z[i] - q2[i] * yc
        dp = dp1[i] * z[i] - p1[i] - dp2[i] * yc + p2[i] * count
        dq = dq1[i] * z[i] - q1[i] - dq2[i] * yc + q2[i] * count
        found = p / q
        new = (dp - found * dq) / q
        moved = np.abs(new - slope[i]) > EPSILON * np.abs(new)
        value[i], slope[i] = found, new
        scale = np.where(np.abs(p) > LARGE, 1 / LARGE, 1)
        for array, old, latest in ((p2, p1, p), (q2, q1, q), (dp2, dp1, dp), (dq2, dq1, dq)):
            array[i], old[i] = old[i] * scale, latest * scale
        live = live[moved]
        if not live.size:
            break
    return np.asarray(slope + value * (np.log(x) - _digamma(a)))


def derivative(a: np.ndarray, x: np.ndarray, of_sample: bool) -> np.ndarray:
    """Return d/da P(a, x), or of_sample: d/da of the sample x of the gamma distribution, -dP/da / (dP/dx).

    0 for x = 0; NaN for x < 0 or a <= 0. Operands are broadcast; computed in float64.
    """
    dtype = x.dtype
    wide = np.broadcast_arrays(a.astype(np.float64), x.astype(np.float64))
    shape, (a, x) = wide[0].shape, (each.reshape(-1) for each in wide)
    found = np.full(a.shape, np.nan)
    valid = (a > 0) & (x > 0)
    found[(x == 0) | valid & (np.isinf(a) | np.isinf(x))] = 0
    valid &= np.isfinite(a) & np.isfinite(x)
    series = valid & ((x <= 1) | (x <= a))
    fraction = valid & ~series
    with np.errstate(all="ignore"):
        for chosen, way, shift in ((series, _by_series, 1), (fraction, _by_fraction, 0)):
            b, z = a[chosen], x[chosen]
            inner = way(b, z) * (1 if shift else -1)
            log_scale = b * np.log(z) - z - _lgamma(b + shift)
            found[chosen] = inner * (-z / b if shift else -z) if of_sample else inner * np.exp(log_scale)
    return found.astype(dtype).reshape(shape)
