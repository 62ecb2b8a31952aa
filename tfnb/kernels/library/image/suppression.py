"""Greedy non-maximum suppression of many boxes.

    suppressed(boxes, scores, ...)      NumPy form, by machine code: only a run knows how many stay
    of_classes(boxes, scores, ...)      the same of many images and classes at once
"""
from __future__ import annotations

import numpy as np

from tfnb.core.options import has_compiler
from tfnb.kernels.arrays import boxes as arrays
from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Static, float32, maximum, minimum


def overlap_of(low: Array, high: Array, area: Array, i: int, j: int) -> float:
    """Return intersection over union of two boxes; 0 where one has no area."""
    found = float32(0.0)
    if area[i] > float32(0.0) and area[j] > float32(0.0):
        y = maximum(minimum(high[2 * i], high[2 * j]) - maximum(low[2 * i], low[2 * j]), float32(0.0))
        x = maximum(minimum(high[2 * i + 1], high[2 * j + 1]) - maximum(low[2 * i + 1], low[2 * j + 1]), float32(0.0))
        shared = float32(y * x)
        found = float32(shared / (area[i] + area[j] - shared))
    return float(found)


@kernel_function(fastmath=())
def keep_best(boxes: Array, order: Array, loss: Array, low: Array, high: Array, area: Array, limits: Array, kept: Array,
              total: Array, most: int, size: int, matrix: Static, item: int) -> None:
    """Keep boxes in `order`, of ascending loss, that overlap no kept one by more than limits[0]; at most `most`.

    Their loss is less than limits[1]. low, high, area: room for the corners [boxes, 2] and areas. matrix: `boxes` has
    the overlaps of `size` boxes instead.
    """
    if not matrix:
        for i in range(size):
            for k in range(2):
                low[2 * i + k] = minimum(boxes[4 * i + k], boxes[4 * i + 2 + k])
                high[2 * i + k] = maximum(boxes[4 * i + k], boxes[4 * i + 2 + k])
            area[i] = (high[2 * i] - low[2 * i]) * (high[2 * i + 1] - low[2 * i + 1])
    found, at = 0, 0
    while at < size and found < most:
        i = int(order[at])
        fits, back = loss[i] < limits[1], found - 1
        while fits and back >= 0:
            j = int(kept[back])
            if matrix:
                fits = not float(boxes[i * size + j]) > limits[0]
            else:
                fits = not overlap_of(low, high, area, i, j) > limits[0]
            back -= 1
        if fits:
            kept[found] = i
            found += 1
        at += 1
    total[0] = found


def suppressed(boxes: np.ndarray, scores: np.ndarray, most: int, threshold: float, least: float, sigma: float = 0.0,
               matrix: bool = False) -> tuple[list[int], list[float]]:
    """Return at most `most` indices of float32 boxes [n, 4] with scores over `least`, best first, and their scores.

    A box that overlaps a better one by more than `threshold` goes; with sigma > 0 its score decays instead. matrix:
    `boxes` are the overlaps [n, n].
    """
    if sigma or not has_compiler():
        same = (lambda i, j: float(boxes[i, j])) if matrix else arrays.overlap(boxes)
        return arrays.suppressed(scores, most, threshold, least, same, sigma)
    loss, size = np.negative(scores, dtype=np.float64), len(scores)
    corners, areas = np.empty((2, size, 2), np.float32), np.empty(size, np.float32)
    found, total = np.empty(min(most, size) + 1, np.int64), np.empty(1, np.int64)
    keep_best.run(1, boxes, np.argsort(loss, kind="stable"), loss, *corners, areas,
                  np.array([threshold, -least]), found, total, most, size, matrix=matrix)
    chosen: list[int] = found[:total.item()].tolist()
    return chosen, scores[chosen].tolist()


def shared_part(boxes: Array, i: int, j: int) -> float:
    """Return what `overlap_of` does, of boxes that begin at elements i and j."""
    top, left = minimum(boxes[i], boxes[i + 2]), minimum(boxes[i + 1], boxes[i + 3])
    bottom, right = maximum(boxes[i], boxes[i + 2]), maximum(boxes[i + 1], boxes[i + 3])
    above, before = minimum(boxes[j], boxes[j + 2]), minimum(boxes[j + 1], boxes[j + 3])
    below, behind = maximum(boxes[j], boxes[j + 2]), maximum(boxes[j + 1], boxes[j + 3])
    one, other = float32((bottom - top) * (right - left)), float32((below - above) * (behind - before))
    found = float32(0.0)
    if one > float32(0.0) and other > float32(0.0):
        y = maximum(minimum(bottom, below) - maximum(top, above), float32(0.0))
        x = maximum(minimum(right, behind) - maximum(left, before), float32(0.0))
        shared = float32(y * x)
        found = float32(shared / (one + other - shared))
    return float(found)


@kernel_function(fastmath=())
def keep_best_of_class(boxes: Array, scores: Array, order: Array, limits: Array, kept: Array, totals: Array, size: int,
                       classes: int, sets: int, most: int, item: int) -> None:
    """Keep boxes of one class of an image, best first, as `keep_best`: item = image * classes + class.

    boxes: [images, size, sets, 4], of one set for all classes or one for each; scores, order: [images, size, classes].
    """
    image, label = item // classes, item % classes
    own = boxes[(image * size * sets + min(label, sets - 1)) * 4:]
    score = scores[image * size * classes + label:]
    place = order[image * size * classes + label:]
    held = kept[item * most:]
    found, at = 0, 0
    while at < size and found < most:
        i = int(place[at * classes])
        fits, back = float(score[i * classes]) > limits[1], found - 1
        while fits and back >= 0:
            fits = not shared_part(own, i * sets * 4, int(held[back]) * sets * 4) > limits[0]
            back -= 1
        if fits:
            held[found] = i
            found += 1
        at += 1
    totals[item] = found


def of_classes(boxes: np.ndarray, scores: np.ndarray, most: int, threshold: float,
               least: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the boxes kept of each class, best first: indices [images, classes, most], and their numbers.

    boxes: float32 [images, boxes, 1 or classes, 4]; scores: [images, boxes, classes], over `least`.
    """
    images, size, classes = scores.shape
    kept, totals = np.zeros((images, classes, most), np.int64), np.empty((images, classes), np.int64)
    order = np.argsort(-scores.astype(np.float64), axis=1, kind="stable")
    keep_best_of_class.run(images * classes, boxes, scores, order, np.array([threshold, least]), kept, totals, size,
                           classes, boxes.shape[2], most)
    return kept, totals
