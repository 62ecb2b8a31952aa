"""The structure of sparse tensors: order, parts, shape; values move with their indices and don't change."""
from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.library.rows import sparse as kernels
from tfnb.ops.array.create import range_
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.declaration.arguments import renamed
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw


class Coordinates(NamedTuple):
    """Names of the inputs of a sparse tensor, with their ranks."""

    indices: str = "indices"
    values: str = "values"
    shape: str = "shape"

    @property
    def ranks(self) -> dict[str, Any]:
        """The ranks of these inputs, as declarations take them."""
        return {self.indices: 2, self.values: 1, self.shape: 1}


def belong(ctx: Any, at: int = 0, step: int = 1) -> tuple[int | None, int | None]:
    """Return how many values a sparse tensor has, and its rank, where known.

    Its inputs begin at `at`, from one to the next are `step`.
    Raises ValueError if indices, values and shape don't belong together.
    """
    count, rank = merge(ctx.shape(at), (None, None)) or (None, None)
    (count,) = merge(ctx.shape(at + step), (count,)) or (count,)
    (rank,) = merge(ctx.shape(at + 2 * step), (rank,)) or (rank,)
    return count, rank


def flat_places(indices: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """Return the place of each value in row-major order. Raises ValueError for an index outside of the shape."""
    return ordered_places(indices, shape)[0]


def ordered_places(indices: np.ndarray, shape: np.ndarray) -> tuple[np.ndarray, int]:
    """Return what `flat_places` does, and the order of the places (kernels/library/rows/sparse.py)."""
    places, outside, order = kernels.located(indices, shape)
    if outside >= 0:
        raise ValueError(f"indices[{outside}] = {indices[outside].tolist()} is out of bounds: expected 0 <= index < "
                         f"{shape.tolist()}")
    return places, order


def row_major(indices: np.ndarray) -> np.ndarray | None:
    """Return the order of indices, the last axis fastest; equal ones keep theirs. None: they are in that order."""
    if not indices.size or kernels.is_ordered(indices):
        return None
    sizes = indices.max(0) + 1
    if indices.min() < 0 or prod(sizes.tolist()) > np.iinfo(np.int64).max:
        return np.lexsort(indices.T[::-1])
    return np.argsort(flat_places(indices, sizes), kind="stable")         # of one key: half the time


def united(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the different rows of two lists of indices in row-major order, and the place of each row of a and b."""
    found = kernels.united(a, b)
    if found is not None:
        return found
    both = np.concatenate([a, b])
    order = row_major(both)
    order = np.arange(len(both)) if order is None else order
    rows = both[order]
    first = np.ones(len(both), bool)
    first[1:] = (rows[1:] != rows[:-1]).any(1)
    places = np.empty(len(both), np.int64)
    places[order] = np.cumsum(first) - 1
    return rows[first], places[:len(a)], places[len(a):]


_IN = "input_indices: int64, input_values: T, input_shape: int64"
_OUT = "output_indices: int64, output_values: T, output_shape: int64"


def unknown_count(rank: int | None) -> list[Static]:
    """Return shapes of the parts of a sparse tensor of this rank, of which no one knows how many values it has."""
    return [(None, rank), (None,), (rank,)]


# Order

def _reordered(ctx: Any) -> list[Static]:
    count, rank = belong(ctx)
    return [(count, rank), (count,)]


@host(f"{_IN} -> output_indices: int64, output_values: T", shape=_reordered,
      ranks=Coordinates("input_indices", "input_values", "input_shape").ranks, validate=belong, T="type")
def SparseReorder(indices: Any, values: Any, shape: Any) -> Any:
    """Put the values of a sparse tensor into row-major order; equal indices keep their order."""
    order = row_major(indices)
    return (indices.copy(), values.copy()) if order is None else (indices[order], values[order])


@SparseReorder.gradient
def _(op: Operation, _d_indices: Any, dy: Tensor) -> list[Tensor | None]:
    indices, values, sizes = op.inputs
    count: Any = raw.Shape(values)
    _, order = SparseReorder(indices, range_(count[0]), sizes)
    return [None, raw.GatherV2(dy, raw.InvertPermutation(order), 0), None]


@public("sparse.reorder", "sparse_reorder")
def sparse_reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Put the values of a SparseTensor into row-major order, which many sparse ops expect.

    >>> x = tf.SparseTensor(indices=[[1, 0], [0, 2]], values=["b", "a"], dense_shape=[2, 3])
    >>> sess.run(tf.sparse.reorder(x)).values
    array([b'a', b'b'], dtype=object)
    """
    sparse = SparseTensor.from_value(sp_input)
    indices, values = SparseReorder(*sparse.parts, name=name)
    return SparseTensor(indices, values, _known_shape(sparse) or sparse.dense_shape)


def _known_shape(sparse: SparseTensor) -> list[int] | None:
    return sparse.shape.as_list() if sparse.shape.is_fully_defined() else None


@public("sparse.transpose", "sparse_transpose")
def sparse_transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """Permute the axes of a SparseTensor; by default they are reversed. The result is in row-major order.

    perm: a permutation of the axes, axis i of the result is axis perm[i] of `sp_input`.

    >>> x = tf.SparseTensor(indices=[[0, 1], [0, 2]], values=[5, 6], dense_shape=[1, 3])
    >>> sess.run(tf.sparse_tensor_to_dense(tf.sparse.transpose(x)))
    array([[0],
           [5],
           [6]], dtype=int32)
    """
    with name_scope(name, "SparseTranspose"):
        sparse = SparseTensor.from_value(sp_input)
        if perm is None:
            rank = sparse.shape.ndims
            order: Any = list(range(rank))[::-1] if rank is not None else (
                raw.Sub(raw.Sub(raw.Rank(raw.Fill(sparse.dense_shape, 0)), 1), range_(raw.Size(sparse.dense_shape))))
        else:
            order = perm
        indices = raw.Transpose(raw.GatherV2(raw.Transpose(sparse.indices, [1, 0]), order, 0), [1, 0])
        known, axes = _known_shape(sparse), constant_value(convert_to_tensor(order))
        sizes = raw.GatherV2(sparse.dense_shape, order, 0) if known is None or axes is None else (
            [known[axis] for axis in axes.tolist()])
        return sparse_reorder(SparseTensor(indices, sparse.values, sizes))


# Parts

def _concatenated(ctx: Any) -> list[Static]:
    number = ctx.attrs["N"]
    count: int | None = 0
    rank: int | None = None
    for i in range(number):
        n, own = belong(ctx, i, number)
        (rank,) = merge((own,), (rank,)) or (rank,)
        count = None if count is None or n is None else count + n
    return [(count, rank), (count,), (rank,)]


def _all_belong(ctx: Any) -> None:
    """Raise ValueError unless the parts of each sparse tensor belong together."""
    for i in range(ctx.attrs["N"]):
        belong(ctx, i, ctx.attrs["N"])


@host("indices: N * int64, values: N * T, shapes: N * int64 -> " + _OUT, shape=_concatenated, validate=_all_belong,
      concat_dim="int", N="int >= 2", T="type")
def SparseConcat(indices: Any, values: Any, shapes: Any, *, concat_dim: int) -> Any:
    """Join sparse tensors along an axis; their other sizes are equal. The result is in row-major order."""
    rank = len(shapes[0])
    if not -rank <= concat_dim < rank:
        raise ValueError(f"Concat dimension must be in range [{-rank}, {rank}), got {concat_dim}")
    axis = concat_dim % rank
    for i, shape in enumerate(shapes):
        if len(shape) != rank:
            raise ValueError(f"Ranks of all input tensors must match: expected {rank} but got {len(shape)} at position "
                             f"{i}")
        if any(shape[k] != shapes[0][k] for k in range(rank) if k != axis):
            raise ValueError(f"Input shapes must match: expected {shapes[0].tolist()} except in dimension {axis} but "
                             f"got {shape.tolist()} at position {i}")
    starts = np.cumsum([0, *(shape[axis] for shape in shapes)])
    moved = [places + np.where(np.arange(rank) == axis, start, 0) if start else places
             for places, start in zip(indices, starts, strict=False)]
    total = shapes[0].copy()
    total[axis] = starts[-1]
    joined, held = np.concatenate(moved).astype(np.int64), np.concatenate(values)
    order = row_major(joined)
    return (joined, held, total) if order is None else (joined[order], held[order], total)


SparseConcat.no_gradient("as in TensorFlow, it has none")


@public("sparse.concat", "sparse_concat")
def sparse_concat(axis: Any, sp_inputs: Sequence[Any], name: str | None = None, expand_nonconcat_dim: bool = False,
                  concat_dim: Any = None, expand_nonconcat_dims: bool | None = None) -> SparseTensor:
    """Join SparseTensors, `sp_inputs`, along an axis (also `concat_dim`).

    expand_nonconcat_dims, or expand_nonconcat_dim: the other sizes may differ; the result has the largest (by default
    they must be equal). Running it raises InvalidArgumentError for sizes that don't match.

    >>> a = tf.SparseTensor(indices=[[0, 0]], values=[1], dense_shape=[1, 2])
    >>> b = tf.SparseTensor(indices=[[0, 1]], values=[2], dense_shape=[1, 2])
    >>> sess.run(tf.sparse_tensor_to_dense(tf.sparse.concat(axis=0, sp_inputs=[a, b])))
    array([[1, 0],
           [0, 2]], dtype=int32)
    """
    axis = renamed("axis", axis, "concat_dim", concat_dim)
    expand = expand_nonconcat_dim if expand_nonconcat_dims is None else expand_nonconcat_dims
    inputs = [SparseTensor.from_value(each) for each in sp_inputs]
    if len(inputs) == 1:
        return inputs[0]
    shapes = [each.dense_shape for each in inputs]
    if expand:
        largest: Any = raw.Max(raw.Pack(shapes), 0)
        end = axis + 1 or None                                  # None: `axis` is -1, the last
        rest = [] if end is None else [largest[end:]]
        shapes = [raw.ConcatV2([largest[:axis], each[axis:end], *rest], 0) for each in shapes]
    indices, values, sizes = SparseConcat([each.indices for each in inputs], [each.values for each in inputs],
                                          shapes, concat_dim=axis, name=name)
    known = [each.shape for each in inputs]
    if not expand and all(each.is_fully_defined() for each in known):
        total = known[0].as_list()
        total[axis] = sum(each.as_list()[axis] for each in known)
        sizes = convert_to_tensor(total, dtype=dtypes.int64)
    return SparseTensor(indices, values, sizes)


def _split_shapes(ctx: Any) -> list[Static]:
    _, rank = belong(ctx, 1)
    number = ctx.attrs["num_split"]
    return [*[(None, rank)] * number, *[(None,)] * number, *[(rank,)] * number]


@host("split_dim: int64, indices: int64, values: T, shape: int64 -> output_indices: num_split * int64, "
      "output_values: num_split * T, output_shape: num_split * int64", shape=_split_shapes,
      ranks={"split_dim": 0, **Coordinates().ranks}, validate=lambda ctx: belong(ctx, 1), num_split="int >= 1",
      T="type")
def SparseSplit(split_dim: Any, indices: Any, values: Any, shape: Any, *, num_split: int) -> Any:
    """Split a sparse tensor along an axis; the first parts have a row more where sizes can't be equal."""
    axis, rank = int(split_dim), len(shape)
    if not -rank <= axis < rank:
        raise ValueError(f"Input split_dim should be between [{-rank}, {rank}), got {axis}")
    axis %= rank
    size = int(shape[axis])
    if num_split > size:
        raise ValueError(f"Number of splits should be between [1, {size}], got {num_split}")
    flat_places(indices, shape)
    each, more = divmod(size, num_split)
    ends = np.cumsum([0, *(each + (i < more) for i in range(num_split))])
    parts = [part_of(indices, values, axis, a, b) for a, b in zip(ends, ends[1:], strict=False)]
    sizes = [np.where(np.arange(rank) == axis, b - a, shape) for a, b in zip(ends, ends[1:], strict=False)]
    return *(places for places, _ in parts), *(held for _, held in parts), *sizes


SparseSplit.no_gradient("as in TensorFlow, it has none")


def part_of(indices: np.ndarray, values: np.ndarray, axis: int, start: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the values between two places along an axis, with indices that count from the first."""
    inside = (indices[:, axis] >= start) & (indices[:, axis] < end)
    return indices[inside] - np.where(np.arange(indices.shape[1]) == axis, start, 0), values[inside]


@public("sparse.split", "sparse_split")
def sparse_split(keyword_required: Any = None, sp_input: Any = None, num_split: int | None = None, axis: Any = None,
                 name: str | None = None, split_dim: Any = None) -> list[SparseTensor]:
    """Split a SparseTensor into `num_split` ones along an axis (also `split_dim`); all arguments are given by
    keyword.

    keyword_required: takes no argument. Raises ValueError for an argument without keyword, or where one is missing.

    >>> x = tf.SparseTensor(indices=[[0, 0], [0, 2]], values=[5, 6], dense_shape=[1, 4])
    >>> left, right = tf.sparse.split(sp_input=x, num_split=2, axis=1)
    >>> sess.run(tf.sparse_tensor_to_dense(right))
    array([[6, 0]], dtype=int32)
    """
    if keyword_required is not None:
        raise ValueError("Keyword arguments are required for this function.")
    if sp_input is None or num_split is None or (axis is None and split_dim is None):
        missing = "sp_input" if sp_input is None else "num_split" if num_split is None else "axis"
        raise ValueError(f"{missing} is required")
    sparse = SparseTensor.from_value(sp_input)
    indices, values, sizes = SparseSplit(renamed("axis", axis, "split_dim", split_dim), *sparse.parts,
                                         num_split=num_split, name=name)
    return [SparseTensor(*parts) for parts in zip(indices, values, sizes, strict=True)]


def _sliced(ctx: Any) -> list[Static]:
    _, rank = belong(ctx)
    merge(ctx.shape(3), (rank,))
    merge(ctx.shape(4), (rank,))
    return unknown_count(rank)


@host("indices: int64, values: T, shape: int64, start: int64, size: int64 -> " + _OUT, shape=_sliced,
      ranks={**Coordinates().ranks, "start": 1, "size": 1}, validate=_sliced, T="type")
def SparseSlice(indices: Any, values: Any, shape: Any, start: Any, size: Any) -> Any:
    """Take the box of `size` from `start` on out of a sparse tensor, cut at its end."""
    if (size < 0).any():
        raise ValueError(f"expected sizes of 0 or more, got {size.tolist()}")
    inside = ((indices >= start) & (indices < start + size)).all(1)
    return indices[inside] - start, values[inside], np.clip(shape - start, 0, size)


@host("backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64 -> val_grad: T",
      shape=lambda ctx: [(merge(ctx.shape(1), (None, None)) or (None,))[:1]],
      ranks={"backprop_val_grad": 1, "input_indices": 2, "output_indices": 2, "input_start": 1}, T="numbertype")
def SparseSliceGrad(dy: Any, indices: Any, start: Any, taken: Any) -> Any:
    """Compute the gradient of the values of SparseSlice: `dy` where they were taken, zero elsewhere."""
    if len(dy) != len(taken):
        raise ValueError(f"expected a gradient for each of {len(taken)} values, got {len(dy)}")
    every, own, places = united(indices, taken + start)
    made = np.zeros(len(every), dy.dtype)
    made[places] = dy
    return made[own]


SparseSliceGrad.no_gradient("as in TensorFlow, it has none")


@SparseSlice.gradient
def _(op: Operation, _d_indices: Any, dy: Tensor, _d_shape: Any) -> list[Tensor | None]:
    return [None, SparseSliceGrad(dy, op.inputs[0], op.inputs[3], op.outputs[0]), None, None, None]


@public("sparse.slice", "sparse_slice")
def sparse_slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """Take the box of `size` from `start` on out of a SparseTensor.

    start, size: [rank], int64. What reaches beyond the end is cut.

    >>> x = tf.SparseTensor(indices=[[0, 1], [1, 2]], values=[5, 6], dense_shape=[2, 3])
    >>> sess.run(tf.sparse_tensor_to_dense(tf.sparse.slice(x, [1, 1], [1, 2])))
    array([[0, 6]], dtype=int32)
    """
    sparse = SparseTensor.from_value(sp_input)
    start = convert_to_tensor(start, dtypes.int64)
    size = convert_to_tensor(size, dtypes.int64)
    with name_scope(name, "SparseSlice"):
        return SparseTensor(*SparseSlice(*sparse.parts, start, size, name=name))


@public("sparse.retain", "sparse_retain")
def sparse_retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """Keep some of the values of a SparseTensor.

    to_retain: bool, one for each value.

    >>> x = tf.SparseTensor(indices=[[0, 1], [1, 2]], values=[5, 6], dense_shape=[2, 3])
    >>> sess.run(tf.sparse.retain(x, [False, True]))
    SparseTensorValue(indices=array([[1, 2]]), values=array([6], dtype=int32), dense_shape=array([2, 3]))
    """
    sparse = SparseTensor.from_value(sp_input)
    to_retain = convert_to_tensor(to_retain)
    to_retain.shape.with_rank(1)[0].merge_with(sparse.values.shape.with_rank(1)[0])
    places: Any = raw.Reshape(raw.Where(to_retain), [-1])
    return SparseTensor(raw.GatherV2(sparse.indices, places, 0), raw.GatherV2(sparse.values, places, 0),
                        raw.Identity(sparse.dense_shape))


describe(globals(), TENSORS)
