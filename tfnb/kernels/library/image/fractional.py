"""Fractional pooling by machine code: maxima and means over windows of sizes of their own, and the gradients.

    maxima(x, spans), sums(x, spans)                                images [batch, height, width, channels]
    maxima_gradient(x, dy, spans), means_gradient(shape, dy, spans)

spans: where windows begin and end along the rows and along the columns, four int64 arrays. An item is a row of windows
of an image, of a gradient an image.
"""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Static, Type, float64, maximum

Spans = Sequence[np.ndarray]


@kernel_function(independent=True)
def pool_row(x: Array, tops: Array, bottoms: Array, lefts: Array, rights: Array, out: Array, rows: int, columns: int,
             height: int, width: int, channels: int, mean: Static, T: Type, item: int) -> None:
    """Reduce a row of windows."""
    image, r = item // rows * height, item % rows
    for c in range(columns):
        to, first = (item * columns + c) * channels, True
        for z in range(int(lefts[c]), int(rights[c])):
            for y in range(int(tops[r]), int(bottoms[r])):
                at = ((image + y) * width + z) * channels
                if first:
                    for k in range(channels):
                        out[to + k] = x[at + k]
                elif mean:
                    for k in range(channels):
                        out[to + k] = T(out[to + k] + x[at + k])
                else:
                    for k in range(channels):
                        out[to + k] = maximum(out[to + k], x[at + k])
                first = False


@kernel_function
def spread_maxima(x: Array, dy: Array, tops: Array, bottoms: Array, lefts: Array, rights: Array, out: Array, rows: int,
                  columns: int, height: int, width: int, channels: int, T: Type, item: int) -> None:
    """Add the gradient of each window of an image to its first maximum; a NaN is one."""
    image = item * height
    for r in range(rows):
        top, bottom = int(tops[r]), int(bottoms[r])
        for c in range(columns):
            left, right = int(lefts[c]), int(rights[c])
            for k in range(channels):
                place = -1
                best = T(0)
                for y in range(top, bottom):
                    for z in range(left, right):
                        at = ((image + y) * width + z) * channels + k
                        value = x[at]
                        if place < 0 or value > best or value != value and best == best:
                            best = value
                            place = at
                if place >= 0:
                    out[place] = T(out[place] + dy[((item * rows + r) * columns + c) * channels + k])


@kernel_function
def spread_means(dy: Array, tops: Array, bottoms: Array, lefts: Array, rights: Array, out: Array, rows: int,
                 columns: int, height: int, width: int, channels: int, item: int) -> None:
    """Add the gradient of each window of an image to all of its places, in double precision."""
    image = item * height
    for r in range(rows):
        top, bottom = int(tops[r]), int(bottoms[r])
        for c in range(columns):
            left, right = int(lefts[c]), int(rights[c])
            count, of = float64((bottom - top) * (right - left)), ((item * rows + r) * columns + c) * channels
            for y in range(top, bottom):
                for z in range(left, right):
                    at = ((image + y) * width + z) * channels
                    for k in range(channels):
                        out[at + k] = out[at + k] + float64(dy[of + k]) / count


def _pooled(x: np.ndarray, spans: Spans, mean: bool) -> np.ndarray:
    batch, height, width, channels = x.shape
    rows, columns = len(spans[0]), len(spans[2])
    out = np.empty((batch, rows, columns, channels), x.dtype)
    pool_row.run(batch * rows, np.ascontiguousarray(x), *spans, out, rows, columns, height, width, channels, mean=mean,
                 T=x.dtype.name)
    return out


def maxima(x: np.ndarray, spans: Spans) -> np.ndarray:
    """Return the maximum of each window, none of which is empty."""
    return _pooled(x, spans, False)


def sums(x: np.ndarray, spans: Spans) -> np.ndarray:
    """Return the sum of each window, none of which is empty."""
    return _pooled(x, spans, True)


def maxima_gradient(x: np.ndarray, dy: np.ndarray, spans: Spans) -> np.ndarray:
    """Return the gradient of `maxima`: each of `dy` goes to the first maximum of its window."""
    out = np.zeros(x.shape, dy.dtype)
    spread_maxima.run(len(x), np.ascontiguousarray(x), np.ascontiguousarray(dy), *spans, out, *dy.shape[1:3],
                      *x.shape[1:], T=dy.dtype.name)
    return out


def means_gradient(shape: Sequence[int], dy: np.ndarray, spans: Spans) -> np.ndarray:
    """Return the gradient of means of windows of images of `shape`: float64."""
    out = np.zeros(shape, np.float64)
    spread_means.run(shape[0], np.ascontiguousarray(dy), *spans, out, *dy.shape[1:3], *shape[1:])
    return out
