"""Quantized numbers on NumPy arrays: integers and the range [low, high] of real numbers that they represent.

Programs have them as records of one integer (`tf.qint8.as_numpy_dtype`). Formulas are TensorFlow's, in float32 or
float64 as there, so that the same integers come out (Jacob et al. 2018 for zero points and products).
"""
from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

Array = np.ndarray
Float = np.float32
End = Any                                  # of a range: a float32, or an array without axes
FIXED = 16                                 # fractional bits of the fixed-point numbers of `requantized_down`


def integers(x: Array) -> Array:
    """Return the integers of quantized elements; other arrays as they are."""
    return x.view(x.dtype[0]) if x.dtype.names else x


def records(x: Array, kind: np.dtype) -> Array:
    """Return quantized elements of the dtype `kind`."""
    kind = np.dtype(kind)
    return np.ascontiguousarray(x, kind[0]).view(kind).reshape(np.shape(x)) if kind.names else x.astype(kind)


def limits(kind: np.dtype) -> tuple[int, int]:
    """Return the lowest and highest integer of a quantized dtype."""
    kind = np.dtype(kind)
    found = np.iinfo(kind[0] if kind.names else kind)
    return int(found.min), int(found.max)


def _clipped(x: Array, kind: np.dtype) -> Array:
    """Return records of rounded numbers; those beyond the limits are the limits, NaN is the lower one."""
    low, high = limits(kind)
    wide = np.clip(np.nan_to_num(x.astype(np.float64), nan=low), low, high)
    return records(wide.astype(np.int64), kind)


def rounded(x: Array) -> Array:
    """Return the nearest integers; halves are rounded away from 0."""
    return np.asarray(np.copysign(np.floor(np.abs(x) + x.dtype.type(0.5)), x)) if x.dtype == np.float64 else \
        rounded(x.astype(np.float64)).astype(x.dtype)


# Real numbers to integers and back

def apart(low: Array, high: Array, least: float) -> tuple[Array, Array]:
    """Return a range that holds 0 and whose ends are `least` apart, relative to the larger of them and 1."""
    first = np.minimum(Float(0), low)
    gap = np.maximum(Float(1), np.maximum(np.abs(low), np.abs(high))) * Float(least)
    return first, np.maximum(Float(0), np.maximum(high, first + gap))


def steps_of(low: Array, high: Array, kind: np.dtype, mode: str, even: bool,
             narrow: bool) -> tuple[str, tuple[Array, Array, Array, Array]]:
    """Return how floats in ranges are quantized: a form of `quantized`, and the low, high, scale and shift it takes."""
    least, most = limits(kind)
    if mode == "SCALED":
        least += narrow
        scale = np.minimum(_scale(least, low), _scale(most, high))
        low, high = (np.asarray(Float(end) / scale) for end in (least, most))
        return "even" if even else "scaled", (low, high, scale, np.zeros_like(scale))
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.asarray((most - least) / (high - low).astype(np.float64), Float)
        if mode == "MIN_FIRST":
            return "first", (low, high, scale, np.asarray(rounded(low * scale) - Float(least), Float))
    shift = Float((most - least + 1) // 2) if least else Float(0.5)
    return "signed" if least else "unsigned", (low, high, scale, np.full_like(scale, shift))


@lru_cache(256)                              # 25 us of NumPy, for ranges that are constants most often
def steps_of_one(low: float, high: float, least: float, kind: np.dtype, mode: str, even: bool,
                 narrow: bool) -> tuple[str, tuple[Array, Array, Array, Array]]:
    """Return `steps_of` for one range, made `apart` first: arrays that must not be changed."""
    return steps_of(*apart(np.asarray(low, Float), np.asarray(high, Float), least), kind, mode, even, narrow)


@lru_cache(256)
def multiples_of_one(dtype: np.dtype, low: float, high: float,
                     steps: tuple[int, int]) -> tuple[Array, Array, Array, Array]:
    """Return `multiples` for one range: arrays that must not be changed."""
    return multiples(dtype, np.asarray(low, dtype), np.asarray(high, dtype), steps)


def quantized(x: Array, form: str, steps: tuple[Array, Array, Array, Array], kind: np.dtype) -> Array:
    """Quantize floats by what `steps_of` returns for their ranges, which broadcast against them."""
    low, high, scale, shift = steps
    with np.errstate(divide="ignore", invalid="ignore"):
        if form == "first":
            found = rounded(x * scale) - shift
        elif form in ("even", "scaled"):
            found = (np.rint if form == "even" else rounded)(np.clip(x, low, high) * scale)
        elif form == "signed":
            found = rounded((np.clip(x, low, high) - low) * scale - shift)
        else:
            found = np.trunc((np.clip(x, low, high) - low) * scale + shift)
    return _clipped(found, kind)


def _scale(integer: int, end: Array) -> Array:
    """Return integer / end where that is positive, elsewhere the largest float."""
    with np.errstate(divide="ignore"):
        return np.where(integer * end > 0, Float(integer) / end, np.finfo(Float).max).astype(Float)


def dequantized(x: Array, low: Array, high: Array, mode: str, narrow: bool) -> Array:
    """Return the float32 that quantized elements represent, by a mode of Dequantize."""
    (least, most), values = limits(x.dtype), integers(x).astype(Float)
    if mode == "SCALED":
        least += narrow
        scale = high / Float(most) if not least else np.maximum(low / Float(least), high / Float(most))
        return np.asarray(values * scale)
    scale = np.asarray((high - low).astype(np.float64) / (most - least), Float)
    if mode == "MIN_FIRST":
        with np.errstate(divide="ignore", invalid="ignore"):
            start = np.where(low == high, low, rounded(low / scale) * scale)
        return np.asarray((values - Float(least)) * scale + start)
    return np.asarray((values + Float((most - least + 1) // 2 if least else 0)) * scale + low)


def to_float(x: Array, low: End, high: End) -> Array:
    """Return the float32 that quantized elements represent, as ops on quantized tensors see them."""
    (least, most), values = limits(x.dtype), integers(x).astype(np.float64)
    if low == high:
        return np.full(x.shape, low, Float)
    scale = float(high - low) / (most - least)
    start = rounded(np.asarray(low / Float(scale), np.float64)) * np.float64(Float(scale))
    return np.asarray(start + (values - least) * scale, Float)


def zero_point(kind: np.dtype, low: End, high: End) -> int:
    """Return the integer, maybe beyond the limits, that represents 0."""
    return int(_steps(np.zeros((), Float), kind, low, high))


def _steps(x: Array, kind: np.dtype, low: End, high: End) -> Array:
    least, most = limits(kind)
    if low == high:
        return np.full(x.shape, least, np.float64)
    scale = (most - least) / float(high - low)
    return np.asarray(rounded(x.astype(np.float64) * scale) - rounded(np.asarray(float(low) * scale)) + least)


def from_float(x: Array, kind: np.dtype, low: End, high: End) -> Array:
    """Return the quantized elements that represent floats, as ops on quantized tensors do."""
    return records(np.zeros(x.shape, np.int64), kind) if low == high else _clipped(_steps(x, kind, low, high), kind)


def requantized(x: Array, low: End, high: End, kind: np.dtype, new_low: End, new_high: End) -> Array:
    """Return quantized elements that represent the same numbers in another range and dtype."""
    if limits(x.dtype)[1] == (1 << 31) - 1 and limits(kind) == (0, 255):
        return requantized_down(integers(x), low, high, kind, new_low, new_high)
    return from_float(to_float(x, low, high), kind, new_low, new_high)


def requantized_down(x: Array, low: End, high: End, kind: np.dtype, new_low: End, new_high: End) -> Array:
    """Return the same of 32-bit integers to 8-bit ones, in fixed-point arithmetic."""
    gap, one = Float(new_high - new_low), 1 << FIXED
    if gap == 0:
        return records(np.zeros(x.shape, np.uint8), kind)
    scale = int(255.0 * one * float(Float(high - low)) / float(gap))
    shift = int(Float(Float((low + high) / Float(2)) * Float(255.0 / float(gap))) * Float(one))
    start = int(one * (float(new_low) * 255.0) / float(gap))
    found = ((x.astype(np.int64) * scale) >> 32) + shift - start + (one >> 1)
    return records(np.clip(found >> FIXED, 0, 255), kind)


# Ranges of results

def level(kind: np.dtype, low: End, high: End) -> Float:
    """Return the distance of the numbers that neighbouring integers represent."""
    least, most = limits(kind)
    return Float(Float(high - low) / Float(most - least))


def product_range(a: tuple[np.dtype, Float, Float], b: tuple[np.dtype, Float, Float],
                  kind: np.dtype) -> tuple[Float, Float]:
    """Return the range of sums of products of integers of two (dtype, low, high)."""
    one, (least, most) = Float(level(*a) * level(*b)), limits(kind)
    return Float(one * Float(least)), Float(one * Float(most))


def used_range(x: Array, low: End, high: End) -> tuple[Float, Float]:
    """Return the range of the numbers that elements represent; it holds 0."""
    values = integers(x)
    ends = records(np.array([values.min(), values.max()]), x.dtype)
    first, last = to_float(ends, low, high)
    return Float(min(Float(0), first)), Float(last)


# Rounding that stays with floats

def step_limits(bits: int, signed: bool, narrow: bool) -> tuple[int, int]:
    """Return the lowest and the highest integer of a number of bits."""
    return (-(1 << bits - 1) + narrow, (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


def multiples(dtype: np.dtype, low: Array, high: Array, steps: tuple[int, int]) -> tuple[Array, Array, Array, Array]:
    """Return the ends, the inverse and the size of a step: the integers in `steps` count those between low and high."""
    (least, most), kind = steps, dtype.type
    with np.errstate(all="ignore"):
        sides = [np.where(kind(end) * edge > 0, kind(end) / edge, np.finfo(dtype).max)
                 for end, edge in ((least, low), (most, high))]
        below = sides[0] < sides[1]
        scale = np.where(below, *sides)
        step = np.where(below, low / kind(least) if least else kind(0), high / kind(most))
        return np.where(below, low, kind(least) * step), np.where(below, kind(most) * step, high), scale, step


def rounded_to(x: Array, multiples: tuple[Array, Array, Array, Array], even: bool, clip: bool) -> Array:
    """Return floats rounded to multiples of a step. clip: move what is beyond the ends there."""
    low, high, scale, step = multiples
    with np.errstate(all="ignore"):
        found = (np.clip(x, low, high) if clip else x) * scale
        return np.asarray((np.rint(found) if even else np.floor(found + x.dtype.type(0.5))) * step, x.dtype)
