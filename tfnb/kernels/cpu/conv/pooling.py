"""Max and average pooling, channel by channel, and their gradients.

    max_pool(call), avg_pool(call)                  MaxPool (input), AvgPool (value)
    max_pool_gradient(call)                         MaxPoolGrad (orig_input, orig_output, grad)
    avg_pool_gradient(call)                         AvgPoolGrad (orig_input_shape, grad)
    pool(...), gradient(...)                        the same for addresses, channels last

An item of a pool is a row of outputs; one of a gradient is a block of channels of an image, whose elements no other
item writes. Loops run over channels, which are contiguous. NaN is never the maximum (as in TensorFlow's kernels); of
equal elements the first in the window gets the gradient.
"""
from __future__ import annotations

import numpy as np

from tfnb.kernels.arrays.window import Window, pool_window
from tfnb.kernels.cpu.conv.layout import around
from tfnb.kernels.launch import Address, Call, Launch, Word
from tfnb.kernels.scalar.number_types import extreme

OPERATIONS = 1 << 17                                    # that a thread does at a time
LEAST_CHANNELS = 16

(X, OUT, C, H, W, OH, OW, KH, KW, SY, SX, TOP, LEFT, DY, PARTS, SCRATCH) = range(16)

LOAD = f"""
    c, h, w, oh, ow, kh, kw = args[{C}], args[{H}], args[{W}], args[{OH}], args[{OW}], args[{KH}], args[{KW}]
    sy, sx, top, left = args[{SY}], args[{SX}], args[{TOP}], args[{LEFT}]
    x = {{type}}_array(args[{X}], 0)
    out = {{type}}_array(args[{OUT}], 0)
"""

# The part [y0, y1) x [x0, x1) of a window that is inside the image.
PLACE = """
                y0, x0 = oy * sy - top, ox * sx - left
                y1, x1 = min(y0 + kh, h), min(x0 + kw, w)
                y0, x0 = max(y0, 0), max(x0, 0)
"""

# Item i: row i of the outputs of all images.
TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):""" + LOAD + """
    for i in range(begin, end):
        image, oy = i // oh, i % oh
        for ox in range(ow):
            if True:""" + PLACE + """
                to, count = (i * ow + ox) * c, {type}((y1 - y0) * (x1 - x0))
                for j in range(c):
                    out[to + j] = {start}
                for y in range(y0, y1):
                    for place in range(x0, x1):
                        source = ((image * h + y) * w + place) * c
                        for j in range(c):
                            value, so_far = x[source + j], out[to + j]
                            out[to + j] = {step}
                for j in range(c):
                    so_far = out[to + j]
                    out[to + j] = {end}
"""
STEPS = {"max": {"start": "{lowest}", "step": "value if value > so_far else so_far", "end": "so_far"},
         "avg": {"start": "{type}(0)", "step": "so_far + value", "end": "so_far / count"}}

# The largest for windows of 2 x 2 places two apart that are all inside: one pass over the channels.
MAX_2X2_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):""" + LOAD + """
    for i in range(begin, end):
        image, oy = i // oh, i % oh
        for ox in range(ow):
            to, source = (i * ow + ox) * c, ((image * h + 2 * oy) * w + 2 * ox) * c
            below = source + w * c
            for j in range(c):
                a, b, d, e = x[source + j], x[source + c + j], x[below + j], x[below + c + j]
                a = a if a > {lowest} else {lowest}
                a = b if b > a else a
                a = d if d > a else a
                out[to + j] = e if e > a else a
"""

BLOCK = f"""
    grad = {{type}}_array(args[{DY}], 0)
    parts = args[{PARTS}]
    block = c // parts
    for i in range(begin, end):
        image, shift = i // parts, i % parts * block
        for place in range(h * w):
            for j in range(block):
                out[(image * h * w + place) * c + shift + j] = {{type}}(0)
        for oy in range(oh):
            for ox in range(ow):""" + PLACE

MAX_GRADIENT_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):""" + LOAD + BLOCK + f"""
                source = ((image * oh + oy) * ow + ox) * c + shift
                best = {{type}}_array(args[{SCRATCH}] + i * block * 16, 0)
                where = int64_array(args[{SCRATCH}] + i * block * 16 + block * 8, 0)
                for j in range(block):
                    best[j] = {{lowest}}
                    where[j] = (y0 * w + x0) * c
                for y in range(y0, y1):
                    for column in range(x0, x1):
                        place = (y * w + column) * c
                        base = image * h * w * c + shift + place
                        for j in range(block):
                            value = x[base + j]
                            where[j] = place if value > best[j] else where[j]
                            best[j] = value if value > best[j] else best[j]
                for y in range(y0, y1):
                    for column in range(x0, x1):
                        place = (y * w + column) * c
                        base = image * h * w * c + shift + place
                        for j in range(block):
                            value = out[base + j]
                            out[base + j] = {{type}}(value + grad[source + j]) if where[j] == place else value
"""

# Item i: row i of the outputs of all images, whose windows of 2 x 2 places are apart and inside.
MAX_GRADIENT_2X2_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):""" + LOAD + f"""
    grad = {{type}}_array(args[{DY}], 0)
    zero = {{type}}(0)
    for i in range(begin, end):
        image, oy = i // oh, i % oh
        for ox in range(ow):
            source, to = (i * ow + ox) * c, ((image * h + 2 * oy) * w + 2 * ox) * c
            below = to + w * c
            for j in range(c):
                a, b, d, e = x[to + j], x[to + c + j], x[below + j], x[below + c + j]
                best = a if a > {{lowest}} else {{lowest}}
                second = b > best
                best = b if second else best
                third = d > best
                best = d if third else best
                fourth = e > best
                g = grad[source + j]
                out[to + j] = zero if second or third or fourth else g
                out[to + c + j] = g if second and not (third or fourth) else zero
                out[below + j] = g if third and not fourth else zero
                out[below + c + j] = g if fourth else zero
        if ow * 2 < w:
            for line in range(image * h + 2 * oy, image * h + 2 * oy + 2):
                for j in range((line * w + 2 * ow) * c, (line + 1) * w * c):
                    out[j] = zero
        if oy == oh - 1:
            for j in range((image * h + 2 * oh) * w * c, (image + 1) * h * w * c):
                out[j] = zero
"""

AVG_GRADIENT_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):""" + LOAD + BLOCK + """
                source, count = ((image * oh + oy) * ow + ox) * c + shift, {type}((y1 - y0) * (x1 - x0))
                for y in range(y0, y1):
                    for column in range(x0, x1):
                        base = ((image * h + y) * w + column) * c + shift
                        for j in range(block):
                            out[base + j] = out[base + j] + grad[source + j] / count
"""


def max_pool(call: Call) -> list[Launch]:
    """Return the launches of MaxPool."""
    return _pool(call, "max")


def avg_pool(call: Call) -> list[Launch]:
    """Return the launches of AvgPool."""
    return _pool(call, "avg")


def _pool(call: Call, kind: str) -> list[Launch]:
    x = call.inputs[0]
    w = pool_window(x.shape, call.attrs)
    return around(call, [0], lambda images, out: pool(kind, w, x.type, images[0], out), zero=False)


def max_pool_gradient(call: Call) -> list[Launch]:
    """Return the launches of MaxPoolGrad."""
    return _gradient(call, "max", [0, 2])


def avg_pool_gradient(call: Call) -> list[Launch]:
    """Return the launches of AvgPoolGrad."""
    return _gradient(call, "avg", [1])


def _gradient(call: Call, kind: str, images: list[int]) -> list[Launch]:
    out = call.outputs[0]
    w = pool_window(out.shape, call.attrs)
    return around(call, images, lambda at, target: gradient(call, kind, w, out.type, at[0], at[-1], target))


def _apart(w: Window) -> bool:
    """Return whether the windows are 2 x 2, do not overlap, and lie inside the image."""
    return ((w.kernel_height, w.kernel_width, w.stride_y, w.stride_x, w.top, w.left) == (2, 2, 2, 2, 0, 0)
            and 2 * w.out_height <= w.height and 2 * w.out_width <= w.width)


def pool(kind: str, w: Window, type_: str, x: Address, out: Address) -> list[Launch]:
    """Return the launches of the pool of images x, "max" or "avg"."""
    text = _text(MAX_2X2_TEXT if kind == "max" and _apart(w) else TEXT, type_, **STEPS[kind])
    work, size = w.out_width * w.taps * w.channels, np.dtype(type_).itemsize
    x, out = x.reach(w.elements * size), out.reach(w.pixels * w.channels * size)
    return [Launch(text, tuple(_words(w, x, out)), w.batch * w.out_height,
                   max(1, OPERATIONS // max(1, work)), "pool")]


def gradient(call: Call, kind: str, w: Window, type_: str, x: Address, dy: Address, out: Address) -> list[Launch]:
    """Return the launches of the gradient of a pool for its images x ("avg": any address)."""
    work, size = w.out_width * w.taps * w.channels, np.dtype(type_).itemsize
    x, out = x.reach(w.elements * size if kind == "max" else 0), out.reach(w.elements * size)
    dy = dy.reach(w.pixels * w.channels * size)
    if kind == "max" and _apart(w) and w.out_height and w.out_width:
        return [Launch(_text(MAX_GRADIENT_2X2_TEXT, type_), tuple(_words(w, x, out, dy)), w.batch * w.out_height,
                       max(1, OPERATIONS // work), "pool gradient")]
    text, parts = AVG_GRADIENT_TEXT if kind == "avg" else MAX_GRADIENT_TEXT, _parts(w)
    room = w.batch * w.channels * 16
    words = [*_words(w, x, out, dy), parts, call.scratch(room).reach(room)]
    return [Launch(_text(text, type_), tuple(words), w.batch * parts,
                   max(1, OPERATIONS * parts // max(1, work * w.out_height)), "pool gradient")]


def _parts(w: Window) -> int:
    """Return the number of channel blocks that an image is cut into: several where there are few images."""
    parts = 1
    while w.batch * parts < 8 and w.channels % (2 * parts) == 0 and w.channels // (2 * parts) >= LEAST_CHANNELS:
        parts *= 2
    return parts


def _words(w: Window, x: Address, out: Address, dy: Address | None = None) -> list[Word]:
    words: list[Word] = [x, out, w.channels, w.height, w.width, w.out_height, w.out_width, w.kernel_height,
                         w.kernel_width, w.stride_y, w.stride_x, w.top, w.left]
    return words if dy is None else [*words, dy]


def _text(text: str, type_: str, **steps: str) -> str:
    least = extreme(type_, "lowest")
    number = "-np.inf" if type_.startswith("float") else str(int(least))
    names = {"type": type_, "lowest": f"{type_}({number})"}
    return text.format(**names, **{name: step.format(**names) for name, step in steps.items()})
