"""Color conversion and adjustment kernels: the compiled form of kernels/arrays/colors.py.

    to_hsv(call), to_rgb(call)                      (images)
    turned(call), saturated(call)                   (images, a scalar): AdjustHue, AdjustSaturation
    contrasted(call)                                (images, a scalar)

An item is a pixel; of `contrasted` an image.
"""
from __future__ import annotations

from math import prod

from tfnb.kernels.launch import Call, Launch

PIXELS = 1 << 13                                   # that a thread does at a time

HUE = """
        span = high - low
        unit = one / (six * span)
        hue = unit * (g - b) if r == high else unit * (b - r) + third if g == high else unit * (r - g) + third + third
        hue = hue if span > zero else zero
        hue = hue + one if hue < zero else hue
"""
SHARES = """
        turn = hue * six
        red = min(max(abs(turn - three) - one, zero), one)
        green = min(max(two - abs(turn - two), zero), one)
        blue = min(max(two - abs(turn - two - two), zero), one)
"""
SATURATION = """
        rest = one - saturation
        out[3 * i] = (rest + saturation * red) * high
        out[3 * i + 1] = (rest + saturation * green) * high
        out[3 * i + 2] = (rest + saturation * blue) * high
"""
HEAD = """
INDEPENDENT = True

def kernel(args, begin, end):
    x = {type}_array(args[0], 0)
    out = {type}_array(args[1], 0)
    zero, one, two, three, six, third = {type}(0), {type}(1), {type}(2), {type}(3), {type}(6), {type}(1.0 / 3.0)
    factor = float32_array(args[2], 0)[0]
    for i in range(begin, end):
        r, g, b = x[3 * i], x[3 * i + 1], x[3 * i + 2]
"""
RANGE = """
        high = r if r > g else g
        high = b if b > high else high
        low = r if r < g else g
        low = b if b < low else low
"""
TO_HSV = HEAD + RANGE + HUE + """
        out[3 * i] = hue
        out[3 * i + 1] = span / high if high > zero else zero
        out[3 * i + 2] = high
"""
TO_RGB = HEAD + """
        hue, saturation, high = r, g, b
""" + SHARES + SATURATION
TURNED = HEAD + RANGE + HUE + """
        hue = hue + factor
        hue = hue - floor(hue)
""" + SHARES + """
        out[3 * i] = low + span * red
        out[3 * i + 1] = low + span * green
        out[3 * i + 2] = low + span * blue
"""
SATURATED = HEAD + RANGE + HUE + SHARES + """
        saturation = span / high if high > zero else zero
        saturation = min(max(saturation * factor, zero), one)
""" + SATURATION
CONTRASTED = """
INDEPENDENT = True

def kernel(args, begin, end):
    pixels, c = args[3], args[4]
    factor = float32_array(args[2], 0)[0]
    for i in range(begin, end):
        x = float32_array(args[0] + 4 * i * pixels * c, 0)
        out = float32_array(args[1] + 4 * i * pixels * c, 0)
        mean = float64_array(args[5] + 8 * i * c, 0)
        for j in range(c):
            mean[j] = 0.0
        for p in range(pixels):
            for j in range(c):
                mean[j] = mean[j] + float64(x[p * c + j])
        for j in range(c):
            mean[j] = mean[j] / float64(pixels)
        for p in range(pixels):
            for j in range(c):
                middle = float32(mean[j])
                out[p * c + j] = (x[p * c + j] - middle) * factor + middle
"""


def _by_pixel(call: Call, text: str) -> list[Launch]:
    images = call.inputs[0]
    factor = call.input(len(call.inputs) - 1).reach(4)
    pixels = prod(images.shape[:-1])
    size, text = 3 * pixels * images.itemsize, text.format(type=images.type)
    words = (call.input(0).reach(size), call.output().reach(size), factor)
    return [Launch(text, words, pixels, PIXELS, "colors")] if pixels else []


def to_hsv(call: Call) -> list[Launch]:
    """Return the launches of RGBToHSV."""
    return _by_pixel(call, TO_HSV)


def to_rgb(call: Call) -> list[Launch]:
    """Return the launches of HSVToRGB."""
    return _by_pixel(call, TO_RGB)


def turned(call: Call) -> list[Launch]:
    """Return the launches of AdjustHue."""
    return _by_pixel(call, TURNED)


def saturated(call: Call) -> list[Launch]:
    """Return the launches of AdjustSaturation."""
    return _by_pixel(call, SATURATED)


def contrasted(call: Call) -> list[Launch]:
    """Return the launches of AdjustContrastv2."""
    *lead, height, width, channels = call.inputs[0].shape
    if not call.inputs[0].size:
        return []
    room, size = 8 * channels * prod(lead), 4 * prod(lead) * height * width * channels
    words = (call.input(0).reach(size), call.output().reach(size), call.input(1).reach(4), height * width, channels,
             call.scratch(room).reach(room))
    return [Launch(CONTRASTED, words, prod(lead), 1, "contrast")]
