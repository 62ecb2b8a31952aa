"""Matrix products, and tensor contractions by them."""
from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, broadcast, is_known
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.contraction import Contraction
from tfnb.kernels.cpu.matmul import gemm
from tfnb.kernels.cuda import gemm as cuda
from tfnb.ops.array.reshape import reshape, transpose
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.raw import raw
from tfnb.ops.declaration.shapes import of_rank
from tfnb.ops.math.broadcast import BroadcastGradientArgs
from tfnb.ops.math.complex import conj

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext


def _inner(m: int | None, n: int | None) -> None:
    if m is not None and n is not None and m != n:
        raise ValueError(f"Dimensions must be equal, but are {m} and {n}")


def _product_shape(ctx: ShapeContext) -> list[Static]:
    a, b = of_rank(ctx.shape(0), 2), of_rank(ctx.shape(1), 2)
    assert a is not None and b is not None
    rows, inner = a[::-1] if ctx.attrs["transpose_a"] else a
    other, columns = b[::-1] if ctx.attrs["transpose_b"] else b
    _inner(inner, other)
    return [(rows, columns)]


def _product(ctx: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return gemm.product(a, b, ctx.attrs)


@kernel("a: T, b: T -> product: T", shape=_product_shape, numpy=_product, cpu=gemm.matmul, cuda=cuda.matmul, total=True,
        contraction=Contraction(gemm.straight, gemm.block_columns, gemm.bound_product), work=gemm.operations,
        halves="summed", transpose_a="bool = false", transpose_b="bool = false",
        T="{bfloat16, half, float, double, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128}",
        grad_a="bool = false", grad_b="bool = false")
def MatMul() -> None:
    """Compute the product of two matrices, each transposed first if so wanted."""


MatMul.hint_for_nan("sums of products overflowed: have weights or inputs grown too large?")


@MatMul.gradient
def _(op: Operation, dc: Tensor) -> list[Tensor]:
    a, b = conj(op.inputs[0]), conj(op.inputs[1])
    match op.attrs["transpose_a"], op.attrs["transpose_b"]:
        case False, False:
            return [MatMul(dc, b, transpose_b=True), MatMul(a, dc, transpose_a=True)]
        case False, True:
            return [MatMul(dc, b), MatMul(dc, a, transpose_a=True)]
        case True, False:
            return [MatMul(b, dc, transpose_b=True), MatMul(a, dc)]
        case _:
            return [MatMul(b, dc, transpose_a=True, transpose_b=True),
                    MatMul(dc, a, transpose_a=True, transpose_b=True)]


# Stacks of matrices

def _batch_shape(ctx: ShapeContext) -> list[Static]:
    x, y = ctx.shape(0), ctx.shape(1)
    for shape in (x, y):
        if shape is not None and len(shape) < 2:
            raise ValueError(f"Shape must be at least rank 2 but is rank {len(shape)}")
    if x is None or y is None:
        return [None]
    rows, inner = x[-2:][::-1] if ctx.attrs["adj_x"] else x[-2:]
    other, columns = y[-2:][::-1] if ctx.attrs["adj_y"] else y[-2:]
    _inner(inner, other)
    lead = broadcast(x[:-2], y[:-2])
    return [None if lead is None else (*lead, rows, columns)]


def _same_lead_shape(ctx: ShapeContext) -> list[Static]:
    x, y = ctx.shape(0), ctx.shape(1)
    if x is not None and y is not None:
        if len(x) != len(y):
            raise ValueError(f"Shapes must be equal rank, but are {len(x)} and {len(y)}")
        for m, n in zip(x[:-2], y[:-2], strict=True):
            _inner(m, n)
    return _batch_shape(ctx)


def _batch_product(ctx: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return gemm.batch_product(x, y, ctx.attrs)


@kernel("x: T, y: T -> output: T", shape=_batch_shape, numpy=_batch_product, cpu=gemm.batch_matmul,
        cuda=cuda.batch_matmul, contraction=Contraction(gemm.straight), work=gemm.operations, total=True,
        halves="summed",
        T="{bfloat16, half, float, double, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128}",
        adj_x="bool = false", adj_y="bool = false", grad_x="bool = false", grad_y="bool = false")
def BatchMatMulV2() -> None:
    """Compute the products of the matrices in the last two axes, with broadcasting over the others."""


@kernel("x: T, y: T -> output: T", shape=_same_lead_shape, numpy=_batch_product, cpu=gemm.batch_matmul,
        cuda=cuda.batch_matmul, contraction=Contraction(gemm.straight), work=gemm.operations, total=True,
        halves="summed", T="{bfloat16, half, float, double, int32, int64, complex64, complex128}",
        adj_x="bool = false", adj_y="bool = false", grad_x="bool = false", grad_y="bool = false")
def BatchMatMul() -> None:
    """Compute the products of the matrices in the last two axes; the other axes are equal."""


@BatchMatMul.gradient
def _batch_products(op: Operation, dz: Tensor) -> list[Tensor]:
    x, y = op.inputs
    match op.attrs["adj_x"], op.attrs["adj_y"]:
        case False, False:
            dx, dy = BatchMatMulV2(dz, y, adj_y=True), BatchMatMulV2(x, dz, adj_x=True)
        case False, True:
            dx, dy = BatchMatMulV2(dz, y), BatchMatMulV2(dz, x, adj_x=True)
        case True, False:
            dx, dy = BatchMatMulV2(y, dz, adj_y=True), BatchMatMulV2(x, dz)
        case _:
            dx = BatchMatMulV2(y, dz, adj_x=True, adj_y=True)
            dy = BatchMatMulV2(dz, x, adj_x=True, adj_y=True)
    return [dx, dy]


@BatchMatMulV2.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    """Products of the matrices, summed where an input was broadcast."""
    (x, y), (dx, dy) = op.inputs, _batch_products(op, dz)
    lead = [t.static[:-2] if t.static is not None else None for t in (x, y)]
    if is_known(lead[0]) and lead[0] == lead[1]:
        return [dx, dy]
    shapes = [raw.Shape(x), raw.Shape(y)]
    axes = BroadcastGradientArgs(shapes[0][:-2], shapes[1][:-2])
    return [raw.Reshape(raw.Sum(d, gone), shape) for d, gone, shape in zip((dx, dy), axes, shapes, strict=True)]


# What users call

def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
           adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False,
           name: str | None = None) -> Tensor:
    """Compute the product of two matrices, or of batches of them (in the last two axes; the others broadcast).

    Raises ValueError where the shapes don't fit, or for both `transpose_a` and `adjoint_a`. a_is_sparse, b_is_sparse:
    taken for compatibility, the product is the same.

    >>> sess.run(tf.matmul([[1, 2], [3, 4]], [[5], [6]]))
    array([[17],
           [39]], dtype=int32)
    """
    if (transpose_a and adjoint_a) or (transpose_b and adjoint_b):
        which = "a" if transpose_a and adjoint_a else "b"
        raise ValueError(f"Only one of `transpose_{which}` and `adjoint_{which}` can be True.")
    with name_scope(name, "MatMul", [a, b]) as scope:
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, preferred_dtype=a.dtype.base_dtype, name="b")
        if any(x.static is None or len(x.static) > 2 for x in (a, b)):
            a, b = conj(a) if transpose_a else a, conj(b) if transpose_b else b
            return BatchMatMulV2(a, b, adj_x=transpose_a or adjoint_a, adj_y=transpose_b or adjoint_b, name=scope)
        a, b = conj(a) if adjoint_a else a, conj(b) if adjoint_b else b
        return MatMul(a, b, transpose_a=transpose_a or adjoint_a, transpose_b=transpose_b or adjoint_b, name=scope)


def batch_matmul(x: Any, y: Any, adj_x: bool = False, adj_y: bool = False, name: str | None = None) -> Tensor:
    """Compute the products of the matrices in the last two axes (an r0.x function).

    >>> sess.run(tf.batch_matmul(np.ones([5, 2, 3]), np.ones([5, 3, 1]))).shape
    (5, 2, 1)
    """
    return BatchMatMulV2(x, y, adj_x=adj_x, adj_y=adj_y, name=name)


def matvec(a: Any, b: Any, transpose_a: bool = False, adjoint_a: bool = False, a_is_sparse: bool = False,
           b_is_sparse: bool = False, name: str | None = None) -> Tensor:
    """Compute the product of a matrix and a vector, or of batches: (..., m, n) and (..., n) give (..., m).

    Errors as of `matmul`. a_is_sparse, b_is_sparse: taken for compatibility, the product is the same.

    >>> sess.run(tf.linalg.matvec([[1, 2], [3, 4]], [5, 6]))
    array([17, 39], dtype=int32)
    """
    with name_scope(name, "MatVec", [a, b]):
        made = matmul(a, raw.ExpandDims(b, -1), transpose_a=transpose_a, adjoint_a=adjoint_a)
        return raw.Squeeze(made, squeeze_dims=[-1])


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """Contract two tensors: the sum of products over pairs of axes.

    axes: how many of the last axes of `a` go with the first of `b`, or a list (or tensor) of two: the axes of `a`,
    those of `b`. Raises ValueError for axes that don't fit. The shape of the result is unknown where a rank, or the
    value of a tensor of axes, is.

    >>> sess.run(tf.tensordot([[1, 2], [3, 4]], [5, 6], axes=1))
    array([17, 39], dtype=int32)
    """
    with name_scope(name, "Tensordot", [a, b, axes]) as scope:
        a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        known = constant_value(axes) if isinstance(axes, Tensor) else axes
        if a.static is None or b.static is None or known is None:
            return _dot_in_the_run(a, b, axes if known is None else known, scope)
        axes = known if isinstance(known, (int, np.integer)) else list(known)
        axes_a, axes_b = _dot_axes(a.static, b.static, axes)
        free_a = [i for i in range(len(a.static)) if i not in axes_a]
        free_b = [i for i in range(len(b.static)) if i not in axes_b]
        left, right = _flat(a, free_a, axes_a), _flat(b, axes_b, free_b)
        if left is a and right is b:
            return MatMul(a, b)
        return reshape(MatMul(left, right), _free_shape(a, free_a, b, free_b), name=scope)


def _dot_in_the_run(a: Tensor, b: Tensor, axes: Any, name: str) -> Tensor:
    """As tensordot, with ranks or axes that only a run tells."""
    if isinstance(axes, (int, np.integer)):
        if axes < 0:
            raise ValueError(f"`axes` must be at least 0. Received: {axes}")
        last = raw.Rank(a)
        axes_a, axes_b = raw.Range(last - axes, last, 1), raw.Range(0, axes, 1)
    else:
        axes_a, axes_b = (reshape(convert_to_tensor(axes[i], dtypes.int32), [-1]) for i in range(2))
    left, free_a = _flat_in_the_run(a, axes_a, 1)
    right, free_b = _flat_in_the_run(b, axes_b, 0)
    return reshape(MatMul(left, right), raw.ConcatV2([free_a, free_b], 0), name=name)


def _flat_in_the_run(x: Tensor, axes: Any, at: int) -> tuple[Tensor, Any]:
    """`x` as a matrix with `axes` in its rows (at=0) or columns (1), and the sizes of its other axes."""
    count, sizes = raw.Rank(x), raw.Shape(x)
    axes = raw.Select(axes < 0, axes + count, axes)
    free, _ = raw.ListDiff(raw.Range(0, count, 1), axes)
    order = [free, axes] if at else [axes, free]
    rows, columns = (raw.Prod(raw.GatherV2(sizes, part, 0), [0]) for part in order)
    return (reshape(transpose(x, raw.ConcatV2(order, 0)), raw.Pack([rows, columns])), raw.GatherV2(sizes, free, 0))


def _dot_axes(a: Sequence[Any], b: Sequence[Any], axes: Any) -> tuple[list[int], list[int]]:
    if isinstance(axes, (int, np.integer)):
        if not 0 <= axes <= min(len(a), len(b)):
            raise ValueError(f"`axes` must be between 0 and the rank of both tensors. Received: {axes}")
        return list(range(len(a) - axes, len(a))), list(range(axes))
    axes_a, axes_b = (np.atleast_1d(np.asarray(one, int)).tolist() for one in axes)
    if len(axes_a) != len(axes_b):
        raise ValueError(f"Different number of contraction axes {axes_a} and {axes_b}")
    return [i % len(a) for i in axes_a], [i % len(b) for i in axes_b]


def _flat(x: Tensor, first: Sequence[int], second: Sequence[int]) -> Tensor:
    """`x` as a matrix: the axes `first` in its rows, `second` in its columns."""
    perm = [*first, *second]
    if perm == [0, 1]:
        return x
    moved = x if perm == list(range(len(perm))) else transpose(x, np.array(perm, np.int32))
    sizes = [[(x.static or ())[i] for i in part] for part in (first, second)]
    known = [prod(part) if None not in part else None for part in sizes]          # type: ignore[arg-type]
    if known.count(None) < 2:
        return reshape(moved, [-1 if n is None else n for n in known])
    shape = raw.Shape(x)
    return reshape(moved, raw.Pack([raw.Prod(raw.GatherV2(shape, np.array(part, np.int32), 0), [0])
                                    for part in (first, second)]))


def _free_shape(a: Tensor, free_a: Sequence[int], b: Tensor, free_b: Sequence[int]) -> Any:
    sizes = [(a.static or ())[i] for i in free_a] + [(b.static or ())[i] for i in free_b]
    if sizes.count(None) < 2:
        return np.array([-1 if n is None else n for n in sizes], np.int32)
    return raw.ConcatV2([raw.GatherV2(raw.Shape(x), np.array(free, np.int32), 0)
                         for x, free in ((a, free_a), (b, free_b))], 0)


describe(globals(), TENSORS)
