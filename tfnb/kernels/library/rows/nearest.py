"""The centers that are nearest to each point, by squared Euclidean distances.

    nearest(call)       NearestNeighbors (points, centers, k) -> places, distances
    HalfDistances       of points to the nearest of centers that are added one by one (k-means++), by machine code

NaN comes after all numbers; of equal distances the first one comes first.
"""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Static, float32, unrolled
from tfnb.kernels.launch import Call, Launch

BESIDE = 4                  # centers that one pass over a point is compared with: their sums stay in registers


def closer(x: float, y: float) -> bool:
    """Return whether distance x comes before y."""
    return x < y or y != y and x == x


def keep(found: Array, kept: Array, k: int, count: int, distance: float, place: int) -> None:
    """Insert a distance into the `count` least ones in order, at most k of them."""
    if count < k or closer(distance, kept[k - 1]):
        at = min(count, k - 1)
        while at > 0 and closer(distance, kept[at - 1]):
            kept[at] = kept[at - 1]
            found[at] = found[at - 1]
            at -= 1
        kept[at] = distance
        found[at] = place


@kernel_function
def nearest_centers(points: Array, centers: Array, places: Array, distances: Array, m: int, width: int, k: int,
                    item: int) -> None:
    """Write the k least squared distances from a point to the m centers, and the places of these centers."""
    point = points[item * width:]
    kept = distances[item * k:]
    found = places[item * k:]
    whole = m - m % BESIDE
    for block in range(whole // BESIDE):
        near = centers[block * BESIDE * width:]
        first, second, third, fourth = float32(0), float32(0), float32(0), float32(0)
        for j in range(width):
            first = float32(first + (point[j] - near[j]) * (point[j] - near[j]))
            second = float32(second + (point[j] - near[width + j]) * (point[j] - near[width + j]))
            third = float32(third + (point[j] - near[2 * width + j]) * (point[j] - near[2 * width + j]))
            fourth = float32(fourth + (point[j] - near[3 * width + j]) * (point[j] - near[3 * width + j]))
        sums = first, second, third, fourth
        for i in unrolled(BESIDE):
            keep(found, kept, k, block * BESIDE + i, sums[i], block * BESIDE + i)
    for c in range(whole, m):
        near = centers[c * width:]
        total = float32(0)
        for j in range(width):
            total = float32(total + (point[j] - near[j]) * (point[j] - near[j]))
        keep(found, kept, k, c, total, c)


def nearest(call: Call) -> list[Launch]:
    """Return the launch of an item for each point."""
    (points, centers), places = call.inputs[:2], call.outputs[0]
    if not places.size:
        return []
    (m, width), (rows, k) = centers.shape, places.shape
    return [nearest_centers.launch(
        call, rows, call.input(0).reach(rows * width * points.itemsize),
        call.input(1).reach(m * width * centers.itemsize), call.output(0).reach(rows * k * places.itemsize),
        call.output(1).reach(rows * k * points.itemsize), m, width, k, cost=m * width, label="nearest centers")]


POINTS = 1024               # of a block: their dot products stay in the first cache


def multiply_block(dots: Array, columns: Array, near: Array, n: int, width: int, first: int, count: int) -> None:
    """Write the dot products of points first:first + count, whose coordinates are in columns, with one point."""
    for i in range(count):
        dots[i] = float32(0)
    for j in range(width):
        column = columns[j * n + first:]
        x = near[j]
        for i in range(count):
            dots[i] = float32(dots[i] + column[i] * x)


@kernel_function
def find_half_norms(columns: Array, norms: Array, n: int, width: int, item: int) -> None:
    """Write half the squared norms of a block of points, by the additions of `try_centers`: equal points are 0 apart.
    """
    first = item * POINTS
    count = min(POINTS, n - first)
    norm = norms[first:]
    for i in range(count):
        norm[i] = float32(0)
    for j in range(width):
        column = columns[j * n + first:]
        for i in range(count):
            norm[i] = float32(norm[i] + column[i] * column[i])
    for i in range(count):
        norm[i] = float32(norm[i] * 0.5)


@kernel_function
def try_centers(columns: Array, norms: Array, distances: Array, centers: Array, center_norms: Array, dots: Array,
                sums: Array, n: int, width: int, tries: int, keeps: Static, item: int) -> None:
    """Add the half squared distances of a block of points to the nearest center, if a point becomes one, to `sums`.

    columns: the coordinates of the points; centers: `tries` points; dots: scratch of a block; sums: a block for each of
    centers, added to by all blocks, so that no addition waits for the one before. keeps: distances are written, too.
    """
    first = item * POINTS
    count = min(POINTS, n - first)
    norm = norms[first:]
    distance = distances[first:]
    for c in range(tries):
        near = centers[c * width:]
        multiply_block(dots, columns, near, n, width, first, count)
        own = center_norms[c]
        total = sums[c * POINTS:]
        for i in range(count):
            found = float32(norm[i] - dots[i] + own)
            least = found if found < distance[i] or found != found else distance[i]
            total[i] = float32(total[i] + least)
            if keeps:
                distance[i] = least


class HalfDistances:
    """Half the squared distances of points (n, d; float32) to the nearest of the centers added so far.

    values: the distances, inf before the first center.
    """

    def __init__(self, points: np.ndarray) -> None:
        self.points, self.columns = points, np.ascontiguousarray(points.T)
        self.norms, self.values = np.empty(len(points), np.float32), np.full(len(points), np.inf, np.float32)
        self.blocks = -(-len(points) // POINTS)
        find_half_norms.run(self.blocks, self.columns, self.norms, *points.shape)

    def _with(self, places: Sequence[int], keeps: bool) -> list[float]:
        n, width = self.points.shape
        sums, dots = np.zeros((len(places), POINTS), np.float32), np.empty(POINTS, np.float32)
        chosen = np.array(places)
        try_centers.run(self.blocks, self.columns, self.norms, self.values, self.points[chosen], self.norms[chosen],
                        dots, sums, n, width, len(places), keeps=keeps)
        totals: list[float] = sums.sum(1, dtype=np.float64).tolist()
        return totals

    def sums_with(self, places: Sequence[int]) -> list[float]:
        """Return, for each of some points, the sum of the distances if it becomes a center."""
        return self._with(places, keeps=False)

    def add(self, place: int) -> None:
        """Make a point a center."""
        self._with([place], keeps=True)
