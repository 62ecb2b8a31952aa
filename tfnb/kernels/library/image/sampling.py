"""Resampling tables: the pixels under a filter for each place of an axis, and their weights (ScaleAndTranslate).

    sampled_table(call, axis, size, out)        the launch that makes one for an axis, and where it lies

The compiled form of `sampled` in kernels/arrays/resize.py.
"""
from __future__ import annotations

from math import ceil as next_integer
from math import pi
from typing import Any

from tfnb.kernels.arrays.resize import SAMPLING
from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Static, ceil, exp, float32, floor, sin
from tfnb.kernels.launch import Address, Call, Launch, known_value
from tfnb.kernels.sizes import lowest

SMALL = 1000 * 2.0**-126                           # weights whose sum is below are not divided by it


def filtered(x: float, form: Static, radius: Static) -> Any:
    """Return a filter's weight at a distance below its radius, in units of the filter."""
    if form == "gaussian":
        return exp(x * x * float32(-2))
    if form == "box":
        return float32(1) if x < float32(0.5) else float32(0.5) if x == float32(0.5) else float32(0)
    if form == "triangle":
        return float32(1) - x
    if form == "keyscubic":
        return ((float32(1.5) * x - float32(2.5)) * x) * x + float32(1) if x < float32(1) else \
            ((float32(-0.5) * x + float32(2.5)) * x - float32(4)) * x + float32(2)
    if form == "mitchellcubic":
        return ((float32(7 / 6) * x - float32(2)) * x) * x + float32(8 / 9) if x < float32(1) else \
            ((float32(-7 / 18) * x + float32(2)) * x - float32(10 / 3)) * x + float32(16 / 9)
    angle = float32(pi) * max(x, float32(1e-3))
    found = float32(radius) * sin(angle) * sin(angle / float32(radius)) / (angle * angle)
    return float32(1) if x <= float32(1e-3) else found


@kernel_function(fastmath=())
def sample_pixels(index: Array, weight: Array, scale: Array, translation: Array, axis: int, size: int, taps: int,
                  form: Static, radius: Static, antialias: Static, item: int) -> None:
    """Find the pixels under a filter around place `item` of a scaled and shifted axis, and their weights."""
    half, step = float32(0.5), float32(1) / scale[axis]
    wide = max(step, float32(1)) if antialias else float32(1)
    at, end = (float32(item) + half) * step - step * translation[axis], float32(size - 1)
    reach = float32(radius) * wide
    first = int(min(max(ceil(at - reach - half), float32(0)), end))
    last = int(min(max(floor(at + reach - half), float32(0)), end))
    inside, total = at >= float32(0) and at <= float32(size), float32(0)
    for t in range(taps):
        pixel = first + t
        apart, share = abs(float32(pixel) + half - at) / wide, float32(0)
        if inside and pixel <= last and apart < float32(radius):
            share = filtered(apart, form, radius)
        index[taps * item + t], weight[taps * item + t] = min(max(pixel, 0), size - 1), share
        total = total + share
    if abs(total) >= float32(SMALL):
        for t in range(taps):
            weight[taps * item + t] = weight[taps * item + t] / total


def sampled_table(call: Call, which: int, size: Any, out: Any) -> tuple[Launch, Address, Address, Any]:
    """Return (the launch that makes it, indices, weights, taps) for axis `which` of ScaleAndTranslate."""
    form, antialias = call.attrs["kernel_type"].decode(), bool(call.attrs["antialias"])
    radius, (scale, shift) = float(SAMPLING[form][0]), (call.input(i).reach(8) for i in (2, 3))
    wide = max(1.0, 1.0 / float(known_value(call.inputs[2])[which])) if antialias else 1.0
    taps = lowest(next_integer(min(2.0 * radius * wide, 2.0**31)) + 1, size)
    index, weight = (call.scratch(room).reach(room) for room in (8 * out * taps, 4 * out * taps))
    index, weight = index.of("int64"), weight.of("float32")
    return sample_pixels.launch(call, out, index, weight, scale, shift, which, size, taps, form, radius, antialias,
                                grain=0, label="resize table"), index, weight, taps
