"""Matrices of vectors: triangles in a spiral order, tridiagonal matrices, transformed diagonals."""
from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np

from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.diagonals import matrix_diag_part, matrix_set_diag
from tfnb.ops.array.gather import gather
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import reshape
from tfnb.ops.array.reshape import shape as shape_of
from tfnb.ops.declaration.raw import raw


def triangle_size(count: int | None) -> int | None:
    """Return n with n (n + 1) / 2 = count, None for None. Raises ValueError for other counts."""
    if count is None:
        return None
    size = (isqrt(8 * count + 1) - 1) // 2
    if size * (size + 1) // 2 != count:
        raise ValueError(f"Input right-most shape ({count}) does not correspond to a triangular matrix.")
    return size


def _spiral(size: int, upper: bool) -> np.ndarray:
    """Return, for each cell of a matrix, which element of a vector it takes; cells outside of the triangle, too."""
    count = size * (size + 1) // 2
    there, back = np.arange(count), np.arange(count)[::-1]
    order = [there, back[:size * size - count]] if upper else [there[size:], back]
    return np.concatenate(order).reshape(size, size)


def _known(size: int | None, what: str) -> int:
    if size is None:
        raise ValueError(f"expected {what} whose size is known when the graph is built")
    return size


def fill_triangular(x: Any, upper: bool = False, name: str | None = None) -> Tensor:
    """Return triangular matrices, (..., n, n), filled by vectors clockwise in a spiral.

    x: (..., n (n + 1) / 2), of a known last axis (else ValueError); upper: whether the upper triangle is filled.

    >>> sess.run(tf.contrib.distributions.fill_triangular([1, 2, 3, 4, 5, 6]))
    array([[4, 0, 0],
           [6, 5, 0],
           [3, 2, 1]], dtype=int32)
    """
    with name_scope(name, "fill_triangular", values=[x]):
        x = convert_to_tensor(x, name="x")
        size = _known(triangle_size(x.shape[-1].value if x.shape.ndims else None), "vectors")
        square = reshape(gather(x, _spiral(size, upper).reshape(-1).astype(np.int32), axis=-1),
                         concat([shape_of(x)[:-1], [size, size]], 0))
        square.set_shape(x.shape[:-1].concatenate([size, size]))
        found: Tensor = raw.MatrixBandPart(square, 0 if upper else -1, -1 if upper else 0)
        return found


def fill_triangular_inverse(x: Any, upper: bool = False, name: str | None = None) -> Tensor:
    """Return the vectors that `fill_triangular` makes the matrices of.

    x: (..., n, n), of known last axes (else ValueError); upper: as there.

    >>> sess.run(tf.contrib.distributions.fill_triangular_inverse([[4, 0, 0], [6, 5, 0], [3, 2, 1]]))
    array([1, 2, 3, 4, 5, 6], dtype=int32)
    """
    with name_scope(name, "fill_triangular_inverse", values=[x]):
        x = convert_to_tensor(x, name="x")
        size = _known(x.shape[-1].value if x.shape.ndims else None, "matrices")
        inside = np.tri(size, dtype=bool).T if upper else np.tri(size, dtype=bool)
        cells = np.flatnonzero(inside)[np.argsort(_spiral(size, upper)[inside])]
        flat = reshape(x, concat([shape_of(x)[:-2], [size * size]], 0))
        found = gather(flat, cells.astype(np.int32), axis=-1)
        found.set_shape(x.shape[:-2].concatenate([cells.size]))
        return found


def matrix_diag_transform(matrix: Any, transform: Callable[[Tensor], Any] | None = None,
                          name: str | None = None) -> Tensor:
    """Return matrices with their diagonals replaced by `transform` of them.

    matrix: (..., n, n); transform: fn(diagonals) -> diagonals, (..., n), by default the identity.

    >>> sess.run(tf.contrib.distributions.matrix_diag_transform([[0.0, 1.0], [2.0, 0.0]], tf.exp))
    array([[1., 1.],
           [2., 1.]], dtype=float32)
    """
    with name_scope(name, "matrix_diag_transform", values=[matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        if transform is None:
            given: Tensor = matrix
            return given
        found: Tensor = matrix_set_diag(matrix, transform(matrix_diag_part(matrix)))
        return found


def tridiag(below: Any = None, diag: Any = None, above: Any = None, name: str | None = None) -> Tensor:
    """Return tridiagonal matrices, (..., n, n), of their diagonals; those that are not given are zero.

    below: (..., n - 1); diag: (..., n); above: (..., n - 1). Raises ValueError if all are None.

    >>> sess.run(tf.contrib.distributions.tridiag(below=[1.0], diag=[2.0, 3.0]))
    array([[2., 0.],
           [1., 3.]], dtype=float32)
    """
    with name_scope(name, "tridiag", values=[below, diag, above]):
        total: Any = None
        for place, values in ((-1, below), (0, diag), (1, above)):
            if values is not None:
                made = raw.MatrixDiagV3(values, place, -1, -1, 0, align="RIGHT_LEFT")
                total = made if total is None else total + made
        if total is None:
            raise ValueError("Must specify at least one of `below`, `diag`, `above`.")
        found: Tensor = total
        return found


describe(globals(), DISTRIBUTIONS)
