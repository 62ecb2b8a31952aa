"""Crop-and-resize kernels: the compiled form of kernels/arrays/boxes.py.

    crop(call)                  CropAndResize (image, boxes, box_ind, crop_size)
    image_gradient(call)        CropAndResizeGradImage (grads, boxes, box_ind, image_size)
    boxes_gradient(call)        CropAndResizeGradBoxes (grads, image, boxes, box_ind)

An item is a box; of the gradient for images an image, which sums the gradients of its boxes.
"""
from __future__ import annotations

from math import prod

import numpy as np

from tfnb.kernels.launch import Call, Launch, Word
from tfnb.kernels.library.copying import fill

(IMAGES, BOXES, OWNER, OUT, BATCH, H, W, C, CROP_H, CROP_W, NEAREST, OUTSIDE, GRADS, COUNT) = range(14)

HEAD = f"""
FASTMATH = ()

@device
def place(first, last, size, crop, i):
    end = float32(size - 1)
    if crop == 1:
        return float32(0.5) * (first + last) * end
    return first * end + float32(i) * ((last - first) * end / float32(crop - 1))

def kernel(args, begin, end):
    h, w, c = args[{H}], args[{W}], args[{C}]
    crop_h, crop_w, nearest = args[{CROP_H}], args[{CROP_W}], args[{NEAREST}]
    boxes, owner = float32_array(args[{BOXES}], 0), int32_array(args[{OWNER}], 0)
    half = float32(0.5)
"""
ROW = """
            at_y = place(boxes[4 * i], boxes[4 * i + 2], h, crop_h, oy)
            row_inside = at_y >= float32(0) and at_y <= float32(h - 1)
            at_y = at_y if row_inside else float32(0)
            at_y = floor(at_y + half) if nearest != 0 else at_y
            top, bottom = min(int64(floor(at_y)), h - 1) * w * c, min(int64(ceil(at_y)), h - 1) * w * c
            down = at_y - floor(at_y)
"""
COLUMN = """
                at_x = place(boxes[4 * i + 1], boxes[4 * i + 3], w, crop_w, ox)
                inside = row_inside and at_x >= float32(0) and at_x <= float32(w - 1)
                at_x = at_x if inside else float32(0)
                at_x = floor(at_x + half) if nearest != 0 else at_x
                left, right = min(int64(floor(at_x)), w - 1) * c, min(int64(ceil(at_x)), w - 1) * c
                along = at_x - floor(at_x)
"""
CROP_TEXT = HEAD + f"""
    outside = float32_from_bits(int32(args[{OUTSIDE}]))
    for i in range(begin, end):
        image = int64(owner[i])
        x = {{type}}_array(args[{IMAGES}] + image * h * w * c * {{bytes}}, 0)
        for oy in range(crop_h):""" + ROW + """
            for ox in range(crop_w):""" + COLUMN + f"""
                out = float32_array(args[{OUT}] + 4 * ((i * crop_h + oy) * crop_w + ox) * c, 0)
                if inside:
                    for j in range(c):
                        a, b = float32(x[top + left + j]), float32(x[top + right + j])
                        d, e = float32(x[bottom + left + j]), float32(x[bottom + right + j])
                        upper, lower = a + (b - a) * along, d + (e - d) * along
                        out[j] = upper + (lower - upper) * down
                else:
                    for j in range(c):
                        out[j] = outside
"""
IMAGE_TEXT = HEAD + f"""
    one = float32(1)
    for target in range(begin, end):
        out = {{type}}_array(args[{OUT}] + target * h * w * c * {{bytes}}, 0)
        for k in range(h * w * c):
            out[k] = {{type}}(0)
        for i in range(args[{COUNT}]):
            if int64(owner[i]) != target:
                continue
            for oy in range(crop_h):""" + ROW.replace("\n    ", "\n        ") + """
                for ox in range(crop_w):""" + COLUMN.replace("\n    ", "\n        ") + f"""
                    grads = float32_array(args[{GRADS}] + 4 * ((i * crop_h + oy) * crop_w + ox) * c, 0)
                    if inside:
                        for j in range(c):
                            upper, lower = grads[j] * (one - down), grads[j] * down
                            out[top + left + j] = {{type}}(out[top + left + j] + upper * (one - along))
                            out[top + right + j] = {{type}}(out[top + right + j] + upper * along)
                            out[bottom + left + j] = {{type}}(out[bottom + left + j] + lower * (one - along))
                            out[bottom + right + j] = {{type}}(out[bottom + right + j] + lower * along)
"""
BOXES_TEXT = HEAD + f"""
    one = float32(1)
    for i in range(begin, end):
        image = int64(owner[i])
        x = {{type}}_array(args[{IMAGES}] + image * h * w * c * {{bytes}}, 0)
        y1, x1, y2, x2 = float32(0), float32(0), float32(0), float32(0)
        for oy in range(crop_h):""" + ROW + """
            late_y = float32(oy) * float32(h - 1) / float32(crop_h - 1) if crop_h > 1 else half * float32(h - 1)
            for ox in range(crop_w):""" + COLUMN + f"""
                late_x = float32(ox) * float32(w - 1) / float32(crop_w - 1) if crop_w > 1 else half * float32(w - 1)
                grads = float32_array(args[{GRADS}] + 4 * ((i * crop_h + oy) * crop_w + ox) * c, 0)
                if inside:
                    slope_y, slope_x = float32(0), float32(0)
                    for j in range(c):
                        a, b = float32(x[top + left + j]), float32(x[top + right + j])
                        d, e = float32(x[bottom + left + j]), float32(x[bottom + right + j])
                        slope_y = slope_y + ((one - along) * (d - a) + along * (e - b)) * grads[j]
                        slope_x = slope_x + ((one - down) * (b - a) + down * (e - d)) * grads[j]
                    y1, y2 = y1 + slope_y * (float32(h - 1) - late_y), y2 + slope_y * late_y
                    x1, x2 = x1 + slope_x * (float32(w - 1) - late_x), x2 + slope_x * late_x
        out = float32_array(args[{OUT}] + 16 * i, 0)
        out[0], out[1], out[2], out[3] = y1, x1, y2, x2
"""


def _launch(call: Call, text: str, image: tuple[int, ...], crop: tuple[int, ...], items: int,
            inputs: dict[int, int], count: int = 0) -> Launch:
    """Return the launch. inputs: which input of the op each of IMAGES, BOXES, OWNER and GRADS is."""
    outside = np.float32(call.attrs.get("extrapolation_value", 0.0)).view(np.int32)
    whole, boxes, part = prod(image), count or items, prod(crop) * image[3]
    size = call.inputs[inputs[IMAGES]].itemsize if IMAGES in inputs else 0
    bytes_of = {IMAGES: whole * size, BOXES: 16 * boxes, OWNER: 4 * boxes, GRADS: 4 * boxes * part}
    out = {CROP_TEXT: 4 * items * part, IMAGE_TEXT: whole * call.outputs[0].itemsize, BOXES_TEXT: 16 * items}
    of = {slot: call.input(i).reach(bytes_of[slot]) for slot, i in inputs.items()}
    nothing, nearest = call.input(0).reach(0), int(call.attrs.get("method") == b"nearest")
    words: tuple[Word, ...] = (
        of.get(IMAGES, nothing), of[BOXES], of[OWNER], call.output().reach(out.get(text, 0)), *image, *crop,
        nearest, int(outside), of.get(GRADS, nothing), count)
    text = _typed(text, call.inputs[inputs[IMAGES]].type if IMAGES in inputs else call.outputs[0].type)
    return Launch(text, words, items, 1, "crop and resize")


def _typed(text: str, type_: str) -> str:
    return text.format(type=type_, bytes=np.dtype(type_).itemsize)


def crop(call: Call) -> list[Launch]:
    """Return the launches of CropAndResize."""
    images, out = call.inputs[0], call.outputs[0]
    if not out.size:
        return []
    return [_launch(call, CROP_TEXT, images.shape, out.shape[1:3], out.shape[0],
                    {IMAGES: 0, BOXES: 1, OWNER: 2})]


def image_gradient(call: Call) -> list[Launch]:
    """Return the launches of CropAndResizeGradImage."""
    grads, out = call.inputs[0], call.outputs[0]
    if not out.size:
        return []
    where, count = {GRADS: 0, BOXES: 1, OWNER: 2}, grads.shape[0]
    sizes = out.shape, grads.shape[1:3]
    return [_launch(call, IMAGE_TEXT, *sizes, out.shape[0], where, count)]


def boxes_gradient(call: Call) -> list[Launch]:
    """Return the launches of CropAndResizeGradBoxes."""
    grads, images, out = call.inputs[0], call.inputs[1], call.outputs[0]
    if not out.size or not images.size:
        return fill(call, None, call.output(), out)
    return [_launch(call, BOXES_TEXT, images.shape, grads.shape[1:3], out.shape[0],
                    {GRADS: 0, IMAGES: 1, BOXES: 2, OWNER: 3})]
