"""Greedy non-maximum suppression of many boxes.

    suppressed(boxes, scores, ...)      NumPy form, by machine code where there are many: a run knows how many stay
"""
from __future__ import annotations

import numpy as np

from tfnb.core.options import has_compiler
from tfnb.kernels.arrays import boxes as arrays
from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Static, float32, maximum, minimum

LEAST = 32                  # boxes: fewer are not worth a kernel


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
def keep_best(order: Array, low: Array, high: Array, area: Array, limits: Array, kept: Array, total: Array, count: int,
              most: int, size: int, matrix: Static, item: int) -> None:
    """Keep boxes in `order`, best first, that overlap no kept one by more than limits[0]; at most `most`.

    low, high: corners [boxes, 2], area: of each. matrix: `low` has the overlaps of `size` boxes instead.
    """
    found, at = 0, 0
    while at < count and found < most:
        i = int(order[at])
        fits, back = True, found - 1
        while fits and back >= 0:
            j = int(kept[back])
            if matrix:
                fits = not float(low[i * size + j]) > limits[0]
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
    if sigma or len(scores) < LEAST or not has_compiler():
        same = (lambda i, j: float(boxes[i, j])) if matrix else arrays.overlap(boxes)
        return arrays.suppressed(scores, most, threshold, least, same, sigma)
    order = np.argsort(-scores.astype(np.float64), kind="stable")
    order = order[scores[order] > least].astype(np.int64)
    found, total = np.empty(min(most, len(order)) + 1, np.int64), np.zeros(1, np.int64)
    low = high = area = np.ascontiguousarray(boxes)
    if not matrix:
        low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
        area = (high - low).prod(1)
    keep_best.run(1, order, low, high, area, np.array([threshold]), found, total, len(order), most, len(boxes),
                  matrix=matrix)
    chosen: list[int] = found[:total[0]].tolist()
    return chosen, scores[chosen].tolist()
