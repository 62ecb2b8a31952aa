"""Strided views of a row-major buffer: the result of movement ops (reshape, transpose, slice) in place of copies."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np

from tfnb.kernels.symbolic import whole


class NeedsCopy(Exception):
    """The wanted view can't be expressed by strides: the elements must be copied to row-major order first."""


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides, in elements, of a row-major array of `shape`."""
    return _row_major(tuple(shape))


@lru_cache(maxsize=4096)                   # here and below: a graph has few shapes, and asks for them all the time
def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


@dataclass(frozen=True, slots=True)
class View:
    """Element (i, j, ...) is at `offset + i * strides[0] + j * strides[1] + ...`, counted in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @staticmethod
    def whole(shape: Sequence[int]) -> View:
        """Return the view of a row-major array of `shape`."""
        return _whole(tuple(shape))

    @property
    def size(self) -> int:
        """The element count."""
        return prod(self.shape)

    def is_row_major(self) -> bool:
        """Return whether the elements are contiguous in row-major order (axes of size 1 don't matter)."""
        want = row_major(self.shape)
        return self.strides == want or self.size <= 1 or all(
            n == 1 or s == w for n, s, w in zip(self.shape, self.strides, want, strict=True))

    def reshape(self, shape: Sequence[int]) -> View:
        """Return the same elements in row-major order under another shape; one -1 is computed.

        Raises ValueError if the number of elements differs, NeedsCopy if strides can't express it.
        """
        sizes = resolve_shape([whole(n) for n in shape], self.size, self.shape)
        if self.is_row_major():
            return View(sizes, row_major(sizes), self.offset)
        if [n for n in sizes if n != 1] == [n for n in self.shape if n != 1]:
            kept = iter([s for n, s in zip(self.shape, self.strides, strict=True) if n != 1])
            return View(sizes, tuple(0 if n == 1 else next(kept) for n in sizes), self.offset)
        raise NeedsCopy

    def transpose(self, perm: Sequence[int]) -> View:
        """Permute the axes: axis i of the result is axis perm[i] of this view."""
        return View(tuple(self.shape[p] for p in perm), tuple(self.strides[p] for p in perm), self.offset)

    def slice(self, axis: int, begin: int, size: int, step: int = 1) -> View:
        """Take `size` elements along `axis`, from `begin` on, every `step`-th (negative: backwards)."""
        shape, strides = list(self.shape), list(self.strides)
        offset = self.offset + (begin * strides[axis] if size else 0)
        shape[axis], strides[axis] = size, strides[axis] * step
        return View(tuple(shape), tuple(strides), offset)

    def drop(self, axis: int) -> View:
        """Drop an axis of size 1."""
        return View(self.shape[:axis] + self.shape[axis + 1:], self.strides[:axis] + self.strides[axis + 1:],
                    self.offset)

    def insert(self, axis: int) -> View:
        """Insert a new axis of size 1."""
        return View((*self.shape[:axis], 1, *self.shape[axis:]), (*self.strides[:axis], 0, *self.strides[axis:]),
                    self.offset)

    def broadcast(self, shape: Sequence[int]) -> View:
        """Broadcast to a shape (new leading axes, axes of size 1). Raises ValueError if the shapes don't fit."""
        return _broadcast(self, tuple(shape))

    def of(self, array: np.ndarray) -> np.ndarray:
        """Return this view of a row-major array: no copy, read-only where elements repeat."""
        flat = np.ascontiguousarray(array).reshape(-1)
        steps = [s * flat.itemsize for s in self.strides]
        start = flat[self.offset:] if self.size else flat[:0]
        return np.lib.stride_tricks.as_strided(start, self.shape, steps)


@lru_cache(maxsize=4096)
def _whole(shape: tuple[int, ...]) -> View:
    return View(shape, row_major(shape))


@lru_cache(maxsize=4096)
def _broadcast(view: View, shape: tuple[int, ...]) -> View:
    lead = len(shape) - len(view.shape)
    strides = [0] * lead
    for have, want, stride in zip(view.shape, shape[lead:], view.strides, strict=True):
        if have != want and have != 1:
            raise ValueError(f"Incompatible shapes: {list(view.shape)} can't be broadcast to {list(shape)}")
        strides.append(stride if have == want and have != 1 else 0)
    return View(shape, tuple(strides), view.offset)


def resolve_shape(shape: list[int], size: int, old: Sequence[int]) -> tuple[int, ...]:
    """Return `shape` with its -1 computed from the element count. Raises ValueError when it can't hold them."""
    if shape.count(-1) > 1:
        raise ValueError(f"Only one input size may be -1, not both {shape.index(-1)} and "
                         f"{len(shape) - 1 - shape[::-1].index(-1)}")
    if any(n < -1 for n in shape):
        raise ValueError(f"Size {shape.index(min(shape))} must be non-negative, not {min(shape)}")
    known = prod(n for n in shape if n != -1)
    if -1 in shape and known:
        shape = [size // known if n == -1 else n for n in shape]
    elif -1 in shape:                              # of nothing: what is not 0 decides, as in TensorFlow
        rest, divisor = prod(n for n in old if n), prod(n for n in shape if n > 0)
        shape = [rest // divisor if n == -1 else n for n in shape]
    if prod(shape) != size:
        raise ValueError(f"Input to reshape is a tensor with {size} values (shape {list(old)}), but the requested "
                         f"shape {shape} has {prod(shape)}")
    return tuple(shape)
