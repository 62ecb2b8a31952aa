"""Color conversion and adjustment kernels: the compiled form of kernels/arrays/colors.py.

    to_hsv(call), to_rgb(call)                      (images)
    turned(call), saturated(call)                   (images, a scalar): AdjustHue, AdjustSaturation
    contrasted(call)                                (images, a scalar): AdjustContrastv2

An item is a pixel; of `contrasted` a channel of an image, or on the CPU an image of many channels.
"""
from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, MaybeOne, Static, Type, float32, float64, floor
from tfnb.kernels.launch import Call, Launch

PIXELS = 1 << 13                                   # that a thread of the CPU does at a time
FEW = 4                                            # channels that are summed one by one


def range_of(r: float, g: float, b: float) -> tuple[float, float]:
    """Return the largest and the smallest of three values; for NaN, what the comparisons give."""
    high, low = r if r > g else g, r if r < g else g
    return b if b > high else high, b if b < low else low


def hue_of(r: float, g: float, b: float, high: float, low: float, T: Type) -> Any:
    """Return the hue, in [0, 1), of a color whose largest and smallest values are `high` and `low`; 0 for gray."""
    third, unit = T(1.0 / 3.0), T(1) / (T(6) * (high - low))
    hue = unit * (g - b) if r == high else unit * (b - r) + third if g == high else unit * (r - g) + third + third
    hue = hue if high - low > T(0) else T(0)
    return hue + T(1) if hue < T(0) else hue


def shares_of(hue: float, T: Type) -> tuple[float, float, float]:
    """Return the red, green and blue components of a hue, each in [0, 1]."""
    turn = hue * T(6)
    return (min(max(abs(turn - T(3)) - T(1), T(0)), T(1)), min(max(T(2) - abs(turn - T(2)), T(0)), T(1)),
            min(max(T(2) - abs(turn - T(4)), T(0)), T(1)))


@kernel_function(independent=True)
def convert_pixel(x: Array, factor: Array, out: Array, form: Static, T: Type, item: int) -> None:
    """Convert a pixel to HSV or RGB, or change its hue or saturation by a factor."""
    r, g, b = x[3 * item], x[3 * item + 1], x[3 * item + 2]
    high, low = range_of(r, g, b)
    span, hue = high - low, r if form == "rgb" else hue_of(r, g, b, high, low, T)
    saturation = span / high if high > T(0) else T(0)
    if form == "hsv":
        out[3 * item], out[3 * item + 1], out[3 * item + 2] = hue, saturation, high
    elif form == "hue":
        hue = hue + factor[0]
        red, green, blue = shares_of(hue - floor(hue), T)
        out[3 * item], out[3 * item + 1], out[3 * item + 2] = low + span * red, low + span * green, low + span * blue
    else:
        red, green, blue = shares_of(hue, T)
        strength, value = (g, b) if form == "rgb" else (min(max(saturation * factor[0], T(0)), T(1)), high)
        rest = T(1) - strength
        out[3 * item] = (rest + strength * red) * value
        out[3 * item + 1] = (rest + strength * green) * value
        out[3 * item + 2] = (rest + strength * blue) * value


@kernel_function(independent=True)
def contrast_channels(x: Array, factor: Array, out: Array, means: Array, pixels: int, c: int, width: MaybeOne,
                      blocks: MaybeOne, item: int) -> None:
    """Scale the distance of the elements of `width` channels of an image from their mean, summed in float64."""
    first = item // blocks * pixels * c + item % blocks * width
    scale = factor[0]
    if width == 1:
        total = float64(0)
        for pixel in range(pixels):
            total += float64(x[first + pixel * c])
        mean = float32(total / float64(pixels))
        for pixel in range(pixels):
            out[first + pixel * c] = (x[first + pixel * c] - mean) * scale + mean
    else:
        sums = means[item * width:]
        for j in range(width):
            sums[j] = float64(0)
        for pixel in range(pixels):
            for j in range(width):
                sums[j] = sums[j] + float64(x[first + pixel * c + j])
        for j in range(width):
            sums[j] = sums[j] / float64(pixels)
        for pixel in range(pixels):
            for j in range(width):
                middle = float32(sums[j])
                out[first + pixel * c + j] = (x[first + pixel * c + j] - middle) * scale + middle


def _by_pixel(call: Call, form: str) -> list[Launch]:
    images = call.inputs[0]
    pixels = prod(images.shape[:-1])
    whole = 3 * pixels * images.itemsize
    factor = call.input(1).reach(4) if len(call.inputs) > 1 else None
    return [convert_pixel.launch(call, pixels, call.input(0).reach(whole), factor, call.output().reach(whole), form,
                                 images.type, grain=PIXELS, label="colors")] if pixels else []


to_hsv, to_rgb = partial(_by_pixel, form="hsv"), partial(_by_pixel, form="rgb")
turned, saturated = partial(_by_pixel, form="hue"), partial(_by_pixel, form="saturation")


def contrasted(call: Call) -> list[Launch]:
    """Return the launches of AdjustContrastv2."""
    *lead, height, width, channels = call.inputs[0].shape
    if not call.inputs[0].size:
        return []
    whole, room = 4 * call.inputs[0].size, 8 * prod(lead) * channels
    many, blocks = call.columns(channels) if channels > FEW else (1, channels)
    means = None if many == 1 else call.scratch(room).reach(room).of("float64")
    return [contrast_channels.launch(call, prod(lead) * blocks, call.input(0).reach(whole), call.input(1).reach(4),
                                     call.output().reach(whole), means, height * width, channels, many, blocks, grain=1,
                                     label="contrast")]
