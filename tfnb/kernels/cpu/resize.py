"""Images in other sizes: what kernels/resize.py says, compiled.

    bilinear(call), nearest(call), cubic(call), area(call)                      (images, size)
    bilinear_gradient(call), nearest_gradient(call), cubic_gradient(call)       (grads, original image or size)

First come the tables, one for each axis: for each place of the result the pixels of the image that it is made of, in
elements from the start of a row (or in rows), and their weights. An item of what follows is a strip of rows of the
result, or for gradients an image, whose pixels no other item writes.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tfnb.kernels.cpu.copying import UNITS, fill
from tfnb.kernels.cpu.streaming import pays
from tfnb.kernels.launch import Address, Call, Launch, Word
from tfnb.kernels.resize import TABLE, Axis

OPERATIONS = 1 << 16                               # that a thread does at a time

# Tables. Items: the elements of a row (or the rows, with one channel). No contraction: pixels must be TensorFlow's.
TABLE_HEAD = """
FASTMATH = ()

def kernel(args, begin, end):
    c, size = args[2], args[3]
    scale = float32(args[4]) / float32(args[5])
    half, align = float32(args[6]) * float32(0.5), args[7]
    index = int64_array(args[0], 0)
    weight = float32_array(args[1], 0)
    for k in range(begin, end):
        i, j = k // c, k % c
        one = (float32(i) + half) * scale
"""
BETWEEN_TEXT = TABLE_HEAD + """
        at = one - half
        below = np.floor(at)
        low, high = int64(below), int64(np.ceil(at))
        index[2 * k] = min(max(low, 0), size - 1) * c + j
        index[2 * k + 1] = min(max(high, 0), size - 1) * c + j
        weight[k] = at - below
"""
NEAREST_TEXT = TABLE_HEAD + """
        at = int64(np.floor(one + float32(0.5))) if align != 0 else int64(np.floor(one))
        index[k] = min(max(at, 0), size - 1) * c + j
"""
CUBIC_TEXT = TABLE_HEAD + f"""
        at = one - half
        below = np.floor(at)
        step = int64(np.rint((at - below) * float32({TABLE})))
        a = -0.5 if args[6] != 0 else -0.75
        total = float32(0)
        for t in range(4):
            away = float64(step) / {TABLE}.0
            away = 1.0 - away if t > 1 else away
            far = away + 1.0
            w = float32(((a + 2.0) * away - (a + 3.0)) * away * away + 1.0) if t == 1 or t == 2 else \\
                float32(((a * far - 5.0 * a) * far + 8.0 * a) * far - 4.0 * a)
            pixel = int64(below) - 1 + t
            inside = min(max(pixel, 0), size - 1)
            w = w if inside == pixel or args[6] == 0 else float32(0)
            index[4 * k + t] = inside * c + j
            weight[4 * k + t] = w
            total = total + w
        if args[6] != 0:
            total = float32(1) / total
            for t in range(4):
                weight[4 * k + t] = weight[4 * k + t] * total
"""
AREA_TEXT = TABLE_HEAD + """
        past = float32(i + 1) * scale
        taps = args[8]
        for t in range(taps):
            pixel = int64(np.floor(one)) + t
            start = max(one, float32(pixel))
            covered = max(min(past, float32(pixel + 1)) - start, float32(0))
            index[taps * k + t] = min(max(pixel, 0), size - 1) * c + j
            weight[taps * k + t] = covered / scale
"""

(X, OUT, H, ROW, OH, OUT_ROW, Y_INDEX, Y_WEIGHT, X_INDEX, X_WEIGHT, STRIPS, STRIP, SCRATCH, TAPS_Y, TAPS_X,
 CHANNELS) = range(16)
LOAD = f"""
    h, row, oh, wide = args[{H}], args[{ROW}], args[{OH}], args[{OUT_ROW}]
    rows, lines = int64_array(args[{Y_INDEX}], 0), float32_array(args[{Y_WEIGHT}], 0)
    places, parts = int64_array(args[{X_INDEX}], 0), float32_array(args[{X_WEIGHT}], 0)
"""

# The strip keeps the last two rows of the image, already in the width of the result: neighbours often share them.
# Few channels are a number of the text, and its loop over them no loop; tables are of pixels here.
BILINEAR_TEXT = """
INDEPENDENT = True
FASTMATH = ()

@device
def widen(source, to, places, parts, wide, c):
    x = {type}_array(source, 0)
    line = float32_array(to, 0)
    for k in range(wide):
        left, right, part = places[2 * k] * c, places[2 * k + 1] * c, parts[k]
        for j in range({channels}):
            value = float32(x[left + j])
            line[k * c + j] = value + (float32(x[right + j]) - value) * part

def kernel(args, begin, end):""" + LOAD + f"""
    strips, height, c = args[{STRIPS}], args[{STRIP}], args[{CHANNELS}]
    buffer = {{buffer}}
    for i in range(begin, end):
        image, strip = i // strips, i % strips
        source = args[{X}] + image * h * row * {{bytes}}
        upper = args[{SCRATCH}] + i * 8 * wide
        lower = upper + 4 * wide
        has_upper, has_lower = -1, -1
        for oy in range(strip * height, min(oh, (strip + 1) * height)):
            top, bottom, part = rows[2 * oy], rows[2 * oy + 1], lines[oy]
            if has_upper != top:
                if has_lower == top:
                    held = upper
                    upper = lower
                    lower = held
                    has_lower = -1
                else:
                    widen(source + top * row * {{bytes}}, upper, places, parts, wide // c, {{channels}})
                has_upper = top
            if part != float32(0) and has_lower != bottom:
                widen(source + bottom * row * {{bytes}}, lower, places, parts, wide // c, {{channels}})
                has_lower = bottom
            target = args[{OUT}] + (image * oh + oy) * wide * 4
            out = float32_array({{made}}, 0)
            above, below = float32_array(upper, 0), float32_array(lower if part != float32(0) else upper, 0)
            for k in range(wide):
                out[k] = above[k] + (below[k] - above[k]) * part
            {{done}}
    stream_end()
"""
BILINEAR_GRADIENT_TEXT = """
def kernel(args, begin, end):""" + LOAD + f"""
    one = float32(1)
    for i in range(begin, end):
        grads = float32_array(args[{X}] + i * oh * wide * 4, 0)
        out = {{type}}_array(args[{OUT}] + i * h * row * {{bytes}}, 0)
        for k in range(h * row):
            out[k] = {{type}}(0)
        for oy in range(oh):
            top, bottom, down = rows[2 * oy] * row, rows[2 * oy + 1] * row, lines[oy]
            for k in range(wide):
                left, right, along = places[2 * k], places[2 * k + 1], parts[k]
                g = grads[oy * wide + k]
                upper, lower = g * (one - down), g * down
                out[top + left] = {{type}}(out[top + left] + upper * (one - along))
                out[top + right] = {{type}}(out[top + right] + upper * along)
                out[bottom + left] = {{type}}(out[bottom + left] + lower * (one - along))
                out[bottom + right] = {{type}}(out[bottom + right] + lower * along)
"""
COPY_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):""" + LOAD + f"""
    for i in range(begin, end):
        source = {{type}}_array(args[{X}] + (i // oh * h + rows[i % oh]) * row * {{bytes}}, 0)
        out = {{type}}_array(args[{OUT}] + i * wide * {{bytes}}, 0)
        for k in range(wide):
            out[k] = source[places[k]]
"""
COPY_GRADIENT_TEXT = """
def kernel(args, begin, end):""" + LOAD + f"""
    for i in range(begin, end):
        grads = {{type}}_array(args[{X}] + i * oh * wide * {{bytes}}, 0)
        out = {{type}}_array(args[{OUT}] + i * h * row * {{bytes}}, 0)
        for k in range(h * row):
            out[k] = {{type}}(0)
        for oy in range(oh):
            for k in range(wide):
                to = rows[oy] * row + places[k]
                out[to] = {{type}}(out[to] + grads[oy * wide + k])
"""
WEIGHTED_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):""" + LOAD + f"""
    down, along = args[{TAPS_Y}], args[{TAPS_X}]
    for i in range(begin, end):
        line = float32_array(args[{SCRATCH}] + i * 4 * row, 0)
        out = float32_array(args[{OUT}] + i * wide * 4, 0)
        for k in range(row):
            line[k] = float32(0)
        for t in range(down):
            weight = lines[i % oh * down + t]
            if weight != float32(0):
                source = {{type}}_array(args[{X}] + (i // oh * h + rows[i % oh * down + t]) * row * {{bytes}}, 0)
                for k in range(row):
                    line[k] = line[k] + float32(source[k]) * weight
        for k in range(wide):
            total = float32(0)
            for t in range(along):
                total = total + line[places[along * k + t]] * parts[along * k + t]
            out[k] = total
"""
WEIGHTED_GRADIENT_TEXT = """
def kernel(args, begin, end):""" + LOAD + f"""
    down, along = args[{TAPS_Y}], args[{TAPS_X}]
    for i in range(begin, end):
        line = float32_array(args[{SCRATCH}] + i * 4 * row, 0)
        grads = float32_array(args[{X}] + i * oh * wide * 4, 0)
        out = {{type}}_array(args[{OUT}] + i * h * row * {{bytes}}, 0)
        for k in range(h * row):
            out[k] = {{type}}(0)
        for oy in range(oh):
            for k in range(row):
                line[k] = float32(0)
            for k in range(wide):
                for t in range(along):
                    to = places[along * k + t]
                    line[to] = line[to] + grads[oy * wide + k] * parts[along * k + t]
            for t in range(down):
                start, weight = rows[down * oy + t] * row, lines[down * oy + t]
                for k in range(row):
                    out[start + k] = {{type}}(out[start + k] + line[k] * weight)
"""


@dataclass(frozen=True, slots=True)
class _Form:
    """How a table is made: its text, pixels and weights a place (taps of area: as many as it needs)."""

    text: str
    pixels: int
    weights: int


BETWEEN, NEAREST, CUBIC, AREA = (_Form(BETWEEN_TEXT, 2, 1), _Form(NEAREST_TEXT, 1, 0), _Form(CUBIC_TEXT, 4, 4),
                                 _Form(AREA_TEXT, 0, 0))


def axes(attrs: Mapping[str, Any], image: Sequence[int], result: Sequence[int]) -> tuple[Axis, Axis]:
    """How rows and columns of `result` lie on those of `image`, by their shapes and the attrs of the op."""
    align, half = bool(attrs.get("align_corners")), bool(attrs.get("half_pixel_centers"))
    return Axis(image[1], result[1], align, half), Axis(image[2], result[2], align, half)


def _table(call: Call, form: _Form, axis: Axis, channels: int) -> tuple[list[Launch], Address, Address]:
    """(the launch that makes it, indices, weights) for one axis."""
    pixels, weights = (axis.taps, axis.taps) if form is AREA else (form.pixels, form.weights)
    items = axis.out * channels
    index, weight = call.scratch(8 * items * pixels), call.scratch(4 * max(1, items * weights))
    words = (index, weight, channels, axis.size, *axis.ratio, int(axis.half), int(axis.align), pixels)
    return [Launch(form.text, words, items, 0, "resize table")], index, weight


def _prepared(call: Call, form: _Form, image: Sequence[int], result: Sequence[int],
              of_pixels: bool = False) -> tuple[list[Launch], list[Word]]:
    """The launches of both tables, and the words from H to X_WEIGHT. of_pixels: those of rows count pixels."""
    y, x = axes(call.attrs, image, result)
    channels = image[3]
    first, rows, lines = _table(call, form, y, 1)
    second, places, parts = _table(call, form, x, 1 if of_pixels else channels)
    return [*first, *second], [y.size, x.size * channels, y.out, x.out * channels, rows, lines, places, parts]


def _forward(call: Call, form: _Form, of_pixels: bool = False) -> tuple[list[Launch], list[Word]]:
    launches, words = _prepared(call, form, call.inputs[0].shape, call.outputs[0].shape, of_pixels)
    return launches, [call.input(0), call.output(), *words]


def _backward(call: Call, form: _Form) -> tuple[list[Launch], list[Word]]:
    launches, words = _prepared(call, form, call.outputs[0].shape, call.inputs[0].shape)
    return launches, [call.input(0), call.output(), *words]


def _text(text: str, type_: str, itemsize: int, **more: str) -> str:
    return text.format(type=type_, bytes=itemsize, **more)


def bilinear(call: Call) -> list[Launch]:
    """ResizeBilinear."""
    images, out = call.inputs[0], call.outputs[0]
    if not out.size:
        return []
    launches, words = _forward(call, BETWEEN, of_pixels=True)
    batch, height, width, channels = out.shape
    strip = max(1, min(height, -(-height * batch // 16)))
    strips = -(-height // strip)
    words += [strips, strip, call.scratch(8 * width * channels * strips * batch), 0, 0, channels]
    past = pays(4 * width * channels, 4 * out.size)
    text = _text(BILINEAR_TEXT, images.type, images.itemsize, channels=str(channels) if channels <= 4 else "c",
                 buffer="row_buffer()" if past else "0", made="buffer" if past else "target",
                 done="stream_row(target, buffer, wide * 4)" if past else "pass")
    return [*launches, Launch(text, tuple(words), strips * batch, 1, "resize bilinear")]


def bilinear_gradient(call: Call) -> list[Launch]:
    """ResizeBilinearGrad."""
    return _gradient(call, BETWEEN, BILINEAR_GRADIENT_TEXT)


def _gradient(call: Call, form: _Form, text: str, more: Sequence[Word] = ()) -> list[Launch]:
    grads, out = call.inputs[0], call.outputs[0]
    if not grads.size or not out.size:
        return [fill(0, call.output(), out)] if out.size else []
    launches, words = _backward(call, form)
    text = _text(text, out.type, out.itemsize)
    return [*launches, Launch(text, (*words, *more), grads.shape[0], 1, "resize gradient")]


def nearest(call: Call) -> list[Launch]:
    """ResizeNearestNeighbor."""
    out = call.outputs[0]
    if not out.size:
        return []
    launches, words = _forward(call, NEAREST)
    batch, height, width, channels = out.shape
    grain = max(1, OPERATIONS // (width * channels))
    text = _text(COPY_TEXT, UNITS[out.itemsize], out.itemsize)
    return [*launches, Launch(text, tuple(words), batch * height, grain, "resize nearest")]


def nearest_gradient(call: Call) -> list[Launch]:
    """ResizeNearestNeighborGrad."""
    return _gradient(call, NEAREST, COPY_GRADIENT_TEXT)


def cubic(call: Call) -> list[Launch]:
    """ResizeBicubic."""
    return _weighted(call, CUBIC, 4, 4)


def area(call: Call) -> list[Launch]:
    """ResizeArea."""
    if not call.outputs[0].size:
        return []
    y, x = axes(call.attrs, call.inputs[0].shape, call.outputs[0].shape)
    return _weighted(call, AREA, y.taps, x.taps)


def _weighted(call: Call, form: _Form, down: int, along: int) -> list[Launch]:
    images, out = call.inputs[0], call.outputs[0]
    if not out.size:
        return []
    launches, words = _forward(call, form)
    batch, height, width, channels = out.shape
    row = images.shape[2] * channels
    words += [0, 0, call.scratch(4 * row * batch * height), down, along]
    grain = max(1, OPERATIONS // (row * down + width * channels * along))
    text = _text(WEIGHTED_TEXT, images.type, images.itemsize)
    return [*launches, Launch(text, tuple(words), batch * height, grain, "resize weighted")]


def cubic_gradient(call: Call) -> list[Launch]:
    """ResizeBicubicGrad."""
    out = call.outputs[0]
    line = call.scratch(4 * max(1, out.size // max(1, out.shape[1])))
    return _gradient(call, CUBIC, WEIGHTED_GRADIENT_TEXT, [0, 0, line, 4, 4])
