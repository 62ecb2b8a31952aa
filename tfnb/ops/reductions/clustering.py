"""Ops of k-means clustering: the nearest centers of points, and points to begin with as centers.

Seeds give TensorFlow's draws.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core.options import has_compiler
from tfnb.core.shape import Static
from tfnb.kernels.arrays import philox
from tfnb.kernels.library.random.candidates import chain
from tfnb.kernels.library.rows.nearest import HalfDistances, nearest
from tfnb.ops.declaration.declare import host, kernel

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext


MANY, NARROW = 8_000, 16    # elements and columns of points, for which machine code is faster than NumPy and BLAS


def _neighbors_shape(ctx: ShapeContext) -> list[Static]:
    points, centers, k = ctx.shape(0), ctx.shape(1), ctx.value(2)
    rows = points[0] if points and len(points) == 2 else None
    most = centers[0] if centers and len(centers) == 2 else None
    return [(rows, None if k is None or most is None else max(min(int(k), most), 0))] * 2


def _check_neighbors(ctx: ShapeContext) -> None:
    points, centers, k = ctx.shape(0), ctx.shape(1), ctx.value(2)
    assert points is not None and centers is not None
    if len(points) != 2 or len(centers) != 2:
        raise ValueError(f"points and centers must be matrices, got the shapes {list(points)} and {list(centers)}")
    if not points[0]:
        raise ValueError("expected at least one point, got none")
    if points[1] != centers[1]:
        raise ValueError(f"points and centers must have as many columns, got {points[1]} and {centers[1]}")
    if ctx.shape(2) or k is not None and int(k) < 0:
        raise ValueError(f"k must be a scalar that is at least 0, got {k if k is not None else ctx.shape(2)}")


def _neighbors(ctx: Any, points: np.ndarray, centers: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    distances = np.empty((len(points), len(centers)), np.float32)
    for i, center in enumerate(centers):
        distances[:, i] = np.square(points - center).sum(1)
    places = np.argsort(distances, 1, kind="stable")[:, :int(k)]
    return places, np.take_along_axis(distances, places, 1)


@kernel("points: float, centers: float, k: int64 -> nearest_center_indices: int64, nearest_center_distances: float",
        shape=_neighbors_shape, validate=_check_neighbors, numpy=_neighbors, launch=nearest, values=("k",))
def NearestNeighbors() -> None:
    """Find the `k` nearest centers of each point, nearest first (all where there are fewer): their indices, and the
    squared Euclidean distances. points: (n, d); centers: (m, d)."""


def _samples_shape(ctx: ShapeContext) -> list[Static]:
    points, count = ctx.shape(0), ctx.value(1)
    if points is None or len(points) != 2 or count is not None and np.ndim(count):
        return [None]
    return [(None if count is None or count < 0 else int(count), points[1])]


def _scalar(name: str, array: np.ndarray) -> int:
    if array.ndim:
        raise ValueError(f"{name} must be a scalar, got the shape {list(array.shape)}")
    return int(array)


def _state(seed: int) -> np.ndarray:
    """Return the state of the stream of one seed, 0 as any other."""
    return np.array([seed & 0xFFFFFFFFFFFFFFFF, 0, 0, 0], np.uint64)


@host("distances: float, seed: int64 -> index: int64", shape=lambda ctx: [()])
def KMC2ChainInitialization(distances: Any, seed: Any) -> Any:
    """Sample a point by a Markov chain over all of them (k-MC2): its index.

    The next point is accepted with the probability min(1, its distance / that of the accepted one). distances: of each
    point to the nearest center.
    """
    if distances.ndim != 1 or not distances.size:
        raise ValueError(f"distances must be a vector of at least one element, got the shape {list(distances.shape)}")
    state = _state(_scalar("seed", seed))
    if has_compiler():
        return chain(state, distances)
    chosen, values = 0, distances.tolist()
    for i, word in zip(range(1, len(values)), philox.words_from(state), strict=False):
        if values[i] > np.float32(philox.unit_float(word) * values[chosen]):
            chosen = i
    return np.int64(chosen)


class _Distances:
    """As HalfDistances, by NumPy."""

    def __init__(self, points: np.ndarray) -> None:
        self.points, self.norms = points, np.float32(0.5) * np.square(points).sum(1)
        self.values = np.full(len(points), np.inf, np.float32)

    def _with(self, place: int) -> np.ndarray:
        return np.minimum(self.values, self.norms - self.points @ self.points[place] + self.norms[place])

    def sums_with(self, places: Sequence[int]) -> list[float]:
        """Return, for each of some points, the sum of the distances if it becomes a center."""
        return [float(self._with(place).sum()) for place in places]

    def add(self, place: int) -> None:
        """Make a point a center."""
        self.values = self._with(place)


class _Centers:
    """Points that become centers one after another (k-means++): each with a probability in proportion to the half
    squared distance to the nearest one before it."""

    def __init__(self, points: np.ndarray, words: Iterator[int]) -> None:
        self.count, self.words, self.taken = len(points), words, list[int]()
        narrow = has_compiler() and points.shape[1] <= NARROW and points.size >= MANY
        self.distances = HalfDistances(points) if narrow else _Distances(points)

    def draw(self, sums: np.ndarray | None) -> int:
        """Return a point that is not taken. sums: cumulative sums of the distances, None before the first point."""
        while True:
            if sums is None or not sums[-1] > 0:
                place = philox.below_wide(self.count, self.words)
            else:
                share = np.float32(philox.unit_float(next(self.words))) * sums[-1]
                place = min(int(np.searchsorted(sums, share, "right")), len(sums) - 1)
            if place not in self.taken:
                return place

    def add(self, tries: int) -> None:
        """Take the point of `tries` drawn ones with which the sum of the distances is least."""
        sums = np.cumsum(self.distances.values, dtype=np.float32) if self.taken else None
        drawn = [self.draw(sums) for _ in range(tries)]
        best, chosen = np.inf, drawn[0] if tries == 1 else None
        if tries > 1:
            for place, total in zip(drawn, self.distances.sums_with(drawn), strict=True):
                if total < best:
                    best, chosen = total, place
        if chosen is not None:
            self.distances.add(chosen)
        self.taken.append(chosen or 0)               # the first where all sums are NaN


@host("points: float, num_to_sample: int64, seed: int64, num_retries_per_sample: int64 -> samples: float",
      shape=_samples_shape)
def KmeansPlusPlusInitialization(points: Any, num_to_sample: Any, seed: Any, num_retries_per_sample: Any) -> Any:
    """Sample rows of `points` as first centers (k-means++).

    num_retries_per_sample: further points that are drawn for each center, of which the best one is taken; negative for
    2 + log(num_to_sample).
    """
    if points.ndim != 2 or not len(points):
        raise ValueError(f"points must be a matrix of at least one row, got the shape {list(points.shape)}")
    count, retries = _scalar("num_to_sample", num_to_sample), _scalar("num_retries_per_sample", num_retries_per_sample)
    if not 0 < count <= len(points):
        raise ValueError(f"num_to_sample must be between 1 and the number of points, {len(points)}, got {count}")
    centers = _Centers(points, philox.words_from(_state(_scalar("seed", seed))))
    for _ in range(count):
        centers.add(1 + (retries if retries >= 0 else 2 + int(math.log(count))))
    return points[centers.taken]


for _op in (NearestNeighbors, KMC2ChainInitialization, KmeansPlusPlusInitialization):
    _op.no_gradient("it chooses")
