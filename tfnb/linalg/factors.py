"""Linear algebra by factors: LU decompositions, systems of banded and tridiagonal matrices. By LAPACK."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.control_flow.assertions import assert_equal
from tfnb.core.dtypes import int32
from tfnb.core.shape import Static, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.kernels.cpu.matmul.lapack import lu, tridiagonal
from tfnb.kernels.library.rows import factors
from tfnb.kernels.scalar.number_types import wide
from tfnb.linalg.matrices import ADJOINT, NUMBERS, each_matrix, matrix_shape, square_shape
from tfnb.ops.array.create import eye, zeros_like
from tfnb.ops.array.joining import concat, pad, stack, unstack
from tfnb.ops.array.reshape import expand_dims, identity, matrix_transpose, shape, squeeze
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.complex import conj
from tfnb.ops.reductions.matmul import matmul
from tfnb.ops.reductions.reduce import reduce_sum

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

SOLVED = "{double, float, complex64, complex128}"


# LU

def _lu_shape(ctx: ShapeContext) -> list[Static]:
    found = square_shape(ctx.shape(0))
    return [found, None if found is None else found[:-1]]


def _factored(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both factors of a matrix in one matrix, and the row of the input that each of its rows is."""
    made, pivots, regular = lu(x)
    if not regular:
        raise ValueError("Input is not invertible.")
    rows = np.arange(len(x))
    for i, other in enumerate(pivots):
        rows[[i, other]] = rows[[other, i]]
    return made, rows


def _lu(ctx: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x, index = wide(x), ctx.op.outputs[1].dtype.np_dtype
    if factors.is_worth_it(x):
        packed, order, regular = factors.factored(x, index)
        if not regular:
            raise ValueError("Input is not invertible.")
        return packed, order
    packed, order = np.empty(x.shape, x.dtype), np.empty(x.shape[:-1], index)
    each_matrix(_factored, (x,), (packed, order))
    return packed, order


@public("linalg.lu")
@kernel("input: T -> lu: T, p: output_idx_type", shape=_lu_shape, numpy=_lu, T=NUMBERS,
        output_idx_type="{int32, int64} = DT_INT32")
def Lu() -> None:
    """Compute LU decompositions of square matrices with pivoting of rows.

    Returns (lu, p): the lower factor, whose diagonal of ones is not told, and the upper one in one matrix
    [..., n, n]; p, [..., n], is the row of the input that each row of L U is. output_idx_type: the dtype of p, int32
    or int64. Raises InvalidArgumentError for a matrix that is not invertible.

    >>> lu, p = tf.linalg.lu([[1.0, 2.0], [4.0, 4.0]])
    >>> sess.run([lu, p])
    [array([[4.  , 4.  ],
           [0.25, 1.  ]], dtype=float32), array([1, 0], dtype=int32)]
    """


Lu.no_gradient("TensorFlow has none")


def _checked(lower_upper: Any, perm: Any, validate: bool) -> tuple[Tensor, Tensor]:
    """Return both as tensors. Raises ValueError for shapes that don't fit."""
    factors = convert_to_tensor(lower_upper, name="lower_upper")
    order = convert_to_tensor(perm, preferred_dtype=int32, name="perm")
    if factors.shape.ndims is not None and factors.shape.ndims < 2:
        raise ValueError(f"Input `lower_upper` must have at least 2 dimensions, got rank {factors.shape.ndims}")
    square_shape(factors.static)
    if None not in (factors.shape.ndims, order.shape.ndims) and factors.shape.ndims != order.shape.ndims + 1:
        raise ValueError(f"`rank(lower_upper)` must equal `rank(perm) + 1`, got shapes {factors.shape} and "
                         f"{order.shape}")
    if validate:
        sizes: Any = shape(factors)
        with control_dependencies([assert_equal(sizes[-1], sizes[-2], message="`lower_upper` must be square")]):
            factors = identity(factors)
    return factors, order


def _unit_lower(factors: Tensor) -> Tensor:
    """Return the lower factor, with its ones."""
    sizes: Any = shape(factors)
    below = raw.Sub(factors, raw.MatrixBandPart(factors, 0, -1))
    made: Tensor = raw.AddV2(below, eye(sizes[-1], batch_shape=sizes[:-2], dtype=factors.dtype))
    return made


def _inverse_order(order: Tensor) -> Tensor:
    """Return for each row of the input where it is in L U."""
    made: Tensor = raw.Cast(raw.TopKV2(raw.Neg(order), raw.Shape(order)[-1])[1], DstT=order.dtype)
    return made


def _rows(matrix: Tensor, order: Tensor) -> Tensor:
    """Return the rows of each matrix in another order."""
    rank = order.shape.ndims
    if rank is None:
        raise ValueError("the rank of `perm` must be known")
    made: Tensor = raw.GatherV2(matrix, order, rank - 1, batch_dims=rank - 1)
    return made


@public("linalg.lu_reconstruct")
def lu_reconstruct(lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None) -> Tensor:
    """Compute the matrices whose LU decompositions these are: the inverse of `tf.linalg.lu`.

    lower_upper: [..., n, n]; perm: [..., n] int32 or int64; validate_args: check in the run that matrices are square.
    Raises ValueError for other shapes.

    >>> sess.run(tf.linalg.lu_reconstruct(*tf.linalg.lu([[1.0, 2.0], [3.0, 4.0]])))
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    with name_scope(name, "lu_reconstruct", [lower_upper, perm]):
        factors, order = _checked(lower_upper, perm, validate_args)
        product = matmul(_unit_lower(factors), raw.MatrixBandPart(factors, 0, -1))
        return _rows(product, _inverse_order(order))


@public("linalg.lu_solve")
def lu_solve(lower_upper: Any, perm: Any, rhs: Any, validate_args: bool = False, name: str | None = None) -> Tensor:
    """Solve A x = rhs for x, given the LU decomposition of A.

    lower_upper: [..., n, n]; perm: [..., n]; rhs: [..., n, k]; validate_args: check in the run that matrices are
    square. Raises ValueError for other shapes.

    >>> lu, p = tf.linalg.lu([[1.0, 2.0], [3.0, 4.0]])
    >>> sess.run(tf.linalg.lu_solve(lu, p, [[5.0], [11.0]]))
    array([[1.],
           [2.]], dtype=float32)
    """
    with name_scope(name, "lu_solve", [lower_upper, perm, rhs]):
        factors, order = _checked(lower_upper, perm, validate_args)
        right = convert_to_tensor(rhs, dtype=factors.dtype, name="rhs")
        if right.shape.ndims is not None and right.shape.ndims < 2:
            raise ValueError(f"`rhs` must have at least 2 dimensions, got rank {right.shape.ndims}")
        lead = raw.BroadcastArgs(shape(right)[:-2], shape(order)[:-1])
        right = raw.BroadcastTo(right, concat([lead, shape(right)[-2:]], 0))
        order = raw.BroadcastTo(order, concat([lead, shape(order)[-1:]], 0))
        below = raw.MatrixTriangularSolve(_unit_lower(factors), _rows(right, order), lower=True)
        made: Tensor = raw.MatrixTriangularSolve(factors, below, lower=False)
        return made


@public("linalg.lu_matrix_inverse")
def lu_matrix_inverse(lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None) -> Tensor:
    """Compute the inverses of the matrices whose LU decompositions these are.

    lower_upper: [..., n, n]; perm: [..., n]; validate_args: check in the run that matrices are square. Raises
    ValueError for other shapes.

    >>> sess.run(tf.linalg.lu_matrix_inverse(*tf.linalg.lu([[2.0, 0.0], [0.0, 4.0]])))
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    with name_scope(name, "lu_matrix_inverse", [lower_upper, perm]):
        factors, order = _checked(lower_upper, perm, validate_args)
        sizes: Any = shape(factors)
        return lu_solve(factors, order, eye(sizes[-1], batch_shape=sizes[:-2], dtype=factors.dtype))


# Bands

def _banded_shape(ctx: ShapeContext) -> list[Static]:
    bands, rhs = matrix_shape(ctx.shape(0)), matrix_shape(ctx.shape(1))
    if bands is None or rhs is None:
        return [None]
    (rows,) = merge((bands[-1],), (rhs[-2],)) or (None,)
    if bands[-2] is not None and rows is not None and bands[-2] > rows:
        raise ValueError(f"Number of bands {bands[-2]} cannot exceed the size of the matrix {rows}")
    lead = merge(bands[:-2], rhs[:-2])
    return [None if lead is None else (*lead, rows, rhs[-1])]


def _entries(bands: np.ndarray, lower: bool, turned: bool) -> list[np.ndarray]:
    """Return, for each distance from the diagonal, the entry of each row; of the adjoint matrix, if `turned`."""
    ordered = [bands[..., j if lower else -1 - j, :] for j in range(bands.shape[-2])]
    if not turned:
        return ordered
    side = bands.shape[-1]
    made = []
    for j, band in enumerate(ordered):              # row i of the adjoint has the entry of row i + j (or i - j)
        moved = np.zeros_like(band)
        if lower:
            moved[..., :side - j] = band[..., j:]
        else:
            moved[..., j:] = band[..., :side - j]
        made.append(np.conj(moved))
    return made


def _banded_solve(ctx: Any, bands: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Row by row, for all matrices at once."""
    lower, turned = ctx.attrs["lower"], ctx.attrs["adjoint"]
    entries, b = _entries(wide(bands), lower, turned), wide(rhs)
    forward, side = lower != turned, b.shape[-2]
    x = np.zeros_like(b)
    with np.errstate(all="ignore"):
        for i in range(side) if forward else range(side - 1, -1, -1):
            rest = b[..., i, :].copy()
            for j, entry in enumerate(entries[1:], 1):
                other = i - j if forward else i + j
                if 0 <= other < side:
                    rest -= entry[..., i, None] * x[..., other, :]
            x[..., i, :] = rest / entries[0][..., i, None]
    return x.astype(rhs.dtype, copy=False)


@kernel("matrix: T, rhs: T -> output: T", shape=_banded_shape, numpy=_banded_solve, lower="bool = true", **ADJOINT,
        T=NUMBERS)
def BandedTriangularSolve() -> None:
    """Solve systems whose triangular matrices are given by their bands, [..., bands, n], diagonal first if `lower`.

    Entry i of a band is that of row i.
    """


@BandedTriangularSolve.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor]:
    (bands, _), x, lower, turned = op.inputs, op.outputs[0], op.attrs["lower"], op.attrs["adjoint"]
    db = raw.BandedTriangularSolve(bands, dy, lower=lower, adjoint=not turned)
    left, right = (x, db) if turned else (db, x)
    count = bands.shape[-2].value
    if count is None:
        raise ValueError("the number of bands must be known for the gradient of BandedTriangularSolve")
    rows = [-reduce_sum(left * _moved(conj(right), j if lower else -j), -1) for j in range(count)]
    return [stack(rows if lower else rows[::-1], -2), db]


def _moved(x: Any, by: int) -> Tensor:
    """Return the rows of x `by` rows further down (up, if negative), zeros in their places."""
    if not by:
        return x
    part = x[..., :-by, :] if by > 0 else x[..., -by:, :]
    made: Tensor = raw.ConcatV2([zeros_like(x[..., :by, :]), part] if by > 0 else
                                [part, zeros_like(x[..., by:, :])], -2)
    return made


def _tridiagonal_shape(ctx: ShapeContext) -> list[Static]:
    diagonals, rhs = matrix_shape(ctx.shape(0)), matrix_shape(ctx.shape(1))
    if diagonals is None or rhs is None:
        return [rhs]
    if diagonals[-2] not in (None, 3):
        raise ValueError(f"Expected 3 diagonals got {diagonals[-2]}")
    (rows,) = merge((diagonals[-1],), (rhs[-2],)) or (None,)
    lead = merge(diagonals[:-2], rhs[:-2])
    return [None if lead is None else (*lead, rows, rhs[-1])]


def _tridiagonal_solve(ctx: Any, diagonals: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    solve = _pivoted if ctx.attrs["partial_pivoting"] else _plain
    made = np.empty_like(rhs)
    if made.size:
        each_matrix(lambda *one: (solve(*one),), (wide(diagonals), wide(rhs)), (made,))
    return made


def _pivoted(diagonals: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Return the solutions by LAPACK; NaN where the matrix is singular, as in TensorFlow."""
    if len(rhs) == 1:
        with np.errstate(all="ignore"):
            return np.where(diagonals[1, 0] == 0, np.nan, rhs / diagonals[1, 0])
    made, regular = tridiagonal(diagonals, rhs)
    return made if regular else np.full_like(rhs, np.nan)


def _plain(diagonals: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Return the solutions by Thomas' algorithm, which does not exchange rows."""
    above, middle, below = diagonals
    x, factor = np.array(rhs), np.zeros_like(above)
    if not middle[0]:
        return np.full_like(rhs, np.nan)
    x[0] /= middle[0]
    for i in range(1, len(rhs)):
        factor[i - 1] = above[i - 1] / (middle[i - 1] - (below[i - 1] * factor[i - 2] if i > 1 else 0))
        pivot = middle[i] - below[i] * factor[i - 1]
        if not pivot:
            return np.full_like(rhs, np.nan)
        x[i] = (rhs[i] - below[i] * x[i - 1]) / pivot
    for i in range(len(rhs) - 2, -1, -1):
        x[i] -= factor[i] * x[i + 1]
    return x


@kernel("diagonals: T, rhs: T -> output: T", shape=_tridiagonal_shape, numpy=_tridiagonal_solve,
        partial_pivoting="bool = true", perturb_singular="bool = false", T=SOLVED)
def TridiagonalSolve() -> None:
    """Solve systems of tridiagonal matrices: [..., 3, n], the diagonal above the main one, that, the one below.

    Entry i of a diagonal is that of row i; the last above and the first below are not read.
    """


def _compact(diagonals: Tensor) -> list[Any]:
    return unstack(diagonals, 3, axis=-2)


@TridiagonalSolve.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor]:
    diagonals, x = op.inputs[0], op.outputs[0]
    above, middle, below = (conj(d) for d in _compact(diagonals))
    turned = stack([_along(below, -1), middle, _along(above, 1)], -2)
    db = raw.TridiagonalSolve(turned, dy, partial_pivoting=op.attrs["partial_pivoting"],
                              perturb_singular=op.attrs["perturb_singular"])
    right = conj(x)
    slopes = [-reduce_sum(db * _moved(right, by), -1) for by in (-1, 0, 1)]
    return [stack(slopes, -2), db]


def _along(x: Any, by: int) -> Tensor:
    """Return the elements of the last axis one place further (back, if negative), a zero in their place."""
    return squeeze(_moved(expand_dims(x, -1), by), -1)


def _product_shape(ctx: ShapeContext) -> list[Static]:
    rhs = matrix_shape(ctx.shape(3))
    found: Static = None if rhs is None else (*rhs[:-2], 1, rhs[-2])
    for i in range(3):
        found = merge(found, matrix_shape(ctx.shape(i)))
    if found is not None:
        merge((found[-2],), (1,))
    return [None if rhs is None or found is None else (*found[:-2], found[-1], rhs[-1])]


def _tridiagonal_product(ctx: Any, above: np.ndarray, middle: np.ndarray, below: np.ndarray,
                         rhs: np.ndarray) -> np.ndarray:
    made = np.swapaxes(middle, -1, -2) * rhs
    made[..., :-1, :] += np.swapaxes(above, -1, -2)[..., :-1, :] * rhs[..., 1:, :]
    made[..., 1:, :] += np.swapaxes(below, -1, -2)[..., 1:, :] * rhs[..., :-1, :]
    return made


@kernel("superdiag: T, maindiag: T, subdiag: T, rhs: T -> output: T", shape=_product_shape,
        numpy=_tridiagonal_product, T=SOLVED)
def TridiagonalMatMul() -> None:
    """Multiply tridiagonal matrices, given by diagonals [..., 1, n], by matrices [..., n, k].

    Entry i of a diagonal is that of row i; the last above and the first below are not read.
    """


@TridiagonalMatMul.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor]:
    above, middle, below, x = op.inputs
    slopes = [expand_dims(reduce_sum(dy * _moved(conj(x), by), -1), -2) for by in (-1, 0, 1)]
    dx = raw.TridiagonalMatMul(_along(conj(below), -1), conj(middle), _along(conj(above), 1), dy)
    return [*slopes, dx]


def _diagonals(diagonals: Any, form: str, name: str) -> list[Tensor]:
    """Return the diagonals above, on and below the main one, [..., n] each."""
    if form == "sequence":
        if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
            raise ValueError("Expected diagonals to be a sequence of length 3.")
        above, middle, below = (convert_to_tensor(d, name=name) for d in diagonals)
        n, shorter = middle.shape[-1].value, [d.shape[-1].value for d in (above, below)]
        lead = [[0, 0]] * (middle.shape.ndims - 1)
        if n is not None and shorter[0] == n - 1:
            above = pad(above, [*lead, [0, 1]])
        if n is not None and shorter[1] == n - 1:
            below = pad(below, [*lead, [1, 0]])
        return [above, middle, below]
    given = convert_to_tensor(diagonals, name=name)
    if form == "compact":
        if given.shape[-2].value not in (None, 3):
            raise ValueError(f"Expected 3 diagonals got {given.shape[-2]}")
        return _compact(given)
    if form != "matrix":
        raise ValueError(f"Unrecognized diagonals_format: {form}")
    square_shape(given.static)
    middle = raw.MatrixDiagPart(given)
    above = raw.MatrixDiagPart(_moved(matrix_transpose(given), -1))     # row i + 1 of the transpose
    below = raw.MatrixDiagPart(_moved(matrix_transpose(given), 1))
    return [above, middle, below]


@public("linalg.tridiagonal_solve")
def tridiagonal_solve(diagonals: Any, rhs: Any, diagonals_format: str = "compact", transpose_rhs: bool = False,
                      conjugate_rhs: bool = False, name: str | None = None, partial_pivoting: bool = True,
                      perturb_singular: bool = False) -> Tensor:
    """Solve systems of tridiagonal matrices.

    diagonals: by `diagonals_format` "compact" [..., 3, n] (above the main diagonal, on it, below; entry i is that of
    row i), "sequence" a list of the three, of which the outer ones may have n - 1 elements, or "matrix" [..., n, n].
    rhs: [..., n] or [..., n, k], as is the result; transpose_rhs: it is [..., k, n]; conjugate_rhs: it is conjugated.
    partial_pivoting: exchange rows where that is more accurate. perturb_singular: False. The solution of a singular
    system is NaN. Raises ValueError for shapes that don't fit and unknown formats.

    >>> diagonals = tf.constant([[1.0, 1.0, 0.0], [2.0, 2.0, 2.0], [0.0, 1.0, 1.0]])
    >>> sess.run(tf.linalg.tridiagonal_solve(diagonals, [4.0, 8.0, 8.0]))
    array([1., 2., 3.], dtype=float32)
    """
    with name_scope(name, "tridiagonal_solve", [rhs]):
        if perturb_singular:
            raise ValueError("perturb_singular is not supported: the solution of a singular system is NaN")
        parts = _diagonals(diagonals, diagonals_format, "diagonals")
        right = convert_to_tensor(rhs, dtype=parts[1].dtype, name="rhs")
        if right.shape.ndims is None or parts[1].shape.ndims is None:
            raise ValueError("the ranks of diagonals and rhs must be known")
        vector = right.shape.ndims == parts[1].shape.ndims
        if not vector and right.shape.ndims != parts[1].shape.ndims + 1:
            raise ValueError(f"Expected the rank of rhs to be {parts[1].shape.ndims} or {parts[1].shape.ndims + 1}, "
                             f"got {right.shape.ndims}")
        n, k = parts[1].shape[-1].value, right.shape[-1 if vector or transpose_rhs else -2].value
        if None not in (n, k) and n != k:
            raise ValueError(f"Expected number of left-hand sided and right-hand sides to be equal, got {n} and {k}")
        right = conj(right) if conjugate_rhs else right
        right = expand_dims(right, -1) if vector else matrix_transpose(right) if transpose_rhs else right
        made: Tensor = raw.TridiagonalSolve(stack(parts, -2), right, partial_pivoting=partial_pivoting)
        return squeeze(made, -1) if vector else made


@public("linalg.tridiagonal_matmul")
def tridiagonal_matmul(diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None) -> Tensor:
    """Multiply tridiagonal matrices by matrices.

    diagonals: by `diagonals_format` "compact" [..., 3, n] (above the main diagonal, on it, below; entry i is that of
    row i), "sequence" a list of the three, or "matrix" [..., n, n]. rhs: [..., n, k], as is the result. Raises
    ValueError for shapes that don't fit and unknown formats.

    >>> diagonals = tf.constant([[1.0, 1.0, 0.0], [2.0, 2.0, 2.0], [0.0, 1.0, 1.0]])
    >>> sess.run(tf.linalg.tridiagonal_matmul(diagonals, [[1.0], [2.0], [3.0]]))
    array([[4.],
           [8.],
           [8.]], dtype=float32)
    """
    with name_scope(name, "tridiagonal_matmul", [rhs]):
        above, middle, below = _diagonals(diagonals, diagonals_format, "diagonals")
        right = convert_to_tensor(rhs, dtype=middle.dtype, name="rhs")
        made: Tensor = raw.TridiagonalMatMul(expand_dims(above, -2), expand_dims(middle, -2), expand_dims(below, -2),
                                             right)
        return made
