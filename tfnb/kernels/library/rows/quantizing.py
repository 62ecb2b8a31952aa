"""Quantization of many floats: the passes of arrays/quantized.py in one loop, with the same bits.

Ranges are one for all elements, or lie along an axis. Where that is the last one, a few of its periods make a row, so
that vectors are full.
"""
from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tfnb.core.options import has_compiler
from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Static, Type, abs, float64, floor, int32, rint, trunc, where
from tfnb.kernels.scalar.number_types import name_of

LEAST = 2048                # elements: fewer are not worth a kernel
ROW = 512                   # elements of a row of short periods, at least

Steps = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def clipped(x: float, low: float, high: float) -> Any:
    """Return x, or the end of the range that it is beyond; NaN stays."""
    return where(x < low, low, where(x > high, high, x))


def away(x: float, T: Type) -> Any:
    """Return the nearest integer, as a T; halves are rounded away from 0. (x less its integer part is exact.)"""
    whole = trunc(x)
    return where(abs(x - whole) >= T(0.5), T(whole + where(x < T(0), T(-1), T(1))), whole)


def quantum(x: float, low: float, high: float, scale: float, shift: float, form: Static, T: Type) -> Any:
    """Return the integer of a number, as float64: see `quantized` of arrays/quantized.py."""
    if form == "first":
        return float64(T(away(T(x * scale), T) - shift))
    if form == "even":
        return float64(rint(T(clipped(x, low, high) * scale)))
    if form == "scaled":
        return float64(away(T(clipped(x, low, high) * scale), T))
    if form == "signed":
        return float64(away(T(T(T(clipped(x, low, high) - low) * scale) - shift), T))
    return float64(trunc(T(T(T(clipped(x, low, high) - low) * scale) + shift)))


def multiple(x: float, low: float, high: float, scale: float, step: float, form: Static, clip: Static,
             T: Type) -> Any:
    """Return a number rounded to a multiple of a step: see `rounded_to` of arrays/quantized.py."""
    found = T((clipped(x, low, high) if clip else x) * scale)
    return T((rint(found) if form == "even" else floor(T(found + T(0.5)))) * step)


@kernel_function(independent=True, fastmath=())
def quantize_row(x: Array, low: Array, high: Array, scale: Array, shift: Array, target: Array, size: int, width: int,
                 channels: int, least: int, most: int, periods: Static, form: Static, clip: Static, T: Type, U: Type,
                 To: Type, item: int) -> None:
    """Quantize `width` elements. periods: each has a range of its own; else an item has one. clip: None quantizes.

    U: a type that has the limits.
    """
    start = item * width
    count = min(width, size - start)
    source = x[start:]
    line = target[start:]
    c = 0 if periods else item % channels
    for j in range(count):
        at = j if periods else c
        if clip is None:
            found = U(quantum(source[j], low[at], high[at], scale[at], shift[at], form, T))
            inside = where(found > U(least), where(found < U(most), found, U(most)), U(least))
            line[j] = To(int32(inside))
        else:
            line[j] = multiple(source[j], low[at], high[at], scale[at], shift[at], form, clip, T)


def is_worth_it(x: np.ndarray) -> bool:
    """Return whether machine code should quantize these floats."""
    return has_compiler() and x.size >= LEAST


def quantized(x: np.ndarray, form: str, steps: Steps, kind: np.dtype, limits: tuple[int, int]) -> np.ndarray:
    """Return the integers of the dtype `kind` that quantize floats, by what `steps_of` returns for their ranges."""
    return _run(x, steps, np.empty(x.shape, kind), limits, form, None)


def rounded_to(x: np.ndarray, multiples: Steps, even: bool, clip: bool) -> np.ndarray:
    """Return floats rounded to multiples of a step. clip: move what is beyond the ends there."""
    return _run(x, multiples, np.empty_like(x, order="C"), (0, 0), "even" if even else "up", clip)


def _limits_in(x: np.ndarray, out: np.ndarray) -> str:
    return name_of(x.dtype) if out.dtype.itemsize < 4 else "float64"


def _run(x: np.ndarray, steps: Steps, out: np.ndarray, limits: tuple[int, int], form: str,
         clip: bool | None) -> np.ndarray:
    if all(s.size == 1 for s in steps):
        quantize_row.run(1, x, *(np.asarray(s, x.dtype) for s in steps), out, x.size, x.size, 1, *limits,
                         periods=False, form=form, clip=clip, T=name_of(x.dtype), U=_limits_in(x, out),
                         To=name_of(out.dtype))
        return out
    shape = np.broadcast_shapes(*(s.shape for s in steps), (1,) * x.ndim)
    channels = prod(shape)
    axis = next((i for i, n in enumerate(shape) if n > 1), 0)
    inner = prod(x.shape[axis + 1:])
    periods = inner == 1
    repeats = -(-ROW // channels) if periods else 1
    ranges = [np.tile(np.broadcast_to(s, shape).reshape(-1), repeats).astype(x.dtype) for s in steps]
    width = channels * repeats if periods else inner
    quantize_row.run(-(-x.size // width), x, *ranges, out, x.size, width, channels, *limits, periods=periods, form=form,
                     clip=clip, T=x.dtype.name, U=_limits_in(x, out), To=out.dtype.name)
    return out
