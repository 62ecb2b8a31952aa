"""Linear algebra of matrices [..., n, n]: inverses, determinants, linear systems, band parts, cross products.

LAPACK by NumPy, on the host. The gradients are those of M. Giles, "An extended collection of matrix derivative
results for forward and reverse mode algorithmic differentiation" (2008).
"""
from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.control_flow.cond import cond
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, broadcast, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.cpu.matmul.lapack import solve_triangular
from tfnb.kernels.library.rows import triangular
from tfnb.kernels.library.rows.cross import cross
from tfnb.kernels.library.rows.places import band
from tfnb.kernels.scalar.number_types import wide
from tfnb.ops.array.create import MatrixDiagPart, eye
from tfnb.ops.array.reshape import matrix_transpose, reshape, shape
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.public import functions
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.broadcast import BroadcastGradientArgs
from tfnb.ops.math.casting import cast
from tfnb.ops.math.complex import real
from tfnb.ops.math.functions import log
from tfnb.ops.reductions.matmul import matmul
from tfnb.ops.reductions.reduce import reduce_sum

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

NUMBERS = "{double, float, half, complex64, complex128}"
ADJOINT: dict[str, Any] = {"adjoint": "bool = false"}


# Shapes

def matrix_shape(found: Static) -> tuple[int | None, ...] | None:
    """Return the shape of matrices. Raises ValueError for less than two axes."""
    if found is not None and len(found) < 2:
        raise ValueError(f"Shape must be at least rank 2 but is rank {len(found)}")
    return found


def square_shape(found: Static) -> Static:
    """Return the shape of square matrices. Raises ValueError for others."""
    known = matrix_shape(found)
    if known is None:
        return None
    rows, columns = known[-2:]
    if None not in (rows, columns) and rows != columns:
        raise ValueError(f"Dimensions must be equal, but are {rows} and {columns}")
    side = columns if rows is None else rows
    return (*known[:-2], side, side)


def _square(ctx: ShapeContext) -> list[Static]:
    return [square_shape(ctx.shape(0))]


def _numbers(ctx: ShapeContext) -> list[Static]:
    found = square_shape(ctx.shape(0))
    return [None if found is None else found[:-2]] * len(ctx.op.outputs)


def _solved(ctx: ShapeContext, lead_of: Callable[[Static, Static], Static] = merge) -> list[Static]:
    """Infer the shape of solutions. lead_of: fn(batch axes of the matrices, of the right sides) -> of the solutions."""
    a, b = square_shape(ctx.shape(0)), matrix_shape(ctx.shape(1))
    if a is None or b is None:
        return [None]
    (rows,) = merge((a[-1],), (b[-2],)) or (None,)
    lead = lead_of(a[:-2], b[:-2])
    return [None if lead is None else (*lead, rows, b[-1])]


# NumPy forms

def lapack(fn: Any, message: str, *arrays: np.ndarray) -> Any:
    """fn(arrays) for what LAPACK can compute with. Raises ValueError(message) where it gives up."""
    try:
        return fn(*map(wide, arrays))
    except np.linalg.LinAlgError as error:
        raise ValueError(f"{message} ({error})") from None


def each_matrix(fn: Callable[..., Any], inputs: tuple[np.ndarray, ...], outputs: tuple[np.ndarray, ...]) -> None:
    """Write the results of fn(matrix of each input), one for each output, to every place in the batch axes."""
    for place in np.ndindex(*inputs[0].shape[:-2]):
        for output, made in zip(outputs, fn(*(x[place] for x in inputs)), strict=True):
            output[place] = made


def _turned(x: np.ndarray, adjoint: bool) -> np.ndarray:
    return np.conj(np.swapaxes(x, -1, -2)) if adjoint else x


def _inverse(ctx: Any, x: np.ndarray) -> np.ndarray:
    made = lapack(np.linalg.inv, "Input is not invertible.", x)
    return np.ascontiguousarray(_turned(made, ctx.attrs["adjoint"])).astype(x.dtype, copy=False)


def _determinant(ctx: Any, x: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.det(wide(x))).astype(x.dtype)


def _log_determinant(ctx: Any, x: np.ndarray) -> tuple[np.ndarray, ...]:
    with np.errstate(divide="ignore"):
        sign, size = np.linalg.slogdet(wide(x))
    return np.asarray(sign).astype(x.dtype), np.asarray(size).astype(x.dtype)


def _cholesky(ctx: Any, x: np.ndarray) -> np.ndarray:
    message = "Cholesky decomposition was not successful. The input might not be valid."
    return np.asarray(lapack(np.linalg.cholesky, message, x)).astype(x.dtype, copy=False)


def _solve(ctx: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a = _turned(a, ctx.attrs["adjoint"])
    return np.asarray(lapack(np.linalg.solve, "Input matrix is not invertible.", a, b)).astype(b.dtype, copy=False)


def _triangular_solve(ctx: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """By one loop over small matrices, by BLAS for each, or row by row for all at once.

    A zero in the diagonal gives infinity.
    """
    lower = ctx.attrs["lower"] != ctx.attrs["adjoint"]
    side, kind = a.shape[-1], b.dtype
    a, b = wide(a), wide(b)
    if triangular.is_worth_it(a, b):
        return triangular.solved(a, b, lower, ctx.attrs["adjoint"]).astype(kind, copy=False)
    a = _turned(a, ctx.attrs["adjoint"])
    x = np.zeros((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *b.shape[-2:]), b.dtype)
    if a.shape[:-2] == b.shape[:-2] and x.size and 2 * prod(a.shape[:-2]) <= side >= 16 and np.diagonal(
            a, axis1=-2, axis2=-1).all():
        x[...] = b
        a = np.ascontiguousarray(a)
        for place in np.ndindex(*a.shape[:-2]):
            solve_triangular(a[place], x[place], lower)
        return x.astype(kind, copy=False)
    with np.errstate(all="ignore"):
        for i in range(side) if lower else range(side - 1, -1, -1):
            done = slice(0, i) if lower else slice(i + 1, side)
            known = (a[..., i:i + 1, done] @ x[..., done, :])[..., 0, :]
            x[..., i, :] = (b[..., i, :] - known) / a[..., i, i, None]
    return x.astype(kind, copy=False)


def _least_squares_shape(ctx: ShapeContext) -> list[Static]:
    matrix, rhs = matrix_shape(ctx.shape(0)), matrix_shape(ctx.shape(1))
    if matrix is None or rhs is None:
        return [None]
    merge((matrix[-2],), (rhs[-2],))
    lead = merge(matrix[:-2], rhs[:-2])
    return [None if lead is None else (*lead, matrix[-1], rhs[-1])]


def _least_squares(ctx: Any, matrix: np.ndarray, rhs: np.ndarray, regularizer: np.ndarray) -> np.ndarray:
    a, b = wide(matrix), wide(rhs)
    if not ctx.attrs["fast"]:
        inverse = np.linalg.pinv(a, np.finfo(a.dtype).eps * max(a.shape[-2:], default=1))
        return np.asarray(inverse @ b).astype(rhs.dtype, copy=False)
    turned, tall = _turned(a, True), a.shape[-2] >= a.shape[-1]
    gram = turned @ a if tall else a @ turned
    gram = gram + np.eye(gram.shape[-1], dtype=gram.dtype) * gram.dtype.type(regularizer)
    message = "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide a larger " \
              "l2_regularizer > 0."
    found = lapack(np.linalg.solve, message, gram, turned @ b) if tall else \
        turned @ lapack(np.linalg.solve, message, gram, b)
    return np.asarray(found).astype(rhs.dtype, copy=False)


def _check_band(ctx: Any) -> None:
    shape = ctx.shape(0)
    if len(shape) < 2:
        raise ValueError(f"input must be at least 2-dim, received shape: {list(shape)}")
    for i, (what, of) in enumerate((("lower", "rows"), ("upper", "columns"))):
        count, most = ctx.value(i + 1), shape[i - 2]
        if count is not None and int(count) > most:
            raise ValueError(f"num_{what} must be negative or less or equal to number of {of} ({most}) got: "
                             f"{int(count)}")


def _band(ctx: Any, x: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    rows, columns = x.shape[-2:]
    below = np.arange(rows)[:, None] - np.arange(columns)
    kept = ((lower < 0) | (below <= lower)) & ((upper < 0) | (-below <= upper))
    return np.where(kept, x, np.zeros((), x.dtype))


def _cross_shape(ctx: ShapeContext) -> list[Static]:
    found = merge(ctx.shape(0), ctx.shape(1))
    if found is not None and not found:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    if found is not None and found[-1] not in (3, None):
        raise ValueError(f"Dimension must be 3 but is {found[-1]}")
    return [found]


def _cross(ctx: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    (x, y, z), (u, v, w) = np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], -1)


# The ops

@kernel("input: T -> output: T", shape=_square, numpy=_inverse, **ADJOINT, T=NUMBERS)
def MatrixInverse() -> None:
    """Compute the inverse of each matrix, or its adjoint.

    >>> sess.run(tf.matrix_inverse([[1.0, 2.0], [3.0, 4.0]]))
    array([[-2. ,  1. ],
           [ 1.5, -0.5]], dtype=float32)
    """


@kernel("input: T -> output: T", shape=_numbers, numpy=_determinant, T="{half, float, double, complex64, complex128}")
def MatrixDeterminant() -> None:
    """Compute the determinant of each matrix.

    >>> sess.run(tf.matrix_determinant([[1.0, 2.0], [3.0, 4.0]]))
    -2.0
    """


@kernel("input: T -> sign: T, log_abs_determinant: T", shape=_numbers, numpy=_log_determinant,
        T="{half, float, double, complex64, complex128}")
def LogMatrixDeterminant() -> None:
    """Compute the sign of the determinant of each matrix, and the logarithm of its absolute value."""


@kernel("input: T -> output: T", shape=_square, numpy=_cholesky, T=NUMBERS)
def Cholesky() -> None:
    """Compute the Cholesky factor: the lower triangular L with L L^H = matrix, of which the lower triangle is read.

    >>> sess.run(tf.cholesky([[4.0, 2.0], [2.0, 2.0]]))
    array([[2., 0.],
           [1., 1.]], dtype=float32)
    """


@kernel("matrix: T, rhs: T -> output: T", shape=_solved, numpy=_solve, **ADJOINT, T=NUMBERS)
def MatrixSolve() -> None:
    """Solve `matrix` x = `rhs` for x, or the system with the adjoint of `matrix`.

    >>> sess.run(tf.matrix_solve([[1.0, 2.0], [3.0, 4.0]], [[5.0], [11.0]]))
    array([[1.],
           [2.]], dtype=float32)
    """


@kernel("matrix: T, rhs: T -> output: T", shape=lambda ctx: _solved(ctx, broadcast), numpy=_triangular_solve,
        lower="bool = true", **ADJOINT,
        T="{bfloat16, double, float, half, complex64, complex128}")
def MatrixTriangularSolve() -> None:
    """As MatrixSolve, for a lower (or upper) triangular `matrix`; the other triangle is not read.

    adjoint: whether its conjugate transpose is meant.

    >>> sess.run(tf.matrix_triangular_solve([[2.0, 0.0], [1.0, 4.0]], [[2.0], [9.0]]))
    array([[1.],
           [2.]], dtype=float32)
    """


@kernel("input: T, num_lower: Tindex, num_upper: Tindex -> band: T", shape=shapes.like_first, numpy=_band, launch=band,
        validate=_check_band, values=("num_lower", "num_upper"), T="type", Tindex="{int32, int64} = DT_INT64",
        halves="moved")
def MatrixBandPart() -> None:
    """Zero everything outside a band of `num_lower` sub- and `num_upper` superdiagonals (negative: keep all)."""


@kernel("matrix: T, rhs: T, l2_regularizer: double -> output: T", shape=_least_squares_shape, numpy=_least_squares,
        ranks={"l2_regularizer": 0}, T=NUMBERS, fast="bool = true")
def MatrixSolveLs() -> None:
    """Solve least-squares problems `matrix` x = `rhs`; fast: L2-regularized, by the normal equations."""


MatrixSolveLs.no_gradient("TensorFlow has none for fast=False; matrix_solve_ls makes other ops for fast=True")


@kernel("a: T, b: T -> product: T", shape=_cross_shape, numpy=_cross, launch=cross, T="realnumbertype")
def Cross() -> None:
    """Compute the cross products of vectors with three elements.

    >>> sess.run(tf.cross([1, 0, 0], [0, 1, 0]))
    array([0, 0, 1], dtype=int32)
    """


# Gradients

def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """Return the conjugate transpose of the last two axes.

    >>> sess.run(tf.linalg.adjoint([[1.0 + 1.0j, 2.0], [3.0, 4.0]]))
    array([[1.-1.j, 3.-0.j],
           [2.-0.j, 4.-0.j]])
    """
    with name_scope(name, "adjoint", [matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        return matrix_transpose(matrix, conjugate=matrix.dtype.is_complex)


def without_diagonal(x: Tensor) -> Tensor:
    """Return square matrices with zeros on the diagonal."""
    made: Tensor = x - MatrixBandPart(x, 0, 0)
    return made


@MatrixInverse.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    inverse, turned = op.outputs[0], op.attrs["adjoint"]
    return -matmul(inverse, matmul(dy, inverse, adjoint_a=turned, adjoint_b=not turned),
                   adjoint_a=not turned)


def _times_inverse(op: Operation, numbers: Tensor) -> Tensor:
    """Return the adjoint of the inverse of each matrix, times a number."""
    factors = reshape(numbers, raw.ConcatV2([shape(numbers), [1, 1]], 0))
    return factors * MatrixInverse(op.inputs[0], adjoint=True)


@MatrixDeterminant.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return _times_inverse(op, dy * op.outputs[0])


@LogMatrixDeterminant.gradient
def _(op: Operation, _: Tensor, dy: Tensor) -> Tensor:
    return _times_inverse(op, dy)


@Cholesky.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    factor = op.outputs[0]
    middle = matmul(factor, dy, adjoint_a=True)
    middle = MatrixBandPart(middle, -1, 0) - 0.5 * MatrixBandPart(middle, 0, 0)
    whole = MatrixTriangularSolve(factor, middle, adjoint=True)
    whole = adjoint(MatrixTriangularSolve(factor, adjoint(whole), adjoint=True))
    return 0.5 * (whole + adjoint(whole))


@MatrixSolve.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor]:
    turned, x = op.attrs["adjoint"], op.outputs[0]
    db = MatrixSolve(op.inputs[0], dy, adjoint=not turned)
    return [-(matmul(x, db, adjoint_b=True) if turned else matmul(db, x, adjoint_b=True)), db]


def _summed(gradient: Tensor, x: Tensor, axes: Tensor) -> Tensor:
    return reshape(reduce_sum(gradient, axes), shape(x))


@MatrixTriangularSolve.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor]:
    (a, b), x, turned, lower = op.inputs, op.outputs[0], op.attrs["adjoint"], op.attrs["lower"]
    db = MatrixTriangularSolve(a, dy, lower=lower, adjoint=not turned)
    da = -(matmul(x, db, adjoint_b=True) if turned else matmul(db, x, adjoint_b=True))
    da = MatrixBandPart(da, -1, 0) if lower else MatrixBandPart(da, 0, -1)
    if a.static is not None and b.static is not None and a.static[:-2] == b.static[:-2] and None not in a.static[:-2]:
        return [da, db]
    axes_a, axes_b = BroadcastGradientArgs(shape(a)[:-2], shape(b)[:-2])
    return [_summed(da, a, axes_a), _summed(db, b, axes_b)]


@MatrixBandPart.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [MatrixBandPart(dy, op.inputs[1], op.inputs[2]), None, None]


@Cross.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor]:
    a, b = op.inputs
    return [Cross(b, dy), Cross(dy, a)]


# What users call

matrix_inverse, matrix_determinant, cholesky = functions(MatrixInverse, MatrixDeterminant, Cholesky)
matrix_solve, matrix_triangular_solve, cross = functions(MatrixSolve, MatrixTriangularSolve, Cross)


def slogdet(input: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return (the sign of the determinant of each matrix [..., n, n], the logarithm of its absolute value).

    >>> sign, log = tf.linalg.slogdet([[0.0, 2.0], [3.0, 0.0]])
    >>> sess.run([sign, log])
    [-1.0, 1.7918]
    """
    sign, size = LogMatrixDeterminant(input, name=name)
    return sign, size


def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """Compute the logarithm of the determinant of each symmetric matrix [..., n, n].

    Running it raises InvalidArgumentError for one that is not positive definite.

    >>> sess.run(tf.linalg.logdet([[2.0, 0.0], [0.0, 3.0]]))
    1.7918
    """
    with name_scope(name, "logdet", [matrix]):
        factor = Cholesky(matrix)
        return 2.0 * reduce_sum(log(real(MatrixDiagPart(factor))), axis=[-1])


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """Solve A x = `rhs` for x, where `chol` is the Cholesky factor of A.

    >>> factor = tf.cholesky([[4.0, 2.0], [2.0, 2.0]])
    >>> sess.run(tf.cholesky_solve(factor, [[6.0], [4.0]]))
    array([[1.],
           [1.]], dtype=float32)
    """
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        y = MatrixTriangularSolve(chol, rhs, adjoint=False, lower=True)
        x: Tensor = MatrixTriangularSolve(chol, y, adjoint=True, lower=True)
        return x


def matrix_band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """Zero [..., m, n] outside a band of `num_lower` sub- and `num_upper` superdiagonals (-1: keep all).

    >>> sess.run(tf.matrix_band_part([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 0, -1))
    array([[1, 2, 3],
           [0, 5, 6],
           [0, 0, 9]], dtype=int32)
    """
    tensor: Tensor = MatrixBandPart(input, num_lower, num_upper, name=name)
    return tensor


def matrix_solve_ls(matrix: Any, rhs: Any, l2_regularizer: float = 0.0, fast: bool = True,
                    name: str | None = None) -> Tensor:
    """Return the x [..., n, k] that minimize |matrix x - rhs|^2 + l2_regularizer |x|^2, by the normal equations.

    fast=False: the x of least length without regularizer, by singular values, for any rank; it has no gradient.

    >>> sess.run(tf.matrix_solve_ls([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [[1.0], [3.0], [5.0]]))
    array([[1.],
           [2.]], dtype=float32)
    """
    with name_scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]) as scope:
        matrix, rhs = convert_to_tensor(matrix, name="matrix"), convert_to_tensor(rhs, name="rhs")
        if not fast:
            return MatrixSolveLs(matrix, rhs, l2_regularizer, fast=False, name=scope)
        known = matrix_shape(matrix.static)
        if known is not None and None not in known[-2:]:
            return _by_gramian(matrix, rhs, l2_regularizer, (known[-2] or 0) >= (known[-1] or 0))
        sizes = shape(matrix)
        return cond(sizes[-2] >= sizes[-1], lambda: _by_gramian(matrix, rhs, l2_regularizer, True),
                    lambda: _by_gramian(matrix, rhs, l2_regularizer, False))


def _by_gramian(matrix: Tensor, rhs: Tensor, l2_regularizer: Any, tall: bool) -> Tensor:
    """Return the solution by the normal equations; tall: there are no fewer rows than columns."""
    gram = matmul(matrix, matrix, adjoint_a=tall, adjoint_b=not tall)
    if l2_regularizer != 0:
        gram = gram + cast(l2_regularizer, matrix.dtype) * eye(shape(gram)[-1], dtype=matrix.dtype)
    factor = Cholesky(gram)
    if tall:
        return cholesky_solve(factor, matmul(matrix, rhs, adjoint_a=True))
    return matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)


describe(globals(), TENSORS)
