"""Matrix decompositions: QR, eigenvalues, singular values; LAPACK by NumPy, on the host."""
from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.scalar.number_types import wide
from tfnb.linalg.matrices import (
    NUMBERS,
    MatrixBandPart,
    MatrixTriangularSolve,
    adjoint,
    lapack,
    matrix_shape,
    square_shape,
    without_diagonal,
)
from tfnb.ops.array.create import MatrixDiag as matrix_diag
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import expand_dims
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import square
from tfnb.ops.math.complex import real
from tfnb.ops.math.division import div_no_nan
from tfnb.ops.reductions.matmul import matmul


def _qr_shape(ctx: Any) -> list[Static]:
    matrix = matrix_shape(ctx.shape(0))
    if matrix is None:
        return [None, None]
    *batch, rows, columns = matrix
    inner = None if rows is None or columns is None else min(rows, columns)
    inner = rows if ctx.attrs["full_matrices"] else inner
    return [(*batch, rows, inner), (*batch, inner, columns)]


def _qr(ctx: Any, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    q, r = np.linalg.qr(wide(matrix), "complete" if ctx.attrs["full_matrices"] else "reduced")
    return q.astype(matrix.dtype, copy=False), r.astype(matrix.dtype, copy=False)


@kernel("input: T -> q: T, r: T", shape=_qr_shape, numpy=_qr, full_matrices="bool = false",
        T=NUMBERS)
def Qr() -> None:
    """Compute the QR decomposition: q with orthonormal columns and upper triangular r, whose product is `input`."""


def _reciprocal(x: Tensor) -> Tensor:
    return div_no_nan(raw.OnesLike(x), x)


def _right_solved(x: Tensor, r: Tensor) -> Tensor:
    """x times the adjoint of the inverse of the upper triangle r."""
    return adjoint(MatrixTriangularSolve(r, adjoint(x), lower=False))


def _qr_gradient(q: Tensor, r: Tensor, dq: Tensor, dr: Tensor) -> Tensor:
    """Of matrices with no more columns than rows: S. Walter and L. Lehmann, "Algorithmic differentiation..." (2010)."""
    inner, outer = matmul(q, dq, adjoint_a=True), matmul(r, dr, adjoint_b=True)
    skew = inner - adjoint(inner) + outer - adjoint(outer)
    made = matmul(q, dr + _right_solved(MatrixBandPart(skew, -1, 0), r))
    made = made + _right_solved(dq - matmul(q, inner), r)
    if not q.dtype.is_complex:
        return made
    diagonal = MatrixBandPart(outer - adjoint(inner), 0, 0)    # r has a real diagonal: its imaginary part is a phase
    phase = diagonal - raw.Cast(real(diagonal), DstT=diagonal.dtype)
    return made + _right_solved(matmul(q, adjoint(phase)), r)


@Qr.gradient
def _(op: Operation, dq: Tensor, dr: Tensor) -> Tensor:
    (a,), (q, r) = op.inputs, op.outputs
    shapes = q.static, r.static
    if shapes[0] is None or shapes[1] is None or None in (*shapes[0][-2:], *shapes[1][-2:]):
        raise NotImplementedError(f"the gradient of qr needs matrices of known size, not of shape {a.shape}")
    rows, columns = shapes[0][-2] or 0, shapes[1][-1] or 0
    if rows > columns and shapes[0][-1] == rows:
        raise NotImplementedError("qr has no gradient with full_matrices and more rows than columns, got "
                                  f"{rows} and {columns}")
    if rows >= columns:
        return _qr_gradient(q, r, dq, dr)
    left, rest = dr[..., :, :rows], dr[..., :, rows:]
    dx = _qr_gradient(q, r[..., :, :rows], dq + matmul(a[..., :, rows:], rest, adjoint_b=True), left)
    return concat([dx, matmul(q, rest)], axis=-1)


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Compute the QR decomposition of each matrix [..., m, n]: q [..., m, k] and r [..., k, n], k = min(m, n).

    full_matrices: k = m. Only for floats and complex numbers. The gradient needs known sizes.

    >>> q, r = tf.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> sess.run(tf.matmul(q, r))
    array([[3., 1.],
           [4., 2.]], dtype=float32)
    """
    q, r = Qr(input, full_matrices=full_matrices, name=name)
    return q, r


# Eigenvalues

def _eigen_shape(ctx: Any) -> list[Static]:
    found = square_shape(ctx.shape(0))
    if found is None:
        return [None, None]
    return [found[:-1], found if ctx.attrs["compute_v"] else (0,)]


def _eigen(ctx: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    message = "Self-adjoint eigen decomposition was not successful. The input might not be valid."
    if not ctx.attrs["compute_v"]:
        values = lapack(np.linalg.eigvalsh, message, x)
        return np.asarray(values).astype(x.dtype), np.zeros(0, x.dtype)
    values, vectors = lapack(np.linalg.eigh, message, x)
    return np.asarray(values).astype(x.dtype), np.asarray(vectors).astype(x.dtype)


@kernel("input: T -> e: T, v: T", shape=_eigen_shape, numpy=_eigen, compute_v="bool = true", T=NUMBERS)
def SelfAdjointEigV2() -> None:
    """Compute the eigendecomposition of self-adjoint matrices: ascending eigenvalues, eigenvectors as columns."""


@SelfAdjointEigV2.gradient
def _(op: Operation, de: Tensor, dv: Tensor) -> Tensor:
    """Of the lower triangle, the only one that is read."""
    e, v = op.outputs
    if op.attrs["compute_v"]:
        apart = without_diagonal(_reciprocal(expand_dims(e, -2) - expand_dims(e, -1)))
        inner = matrix_diag(de) + apart * matmul(v, dv, adjoint_a=True)
    else:
        _, v = SelfAdjointEigV2(op.inputs[0])
        inner = matrix_diag(de)
    whole = matmul(v, matmul(inner, v, adjoint_b=True))
    lower = MatrixBandPart(whole + adjoint(whole), -1, 0)
    return lower - 0.5 * MatrixBandPart(lower, 0, 0)


def self_adjoint_eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return (ascending eigenvalues [..., n], eigenvectors [..., n, n] as columns) of self-adjoint matrices.

    Only the lower triangles are read. Vectors are determined up to a factor of size 1.

    >>> values, vectors = tf.self_adjoint_eig([[2.0, 0.0], [0.0, 1.0]])
    >>> sess.run(values)
    array([1., 2.], dtype=float32)
    """
    e, v = SelfAdjointEigV2(tensor, compute_v=True, name=name)
    return e, v


def self_adjoint_eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """Compute the eigenvalues [..., n] of self-adjoint matrices [..., n, n], in ascending order.

    >>> sess.run(tf.self_adjoint_eigvals([[2.0, 1.0], [1.0, 2.0]]))
    array([1., 3.], dtype=float32)
    """
    e, _ = SelfAdjointEigV2(tensor, compute_v=False, name=name)
    return e


# Singular values

def _svd_shape(ctx: Any) -> list[Static]:
    found = matrix_shape(ctx.shape(0))
    if found is None:
        return [None, None, None]
    *batch, rows, columns = found
    inner = None if rows is None or columns is None else min(rows, columns)
    if not ctx.attrs["compute_uv"]:
        return [(*batch, inner), (0,), (0,)]
    full = ctx.attrs["full_matrices"]
    return [(*batch, inner), (*batch, rows, rows if full else inner), (*batch, columns, columns if full else inner)]


def _svd(ctx: Any, x: np.ndarray) -> tuple[np.ndarray, ...]:
    broken = ~np.isfinite(x).all((-1, -2))                     # LAPACK does not take NaN
    solid, more = np.where(broken[..., None, None], 0, wide(x)), ctx.attrs["compute_uv"]
    found = lapack(lambda a: np.linalg.svd(a, ctx.attrs["full_matrices"], more), "SVD did not converge.", solid)
    u, s, vh = found if more else (np.zeros(0), found, np.zeros(0))
    parts = [np.array(part).astype(x.dtype) for part in (s, u, np.conj(np.swapaxes(vh, -1, -2)) if more else vh)]
    for part in parts[:3 if more else 1]:
        part[broken] = np.nan
    return tuple(map(np.ascontiguousarray, parts))


@kernel("input: T -> s: T, u: T, v: T", shape=_svd_shape, numpy=_svd, compute_uv="bool = true",
        full_matrices="bool = false", T=NUMBERS)
def Svd() -> None:
    """Compute the singular value decomposition: descending singular values, singular vectors as columns."""


@Svd.gradient
def _(op: Operation, ds: Tensor, du: Tensor, dv: Tensor) -> Tensor:
    """C. Ionescu et al., "Training deep networks with structured layers by matrix backpropagation" (2015)."""
    a = op.inputs[0]
    if not op.attrs["compute_uv"]:
        _, u, v = Svd(a)
        return matmul(u, matmul(matrix_diag(ds), v, adjoint_b=True))
    static = a.static
    if static is None or None in static[-2:]:
        raise NotImplementedError(f"svd has a gradient for matrices of known size only, got shape {a.shape}")
    rows, columns = static[-2] or 0, static[-1] or 0
    if op.attrs["full_matrices"] and builtins.abs(rows - columns) > 1:
        raise NotImplementedError("svd with full_matrices has a gradient where rows and columns differ by 1 at most, "
                                  f"got {rows} and {columns}: other vectors are not determined")
    s, u, v = op.outputs
    if rows > columns:
        return adjoint(_svd_gradient(s, v, u, ds, dv, du))
    return _svd_gradient(s, u, v, ds, du, dv)


def _svd_gradient(s: Tensor, u: Tensor, v: Tensor, ds: Tensor, du: Tensor, dv: Tensor) -> Tensor:
    """Compute the gradient of Svd for rows <= columns; v has as many columns as u, or (full_matrices) one more."""
    rest, drest = v[..., :, u.static[-1]:], dv[..., :, u.static[-1]:]                 # type: ignore[index]
    v, dv = v[..., :, :u.static[-1]], dv[..., :, :u.static[-1]]                       # type: ignore[index]
    squares = square(s)
    apart = without_diagonal(_reciprocal(expand_dims(squares, -2) - expand_dims(squares, -1)))
    turned = matmul(v, dv, adjoint_a=True)
    left, right = apart * matmul(u, du, adjoint_a=True), apart * turned
    diagonal = matrix_diag(s)
    inner = matrix_diag(ds) + matmul(left + adjoint(left), diagonal) + matmul(diagonal, right + adjoint(right))
    if u.dtype.is_complex:                                     # each pair of vectors is determined up to a phase
        phase = MatrixBandPart(turned, 0, 0)
        inner = inner + 0.5 * matmul(matrix_diag(_reciprocal(s)), adjoint(phase) - phase)
    made = matmul(u, matmul(inner, v, adjoint_b=True))
    beside = adjoint(dv) - matmul(matmul(dv, v, adjoint_a=True), v, adjoint_b=True)       # what the vectors v lack
    if rest.static is None or rest.static[-1]:
        beside = beside - matmul(matmul(v, drest, adjoint_a=True), rest, adjoint_b=True)
    return made + matmul(matmul(u, matrix_diag(_reciprocal(s))), beside)


def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """Return (s, u, v) with tensor = u diag(s) v^H of matrices [..., m, n], or s alone if not `compute_uv`.

    s: [..., k], largest first, k = min(m, n); u: [..., m, k]; v: [..., n, k]; with full_matrices [..., m, m] and
    [..., n, n]. Vectors are determined up to a factor of size 1.

    >>> s, u, v = tf.svd([[3.0, 0.0], [0.0, 4.0]])
    >>> sess.run(s)
    array([4., 3.], dtype=float32)
    """
    s, u, v = Svd(tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    return (real(s), u, v) if compute_uv else real(s)


describe(globals(), TENSORS)
