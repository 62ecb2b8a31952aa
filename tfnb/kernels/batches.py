"""Batched matmul geometry: sizes m, n, k and the runs of matrices with equal strides."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import numpy as np

Attrs = Mapping[str, Any]
Moves = tuple[int, int, int]                            # for a, b and c


def transposes(attrs: Attrs) -> tuple[bool, bool]:
    """Return whether a and b are transposed first, from the attrs of MatMul or BatchMatMul."""
    return (bool(attrs.get("transpose_a", attrs.get("adj_x", False))),
            bool(attrs.get("transpose_b", attrs.get("adj_y", False))))


def sizes(a: tuple[int, ...], b: tuple[int, ...], attrs: Attrs) -> tuple[int, int, int]:
    """Return m, n, k."""
    transpose_a, transpose_b = transposes(attrs)
    m, k = a[::-1] if transpose_a else a
    return m, b[0 if transpose_b else 1], k


def _steps(shape: tuple[int, ...], batch: tuple[int, ...]) -> int | None:
    """Return the step to the next matrix, where it is the same all over the batch; else None."""
    return 1 if shape == batch else 0 if prod(shape) == 1 else None


def runs(batch: tuple[int, ...], a: tuple[int, ...],
          b: tuple[int, ...]) -> Iterator[tuple[int, Moves, Moves]]:
    """Yield (count, first matrix, step in matrices) of a, b and c: the batch as few runs of equal steps."""
    stacked = [_steps(shape, batch) for shape in (a, b, batch)]
    if None not in stacked:
        count = prod(batch)
        if count:
            yield count, (0, 0, 0), tuple(stacked) if count > 1 else (0, 0, 0)  # type: ignore[misc]
        return
    indices = [np.broadcast_to(np.arange(int(np.prod(s)), dtype=np.int64).reshape(s), batch).reshape(-1)
               for s in (a, b, batch)]
    total, start = indices[2].size, 0
    while start < total:
        stop = start + 1
        moves = tuple(int(i[start + 1] - i[start]) if start + 1 < total else 0 for i in indices)
        while stop < total and all(i[stop] - i[stop - 1] == move for i, move in zip(indices, moves, strict=True)):
            stop += 1
        yield stop - start, tuple(int(i[start]) for i in indices), moves    # type: ignore[misc]
        start = stop
