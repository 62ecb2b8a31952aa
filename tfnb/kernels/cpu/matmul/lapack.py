"""Routines of BLAS and LAPACK that NumPy lacks, for one matrix of float32, float64, complex64 or complex128.

By the addresses of blas.py; in a browser, which has no such library, by SciPy.
"""
from __future__ import annotations

import numpy as np

from tfnb.core.lazy import lazy_module
from tfnb.kernels.cpu.matmul import blas

linalg = lazy_module("scipy.linalg", extra="scipy")
_LETTERS = {"float32": b"s", "float64": b"d", "complex64": b"c", "complex128": b"z"}


def _call(name: str, x: np.ndarray, *arguments: object) -> None:
    blas.call(_LETTERS[x.dtype.name].decode() + name, *arguments)


def lu(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return both factors of (n, n) in one matrix, the row that each row was exchanged with, and if x is regular."""
    if not blas.has_library():
        made, pivots, info = linalg.lapack.get_lapack_funcs(("getrf",), (x,))[0](x)
        return made, pivots, info == 0
    n, made, info = len(x), np.array(x, order="F"), np.zeros(1, np.int32)
    pivots = np.zeros(n, np.int32)
    _call("getrf", x, n, n, made, max(n, 1), pivots, info)
    return made, pivots - 1, info[0] == 0


def tridiagonal(diagonals: np.ndarray, rhs: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return the solutions (n, columns) of a system with the diagonals above, at and below the main one, (3, n); and
    whether its matrix is regular."""
    if not blas.has_library():
        gtsv = linalg.lapack.get_lapack_funcs(("gtsv",), (diagonals, rhs))[0]
        *_, made, info = gtsv(diagonals[2, 1:], diagonals[1], diagonals[0, :-1], rhs)
        return made, info == 0
    n, made, info = len(rhs), np.array(rhs, order="F"), np.zeros(1, np.int32)
    above, middle, below = (np.array(part) for part in (diagonals[0, :-1], diagonals[1], diagonals[2, 1:]))
    _call("gtsv", rhs, n, rhs.shape[1], below, middle, above, made, max(n, 1), info)
    return made, info[0] == 0


def solve_triangular(a: np.ndarray, x: np.ndarray, lower: bool) -> None:
    """Replace x (n, columns) by the solutions of a (n, n) times them = x, both contiguous. The other triangle is not
    read; a zero in the diagonal gives infinity or NaN."""
    n, columns = x.shape
    if not blas.has_library():
        trsm = linalg.blas.get_blas_funcs("trsm", (a, x))
        x[...] = trsm(1, a.T, x.T, side=1, lower=not lower).T
        return
    # the transposes, which are in BLAS's order: x^T = x^T a^-T
    _call("trsm", x, b"R", b"U" if lower else b"L", b"N", b"N", columns, n, np.ones(1, x.dtype), a, n, x,
          max(columns, 1))
