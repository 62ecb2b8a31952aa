"""Image resizing kernels: the compiled form of kernels/arrays/resize.py.

    bilinear(call), nearest(call), cubic(call), area(call)                      (images, size)
    bilinear_gradient(call), nearest_gradient(call), cubic_gradient(call)       (grads, original image or size)
    sampled(call)               ScaleAndTranslate (images, size, scale, translation)
    sampled_gradient(call)      ScaleAndTranslateGrad (grads, original image, scale, translation)

First come the tables, one for each axis: for each place of the result the pixels of the image that it is made of, and
their weights. An item of what follows is a strip of rows of the result on the CPU, an element of it on a GPU; of a
gradient an image, or on a GPU a channel of one, whose pixels no other item writes. Few channels are a constant on the
CPU, and the loop over them no loop.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from tfnb.kernels.arrays.resize import TABLE, Axis
from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import (
    Array,
    Ints,
    MaybeOne,
    Static,
    Type,
    ceil,
    float32,
    float64,
    floor,
    stream,
    unrolled,
)
from tfnb.kernels.launch import Address, Call, Launch
from tfnb.kernels.library.copying import UNITS, fill
from tfnb.kernels.library.image.sampling import sampled_table
from tfnb.kernels.llvm.streaming import pays
from tfnb.kernels.sizes import highest

OPERATIONS = 1 << 16                               # that a thread of the CPU does at a time
FEW = 4                                            # channels that are a constant
WHOLE = 2.0**23                                    # plus this, less this: a float32 is rounded to an integer


@kernel_function(fastmath=())                      # no contraction: pixels must be TensorFlow's
def weigh_pixels(index: Array, weight: Array, size: int, near: int, apart: int, taps: int, form: Static, half: Static,
                 align: Static, item: int) -> None:
    """Find the pixels of place `item` of an axis, near / apart pixels from the next one, and their weights."""
    shift, scale = float32(0.5 if half else 0), float32(near) / float32(apart)
    first = (float32(item) + shift) * scale
    at = first - shift
    below = floor(at)
    if form == "nearest":
        index[item] = min(max(int(floor(first + float32(0.5) if align else first)), 0), size - 1)
    elif form == "between":
        index[2 * item], index[2 * item + 1] = min(max(int(below), 0), size - 1), min(max(int(ceil(at)), 0), size - 1)
        weight[item] = at - below
    elif form == "area":
        past = float32(item + 1) * scale
        for t in range(taps):
            pixel = int(floor(first)) + t
            covered = max(min(past, float32(pixel + 1)) - max(first, float32(pixel)), float32(0))
            index[taps * item + t], weight[taps * item + t] = min(max(pixel, 0), size - 1), covered / scale
    else:
        a, total = float64(-0.5 if half else -0.75), float32(0)
        step = (at - below) * float32(TABLE) + float32(WHOLE) - float32(WHOLE)
        part = float64(step) / float64(TABLE)
        for t in range(4):
            x = 1.0 - part if t > 1 else part
            far = x + 1.0
            share = float32(((a + 2.0) * x - (a + 3.0)) * x * x + 1.0 if t == 1 or t == 2 else
                            ((a * far - 5.0 * a) * far + 8.0 * a) * far - 4.0 * a)
            pixel = int(below) - 1 + t
            inside = min(max(pixel, 0), size - 1)
            if half:
                share = share if inside == pixel else float32(0)
            index[4 * item + t], weight[4 * item + t] = inside, share
            total = total + share
        if half:
            for t in range(4):
                weight[4 * item + t] = weight[4 * item + t] * (float32(1) / total)


def widen(x: Array, line: Array, places: Array, parts: Array, ow: int, c: int) -> None:
    """Interpolate a row of an image along the width."""
    for k in range(ow):
        left, right, part = int(places[2 * k]) * c, int(places[2 * k + 1]) * c, parts[k]
        for j in range(c):
            value = float32(x[left + j])
            line[k * c + j] = value + (float32(x[right + j]) - value) * part


@kernel_function(independent=True, fastmath=())
def interpolate_rows(x: Array, out: Array, rows: Array, lines: Array, places: Array, parts: Array, room: Array,
                     sizes: Ints, few: Static, strips: int, height: int, past: Static, item: int) -> None:
    """Interpolate a strip of `height` rows linearly; without `room` one element.

    room: for each strip the last two rows of the image in the width of the result, which neighbours often share, and
    one of the result where these are to go past the caches.
    """
    h, w, oh, ow, c = sizes
    if room is None:
        k, line = item // c % ow, item // c // ow
        left, right, along = int(places[2 * k]), int(places[2 * k + 1]), parts[k]
        image = x[line // oh * h * w * c + item % c:]
        top, bottom = int(rows[2 * (line % oh)]) * w, int(rows[2 * (line % oh) + 1]) * w
        a, b = float32(image[(top + left) * c]), float32(image[(top + right) * c])
        d, e = float32(image[(bottom + left) * c]), float32(image[(bottom + right) * c])
        upper, lower = a + (b - a) * along, d + (e - d) * along
        out[item] = upper + (lower - upper) * lines[line % oh]
    else:
        n = c if few is None else few
        image, strip, wide = item // strips, item % strips, ow * n
        upper, lower, has_upper, has_lower = item * 3 * wide, item * 3 * wide + wide, -1, -1
        for oy in range(strip * height, min(oh, (strip + 1) * height)):
            top, bottom, part = int(rows[2 * oy]), int(rows[2 * oy + 1]), lines[oy]
            if has_upper != top:
                if has_lower == top:
                    upper, lower, has_lower = lower, upper, -1
                else:
                    source = x[(image * h + top) * w * n:]
                    line = room[upper:]
                    widen(source, line, places, parts, ow, n)
                has_upper = top
            if part != float32(0) and has_lower != bottom:
                source = x[(image * h + bottom) * w * n:]
                line = room[lower:]
                widen(source, line, places, parts, ow, n)
                has_lower = bottom
            above = room[upper:]
            below = room[lower if part != float32(0) else upper:]
            target = out[(image * oh + oy) * wide:]
            if past:
                made = room[item * 3 * wide + 2 * wide:]
                for k in range(wide):
                    made[k] = above[k] + (below[k] - above[k]) * part
                stream(target, made, wide)
            else:
                for k in range(wide):
                    target[k] = above[k] + (below[k] - above[k]) * part


@kernel_function(independent=True)
def take_pixels(x: Array, out: Array, rows: Array, places: Array, sizes: Ints, few: Static, span: MaybeOne,
                spans: MaybeOne, width: MaybeOne, blocks: MaybeOne, item: int) -> None:
    """Copy `width` channels of the nearest pixels of `span` places of a row."""
    h, w, oh, ow, c = sizes
    lane, line = item % blocks * width, item // blocks
    row, first = line // spans, line % spans * span
    source = x[(row // oh * h + int(rows[row % oh])) * w * c + lane:]
    target = out[row * ow * c + lane:]
    n = width if few is None else few
    for k in range(first, first + span):
        start = int(places[k]) * c
        for j in range(n):
            target[k * c + j] = source[start + j]


def weigh_line(line: Array, target: Array, places: Array, parts: Array, ow: int, n: int, along: int,
               cubic: Static) -> None:
    """Sum pixels of a line by their weights for each place of a row."""
    if cubic:
        for k in range(ow):
            for j in range(n):
                total = float32(0)
                for t in unrolled(4):
                    weight = parts[4 * k + t]
                    more = total + line[int(places[4 * k + t]) * n + j] * weight
                    total = more if weight != float32(0) else total
                target[k * n + j] = total
    else:
        for k in range(ow):
            for j in range(n):
                target[k * n + j] = float32(0)
            for t in range(along):
                start, weight = int(places[along * k + t]) * n, parts[along * k + t]
                if weight != float32(0):
                    for j in range(n):
                        target[k * n + j] = target[k * n + j] + line[start + j] * weight


@kernel_function(independent=True)
def weigh_rows(x: Array, out: Array, rows: Array, lines: Array, places: Array, parts: Array, room: Array, sizes: Ints,
               few: Static, strips: int, height: int, down: int, along: int, cubic: Static, past: Static,
               item: int) -> None:
    """Sum pixels by their weights for a strip of `height` rows, each first down the image; without `room` one element.

    cubic: whether there are four of them along, which are summed in registers. room: for each strip a row of the image,
    and one of the result where these are to go past the caches.
    """
    h, w, oh, ow, c = sizes
    if room is None:
        k, line, total = item // c % ow, item // c // ow, float32(0)
        image = x[line // oh * h * w * c + item % c:]
        for s in range(along):
            place, weight, column = int(places[along * k + s]), parts[along * k + s], float32(0)
            for t in range(down):
                share = lines[line % oh * down + t]
                if share != float32(0):
                    column = column + float32(image[(int(rows[line % oh * down + t]) * w + place) * c]) * share
            if weight != float32(0):
                total = total + column * weight
        out[item] = total
    else:
        n = c if few is None else few
        number, strip, held = item // strips, item % strips, (w + ow if past else w) * n
        summed = room[item * held:]
        for oy in range(strip * height, min(oh, (strip + 1) * height)):
            for k in range(w * n):
                summed[k] = float32(0)
            for t in range(down):
                share = lines[oy * down + t]
                if share != float32(0):
                    source = x[(number * h + int(rows[oy * down + t])) * w * n:]
                    for k in range(w * n):
                        summed[k] = summed[k] + float32(source[k]) * share
            target = out[(number * oh + oy) * ow * n:]
            if past:
                made = room[item * held + w * n:]
                weigh_line(summed, made, places, parts, ow, n, along, cubic)
                stream(target, made, ow * n)
            else:
                weigh_line(summed, target, places, parts, ow, n, along, cubic)


@kernel_function(independent=True)
def spread_places(grads: Array, out: Array, rows: Array, lines: Array, places: Array, parts: Array, sizes: Ints,
                  few: Static, room: Array, down: int, along: int, width: MaybeOne, blocks: MaybeOne, form: Static,
                  T: Type, item: int) -> None:
    """Sum the gradients of all places of a result at their pixels, for `width` channels of an image."""
    h, w, oh, ow, c = sizes
    image, n, one = item // blocks, width if few is None else few, float32(1)
    target = out[image * h * w * c + item % blocks * n:]
    source = grads[image * oh * ow * c + item % blocks * n:]
    for k in range(h * w * n):
        target[k if blocks == 1 else k * c] = T(0)
    for oy in range(oh):
        if form == "nearest":
            for k in range(ow):
                to = (int(rows[oy]) * w + int(places[k])) * c
                for j in range(n):
                    target[to + j] = T(target[to + j] + source[(oy * ow + k) * c + j])
        elif form == "between":
            late = lines[oy]
            for k in range(ow):
                part = parts[k]
                for corner in range(4):
                    low, right = corner // 2, corner % 2
                    to = (int(rows[2 * oy + low]) * w + int(places[2 * k + right])) * c
                    a, b = late if low == 1 else one - late, part if right == 1 else one - part
                    for j in range(n):
                        target[to + j] = T(target[to + j] + source[(oy * ow + k) * c + j] * a * b)
        else:
            line = room[item * w * n:]
            for k in range(w * n):
                line[k] = float32(0)
            for k in range(ow):
                for t in range(along):
                    to, weight = int(places[along * k + t]) * n, parts[along * k + t]
                    if form == "cubic" or weight != float32(0):
                        for j in range(n):
                            line[to + j] = line[to + j] + source[(oy * ow + k) * c + j] * weight
            for t in range(down):
                start, weight = int(rows[down * oy + t]) * w * c, lines[down * oy + t]
                if form == "cubic" or weight != float32(0):
                    for k in range(w * n):
                        to = start + (k if blocks == 1 else k * c)
                        target[to] = T(target[to] + line[k] * weight)


def axes(attrs: Mapping[str, Any], image: Sequence[int], result: Sequence[int]) -> tuple[Axis, Axis]:
    """Return the axes that map rows and columns of `result` to those of `image`, by shapes and attrs."""
    align, half = bool(attrs.get("align_corners")), bool(attrs.get("half_pixel_centers"))
    return Axis(image[1], result[1], align, half), Axis(image[2], result[2], align, half)


def _table(call: Call, form: str, axis: Axis) -> tuple[Launch, Address, Address]:
    """Return (the launch that makes it, indices, weights) for one axis."""
    pixels, weights = {"between": (2, 1), "nearest": (1, 0), "cubic": (4, 4), "area": (axis.taps, axis.taps)}[form]
    index, weight = (call.scratch(room).reach(room) for room in (8 * axis.out * pixels, 4 * max(1, axis.out * weights)))
    index, weight = index.of("int64"), weight.of("float32")
    return weigh_pixels.launch(call, axis.out, index, weight, axis.size, *axis.ratio, pixels, form, axis.half,
                               axis.align, grain=0, label="resize table"), index, weight


def _prepared(call: Call, form: str, image: Sequence[int], result: Sequence[int],
              back: bool = False) -> tuple[list[Launch], list[Any], tuple[Any, Any]]:
    """Return (the launches of both tables, the arguments up to `few`, the taps down and along).

    back: from the result to the image.
    """
    y, x = axes(call.attrs, image, result)
    if form == "sampled":
        (first, rows, lines, down), (second, places, parts, along) = (
            sampled_table(call, i, axis.size, axis.out) for i, axis in enumerate((y, x)))
    else:
        (first, rows, lines), (second, places, parts) = _table(call, form, y), _table(call, form, x)
        down, along = (axis.taps if form == "area" else 4 for axis in (y, x))
    counts = [result[0] * y.size * x.size * image[3], result[0] * y.out * x.out * image[3]]
    given, made = reversed(counts) if back else counts
    images = call.input(0).reach(given * call.inputs[0].itemsize), call.output().reach(made * call.outputs[0].itemsize)
    few = image[3] if image[3] <= FEW and call.device == "cpu" else None
    sizes = y.size, x.size, y.out, x.out, image[3]
    return [first, second], [*images, rows, lines, places, parts, sizes, few], (down, along)


def _room(call: Call, elements: int) -> Address | None:
    """Return scratch memory for floats, which only the CPU needs."""
    return call.scratch(4 * elements).reach(4 * elements).of("float32") if call.device == "cpu" else None


def _strips(batch: int, height: int) -> tuple[int, int]:
    """Return how many rows of a result a strip has, and how many strips an image has: some 16 strips in all."""
    strip = max(1, min(height, -(-height * batch // 16)))
    return strip, -(-height // strip)


def _grain(work: Any) -> Any:
    """Return how many items of so much work a thread of the CPU takes at a time."""
    return highest(1, OPERATIONS // work)


def bilinear(call: Call) -> list[Launch]:
    """Return the launches of ResizeBilinear."""
    images, out = call.inputs[0], call.outputs[0]
    if not out.size:
        return []
    launches, (*arrays, sizes, few), _ = _prepared(call, "between", images.shape, out.shape)
    batch, height, width, channels = out.shape
    strip, strips = _strips(batch, height)
    room = _room(call, 3 * width * channels * strips * batch)
    past = room is not None and pays(4 * width * channels, 4 * out.size)
    return [*launches, interpolate_rows.launch(call, strips * batch if room else out.size, *arrays, room, sizes, few,
                                               strips, strip, past, grain=1, label="resize bilinear")]


def nearest(call: Call) -> list[Launch]:
    """Return the launches of ResizeNearestNeighbor."""
    out = call.outputs[0]
    if not out.size:
        return []
    launches, given, _ = _prepared(call, "nearest", call.inputs[0].shape, out.shape)
    x, y, rows, _, places, _, sizes, few = given
    batch, height, wide, channels = out.shape
    unit = UNITS[out.itemsize] if call.device == "cpu" else out.type
    span, spans = (wide, 1) if call.device == "cpu" else (1, wide)
    width, blocks = call.columns(channels)
    return [*launches, take_pixels.launch(
        call, batch * height * spans * blocks, x.of(unit), y.of(unit), rows, places, sizes, few, span, spans, width,
        blocks, grain=max(1, OPERATIONS // (wide * channels)), label="resize nearest")]


def _weighted(call: Call, form: str) -> list[Launch]:
    images, out = call.inputs[0], call.outputs[0]
    if not out.size:
        return []
    launches, (*arrays, sizes, few), (down, along) = _prepared(call, form, images.shape, out.shape)
    batch, height, width, channels = out.shape
    strip, strips = _strips(batch, height)
    past = call.device == "cpu" and pays(4 * width * channels, 4 * out.size)
    room = _room(call, (images.shape[2] + (width if past else 0)) * channels * strips * batch)
    return [*launches, weigh_rows.launch(
        call, strips * batch if room else out.size, *arrays, room, sizes, few, strips, strip, down, along,
        form == "cubic", past, grain=_grain(strip * width * channels * 4) if room else None, label="resize weighted")]


def _gradient(call: Call, form: str) -> list[Launch]:
    grads, out = call.inputs[0], call.outputs[0]
    if not grads.size or not out.size:
        return fill(call, None, call.output(), out)
    launches, arguments, (down, along) = _prepared(call, form, out.shape, grads.shape, back=True)
    batch, _, wide, channels = out.shape
    held = 4 * batch * wide * channels
    room = call.scratch(held).reach(held).of("float32") if form in ("cubic", "sampled") else None
    width, blocks = call.columns(channels)
    return [*launches, spread_places.launch(
        call, batch * blocks, *arguments, room, down, along, width, blocks, form, out.type,
        grain=_grain(grads.shape[1] * grads.shape[2] * channels * 4), label="resize gradient")]


cubic, area = partial(_weighted, form="cubic"), partial(_weighted, form="area")
bilinear_gradient, nearest_gradient = partial(_gradient, form="between"), partial(_gradient, form="nearest")
cubic_gradient = partial(_gradient, form="cubic")
sampled, sampled_gradient = partial(_weighted, form="sampled"), partial(_gradient, form="sampled")
