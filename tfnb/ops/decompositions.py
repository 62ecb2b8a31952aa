"""Decompositions of matrices: QR."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.shape import Static
from tfnb.graph.operation import Tensor
from tfnb.ops.declare import kernel


def _qr_shape(ctx: Any) -> list[Static]:
    matrix = ctx.shape(0)
    if matrix is None:
        return [None, None]
    if len(matrix) < 2:
        raise ValueError(f"Shape must be at least rank 2 but is rank {len(matrix)}")
    *batch, rows, columns = matrix
    inner = None if rows is None or columns is None else min(rows, columns)
    inner = rows if ctx.attrs["full_matrices"] else inner
    return [(*batch, rows, inner), (*batch, inner, columns)]


def _qr(ctx: Any, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    wide = matrix.astype(np.float32) if matrix.dtype == np.float16 else matrix
    q, r = np.linalg.qr(wide, "complete" if ctx.attrs["full_matrices"] else "reduced")
    return q.astype(matrix.dtype, copy=False), r.astype(matrix.dtype, copy=False)


@kernel("input: T -> q: T, r: T", shape=_qr_shape, numpy=_qr, full_matrices="bool = false",
        T="{double, float, half, complex64, complex128}")
def Qr() -> None:
    """q with orthonormal columns and r, zero below its diagonal, whose product is `input`."""


Qr.no_gradient("it is used for initial values; differentiate through what you need of it")


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The QR decomposition of each matrix [..., m, n]: q [..., m, k] and r [..., k, n], k = min(m, n).

    full_matrices: k = m. Only for floats and complex numbers; there is no gradient.
    """
    q, r = Qr(input, full_matrices=full_matrices, name=name)
    return q, r
