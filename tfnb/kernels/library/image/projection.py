"""Projective transform kernel: the compiled form of kernels/arrays/projection.py.

    transform(call)         ImageProjectiveTransformV2 (images, transforms, output_shape)

An item is a row of the result on the CPU, a pixel on a GPU.
"""
from __future__ import annotations

from typing import Any

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Ints, MaybeOne, Static, Type, float32, floor
from tfnb.kernels.launch import Call, Launch

FAR = 1 << 24
OPERATIONS = 1 << 16                               # that a thread of the CPU does at a time


def truncated(v: float) -> Any:
    """Return v without its fraction."""
    return floor(v) if v > float32(0) else -floor(-v)


def reflected(v: float, n: float) -> float:
    """Return a coordinate on an axis that is continued by its mirror image."""
    twice = n + n
    low = twice * truncated(-v / twice) + v
    low = low + twice if low < -n else -low - float32(1)
    high = v - twice * truncated(v / twice)
    high = twice - high - float32(1) if high >= n else high
    return low if v < float32(0) else high if v > n - float32(1) else v


def wrapped(v: float, n: float) -> float:
    """Return a coordinate on an axis that is continued by itself."""
    gap = n - float32(1)
    low = v + n * (truncated(-v / gap) + float32(1))
    high = v - n * truncated(v / gap)
    return low if v < float32(0) else high if v > gap else v


def mapped(v: float, n: int, fill: Static) -> float:
    """Return a coordinate moved into an axis of n pixels by a fill mode, and no further away than FAR."""
    size, at = float32(n), v
    if fill == "REFLECT":
        at = reflected(v, size) if n > 1 else float32(0)
    if fill == "WRAP":
        at = wrapped(v, size) if n > 1 else float32(0)
    if fill != "CONSTANT":
        at = (at if at > float32(0) else float32(0)) if at < size - float32(1) else size - float32(1)
    at = at if at > float32(-FAR) else float32(-FAR)
    return at if at < float32(FAR) else float32(FAR)


def nearest(v: float) -> int:
    """Return the nearest integer; halves are rounded away from 0."""
    below = floor(v)
    part = v - below
    return int(below) + (1 if part > float32(0.5) or part == float32(0.5) and v > float32(0) else 0)


def pixel(image: Array, row: int, column: int, height: int, width: int, c: int, channel: int) -> Any:
    """Return an element of an image as float32, 0 outside."""
    inside = row >= 0 and row < height and column >= 0 and column < width
    at = (row * width + column) * c + channel if inside else channel
    return float32(image[at]) if inside else float32(0)


@kernel_function(independent=True, fastmath=())    # no contraction: pixels must be TensorFlow's
def project_row(images: Array, transforms: Array, out: Array, sizes: Ints, many: Static, span: MaybeOne,
                spans: MaybeOne, bilinear: Static, fill: Static, T: Type, item: int) -> None:
    """Compute `span` pixels of a row of a transformed image."""
    h, w, oh, ow, c = sizes
    line, first = item // spans, item % spans * span
    number, y = line // oh, float32(line % oh)
    image = images[number * h * w * c:]
    t = transforms[number * 8 if many else 0:]
    for place in range(first, first + span):
        x, to = float32(place), (line * ow + place) * c
        k = t[6] * x + t[7] * y + float32(1)
        known = k != float32(0)
        column = mapped((t[0] * x + t[1] * y + t[2]) / k, w, fill)
        row = mapped((t[3] * x + t[4] * y + t[5]) / k, h, fill)
        if bilinear:
            left, top = floor(column), floor(row)
            after, below = column - left, row - top
            before, above = left + float32(1) - column, top + float32(1) - row
            j, i = int(left), int(top)
            for z in range(c):
                upper = before * pixel(image, i, j, h, w, c, z) + after * pixel(image, i, j + 1, h, w, c, z)
                lower = before * pixel(image, i + 1, j, h, w, c, z) + after * pixel(image, i + 1, j + 1, h, w, c, z)
                out[to + z] = T(above * upper + below * lower if known else float32(0))
        else:
            j, i = nearest(column), nearest(row)
            inside = known and i >= 0 and i < h and j >= 0 and j < w
            for z in range(c):
                out[to + z] = image[(i * w + j) * c + z if inside else z] if inside else T(0)


def transform(call: Call) -> list[Launch]:
    """Return the launch of a projective transform."""
    images, transforms = call.inputs[:2]
    out = call.outputs[0]
    n, oh, ow, c = out.shape
    span, spans = (ow, 1) if call.device == "cpu" else (1, ow)
    bilinear = call.attrs["interpolation"] == b"BILINEAR"
    return [project_row.launch(
        call, n * oh * spans, call.input(0).reach(images.size * images.itemsize),
        call.input(1).reach(transforms.size * transforms.itemsize), call.output().reach(out.size * out.itemsize),
        [*images.shape[1:3], oh, ow, c], transforms.shape[0] > 1, span, spans, bilinear=bilinear,
        fill=call.attrs["fill_mode"].decode(), T=out.type, grain=max(1, OPERATIONS // max(1, ow * c)))]
