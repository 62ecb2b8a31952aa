"""Local response normalization (LRN) over neighbouring channels, and its gradient.

    lrn(call)               LRN (input)
    lrn_gradient(call)      LRNGrad (input_grads, input_image, output_image)

An item is a range of pixels. Loops run over channels, once for each neighbour.
"""
from __future__ import annotations

from math import isfinite, prod

from tfnb.kernels.launch import Call, Launch, Word

OPERATIONS = 1 << 15                                    # numbers that a thread does at a time
ITEMS = 64

NORM = """
            for j in range(c):
                {norm} = bias
            for shift in range(-radius, radius + 1):
                for j in range(max(0, -shift), min(c, c - shift)):
                    {norm} = {norm} + alpha * (x[base + j + shift] * x[base + j + shift])
"""

LOAD = """
    c, pixels, per_item = args[3], args[4], args[5]
    radius = {radius}
    bias, alpha, beta = float32({bias}), float32({alpha}), float32({beta})
    x = float32_array(args[0], 0)
    out = float32_array(args[1], 0)
    for i in range(begin, end):
"""

LRN_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):""" + LOAD + """
        for pixel in range(i * per_item, min((i + 1) * per_item, pixels)):
            base = pixel * c
""" + NORM.replace("{norm}", "out[base + j]") + """
            for j in range(c):
                out[base + j] = x[base + j] * pow(out[base + j], -beta)
"""

LRN_GRADIENT_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):""" + LOAD + """
        dy = float32_array(args[6], 0)
        y = float32_array(args[7], 0)
        norm = float32_array(args[2] + i * c * 8, 0)
        part = float32_array(args[2] + i * c * 8 + c * 4, 0)
        for pixel in range(i * per_item, min((i + 1) * per_item, pixels)):
            base = pixel * c
""" + NORM.replace("{norm}", "norm[j]") + """
            for j in range(c):
                part[j] = float32(0)
            for shift in range(-radius, radius + 1):
                for j in range(max(0, -shift), min(c, c - shift)):
                    part[j] = part[j] + dy[base + j + shift] * y[base + j + shift] / norm[j + shift]
            for j in range(c):
                out[base + j] = (dy[base + j] * pow(norm[j], -beta)
                                 - float32(2) * alpha * beta * x[base + j] * part[j])
"""


def lrn(call: Call) -> list[Launch]:
    """Return launches of x * (bias + alpha * sum of squares of the channels up to depth_radius away) ** -beta."""
    if not call.outputs[0].size:
        return []
    words, items = _words(call, 0)
    return [Launch(_text(LRN_TEXT, call), tuple(words), items, 1 if items > 1 else 0, "local response normalization")]


def lrn_gradient(call: Call) -> list[Launch]:
    """Return launches of the gradient of `lrn` for its input."""
    if not call.outputs[0].size:
        return []
    words, items = _words(call, 1)
    size = _size(call)
    words[2] = call.scratch(items * call.outputs[0].shape[3] * 8).reach(items * call.outputs[0].shape[3] * 8)
    words += [call.input(0).reach(size), call.input(2).reach(size)]
    text = _text(LRN_GRADIENT_TEXT, call)
    return [Launch(text, tuple(words), items, 1 if items > 1 else 0, "local response normalization gradient")]


def _words(call: Call, image: int) -> tuple[list[Word], int]:
    shape = call.outputs[0].shape
    pixels = shape[0] * shape[1] * shape[2]
    items = max(1, min(ITEMS, pixels, pixels * shape[3] // OPERATIONS))
    size = _size(call)
    words: list[Word] = [call.input(image).reach(size), call.output().reach(size), 0, shape[3], pixels,
                         -(-pixels // items)]
    return words, items


def _size(call: Call) -> int:
    """Return the bytes of all pixels."""
    return prod(call.outputs[0].shape) * 4


def _text(text: str, call: Call) -> str:
    attrs = call.attrs
    radius = min(int(attrs["depth_radius"]), call.outputs[0].shape[3])     # beyond that there are no neighbours
    return text.format(radius=radius, **{name: _literal(attrs[name]) for name in ("bias", "alpha", "beta")})


def _literal(number: float) -> str:
    """Return the literal of a float in kernel source."""
    return repr(float(number)) if isfinite(number) else "np.nan" if number != number else \
        "np.inf" if number > 0 else "-np.inf"
