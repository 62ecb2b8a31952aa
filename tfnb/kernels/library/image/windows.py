"""Boxes and windows of many images: edges drawn, glimpses copied, objects covered; forms by machine code.

    drawn(images, boxes, colors)            DrawBoundingBoxes
    copy_windows(images, starts, out)       ExtractGlimpse: what is inside of the images
    in_pixels(boxes, height, width)         SampleDistortedBoundingBox: objects as integers
    covers(part, objects, covered)          whether a part has enough of an object
"""
from __future__ import annotations

import numpy as np

from tfnb.core.options import has_compiler
from tfnb.kernels.arrays import boxes as arrays
from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, float32

FAR = 1 << 40                              # beyond every image, and differences of it are integers


@kernel_function
def draw_edges(out: Array, places: Array, colors: Array, count: int, height: int, width: int, depth: int, hues: int,
               channels: int, item: int) -> None:
    """Draw the edges of `count` boxes of image `item` in turns of `hues` colors."""
    image = out[item * height * width * depth:]
    for n in range(count):
        place = places[4 * (item * count + n):]
        color = colors[n % hues * channels:]
        top, left, bottom, right = int(place[0]), int(place[1]), int(place[2]), int(place[3])
        if top <= bottom and left <= right and top < height and left < width and bottom >= 0 and right >= 0:
            for row in range(max(top, 0), min(bottom, height - 1) + 1):
                line = image[row * width * depth:]
                first, last, step = max(left, 0), min(right, width - 1), 1
                if row != top and row != bottom:           # the ends alone
                    first, last, step = left, right, max(1, right - left)
                for column in range(first, last + 1, step):
                    if column >= 0 and column < width:
                        for k in range(depth):
                            line[column * depth + k] = color[k]


def drawn(images: np.ndarray, boxes: np.ndarray, colors: np.ndarray) -> np.ndarray:
    """Draw edges of boxes [batch, boxes, 4] in colors [colors, channels], in turns, on float32 images or others."""
    if not has_compiler() or images.dtype != np.float32 or images.shape[3] > colors.shape[1]:
        return arrays.drawn(images, boxes, colors)
    out, (height, width, depth) = images.copy(), images.shape[1:]
    places = arrays.pixels(boxes * np.array([height - 1, width - 1] * 2, np.float32)).clip(-FAR, FAR)
    draw_edges.run(len(out), out, places, colors.astype(np.float32, copy=False), boxes.shape[1], height, width,
                   depth, *colors.shape)
    return out


@kernel_function(independent=True)
def copy_window(images: Array, starts: Array, out: Array, height: int, width: int, depth: int, rows: int, columns: int,
                item: int) -> None:
    """Copy what image `item` has of the window that begins at starts[item]."""
    top, left = int(starts[2 * item]), int(starts[2 * item + 1])
    first, last = max(0, -left), min(columns, width - left)
    for row in range(max(0, -top), min(rows, height - top)):
        source = images[((item * height + top + row) * width + left + first) * depth:]
        target = out[((item * rows + row) * columns + first) * depth:]
        for j in range((last - first) * depth):
            target[j] = source[j]


def copy_windows(images: np.ndarray, starts: np.ndarray, out: np.ndarray) -> None:
    """Fill `out` [batch, rows, columns, channels] from the places `starts` [batch, 2] of the images on, where they
    have pixels."""
    starts = starts.clip(np.negative(out.shape[1:3]), images.shape[1:3])
    copy_window.run(len(out), images, starts, out, *images.shape[1:], *out.shape[1:3])


@kernel_function(fastmath=(), independent=True)
def scale_boxes(boxes: Array, found: Array, outside: Array, count: int, height: int, width: int, item: int) -> None:
    """Scale boxes (top, left, bottom, right) to (top, left, height, width) in pixels; outside[0]: how many edges are
    not in [0, 1]."""
    tall, wide, wrong = float32(height), float32(width), 0
    for i in range(count):
        top, left, bottom, right = boxes[4 * i], boxes[4 * i + 1], boxes[4 * i + 2], boxes[4 * i + 3]
        low, high = min(min(top, left), min(bottom, right)), max(max(top, left), max(bottom, right))
        known = top == top and left == left and bottom == bottom and right == right
        wrong += 0 if low >= float32(0) and high <= float32(1) and known else 1
        first, second = int(top * tall), int(left * wide)
        found[4 * i], found[4 * i + 1] = first, second
        found[4 * i + 2], found[4 * i + 3] = int(bottom * tall) - first, int(right * wide) - second
    outside[0] = wrong


def in_pixels(boxes: np.ndarray, height: int, width: int) -> np.ndarray | None:
    """Return boxes [boxes, 4] as (top, left, height, width) in pixels, int64; None if an edge is not in [0, 1]."""
    found, outside = np.empty(boxes.shape, np.int64), np.zeros(1, np.int64)
    scale_boxes.run(1, boxes, found, outside, len(boxes), height, width)
    return None if outside[0] else found


@kernel_function(fastmath=())
def look_for_cover(objects: Array, part: Array, least: Array, found: Array, count: int, item: int) -> None:
    """Look for the first object (top, left, height, width) of which `part` covers the fraction least[0]."""
    i, hit = 0, 0
    while i < count and hit == 0:
        thing = objects[4 * i:]
        top, left, height, width = int(thing[0]), int(thing[1]), int(thing[2]), int(thing[3])
        rows = max(0, min(int(part[0] + part[2]), top + height) - max(int(part[0]), top))
        columns = max(0, min(int(part[1] + part[3]), left + width) - max(int(part[1]), left))
        if height > 0 and width > 0:
            if float32(rows * columns) / float32(height * width) >= least[0]:
                hit = 1
        i += 1
    found[0] = hit


def covers(part: tuple[int, int, int, int], objects: np.ndarray, covered: np.float32) -> bool:
    """Return whether the part covers the required fraction of at least one object [objects, 4], int64."""
    found = np.empty(1, np.int64)
    look_for_cover.run(1, objects, np.array(part, np.int64), np.array([covered], np.float32), found, len(objects))
    return bool(found.item())
