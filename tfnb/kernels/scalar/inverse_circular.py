"""Polynomial approximations of atan, atan2, asin and acos, without branches: see polynomials.py.

The angle is a multiple of pi/4 or pi/2, in two parts, and a series: atan(t) = t + t**3 P(t**2) for |t| <= 1/2,
asin(s) = s + s**3 Q(s**2) for |s| <= 0.6. Beyond 1/2, differences from 1 are exact. Errors are in docs/accuracy.md.
"""
from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan
from typing import Any

from tfnb.kernels.scalar.polynomials import Definition, horner
from tfnb.kernels.scalar.symbols import primitive

absolute, bits, fma, from_bits, sqrt, where = map(primitive, "abs bits fma from_bits sqrt where".split())


@dataclass(frozen=True)
class Angles:
    """Constants of a format: the bits of -0.0, pi/4 in two parts, and the minimax fits.

    small, larger: what is below `small` is multiplied by `larger` first: there may be no number that is half of it.
    """

    sign: int
    small: float
    larger: float
    quarter: tuple[float, float]
    atan: tuple[float, ...]             # (atan(t) / t - 1) / t**2 in t**2, |t| <= 1/2
    asin: tuple[float, ...]             # (asin(s) / s - 1) / s**2 in s**2, |s| <= 0.6


FLOAT32 = Angles(
    sign=-1 << 31, small=1e-30, larger=2.0**60, quarter=(0.78539818525314331055, -2.18556951e-08),
    atan=(-0.3333332709062543, 0.19999499218234298, -0.14272251219015092, 0.10942369873129125, -0.0798912542368646,
          0.038791960411825435),
    asin=(0.16666678091226655, 0.0749922546093312, 0.04481943943378896, 0.02849524031860125, 0.03291883490129307,
          -0.01360315824088397, 0.05572350707354324),
)
FLOAT64 = Angles(
    sign=-1 << 63, small=1e-290, larger=2.0**200, quarter=(0.7853981633974483, 3.061616997868383e-17),
    atan=(-0.33333333333332993, 0.19999999999905566, -0.14285714276585446, 0.11111110667685667, -0.0909089643305796,
          0.07692076681068419, -0.06663837270283583, 0.058584695224085645, -0.051227254507698466, 0.041884263208687364,
          -0.02746440210032696, 0.010136575285439408),
    asin=(0.1666666666666662, 0.07500000000014301, 0.044642857126947405, 0.030381945342285135, 0.022372128869297216,
          0.017353428343466915, 0.013954783189489771, 0.011660717237250397, 0.008900843928067824, 0.013411199285151176,
          -0.01433405334039569, 0.0748036326423467, -0.14876540602580135, 0.24390208177231246, -0.22503105201582607,
          0.11274234440203924),
)


def _definitions(of: Angles) -> dict[str, Definition]:
    tangent, sine, (high, low) = horner(of.atan), horner(of.asin), of.quarter

    def turned(quarters: Any, t: Any) -> Any:
        """Return quarters * pi/4 + t."""
        return fma(quarters, high, t + quarters * low)

    def of_tangent(t: Any) -> Any:
        z = t * t
        return fma(t * z, tangent(z), t)

    def _atan(x: Any) -> Any:
        size = absolute(x)
        large, middle = size > 2, size > 0.5
        t = where(large, -1, where(middle, size - 1, size)) / where(large, size, where(middle, size + 1, 1))
        y = turned(where(large, 2, where(middle, 1, 0)), of_tangent(t))
        return from_bits(bits(y) | (bits(x) & of.sign))

    def _atan2(y: Any, x: Any) -> Any:
        across, along = absolute(x), absolute(y)
        swapped = along > across
        less, more = where(swapped, across, along), where(swapped, along, across)
        less = where(more == inf, where(less == inf, 1, 0), less)
        more = where((more == inf) | (more == 0), 1, more)
        factor = where(more < of.small, of.larger, 1)
        less, more = less * factor, more * factor
        middle, half = less > more * 0.5, where(more > 1, 0.5, 1)              # of large ones the sum has no room
        t = where(middle, less * half - more * half, less) / where(middle, less * half + more * half, more)
        angle, quarters = of_tangent(t), where(middle, 1, 0)
        angle, quarters = where(swapped, -angle, angle), where(swapped, 2 - quarters, quarters)
        back = bits(x) < 0
        angle, quarters = where(back, -angle, angle), where(back, 4 - quarters, quarters)
        found = turned(quarters, angle)
        return where((x != x) | (y != y), nan, from_bits(bits(found) | (bits(y) & of.sign)))

    def of_sine(x: Any) -> tuple[Any, Any]:
        """Return whether |x| > 0.6, and asin(|x|), or then acos(|x|) / 2."""
        size = absolute(x)
        large = size > 0.6
        z = where(large, (1 - size) * 0.5, size * size)
        s = where(large, sqrt(z), size)
        return large, fma(s * z, sine(z), s)

    def _asin(x: Any) -> Any:
        large, y = of_sine(x)
        y = where(large, turned(2 + 0 * y, -2 * y), y)
        return from_bits(bits(y) | (bits(x) & of.sign))

    def _acos(x: Any) -> Any:
        large, y = of_sine(x)
        small = turned(2 + 0 * y, where(x < 0, y, -y))
        return where(large, where(x < 0, turned(4 + 0 * y, -2 * y), 2 * y), small)

    return {"atan": _atan, "atan2": _atan2, "asin": _asin, "acos": _acos}


def inverse_circular() -> dict[str, dict[str, Definition]]:
    """Return the definitions: primitive -> type -> body."""
    single, double = _definitions(FLOAT32), _definitions(FLOAT64)
    return {name: {"float32": single[name], "float64": double[name]} for name in single}
