"""Arithmetic of sparse tensors: sums, extremes, reductions, softmax, products with dense matrices."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfnb.core import indexing
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.options import has_compiler
from tfnb.core.shape import Static, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.library.checks import Coordinates
from tfnb.kernels.library.gather import product_by_kernel, sparse_dense_product
from tfnb.kernels.library.rows import sparse as kernels
from tfnb.ops.composite.sparse_tensor import SparseTensor, SparseTensorValue
from tfnb.ops.declaration.arguments import renamed
from tfnb.ops.declaration.declare import host, kernel
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.complex import conj
from tfnb.ops.sparse.structure import belong, flat_places, row_major, united, unknown_count

_PAIR = "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64"
_PAIR_RANKS = {"a_indices": 2, "a_values": 1, "a_shape": 1, "b_indices": 2, "b_values": 1, "b_shape": 1}
_ONE = "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32"


# Sums and extremes of two sparse tensors

def _same_shape(ctx: Any) -> list[Static]:
    _, rank = belong(ctx)
    _, other = belong(ctx, 3)
    (rank,) = merge((rank,), (other,)) or (rank,)
    return unknown_count(rank)


def _equal_shapes(ctx: Any, a: np.ndarray, b: np.ndarray) -> None:
    if not np.array_equal(a, b):
        raise ValueError(f"operands' shapes do not match: got {a.tolist()} and {b.tolist()}")


@host(f"{_PAIR}, thresh: Treal -> sum_indices: int64, sum_values: T, sum_shape: int64", shape=_same_shape,
      validate=_same_shape, ranks={**_PAIR_RANKS, "thresh": 0}, T="numbertype", Treal="realnumbertype")
def SparseAdd(ai: Any, av: Any, a_shape: Any, bi: Any, bv: Any, b_shape: Any, thresh: Any, *, ctx: Any) -> Any:
    """Add two sparse tensors of one dense shape; sums of two values are left out if their magnitude is below `thresh`.
    """
    _equal_shapes(ctx, a_shape, b_shape)
    rows, at, bt = united(ai, bi)
    sums = np.zeros(len(rows), av.dtype)
    np.add.at(sums, at, av)
    np.add.at(sums, bt, bv)
    if len(rows) == len(av) + len(bv):                          # no two at one place
        return rows, sums, a_shape
    only = np.ones((2, len(rows)), bool)
    only[0, at], only[1, bt] = False, False
    kept = only.any(0) | (np.abs(sums) >= thresh)
    return (rows, sums, a_shape) if kept.all() else (rows[kept], sums[kept], a_shape)


@host("backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64 -> a_val_grad: T, b_val_grad: T",
      shape=lambda ctx: [(merge(ctx.shape(i), (None, None)) or (None,))[:1] for i in (1, 2)],
      ranks={"backprop_val_grad": 1, "a_indices": 2, "b_indices": 2, "sum_indices": 2}, T="numbertype")
def SparseAddGrad(dy: Any, ai: Any, bi: Any, rows: Any) -> Any:
    """Compute the gradients of the values of both addends of SparseAdd; those that were left out have none."""
    if len(dy) != len(rows):
        raise ValueError(f"expected a gradient for each of {len(rows)} sums, got {len(dy)}")
    return _slopes_of(ai, rows, dy), _slopes_of(bi, rows, dy)


def _slopes_of(indices: np.ndarray, rows: np.ndarray, dy: np.ndarray) -> np.ndarray:
    """Return the gradient of the value at each index: that of the sum there, 0 where there is none."""
    found = kernels.taken(indices, rows, dy)
    if found is not None:
        return found
    every, own, summed = united(indices, rows)
    values = np.zeros(len(every), dy.dtype)
    values[summed] = dy
    slopes: np.ndarray = values[own]
    return slopes


SparseAddGrad.no_gradient("as in TensorFlow, it has none")


@SparseAdd.gradient
def _(op: Operation, _d_indices: Any, dy: Tensor, _d_shape: Any) -> list[Tensor | None]:
    da, db = SparseAddGrad(dy, op.inputs[0], op.inputs[3], op.outputs[0])
    return [None, da, None, None, db, None, None]


@host("a_indices: Tindices, a_values: T, a_shape: Tindices, b: T -> output: T",
      shape=lambda ctx: [ctx.shape(3)], ranks={"a_indices": 2, "a_values": 1, "a_shape": 1}, T="numbertype",
      Tindices="{int32, int64}")
def SparseTensorDenseAdd(indices: Any, values: Any, shape: Any, dense: Any) -> Any:
    """Add a sparse tensor to a dense one of its shape; the result is dense."""
    if dense.shape != tuple(shape.tolist()):
        raise ValueError(f"expected a dense tensor of the shape {shape.tolist()}, got {list(dense.shape)}")
    if len(indices) != len(values) or indices.shape[1] != dense.ndim:
        raise ValueError(f"expected indices of shape [{len(values)}, {dense.ndim}], got {list(indices.shape)}")
    places, total = flat_places(indices, shape), dense.copy()
    np.add.at(total.reshape(-1), places, values)
    return total


@SparseTensorDenseAdd.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [None, raw.GatherNd(dy, op.inputs[0]), None, dy]


@public("sparse.add", "sparse_add")
def sparse_add(a: Any, b: Any, threshold: Any = None, thresh: Any = None) -> Any:
    """Add two tensors of one shape, of which at least one is sparse; the result is dense if one is dense.

    threshold (also `thresh`): of two sparse ones, sums of two values with a magnitude below it are left out; 0 by
    default. Raises TypeError for two dense tensors. Running it raises InvalidArgumentError for different shapes.

    >>> a = tf.SparseTensor(indices=[[0, 1], [1, 0]], values=[5.0, 1.0], dense_shape=[2, 2])
    >>> b = tf.SparseTensor(indices=[[0, 1]], values=[2.0], dense_shape=[2, 2])
    >>> sess.run(tf.sparse_tensor_to_dense(tf.sparse.add(a, b)))
    array([[0., 7.],
           [1., 0.]], dtype=float32)
    >>> sess.run(tf.sparse.add(a, [[1.0, 1.0], [1.0, 1.0]]))
    array([[1., 6.],
           [2., 1.]], dtype=float32)
    """
    threshold = renamed("threshold", threshold, "thresh", thresh)
    threshold = 0 if threshold is None else threshold
    sparse = [isinstance(each, (SparseTensor, SparseTensorValue)) for each in (a, b)]
    if not any(sparse):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if all(sparse):
        a, b = SparseTensor.from_value(a), SparseTensor.from_value(b)
        real = a.values.dtype.real_dtype.base_dtype
        made = SparseAdd(*a.parts, *b.parts, convert_to_tensor(threshold, dtype=real))
        return SparseTensor(*made)
    if sparse[1]:
        a, b = b, a
    a = SparseTensor.from_value(a)
    return SparseTensorDenseAdd(*a.parts, b)


def _extremes(choose: Callable[[Any, Any], Any], ai: Any, av: Any, a_shape: Any, bi: Any, bv: Any, b_shape: Any) -> Any:
    """Return the united indices, and `choose` of the values there, of which a missing one is zero."""
    _equal_shapes(None, a_shape, b_shape)
    rows, at, bt = united(ai, bi)
    a, b = np.zeros(len(rows), av.dtype), np.zeros(len(rows), av.dtype)
    a[at], b[bt] = av, bv
    return rows, choose(a, b)


@host(f"{_PAIR} -> output_indices: int64, output_values: T", shape=lambda ctx: _same_shape(ctx)[:2],
      validate=_same_shape, ranks=_PAIR_RANKS, T="realnumbertype")
def SparseSparseMaximum(*parts: Any) -> Any:
    """Take the larger of two sparse tensors of one shape, element by element, where either has a value."""
    return _extremes(np.maximum, *parts)


@host(f"{_PAIR} -> output_indices: int64, output_values: T", shape=lambda ctx: _same_shape(ctx)[:2],
      validate=_same_shape, ranks=_PAIR_RANKS, T="numbertype")
def SparseSparseMinimum(*parts: Any) -> Any:
    """Take the smaller of two sparse tensors of one shape, element by element, where either has a value."""
    return _extremes(np.minimum, *parts)


for _op in (SparseSparseMaximum, SparseSparseMinimum):
    _op.no_gradient("as in TensorFlow, it has none")


def _extreme(op: Any, sp_a: Any, sp_b: Any, name: str | None) -> SparseTensor:
    a, b = SparseTensor.from_value(sp_a), SparseTensor.from_value(sp_b)
    with name_scope(name, op.spec.name, [a, b]) as scope:
        indices, values = op(*a.parts, *b.parts, name=scope)
        return SparseTensor(indices, values, a.dense_shape)


@public("sparse.maximum", "sparse_maximum")
def sparse_maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """Take the larger of the elements of two SparseTensors, `sp_a` and `sp_b`, where either has a value.

    Where only one has, that of the other is 0. Running it raises InvalidArgumentError for different shapes.

    >>> a = tf.SparseTensor(indices=[[0], [1]], values=[5, -3], dense_shape=[3])
    >>> b = tf.SparseTensor(indices=[[0], [2]], values=[7, 1], dense_shape=[3])
    >>> sess.run(tf.sparse.maximum(a, b)).values
    array([7, 0, 1], dtype=int32)
    """
    return _extreme(SparseSparseMaximum, sp_a, sp_b, name)


@public("sparse.minimum", "sparse_minimum")
def sparse_minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """Take the smaller of the elements of two SparseTensors, `sp_a` and `sp_b`, where either has a value.

    Where only one has, that of the other is 0. Running it raises InvalidArgumentError for different shapes.

    >>> a = tf.SparseTensor(indices=[[0], [1]], values=[5, -3], dense_shape=[3])
    >>> b = tf.SparseTensor(indices=[[0], [2]], values=[7, 1], dense_shape=[3])
    >>> sess.run(tf.sparse.minimum(a, b)).values
    array([ 5, -3,  0], dtype=int32)
    """
    return _extreme(SparseSparseMinimum, sp_a, sp_b, name)


# Reductions

def _reduced_axes(axes: np.ndarray, rank: int) -> list[int]:
    """Return the axes that are reduced, all for none given. Raises ValueError for one beyond the rank."""
    found = axes.reshape(-1).tolist()
    bad = [axis for axis in found if not -rank <= axis < rank]
    if bad:
        raise ValueError(f"Invalid reduction dimension {bad[0]}, for input with {rank} dimensions.")
    return sorted({axis % rank for axis in found}) or list(range(rank))


def _groups(indices: np.ndarray, values: np.ndarray, shape: np.ndarray, axes: np.ndarray,
            combine: Any) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return the different indices along the axes that stay, the combined values, and the axes that are reduced."""
    flat_places(indices, shape)
    reduced = _reduced_axes(axes, len(shape))
    left = [axis for axis in range(len(shape)) if axis not in reduced]
    rows, held = indices[:, left], values
    order = row_major(rows)
    if order is not None:
        rows, held = rows[order], values[order]
    new = np.concatenate([[True], (rows[1:] != rows[:-1]).any(1)]) if len(rows) else np.zeros(0, bool)
    starts = np.flatnonzero(new)
    with np.errstate(all="ignore"):
        return rows[starts], indexing.reduceat(combine, held, starts) if len(starts) else held, reduced


def _reduced_sparse(combine: Any, indices: Any, values: Any, shape: Any, axes: Any, keep_dims: bool) -> Any:
    rows, held, reduced = _groups(indices, values, shape, axes, combine)
    sizes = shape.copy()
    sizes[reduced] = 1
    left = [axis for axis in range(len(shape)) if axis not in reduced]
    if keep_dims:
        whole = np.zeros((len(rows), len(shape)), np.int64)
        whole[:, left] = rows
        return whole, held, sizes
    return rows, held, sizes[left]


def _reduced(combine: Any, indices: Any, values: Any, shape: Any, axes: Any, keep_dims: bool) -> Any:
    found, sizes = _reduced_axes(axes, len(shape)), shape.tolist()
    made = kernels.reduced(indices, values, shape, [1 if i in found else n for i, n in enumerate(sizes)],
                           combine is np.maximum)
    if made is not None:
        return made if keep_dims else made.reshape([n for i, n in enumerate(sizes) if i not in found])
    rows, held, sizes = _reduced_sparse(combine, indices, values, shape, axes, keep_dims)
    dense = np.zeros(sizes.tolist(), values.dtype)
    dense[tuple(rows.T)] = held if dense.ndim else held[0] if len(held) else 0
    return dense


def _dense_shape(ctx: Any) -> list[Static]:
    belong(ctx)
    axes, sizes = ctx.value(3), ctx.partial(2)
    if axes is None or sizes is None:
        return [None]
    found = axes.reshape(-1).tolist()
    if any(not -len(sizes) <= axis < len(sizes) for axis in found):
        return [None]                                               # that is an error of the run
    reduced = _reduced_axes(axes, len(sizes))
    return [tuple(1 if i in reduced else n for i, n in enumerate(sizes) if ctx.attrs["keep_dims"] or i not in reduced)]


def _sparse_shape(ctx: Any) -> list[Static]:
    belong(ctx)
    return unknown_count(None)


_RANKS: dict[str, Any] = {"input_indices": 2, "input_values": 1, "input_shape": 1}
_KEEP: dict[str, Any] = {"keep_dims": "bool = false"}


@host(f"{_ONE} -> output: T", shape=_dense_shape, ranks=_RANKS, validate=belong, **_KEEP, T="numbertype")
def SparseReduceSum(indices: Any, values: Any, shape: Any, axes: Any, *, keep_dims: bool) -> Any:
    """Compute the sum of a sparse tensor along axes (all, where none are given) as a dense one."""
    return _reduced(np.add, indices, values, shape, axes, keep_dims)


@host(f"{_ONE} -> output: T", shape=_dense_shape, ranks=_RANKS, validate=belong, **_KEEP, T="realnumbertype")
def SparseReduceMax(indices: Any, values: Any, shape: Any, axes: Any, *, keep_dims: bool) -> Any:
    """Compute the maximum of the values of a sparse tensor along axes as a dense one, 0 where there are none."""
    return _reduced(np.maximum, indices, values, shape, axes, keep_dims)


_SPARSE_OUT = "output_indices: int64, output_values: T, output_shape: int64"


@host(f"{_ONE} -> {_SPARSE_OUT}", shape=_sparse_shape, ranks=_RANKS, validate=belong, **_KEEP, T="numbertype")
def SparseReduceSumSparse(indices: Any, values: Any, shape: Any, axes: Any, *, keep_dims: bool) -> Any:
    """Compute the sum of a sparse tensor along axes (all, where none are given) as a sparse one."""
    return _reduced_sparse(np.add, indices, values, shape, axes, keep_dims)


@host(f"{_ONE} -> {_SPARSE_OUT}", shape=_sparse_shape, ranks=_RANKS, validate=belong, **_KEEP, T="realnumbertype")
def SparseReduceMaxSparse(indices: Any, values: Any, shape: Any, axes: Any, *, keep_dims: bool) -> Any:
    """Compute the maximum of the values of a sparse tensor along axes as a sparse one."""
    return _reduced_sparse(np.maximum, indices, values, shape, axes, keep_dims)


for _op in (SparseReduceMax, SparseReduceSumSparse, SparseReduceMaxSparse):
    _op.no_gradient("as in TensorFlow, it has none")


@SparseReduceSum.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    indices, _, sizes, axes = op.inputs
    rank: Any = raw.Size(sizes)
    reduced = raw.FloorMod(raw.Reshape(axes, [-1]), rank)
    ones: Any = raw.OnesLike(sizes)
    every: Any = raw.Range(0, rank, 1)
    chosen = raw.ConcatV2([reduced, raw.Slice(every, [0], raw.Reshape(raw.SelectV2(
        raw.Equal(raw.Size(reduced), 0), rank, 0), [1]))], 0)          # no axes: all of them
    kept = raw.DynamicStitch([every, chosen], [sizes, raw.GatherV2(ones, chosen, 0)])
    scale = raw.FloorDiv(sizes, kept)
    return [None, raw.GatherNd(raw.Reshape(dy, kept), raw.FloorDiv(indices, scale)), None, None]


def _reduction(op: Any, sp_input: Any, axis: Any, keepdims: Any, reduction_axes: Any, keep_dims: Any) -> Any:
    """Return what the op of a reduction gives for the arguments of its function, old names and new."""
    axis = renamed("axis", axis, "reduction_axes", reduction_axes)
    keep = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    sparse = SparseTensor.from_value(sp_input)
    axes = _given_axes(sparse, axis)
    return op(*sparse.parts, axes, keep_dims=bool(keep))


def _given_axes(sparse: SparseTensor, axis: Any) -> Any:
    """Return the axes of a reduction; None stands for all of them, in descending order as TensorFlow has them."""
    if axis is not None:
        return axis
    rank = sparse.shape.ndims
    return list(range(rank)) if rank is not None else raw.Range(0, raw.Size(sparse.dense_shape), 1)


@public("sparse.reduce_sum", "sparse_reduce_sum")
def sparse_reduce_sum(sp_input: Any, axis: Any = None, keepdims: bool | None = None, reduction_axes: Any = None,
                      keep_dims: bool | None = None) -> Tensor:
    """Compute the sum of a SparseTensor along `axis` (by default all) as a dense tensor.

    axis (also `reduction_axes`): an int or a list. keepdims (also `keep_dims`): reduced axes stay, with size 1.
    Running it raises InvalidArgumentError for an axis beyond the rank.

    >>> x = tf.SparseTensor(indices=[[0, 0], [0, 2], [1, 1]], values=[1.0, 1.0, 1.0], dense_shape=[2, 3])
    >>> sess.run(tf.sparse.reduce_sum(x, 1))
    array([2., 1.], dtype=float32)
    """
    return _reduction(SparseReduceSum, sp_input, axis, keepdims, reduction_axes, keep_dims)


@public("sparse.reduce_max", "sparse_reduce_max")
def sparse_reduce_max(sp_input: Any, axis: Any = None, keepdims: bool | None = None, reduction_axes: Any = None,
                      keep_dims: bool | None = None) -> Tensor:
    """Compute the maximum of the values of a SparseTensor along `axis` (by default all), 0 where there are none.

    Elements without value don't count: the maximum may be negative. axis (also `reduction_axes`), keepdims (also
    `keep_dims`): as of `tf.sparse.reduce_sum`.

    >>> x = tf.SparseTensor(indices=[[0, 0], [0, 2], [1, 1]], values=[1.0, 3.0, -1.0], dense_shape=[3, 3])
    >>> sess.run(tf.sparse.reduce_max(x, 1))
    array([ 3., -1.,  0.], dtype=float32)
    """
    return _reduction(SparseReduceMax, sp_input, axis, keepdims, reduction_axes, keep_dims)


@public("sparse.reduce_sum_sparse", "sparse_reduce_sum_sparse")
def sparse_reduce_sum_sparse(sp_input: Any, axis: Any = None, keepdims: bool | None = None, reduction_axes: Any = None,
                             keep_dims: bool | None = None) -> SparseTensor:
    """Compute the sum of a SparseTensor along `axis` (by default all) as a SparseTensor.

    axis (also `reduction_axes`), keepdims (also `keep_dims`): as of `tf.sparse.reduce_sum`.

    >>> x = tf.SparseTensor(indices=[[0, 0], [0, 2], [2, 1]], values=[1.0, 1.0, 1.0], dense_shape=[3, 3])
    >>> sess.run(tf.sparse.reduce_sum_sparse(x, 1)).values
    array([2., 1.], dtype=float32)
    """
    return SparseTensor(*_reduction(SparseReduceSumSparse, sp_input, axis, keepdims, reduction_axes, keep_dims))


@public("sparse.reduce_max_sparse", "sparse_reduce_max_sparse")
def sparse_reduce_max_sparse(sp_input: Any, axis: Any = None, keepdims: bool | None = None, reduction_axes: Any = None,
                             keep_dims: bool | None = None) -> SparseTensor:
    """Compute the maximum of the values of a SparseTensor along `axis` (by default all) as a SparseTensor.

    axis (also `reduction_axes`), keepdims (also `keep_dims`): as of `tf.sparse.reduce_sum`.

    >>> x = tf.SparseTensor(indices=[[0, 0], [0, 2], [2, 1]], values=[1.0, 3.0, -1.0], dense_shape=[3, 3])
    >>> sess.run(tf.sparse.reduce_max_sparse(x, 1)).values
    array([ 3., -1.], dtype=float32)
    """
    return SparseTensor(*_reduction(SparseReduceMaxSparse, sp_input, axis, keepdims, reduction_axes, keep_dims))


# Softmax

@host("sp_indices: int64, sp_values: T, sp_shape: int64 -> output: T",
      shape=lambda ctx: [(belong(ctx)[0],)], ranks={"sp_indices": 2, "sp_values": 1, "sp_shape": 1},
      validate=belong, T="{half, float, double}")
def SparseSoftmax(indices: Any, values: Any, shape: Any) -> Any:
    """Compute the softmax of the values of each row (last axis) of a sparse tensor; elements without value don't count.

    The indices are in row-major order.
    """
    if len(shape) < 2:
        raise ValueError(f"Input should have rank >= 2, but got {len(shape)}")
    flat_places(indices, shape)
    rows = indices[:, :-1]
    starts = np.flatnonzero(np.concatenate([[True], (rows[1:] != rows[:-1]).any(1)])) if len(rows) else np.zeros(0, int)
    if not len(starts):
        return values.copy()
    counts = np.diff(np.append(starts, len(rows)))
    powers = np.exp(values - indexing.repeat(indexing.reduceat(np.maximum, values, starts), counts))
    return (powers / indexing.repeat(indexing.reduceat(np.add, powers, starts), counts)).astype(values.dtype)


@SparseSoftmax.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    indices, _, sizes = op.inputs
    y = op.outputs[0]
    total = SparseReduceSum(indices, raw.Mul(dy, y), sizes, [-1], keep_dims=True)
    of_row = raw.GatherNd(total, raw.Mul(indices, _but_last(indices)))
    return [None, raw.Mul(raw.Sub(dy, of_row), y), None]


def _but_last(indices: Tensor) -> Tensor:
    """Return 1 for all axes but the last, for which it is 0: where the element of a row stands in a column."""
    ones: Any = raw.OnesLike(indices)
    made: Tensor = raw.ConcatV2([ones[:, :-1], raw.ZerosLike(ones[:, -1:])], 1)
    return made


@public("sparse.softmax", "sparse_softmax")
def sparse_softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Compute the softmax of the values of each row (last axis) of a SparseTensor; missing elements don't count.

    sp_input: float, rank >= 2, in row-major order.

    >>> x = tf.SparseTensor(indices=[[0, 0], [0, 2], [1, 1]], values=[1.0, 1.0, 7.0], dense_shape=[2, 3])
    >>> sess.run(tf.sparse.softmax(x)).values
    array([0.5, 0.5, 1. ], dtype=float32)
    """
    with name_scope(name, "SparseSoftmax", [sp_input]) as scope:
        sparse = SparseTensor.from_value(sp_input)
        return SparseTensor(sparse.indices, SparseSoftmax(*sparse.parts, name=scope), sparse.dense_shape)


# Products with dense matrices

def _product_shape(ctx: Any) -> list[Static]:
    rows, inner = ctx.partial(2) or (None, None)
    merge(merge(ctx.shape(0), (None, 2))[:1], ctx.shape(1))              # type: ignore[index]
    left, right = merge(ctx.shape(3), (None, None)) or (None, None)
    if ctx.attrs["adjoint_a"]:
        rows, inner = inner, rows
    if ctx.attrs["adjoint_b"]:
        left, right = right, left
    if None not in (inner, left) and inner != left:
        raise ValueError(f"Cannot multiply A and B because inner dimension does not match: {inner} vs. {left}.")
    return [(rows, right)]


def _no_negative_size(ctx: Any) -> None:
    sizes = ctx.value(2).tolist()
    if min(sizes) < 0:
        raise ValueError(f"expected sizes of at least 0 in a_shape, got {sizes}")


def _product(ctx: Any, indices: np.ndarray, values: np.ndarray, shape: np.ndarray, b: np.ndarray) -> np.ndarray:
    adjoint_a, adjoint_b = ctx.attrs["adjoint_a"], ctx.attrs["adjoint_b"]
    if has_compiler() and b.dtype.kind in "iuf":
        return product_by_kernel(indices, values, shape, b, adjoint_a, adjoint_b)
    rows, columns = indices[:, int(adjoint_a)], indices[:, 1 - int(adjoint_a)]
    matrix = b.conj().T if adjoint_b else b
    out = np.zeros((int(shape[int(adjoint_a)]), matrix.shape[1]), b.dtype)
    np.add.at(out, rows, (values.conj() if adjoint_a else values)[:, None] * matrix[columns])
    return out


@kernel("a_indices: Tindices, a_values: T, a_shape: int64, b: T -> product: T", shape=_product_shape, numpy=_product,
        launch=sparse_dense_product, values=("a_shape",), validate=_no_negative_size,
        ranks={"a_indices": 2, "a_values": 1, "a_shape": 1, "b": 2}, T="type",
        Tindices="{int32, int64} = DT_INT64", adjoint_a="bool = false", adjoint_b="bool = false")
def SparseTensorDenseMatMul() -> None:
    """Multiply a sparse matrix, whose values may come in any order, by a dense one."""


@SparseTensorDenseMatMul.checked
def _(ctx: Any) -> list[Coordinates]:
    return [Coordinates(0, tuple(ctx.value(2).tolist()))]


@SparseTensorDenseMatMul.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    indices, values, sizes, b = op.inputs
    adjoint_a, adjoint_b = op.attrs["adjoint_a"], op.attrs["adjoint_b"]
    db = SparseTensorDenseMatMul(indices, values, sizes, dy, adjoint_a=not adjoint_a)
    if adjoint_b:
        db = conj(raw.Transpose(db, [1, 0]))
    places: Any = indices
    rows, columns = places[:, int(adjoint_a)], places[:, 1 - int(adjoint_a)]
    matrix = conj(raw.Transpose(b, [1, 0])) if adjoint_b else b
    slopes = raw.Sum(raw.Mul(raw.GatherV2(dy, rows, 0), conj(raw.GatherV2(matrix, columns, 0))), 1)
    return [None, conj(slopes) if adjoint_a else slopes, None, db]


@public("sparse.sparse_dense_matmul", "sparse.matmul", "sparse_tensor_dense_matmul")
def sparse_tensor_dense_matmul(sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False,
                               name: str | None = None) -> Tensor:
    """Multiply a sparse matrix `sp_a` [m, k] by a dense one [k, n].

    adjoint_a, adjoint_b: of the conjugate transpose of that matrix. Values may come in any order. Raises ValueError for
    inner sizes that don't match; running it raises InvalidArgumentError for an index outside of the matrix.

    >>> a = tf.SparseTensor(indices=[[0, 1], [1, 0]], values=[2.0, 3.0], dense_shape=[2, 2])
    >>> sess.run(tf.sparse.sparse_dense_matmul(a, [[1.0, 10.0], [5.0, 50.0]]))
    array([[ 10., 100.],
           [  3.,  30.]], dtype=float32)
    """
    sparse = SparseTensor.from_value(sp_a)
    with name_scope(name, "SparseTensorDenseMatMul", [sparse.indices, sparse.values, b]) as scope:
        b = convert_to_tensor(b, name="b")
        product: Tensor = SparseTensorDenseMatMul(*sparse.parts, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b,
                                                  name=scope)
        return product


describe(globals(), TENSORS)
