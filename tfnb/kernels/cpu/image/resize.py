"""Image resizing kernels: the compiled form of kernels/arrays/resize.py.

    bilinear(call), nearest(call), cubic(call), area(call)                      (images, size)
    bilinear_gradient(call), nearest_gradient(call), cubic_gradient(call)       (grads, original image or size)

First come the tables, one for each axis: for each place of the result the pixels of the image that it is made of, and
their weights. An item of what follows is a strip of rows of the result, or for gradients an image, whose pixels no
other item writes. Few channels are a number of the source, and the loop over them no loop.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tfnb.kernels.arrays.resize import TABLE, Axis
from tfnb.kernels.launch import Address, Call, Launch, Word
from tfnb.kernels.library.copying import UNITS, fill
from tfnb.kernels.llvm.streaming import pays

OPERATIONS = 1 << 16                               # that a thread does at a time
FEW = 4                                            # channels that are a number of the source

# Tables. Items: the places of an axis. No contraction: pixels must be TensorFlow's.
TABLE_HEAD = """
FASTMATH = ()

def kernel(args, begin, end):
    size, taps = args[2], args[7]
    scale = float32(args[3]) / float32(args[4])
    half, align = float32(args[5]) * float32(0.5), args[6]
    index = int64_array(args[0], 0)
    weight = float32_array(args[1], 0)
    for i in range(begin, end):
        one = (float32(i) + half) * scale
"""
BETWEEN_TEXT = TABLE_HEAD + """
        at = one - half
        below = floor(at)
        index[2 * i] = min(max(int64(below), 0), size - 1)
        index[2 * i + 1] = min(max(int64(ceil(at)), 0), size - 1)
        weight[i] = at - below
"""
NEAREST_TEXT = TABLE_HEAD + """
        at = int64(floor(one + float32(0.5))) if align != 0 else int64(floor(one))
        index[i] = min(max(at, 0), size - 1)
"""
CUBIC_TEXT = TABLE_HEAD + f"""
        at = one - half
        below = floor(at)
        step = int64(rint((at - below) * float32({TABLE})))
        a = -0.5 if half > float32(0) else -0.75
        total = float32(0)
        for t in range(4):
            away = float64(step) / {TABLE}.0
            away = 1.0 - away if t > 1 else away
            far = away + 1.0
            w = float32(((a + 2.0) * away - (a + 3.0)) * away * away + 1.0) if t == 1 or t == 2 else \\
                float32(((a * far - 5.0 * a) * far + 8.0 * a) * far - 4.0 * a)
            pixel = int64(below) - 1 + t
            inside = min(max(pixel, 0), size - 1)
            w = w if inside == pixel or half == float32(0) else float32(0)
            index[4 * i + t] = inside
            weight[4 * i + t] = w
            total = total + w
        if half > float32(0):
            total = float32(1) / total
            for t in range(4):
                weight[4 * i + t] = weight[4 * i + t] * total
"""
AREA_TEXT = TABLE_HEAD + """
        past = float32(i + 1) * scale
        for t in range(taps):
            pixel = int64(floor(one)) + t
            start = max(one, float32(pixel))
            covered = max(min(past, float32(pixel + 1)) - start, float32(0))
            index[taps * i + t] = min(max(pixel, 0), size - 1)
            weight[taps * i + t] = covered / scale
"""

(X, OUT, H, W, OH, OW, C, Y_INDEX, Y_WEIGHT, X_INDEX, X_WEIGHT, SCRATCH, STRIPS, STRIP) = range(14)
TAPS_Y, TAPS_X = STRIPS, STRIP                     # of other launches
LOAD = f"""
    h, w, oh, ow, c = args[{H}], args[{W}], args[{OH}], args[{OW}], args[{C}]
    row, wide = w * c, ow * c
    rows, lines = int64_array(args[{Y_INDEX}], 0), float32_array(args[{Y_WEIGHT}], 0)
    places, parts = int64_array(args[{X_INDEX}], 0), float32_array(args[{X_WEIGHT}], 0)
"""

# The strip keeps the last two rows of the image, already in the width of the result: neighbours often share them.
BILINEAR_TEXT = """
INDEPENDENT = True
FASTMATH = ()

@device
def widen(source, to, places, parts, ow, c):
    x = {type}_array(source, 0)
    line = float32_array(to, 0)
    for k in range(ow):
        left, right, part = places[2 * k] * c, places[2 * k + 1] * c, parts[k]
        for j in range({channels}):
            value = float32(x[left + j])
            line[k * c + j] = value + (float32(x[right + j]) - value) * part

def kernel(args, begin, end):""" + LOAD + f"""
    strips, height = args[{STRIPS}], args[{STRIP}]
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
                    widen(source + top * row * {{bytes}}, upper, places, parts, ow, {{channels}})
                has_upper = top
            if part != float32(0) and has_lower != bottom:
                widen(source + bottom * row * {{bytes}}, lower, places, parts, ow, {{channels}})
                has_lower = bottom
            target = args[{OUT}] + (image * oh + oy) * wide * 4
            out = float32_array({{made}}, 0)
            above, below = float32_array(upper, 0), float32_array(lower if part != float32(0) else upper, 0)
            for k in range(wide):
                out[k] = above[k] + (below[k] - above[k]) * part
            {{done}}
    stream_end()
"""
# Gradients. Channels of one pixel are apart, neighbouring pixels may be the same one.
BACK = """
INDEPENDENT = True

def kernel(args, begin, end):""" + LOAD + f"""
    one = float32(1)
    for i in range(begin, end):
        out = {{type}}_array(args[{OUT}] + i * h * row * {{bytes}}, 0)
        for k in range(h * row):
            out[k] = {{type}}(0)
"""
BILINEAR_GRADIENT_TEXT = BACK + f"""
        grads = float32_array(args[{X}] + i * oh * wide * 4, 0)
        for oy in range(oh):
            down = lines[oy]
            for k in range(ow):
                along = parts[k]
                for corner in range(4):
                    bottom, right = corner // 2, corner % 2
                    to = (rows[2 * oy + bottom] * w + places[2 * k + right]) * c
                    a = down if bottom == 1 else one - down
                    b = along if right == 1 else one - along
                    for j in range({{channels}}):
                        out[to + j] = {{type}}(out[to + j] + grads[oy * wide + k * c + j] * a * b)
"""
COPY_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):""" + LOAD + f"""
    for i in range(begin, end):
        source = {{type}}_array(args[{X}] + (i // oh * h + rows[i % oh]) * row * {{bytes}}, 0)
        out = {{type}}_array(args[{OUT}] + i * wide * {{bytes}}, 0)
        for k in range(ow):
            start = places[k] * c
            for j in range({{channels}}):
                out[k * c + j] = source[start + j]
"""
COPY_GRADIENT_TEXT = BACK + f"""
        grads = {{type}}_array(args[{X}] + i * oh * wide * {{bytes}}, 0)
        for oy in range(oh):
            for k in range(ow):
                to = (rows[oy] * w + places[k]) * c
                for j in range({{channels}}):
                    out[to + j] = {{type}}(out[to + j] + grads[oy * wide + k * c + j])
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
        for k in range(ow):
            for j in range({{channels}}):
                out[k * c + j] = float32(0)
            for t in range(along):
                start, weight = places[along * k + t] * c, parts[along * k + t]
                if weight != float32(0):
                    for j in range({{channels}}):
                        out[k * c + j] = out[k * c + j] + line[start + j] * weight
"""
WEIGHTED_GRADIENT_TEXT = BACK + f"""
        down, along = args[{TAPS_Y}], args[{TAPS_X}]
        line = float32_array(args[{SCRATCH}] + i * 4 * row, 0)
        grads = float32_array(args[{X}] + i * oh * wide * 4, 0)
        for oy in range(oh):
            for k in range(row):
                line[k] = float32(0)
            for k in range(ow):
                for t in range(along):
                    to, weight = places[along * k + t] * c, parts[along * k + t]
                    for j in range({{channels}}):
                        line[to + j] = line[to + j] + grads[oy * wide + k * c + j] * weight
            for t in range(down):
                start, weight = rows[down * oy + t] * row, lines[down * oy + t]
                for k in range(row):
                    out[start + k] = {{type}}(out[start + k] + line[k] * weight)
"""


@dataclass(frozen=True, slots=True)
class _Form:
    """Interpolation table of an axis: its source, pixels and weights per position (0 pixels: as `area` needs)."""

    text: str
    pixels: int
    weights: int


BETWEEN, NEAREST, CUBIC, AREA = (_Form(BETWEEN_TEXT, 2, 1), _Form(NEAREST_TEXT, 1, 0), _Form(CUBIC_TEXT, 4, 4),
                                 _Form(AREA_TEXT, 0, 0))


def axes(attrs: Mapping[str, Any], image: Sequence[int], result: Sequence[int]) -> tuple[Axis, Axis]:
    """Return the axes that map rows and columns of `result` to those of `image`, by shapes and attrs."""
    align, half = bool(attrs.get("align_corners")), bool(attrs.get("half_pixel_centers"))
    return Axis(image[1], result[1], align, half), Axis(image[2], result[2], align, half)


def _table(call: Call, form: _Form, axis: Axis) -> tuple[Launch, Address, Address]:
    """Return (the launch that makes it, indices, weights) for one axis."""
    pixels, weights = (form.pixels, form.weights) if form.pixels else (axis.taps, axis.taps)
    rooms = 8 * axis.out * pixels, 4 * max(1, axis.out * weights)
    index, weight = (call.scratch(room).reach(room) for room in rooms)
    words = (index, weight, axis.size, *axis.ratio, int(axis.half), int(axis.align), pixels)
    return Launch(form.text, words, axis.out, 0, "resize table"), index, weight


def _prepared(call: Call, form: _Form, image: Sequence[int], result: Sequence[int],
              back: bool = False) -> tuple[list[Launch], list[Word]]:
    """Return the launches of both tables, and the words from X to X_WEIGHT. back: from the result to the image."""
    y, x = axes(call.attrs, image, result)
    (first, rows, lines), (second, places, parts) = _table(call, form, y), _table(call, form, x)
    sizes = [result[0] * y.size * x.size * image[3], result[0] * y.out * x.out * image[3]]
    if back:
        sizes.reverse()
    given, made = sizes[0] * call.inputs[0].itemsize, sizes[1] * call.outputs[0].itemsize
    places_of = call.input(0).reach(given), call.output().reach(made)
    return [first, second], [*places_of, y.size, x.size, y.out, x.out, image[3], rows, lines, places, parts]


def _text(text: str, type_: str, itemsize: int, channels: int, **more: str) -> str:
    return text.format(type=type_, bytes=itemsize, channels=channels if channels <= FEW else "c", **more)


def bilinear(call: Call) -> list[Launch]:
    """Return the launches of ResizeBilinear."""
    images, out = call.inputs[0], call.outputs[0]
    if not out.size:
        return []
    launches, words = _prepared(call, BETWEEN, images.shape, out.shape)
    batch, height, width, channels = out.shape
    strip = max(1, min(height, -(-height * batch // 16)))
    strips = -(-height // strip)
    room = 8 * width * channels * strips * batch
    words += [call.scratch(room).reach(room), strips, strip]
    past = pays(4 * width * channels, 4 * out.size)
    text = _text(BILINEAR_TEXT, images.type, images.itemsize, channels, buffer="row_buffer()" if past else "0",
                 made="buffer" if past else "target", done="stream_row(target, buffer, wide * 4)" if past else "pass")
    return [*launches, Launch(text, tuple(words), strips * batch, 1, "resize bilinear")]


def nearest(call: Call) -> list[Launch]:
    """Return the launches of ResizeNearestNeighbor."""
    out = call.outputs[0]
    if not out.size:
        return []
    launches, words = _prepared(call, NEAREST, call.inputs[0].shape, out.shape)
    batch, height, width, channels = out.shape
    grain = max(1, OPERATIONS // (width * channels))
    text = _text(COPY_TEXT, UNITS[out.itemsize], out.itemsize, channels)
    return [*launches, Launch(text, tuple(words), batch * height, grain, "resize nearest")]


def cubic(call: Call) -> list[Launch]:
    """Return the launches of ResizeBicubic."""
    return _weighted(call, CUBIC)


def area(call: Call) -> list[Launch]:
    """Return the launches of ResizeArea."""
    return _weighted(call, AREA)


def _weighted(call: Call, form: _Form) -> list[Launch]:
    images, out = call.inputs[0], call.outputs[0]
    if not out.size:
        return []
    launches, words = _prepared(call, form, images.shape, out.shape)
    batch, height, width, channels = out.shape
    down, along = (form.pixels or axis.taps for axis in axes(call.attrs, images.shape, out.shape))
    row = images.shape[2] * channels
    room = 4 * row * batch * height
    words += [call.scratch(room).reach(room), down, along]
    grain = max(1, OPERATIONS // (row * down + width * channels * along))
    text = _text(WEIGHTED_TEXT, images.type, images.itemsize, channels)
    return [*launches, Launch(text, tuple(words), batch * height, grain, "resize weighted")]


def bilinear_gradient(call: Call) -> list[Launch]:
    """Return the launches of ResizeBilinearGrad."""
    return _gradient(call, BETWEEN, BILINEAR_GRADIENT_TEXT)


def nearest_gradient(call: Call) -> list[Launch]:
    """Return the launches of ResizeNearestNeighborGrad."""
    return _gradient(call, NEAREST, COPY_GRADIENT_TEXT)


def cubic_gradient(call: Call) -> list[Launch]:
    """Return the launches of ResizeBicubicGrad."""
    out = call.outputs[0]
    room = 4 * max(1, out.shape[0] * out.shape[2] * out.shape[3])
    line = call.scratch(room).reach(room)
    return _gradient(call, CUBIC, WEIGHTED_GRADIENT_TEXT, [line, 4, 4])


def _gradient(call: Call, form: _Form, text: str, more: Sequence[Word] = ()) -> list[Launch]:
    grads, out = call.inputs[0], call.outputs[0]
    if not grads.size or not out.size:
        return fill(call, None, call.output(), out)
    launches, words = _prepared(call, form, out.shape, grads.shape, back=True)
    text = _text(text, out.type, out.itemsize, grads.shape[3])
    return [*launches, Launch(text, (*words, *more), grads.shape[0], 1, "resize gradient")]
