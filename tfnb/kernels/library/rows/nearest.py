"""The centers that are nearest to each point, by squared Euclidean distances.

    nearest(call)       NearestNeighbors (points, centers, k) -> places, distances

NaN comes after all numbers; of equal distances the first one comes first.
"""
from __future__ import annotations

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, float32, unrolled
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
