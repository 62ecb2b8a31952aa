"""Crop-and-resize kernels: the compiled form of kernels/arrays/boxes.py.

    crop(call)                  CropAndResize (image, boxes, box_ind, crop_size)
    image_gradient(call)        CropAndResizeGradImage (grads, boxes, box_ind, image_size)
    boxes_gradient(call)        CropAndResizeGradBoxes (grads, image, boxes, box_ind)

An item is a row of a crop on the CPU, an element of it on a GPU; of the gradient for boxes a box; of that for images an
image, or on a GPU a channel of one, which sums the gradients of its boxes.
"""
from __future__ import annotations

from typing import Any

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, MaybeOne, Static, Type, ceil, float32, floor
from tfnb.kernels.launch import Call, Launch
from tfnb.kernels.library.copying import fill


def taps_of(first: float, last: float, size: int, crop: int, i: int, nearest: Static) -> tuple[int, int, float, bool]:
    """Return (pixel before, pixel behind, weight of the latter, whether it is inside) for place i of a box's axis."""
    end = float32(size - 1)
    at = float32(0.5) * (first + last) * end if crop == 1 else \
        first * end + float32(i) * ((last - first) * end / float32(crop - 1))
    inside = at >= float32(0) and at <= end
    at = at if inside else float32(0)
    at = floor(at + float32(0.5)) if nearest else at
    return min(int(floor(at)), size - 1), min(int(ceil(at)), size - 1), at - floor(at), inside


def late_part(i: int, size: int, crop: int) -> Any:
    """Return how far the coordinate of place i moves with a box's far edge: up to size - 1."""
    return float32(i) * float32(size - 1) / float32(crop - 1) if crop > 1 else float32(0.5) * float32(size - 1)


@kernel_function(fastmath=(), independent=True)
def crop_row(images: Array, boxes: Array, owner: Array, out: Array, h: int, w: int, c: int, tall: int, wide: int,
             span: MaybeOne, spans: MaybeOne, width: MaybeOne, blocks: MaybeOne, nearest: Static, outside: Static,
             item: int) -> None:
    """Interpolate `width` channels of `span` pixels of a row of a crop; `outside` beyond the image."""
    lane, line = item % blocks * width, item // blocks
    row, first = line // spans, line % spans * span
    box = row // tall
    top, bottom, down, row_inside = taps_of(boxes[4 * box], boxes[4 * box + 2], h, tall, row % tall, nearest)
    image = images[int(owner[box]) * h * w * c + lane:]
    for ox in range(first, first + span):
        left, right, along, inside = taps_of(boxes[4 * box + 1], boxes[4 * box + 3], w, wide, ox, nearest)
        to = (row * wide + ox) * c + lane
        if row_inside and inside:
            for j in range(width):
                a, b = float32(image[(top * w + left) * c + j]), float32(image[(top * w + right) * c + j])
                d, e = float32(image[(bottom * w + left) * c + j]), float32(image[(bottom * w + right) * c + j])
                upper, lower = a + (b - a) * along, d + (e - d) * along
                out[to + j] = upper + (lower - upper) * down
        else:
            for j in range(width):
                out[to + j] = float32(outside)


@kernel_function(fastmath=(), independent=True)
def spread_crops(grads: Array, boxes: Array, owner: Array, out: Array, count: int, h: int, w: int, c: int, tall: int,
                 wide: int, width: MaybeOne, blocks: MaybeOne, nearest: Static, T: Type, item: int) -> None:
    """Sum the gradients of an image's crops for `width` of its channels."""
    target, lane, one = item // blocks, item % blocks * width, float32(1)
    image = out[target * h * w * c + lane:]
    for pixel in range(h * w):
        for j in range(width):
            image[pixel * c + j] = T(0)
    for box in range(count):
        if int(owner[box]) != target:
            continue
        for oy in range(tall):
            top, bottom, down, row_inside = taps_of(boxes[4 * box], boxes[4 * box + 2], h, tall, oy, nearest)
            for ox in range(wide):
                left, right, along, inside = taps_of(boxes[4 * box + 1], boxes[4 * box + 3], w, wide, ox, nearest)
                at = ((box * tall + oy) * wide + ox) * c + lane
                a, b = (top * w + left) * c, (top * w + right) * c
                d, e = (bottom * w + left) * c, (bottom * w + right) * c
                if row_inside and inside:
                    for j in range(width):
                        upper, lower = grads[at + j] * (one - down), grads[at + j] * down
                        image[a + j] = T(image[a + j] + upper * (one - along))
                        image[b + j] = T(image[b + j] + upper * along)
                        image[d + j] = T(image[d + j] + lower * (one - along))
                        image[e + j] = T(image[e + j] + lower * along)


@kernel_function(fastmath=())
def differentiate_box(grads: Array, images: Array, boxes: Array, owner: Array, out: Array, h: int, w: int, c: int,
                      tall: int, wide: int, item: int) -> None:
    """Compute the gradient for the edges of a box."""
    one = float32(1)
    image = images[int(owner[item]) * h * w * c:]
    y1, x1, y2, x2 = float32(0), float32(0), float32(0), float32(0)
    for oy in range(tall):
        top, bottom, down, row_inside = taps_of(boxes[4 * item], boxes[4 * item + 2], h, tall, oy, False)
        late_y = late_part(oy, h, tall)
        for ox in range(wide):
            left, right, along, inside = taps_of(boxes[4 * item + 1], boxes[4 * item + 3], w, wide, ox, False)
            at, late_x = ((item * tall + oy) * wide + ox) * c, late_part(ox, w, wide)
            slope_y, slope_x = float32(0), float32(0)
            for j in range(c if row_inside and inside else 0):
                a, b = float32(image[(top * w + left) * c + j]), float32(image[(top * w + right) * c + j])
                d, e = float32(image[(bottom * w + left) * c + j]), float32(image[(bottom * w + right) * c + j])
                slope_y = slope_y + ((one - along) * (d - a) + along * (e - b)) * grads[at + j]
                slope_x = slope_x + ((one - down) * (b - a) + down * (e - d)) * grads[at + j]
            y1, y2 = y1 + slope_y * (float32(h - 1) - late_y), y2 + slope_y * late_y
            x1, x2 = x1 + slope_x * (float32(w - 1) - late_x), x2 + slope_x * late_x
    out[4 * item], out[4 * item + 1], out[4 * item + 2], out[4 * item + 3] = y1, x1, y2, x2


def crop(call: Call) -> list[Launch]:
    """Return the launches of CropAndResize."""
    images, out = call.inputs[0], call.outputs[0]
    if not out.size:
        return []
    count, tall, wide, c = out.shape
    span, spans = (wide, 1) if call.device == "cpu" else (1, wide)
    width, blocks = call.columns(c)
    whole = images.size * images.itemsize
    return [crop_row.launch(
        call, count * tall * spans * blocks, call.input(0).reach(whole), call.input(1).reach(16 * count),
        call.input(2).reach(4 * count), call.output().reach(4 * count * tall * wide * c),
        *images.shape[1:], tall, wide, span, spans, width, blocks, _nearest(call),
        float(call.attrs["extrapolation_value"]), cost=wide * c, label="crop and resize")]


def image_gradient(call: Call) -> list[Launch]:
    """Return the launches of CropAndResizeGradImage."""
    grads, out = call.inputs[0], call.outputs[0]
    if not out.size:
        return []
    count, width, blocks = grads.shape[0], *call.columns(out.shape[3])
    return [spread_crops.launch(
        call, out.shape[0] * blocks, call.input(0).reach(4 * grads.size), call.input(1).reach(16 * count),
        call.input(2).reach(4 * count), call.output().reach(out.size * out.itemsize), count, *out.shape[1:],
        *grads.shape[1:3], width, blocks, _nearest(call), out.type, grain=1, label="crop and resize")]


def boxes_gradient(call: Call) -> list[Launch]:
    """Return the launches of CropAndResizeGradBoxes."""
    grads, images, out = call.inputs[0], call.inputs[1], call.outputs[0]
    if not out.size or not images.size:
        return fill(call, None, call.output(), out)
    count, whole = out.shape[0], images.size * images.itemsize
    return [differentiate_box.launch(
        call, count, call.input(0).reach(4 * grads.size), call.input(1).reach(whole),
        call.input(2).reach(16 * count), call.input(3).reach(4 * count), call.output().reach(16 * count),
        *images.shape[1:], *grads.shape[1:3], grain=1, label="crop and resize")]


def _nearest(call: Call) -> bool:
    return bool(call.attrs.get("method") == b"nearest")
