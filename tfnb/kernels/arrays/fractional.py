"""Fractional pooling on NumPy arrays (Graham, 2014): random windows whose borders are pooling sequences.

A sequence holds where each window begins along an axis, and last the axis's size; overlapping windows share the place
at which one ends and the next begins. TensorFlow's sequences for the same generator state, bit for bit.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

import numpy as np

from tfnb.core import indexing
from tfnb.kernels.arrays import philox


def pooling_sequences(state: np.ndarray, sizes: Sequence[int], counts: Sequence[int],
                      pseudo_random: bool) -> tuple[np.ndarray, np.ndarray]:
    """Draw the sequences of `counts` windows over the axes of `sizes`; advance the generator."""
    made = []
    for size, count in zip(sizes, counts, strict=True):
        words = philox.words_from(state)
        lengths = _pseudo_random(size, count, words) if pseudo_random else _random(size, count, words)
        philox.advance(state, 1 if pseudo_random else -(-count // 4))
        made.append(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))
    return made[0], made[1]


def _pseudo_random(size: int, count: int, words: Iterator[int]) -> np.ndarray:
    """Return ceil(ratio * (i + u)) - ..., for one u that keeps all lengths at floor(ratio) or one more."""
    ratio, least = size / count, size // count
    most = min((least + 2) / ratio - 1, (size + 1 - least) / ratio - (count - 1))
    u = philox.unit_double(next(words), next(words)) * most
    return np.diff([1, *(ceil(ratio * (i + u)) for i in range(1, count)), size + 1])


def _random(size: int, count: int, words: Iterator[int]) -> list[int]:
    """Return lengths floor(size / count) and one more, shuffled (Fisher and Yates, from the first)."""
    lengths = [size // count + (i < size % count) for i in range(count)]
    for i in range(count - 1):
        j = i + philox.below(count - i, words)
        lengths[i], lengths[j] = lengths[j], lengths[i]
    return lengths


def _spans(sequence: np.ndarray, size: int, overlapping: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return where windows begin and end."""
    return np.minimum(sequence[:-1], size), np.minimum(sequence[1:] + int(overlapping), size)


def windows(rows: np.ndarray, columns: np.ndarray, image: Sequence[int], overlapping: bool) -> tuple[np.ndarray, ...]:
    """Return where windows begin and end along the rows and the columns of images [batch, height, width, channels]."""
    return (*_spans(rows, image[1], overlapping), *_spans(columns, image[2], overlapping))


def _reduced(fn: np.ufunc, x: np.ndarray, axis: int, sequence: np.ndarray, overlapping: bool) -> np.ndarray:
    """Reduce each window along an axis."""
    borders = np.stack(_spans(sequence, x.shape[axis], overlapping), 1).reshape(-1)
    wide = np.concatenate([x, indexing.take(x, [0], axis)], axis)     # so that a window may end behind the last place
    return np.asarray(indexing.take(indexing.reduceat(fn, wide, borders, axis), range(0, len(borders), 2), axis))


def _pooled(fn: np.ufunc, x: np.ndarray, rows: np.ndarray, columns: np.ndarray, overlapping: bool) -> np.ndarray:
    return _reduced(fn, _reduced(fn, x, 1, rows, overlapping), 2, columns, overlapping)


def max_pool(x: np.ndarray, rows: np.ndarray, columns: np.ndarray, overlapping: bool) -> np.ndarray:
    """Return the maximum of each window of images [batch, height, width, channels]."""
    return _pooled(np.maximum, x, rows, columns, overlapping)


def counts(rows: np.ndarray, columns: np.ndarray, image: Sequence[int], overlapping: bool) -> np.ndarray:
    high, wide = (np.subtract(*_spans(s, n, overlapping)[::-1]) for s, n in ((rows, image[1]), (columns, image[2])))
    return np.asarray((high[:, None] * wide)[:, :, None])


def avg_pool(x: np.ndarray, rows: np.ndarray, columns: np.ndarray, overlapping: bool) -> np.ndarray:
    """Return the mean of each window; integers are divided toward zero."""
    total, count = _pooled(np.add, x, rows, columns, overlapping), counts(rows, columns, x.shape, overlapping)
    return shared(total, count)


def shared(total: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return sums divided by the sizes of their windows."""
    if total.dtype.kind == "f":
        return np.asarray(total / count.astype(total.dtype))
    return np.asarray(np.sign(total) * (np.abs(total) // count), total.dtype)


def _windows(rows: np.ndarray, columns: np.ndarray, image: Sequence[int],
             overlapping: bool) -> Iterator[tuple[int, int, slice, slice]]:
    """Yield (row and column of a window among the windows, its rows, its columns)."""
    lines, places = (list(map(slice, *_spans(s, n, overlapping))) for s, n in ((rows, image[1]), (columns, image[2])))
    for r, line in enumerate(lines):
        for c, place in enumerate(places):
            yield r, c, line, place


def max_pool_gradient(x: np.ndarray, dy: np.ndarray, rows: np.ndarray, columns: np.ndarray,
                      overlapping: bool) -> np.ndarray:
    """Return the gradient of `max_pool`: each of `dy` goes to the first maximum of its window."""
    out = np.zeros(x.shape, dy.dtype)
    batch, channel = np.ogrid[:x.shape[0], :x.shape[3]]
    for r, c, line, place in _windows(rows, columns, x.shape, overlapping):
        part = x[:, line, place]
        if part.size:
            first = part.reshape(x.shape[0], -1, x.shape[3]).argmax(1)
            y, z = first // part.shape[2] + line.start, first % part.shape[2] + place.start
            out[batch, y, z, channel] += dy[:, r, c]
    return out


def avg_pool_gradient(shape: tuple[int, ...], dy: np.ndarray, rows: np.ndarray, columns: np.ndarray,
                      overlapping: bool) -> np.ndarray:
    """Return the gradient of `avg_pool` for images of `shape`; summed in double precision."""
    out = np.zeros(shape, np.float64)
    with np.errstate(all="ignore"):
        share = dy / counts(rows, columns, shape, overlapping)
    for r, c, line, place in _windows(rows, columns, shape, overlapping):
        out[:, line, place] += share[:, r:r + 1, c:c + 1]
    return out.astype(dy.dtype)
