"""Functions of matrices: exponential, logarithm, square root; pseudo-inverse and rank by singular values."""
from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.control_flow.while_loop import while_loop
from tfnb.core.dtypes import as_dtype, int32
from tfnb.core.lazy import lazy_module
from tfnb.core.shape import Static
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.scalar.number_types import wide
from tfnb.linalg.matrices import NUMBERS, adjoint, each_matrix, lapack, square_shape
from tfnb.ops.array.create import eye
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import expand_dims, matrix_transpose, reshape, shape
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import add_n
from tfnb.ops.math.casting import cast
from tfnb.ops.reductions.matmul import matmul
from tfnb.ops.reductions.reduce import norm, reduce_max, reduce_sum

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

linalg = lazy_module("scipy.linalg", extra="scipy")

# The Pade approximants of exp of degree 3, 5, 7, 9, 13: the largest 1-norm at which each is exact to half a unit in
# the last place (Higham, "The scaling and squaring method for the matrix exponential revisited", 2005), by dtype.
_DEGREE = {"float16": 3, "float32": 7, "float64": 13, "complex64": 7, "complex128": 13}
_NORM = {3: 0.4258730016922831, 7: 3.925724783138660, 13: 5.371920351148152}


def _square(ctx: ShapeContext) -> list[Static]:
    return [square_shape(ctx.shape(0))]


def _each(fn: Any, x: np.ndarray) -> np.ndarray:
    """Return fn(matrix) of each matrix, complex."""
    made = np.empty(x.shape, np.result_type(x.dtype, np.complex64))
    each_matrix(lambda one: (fn(one),), (x,), (made,))
    return made


def _logarithm(ctx: Any, x: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)         # of SciPy, where a result may be inaccurate
        return _each(linalg.logm, x).astype(x.dtype, copy=False)


def _root(ctx: Any, x: np.ndarray) -> np.ndarray:
    """Return the principal square roots; NaN for a real matrix that has no real one, as in TensorFlow."""
    with np.errstate(all="ignore"):
        made = _each(linalg.sqrtm, wide(x))
    if x.dtype.kind != "c":
        size = np.finfo(wide(x).dtype).eps * 100 * (1 + np.abs(made).max(initial=0))
        made = np.where((np.abs(made.imag) > size).any((-1, -2), keepdims=True), np.nan, made.real)
    return made.astype(x.dtype, copy=False)


def _exponential(ctx: Any, x: np.ndarray) -> np.ndarray:
    return np.asarray(linalg.expm(wide(x))).astype(x.dtype, copy=False) if x.size else x.copy()


@public("linalg.logm")
@kernel("input: T -> output: T", shape=_square, numpy=_logarithm, T="{complex64, complex128}")
def MatrixLogarithm() -> None:
    """Compute the principal logarithm of each square matrix, whose exponential is `input`.

    >>> abs(sess.run(tf.linalg.logm(tf.constant([[1.0, 0.0], [0.0, 1.0]], tf.complex64))))
    array([[0., 0.],
           [0., 0.]], dtype=float32)
    """


MatrixLogarithm.no_gradient("TensorFlow has none")


@public("linalg.sqrtm", "matrix_square_root")
@kernel("input: T -> output: T", shape=_square, numpy=_root, T=NUMBERS)
def MatrixSquareRoot() -> None:
    """Compute the principal square root of each square matrix: x with x x = `input`.

    The root of a real matrix with a negative eigenvalue is NaN.

    >>> sess.run(tf.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]))
    array([[2., 0.],
           [0., 3.]], dtype=float32)
    """


@MatrixSquareRoot.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    """Solve dy = r^H x + x r^H for x, as a linear system of n^2 unknowns."""
    root = adjoint(op.outputs[0])
    sizes: Any = shape(root)
    lead, n = sizes[:-2], sizes[-1]
    one = eye(n, batch_shape=lead, dtype=dy.dtype)
    whole = raw.AddV2(_kronecker(root, one, lead, n), _kronecker(one, matrix_transpose(root), lead, n))
    flat = raw.MatrixSolve(whole, reshape(dy, concat([lead, [n * n, 1]], 0)))
    return reshape(flat, sizes)


def _kronecker(a: Tensor, b: Tensor, lead: Any, n: Any) -> Tensor:
    made = raw.Mul(reshape(a, concat([lead, [n, 1, n, 1]], 0)), reshape(b, concat([lead, [1, n, 1, n]], 0)))
    return reshape(made, concat([lead, [n * n, n * n]], 0))


@kernel("input: T -> output: T", shape=_square, numpy=_exponential, T=NUMBERS)
def MatrixExponential() -> None:
    """Compute the exponential of each square matrix; graphs of old programs have it, `tf.linalg.expm` makes others."""


MatrixExponential.no_gradient("TensorFlow has none; tf.linalg.expm makes ops that have one")


def _old_eigenvalues_shape(ctx: ShapeContext) -> list[Static]:
    found = square_shape(ctx.shape(0))
    if found is None:
        return [None]
    side = found[-1]
    return [(*found[:-2], None if side is None else side + 1, side)]


def _old_eigenvalues(ctx: Any, x: np.ndarray) -> np.ndarray:
    values, vectors = lapack(np.linalg.eigh, "Self-adjoint eigen decomposition was not successful.", x)
    return np.concatenate([values[..., None, :], vectors], -2).astype(x.dtype, copy=False)


@kernel("input: T -> output: T", shape=_old_eigenvalues_shape, numpy=_old_eigenvalues, T="{double, float, half}")
def SelfAdjointEig() -> None:
    """Compute the eigenvalues, as first row, and the eigenvectors of symmetric matrices; old graphs have it."""


SelfAdjointEig.no_gradient("TensorFlow has none")


def _factor_slope(ctx: Any, factor: np.ndarray, slope: np.ndarray) -> np.ndarray:
    wide_l, wide_s = np.tril(wide(factor)), np.tril(wide(slope))
    middle = np.tril(np.swapaxes(wide_l, -1, -2) @ wide_s)
    middle[..., range(middle.shape[-1]), range(middle.shape[-1])] *= 0.5
    whole = np.linalg.solve(np.swapaxes(wide_l, -1, -2), middle)
    whole = np.swapaxes(np.linalg.solve(np.swapaxes(wide_l, -1, -2), np.swapaxes(whole, -1, -2)), -1, -2)
    return (0.5 * (whole + np.swapaxes(whole, -1, -2))).astype(factor.dtype, copy=False)


@kernel("l: T, grad: T -> output: T", shape=lambda ctx: [square_shape(ctx.shape(0))], numpy=_factor_slope,
        T="{half, float, double}")
def CholeskyGrad() -> None:
    """Compute the gradient of a matrix from that of its Cholesky factor `l`: of graphs of old programs."""


CholeskyGrad.no_gradient("TensorFlow has none")


def _pade(x: Tensor, degree: int) -> tuple[Tensor, Tensor]:
    """Return the odd and the even part of the numerator of the approximant of exp."""
    factors = [1.0]
    for k in range(1, degree + 1):                  # c_k = c_(k-1) (m + 1 - k) / (k (2 m + 1 - k))
        factors.append(factors[-1] * (degree + 1 - k) / (k * (2 * degree + 1 - k)))
    sizes: Any = shape(x)
    one = eye(sizes[-1], batch_shape=sizes[:-2], dtype=x.dtype)
    squared = matmul(x, x)
    powers = [one, squared]
    while len(powers) <= degree // 2:
        powers.append(matmul(powers[-1], squared))
    odd, even = (add_n([raw.Mul(convert_to_tensor(c, dtype=x.dtype), p) for c, p in
                         zip(factors[start::2], powers, strict=False)]) for start in (1, 0))
    return matmul(x, odd), even


@public("linalg.expm")
def expm(input: Any, name: str | None = None) -> Tensor:
    """Compute the exponential of each square matrix, by scaling and squaring (Higham 2005).

    input: [..., n, n], floating or complex. Raises ValueError for other dtypes and for matrices that are not square.

    >>> sess.run(tf.linalg.expm([[0.0, 1.0], [0.0, 0.0]]))
    array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    with name_scope(name, "matrix_exponential", [input]):
        x = convert_to_tensor(input, name="input")
        if x.dtype.name not in _DEGREE:
            raise ValueError(f"tf.linalg.expm does not support matrices of type {x.dtype!r}")
        x.set_shape(square_shape(x.static))
        degree = _DEGREE[x.dtype.name]
        real = as_dtype(x.dtype.real_dtype)
        largest = reduce_max(reduce_sum(raw.ComplexAbs(x, Tout=real) if x.dtype.is_complex else raw.Abs(x), -2,
                                        keepdims=True), -1, keepdims=True)                     # the 1-norm, [..., 1, 1]
        ratio = raw.Maximum(raw.RealDiv(largest, convert_to_tensor(_NORM[degree], dtype=real)),
                            convert_to_tensor(1, dtype=real))
        halvings = raw.Ceil(raw.RealDiv(raw.Log(ratio), convert_to_tensor(np.log(2), dtype=real)))
        halvings = raw.StopGradient(halvings)
        scaled = raw.Mul(x, cast(raw.Pow(convert_to_tensor(0.5, dtype=real), halvings), x.dtype))
        odd, even = _pade(scaled, degree)
        result = raw.MatrixSolve(raw.Sub(even, odd), raw.AddV2(even, odd))
        count = cast(raw.Max(reshape(raw.ConcatV2([reshape(halvings, [-1]), convert_to_tensor([0], dtype=real)], 0),
                                     [-1]), [0]), int32)

        def squared(i: Tensor, made: Tensor) -> tuple[Tensor, Tensor]:
            more = raw.Less(cast(i, real), halvings)
            return raw.AddV2(i, 1), raw.SelectV2(more, matmul(made, made), made)

        _, result = while_loop(lambda i, _: raw.Less(i, count), squared, [convert_to_tensor(0), result],
                               shape_invariants=[convert_to_tensor(0).shape, result.shape])
        result.set_shape(x.shape)
        return result


# By singular values

def _checked_matrix(a: Any, validate: bool) -> Tensor:
    made = convert_to_tensor(a, name="a")
    if not made.dtype.is_floating and not made.dtype.is_complex:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {made.dtype.name}).")
    if made.shape.ndims is not None and made.shape.ndims < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {made.shape.ndims}).")
    return made


def _longest_side(a: Tensor, dtype: Any) -> Tensor:
    """Return max(rows, columns) of the matrices."""
    rows, columns = (shape(a)[-2], shape(a)[-1]) if None in a.shape[-2:].as_list() else a.shape.as_list()[-2:]
    return cast(raw.Maximum(rows, columns), dtype)


@public("linalg.pinv")
def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """Compute the Moore-Penrose pseudo-inverse of each matrix, by singular values.

    a: [..., m, n]; the result is [..., n, m]. rcond: a singular value below `rcond` times the largest counts as zero,
    [...]; by default 10 max(m, n) eps. validate_args does nothing: the rank is checked in any case. Raises TypeError
    for a dtype of integers, ValueError for less than two axes.

    >>> sess.run(tf.linalg.pinv([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])).round(3) + 0
    array([[1. , 0. , 0. ],
           [0. , 0.5, 0. ]], dtype=float32)
    """
    with name_scope(name, "pinv", [a]):
        a = _checked_matrix(a, validate_args)
        real = as_dtype(a.dtype.real_dtype)
        if rcond is None:
            eps = float(np.finfo(real.as_numpy_dtype).eps)
            rcond = raw.Mul(_longest_side(a, real), convert_to_tensor(10 * eps, dtype=real))
        rcond = convert_to_tensor(rcond, dtype=real, name="rcond")
        values, left, right = raw.Svd(a, full_matrices=False, compute_uv=True)
        values = cast(values, real)
        least = raw.Mul(rcond, reduce_max(values, -1))
        endless = convert_to_tensor(np.inf, dtype=real)
        inverse = raw.SelectV2(raw.Greater(values, expand_dims(least, -1)), values, endless)
        scaled = raw.RealDiv(right, expand_dims(cast(inverse, a.dtype), -2))
        made = matmul(scaled, left, adjoint_b=True)
        if a.shape.ndims is not None:
            made.set_shape([*a.shape.as_list()[:-2], a.shape.as_list()[-1], a.shape.as_list()[-2]])
        return made


@public("linalg.matrix_rank")
def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """Count the singular values of each matrix that are greater than `tol`: [...] int32.

    a: [..., m, n]; tol: by default max(m, n) eps times the largest singular value; validate_args does nothing: the
    rank is checked in any case. Raises TypeError for a dtype of integers, ValueError for less than two axes.

    >>> sess.run(tf.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]))
    1
    """
    with name_scope(name, "matrix_rank", [a]):
        a = _checked_matrix(a, validate_args)
        real = as_dtype(a.dtype.real_dtype)
        values = cast(raw.Svd(a, compute_uv=False)[0], real)
        if tol is None:
            eps = convert_to_tensor(float(np.finfo(real.as_numpy_dtype).eps), dtype=real)
            tol = raw.Mul(raw.Mul(eps, _longest_side(a, real)), reduce_max(values, -1, keepdims=True))
        return reduce_sum(cast(raw.Greater(values, convert_to_tensor(tol, dtype=real)), int32), -1)


@public("linalg.normalize")
def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Divide by the norm. Returns the normalized tensor and the norm, with axes of size 1.

    tensor: floating or complex. ord, axis: as of `tf.norm`. Raises ValueError for those that it does not take.

    >>> sess.run(tf.linalg.normalize([3.0, 4.0]))
    (array([0.6, 0.8], dtype=float32), array([5.], dtype=float32))
    """
    with name_scope(name, "normalize", [tensor]):
        x = convert_to_tensor(tensor)
        size = cast(norm(x, ord, axis=axis, keepdims=True), x.dtype)
        made: Tensor = raw.RealDiv(x, size)
        return made, size
