"""Rows and values of ragged tensors by index, by mask and by condition."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.control_flow.assertions import assert_equal, assert_less, assert_non_negative
from tfnb.core import dtypes
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array import counting
from tfnb.ops.array import gather as dense
from tfnb.ops.array.create import range_
from tfnb.ops.array.joining import concat
from tfnb.ops.array.ragged import RaggedGather, RaggedTensorToSparse
from tfnb.ops.array.searching import argsort
from tfnb.ops.declaration.dispatch import handles
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math import compare
from tfnb.ops.math.casting import cast
from tfnb.ragged import partition
from tfnb.ragged.elementwise import map_flat_values
from tfnb.ragged.joining import ragged_of
from tfnb.ragged.tensor import RaggedTensor, as_tensor, is_ragged
from tfnb.variables.embedding import embedding_lookup

Function = Callable[..., Any]


@handles(dense.gather)
def gather(fn: Function, params: Any, indices: Any, validate_indices: Any = None, name: str | None = None,
           axis: Any = None, batch_dims: int = 0) -> Any:
    """Gather rows of ragged `params`, or rows at ragged `indices`, whose rows the result has.

    Along another axis than 0, `batch_dims` must be that axis (else ValueError).
    """
    at = 0 if axis is None else int(axis)
    with name_scope(name, "RaggedGather", [params, indices]):
        params, indices = as_tensor(params), as_tensor(indices)
        if batch_dims and batch_dims == at:
            return batch_gather(counting.batch_gather, params, indices)
        if at or batch_dims:
            raise ValueError(f"gather of ragged tensors expects axis=0, or batch_dims equal to axis, got axis={at} and "
                             f"batch_dims={batch_dims}")
        return _gathered(params, indices)


def _gathered(params: Any, indices: Any) -> Any:
    if is_ragged(indices):
        return indices._with(_gathered(params, indices.values))
    if not is_ragged(params):
        return dense.gather(params, indices)
    if indices.shape.ndims is None:
        raise ValueError("gather of a ragged tensor expects indices of known rank")
    if indices.shape.ndims == 0:
        return _gathered(params, raw.ExpandDims(indices, 0))[0]
    *nested, made = _flat(RaggedGather(list(params.nested_row_splits), params.flat_values, indices,
                                       OUTPUT_RAGGED_RANK=params.ragged_rank + indices.shape.ndims - 1))
    return RaggedTensor.from_nested_row_splits(made, nested, validate=False)


def _flat(made: Any) -> list[Any]:
    return [*made.output_nested_splits, made.output_dense_values]


def _inside(indices: Any, sizes: Any) -> Tensor:
    """Return indices behind the check that they are inside of [0, size)."""
    return partition.guarded(indices, [
        assert_non_negative(indices, message="indices out of range: expected 0 or more"),
        assert_less(indices, sizes, message="indices out of range: expected less than the size of the row")])


@handles(counting.batch_gather)
def batch_gather(fn: Function, params: Any, indices: Any, name: str | None = None) -> Any:
    """Gather values of each row at the indices of that row."""
    with name_scope(name, "RaggedBatchGather", [params, indices]):
        return _batched(as_tensor(params), as_tensor(indices))


def _batched(params: Any, indices: Any) -> Any:
    if indices.shape.ndims is None:
        raise ValueError("batch_gather does not allow indices with unknown shape.")
    if indices.shape.ndims < 2:
        return _gathered(params, indices)
    dtype = (params if is_ragged(params) else indices).row_splits.dtype
    if not is_ragged(indices):
        made = _batched(params, ragged_of(indices, indices.shape.ndims - 1, dtype))
        if made.ragged_rank != indices.shape.ndims - 1:
            return made
        sizes: Any = raw.Shape(made.flat_values)
        dense_made = raw.Reshape(made.flat_values, concat([raw.Shape(indices), sizes[1:]], 0))
        dense_made.set_shape(indices.shape.concatenate(made.flat_values.shape[1:]))
        return dense_made
    params = ragged_of(params, 1, dtype)
    if indices.shape.ndims > 2:
        same = assert_equal(indices.row_splits, params.row_splits, message="indices must have the rows of params")
        inner = _batched(params.values, indices.values)
        return RaggedTensor._of(inner, partition.guarded(indices.row_splits, [same]))
    rows = indices.value_rowids()
    places = _inside(cast(indices.values, dtype), dense.gather(params.row_lengths(), rows))
    return indices._with(_gathered(params.values, dense.gather(params.row_splits, rows) + places))


@handles(dense.gather_nd)
def gather_nd(fn: Function, params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Any:
    """Gather slices at index vectors, the innermost and dense axis of `indices`."""
    if batch_dims:
        raise ValueError(f"gather_nd of ragged tensors expects batch_dims=0, got {batch_dims}")
    with name_scope(name, "RaggedGatherNd", [params, indices]):
        params, indices = as_tensor(params), as_tensor(indices)
        if is_ragged(indices):
            if indices.flat_values.shape.ndims == 1:
                raise ValueError("The innermost dimension of indices may not be ragged")
            return indices.with_flat_values(gather_nd(fn, params, indices.flat_values))
        if not is_ragged(params):
            return fn(params, indices)
        rank, depth = indices.shape.ndims, indices.shape.as_list()[-1] if indices.shape.ndims else None
        if depth is None:
            raise ValueError("indices.shape[-1] must be statically known, and indices of rank 1 or more")
        if rank == 1:
            return gather_nd(fn, params, raw.ExpandDims(indices, 0))[0]
        if rank > 2:
            return ragged_of(indices, rank - 2, params.row_splits.dtype).with_flat_values(
                gather_nd(fn, params, raw.Reshape(indices, [-1, depth]))) if is_ragged(params) and \
                depth <= params.ragged_rank else _unflattened(gather_nd(
                    fn, params, raw.Reshape(indices, [-1, depth])), indices)
        return _by_vectors(fn, params, cast(indices, params.row_splits.dtype), depth)


def _unflattened(made: Any, indices: Tensor) -> Tensor:
    """Return a dense result for index vectors in their shape."""
    sizes: Any = raw.Shape(indices)
    inner: Any = raw.Shape(made)
    return raw.Reshape(made, concat([sizes[:-1], inner[1:]], 0))  # type: ignore[no-any-return]


def _by_vectors(fn: Function, params: Any, indices: Any, depth: int) -> Any:
    """Return the slices at [n, depth] index vectors: axis by axis the place among the values of the axis."""
    if depth == 0:
        raise ValueError("gather_nd of a ragged tensor expects index vectors of 1 or more elements")
    places = _inside(indices[:, 0], params.nrows())
    for column in range(1, depth):
        if not is_ragged(params):
            return fn(params, concat([raw.ExpandDims(places, 1), indices[:, column:]], 1))
        inside = _inside(indices[:, column], dense.gather(params.row_lengths(), places))
        places, params = dense.gather(params.row_splits, places) + inside, params.values
    return _gathered(params, places)


# Masks and conditions

def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """Return the elements of `data` where `mask` is True, in the rows of the mask.

    data: a Tensor or RaggedTensor; mask: bools, dense or ragged, with the leading axes of the data. Returns a Tensor
    for a mask of rank 1 and dense data. Raises ValueError for a scalar mask, or one of unknown rank.

    >>> x = tf.ragged.constant([[3, 1, 4], [], [1, 5]])
    >>> sess.run(tf.ragged.boolean_mask(x, x > 2)).to_list()
    [[3, 4], [], [5]]
    """
    with name_scope(name, "RaggedMask", [data, mask]):
        mask = as_tensor(mask, dtypes.bool, "mask")
        data = as_tensor(data, name="data")
        if mask.shape.ndims is None:
            raise ValueError("mask.shape.ndims must be known statically.")
        if mask.shape.ndims == 0:
            raise ValueError("mask cannot be scalar.")
        return _masked(data, mask)


def _masked(data: Any, mask: Any) -> Any:
    if mask.shape.ndims == 1:
        kept = raw.Reshape(raw.Where(mask), [-1])
        return _gathered(data, kept) if is_ragged(data) else dense.boolean_mask(data, mask)
    dtype = next((each.row_splits.dtype for each in (mask, data) if is_ragged(each)), dtypes.int64)
    mask, data = ragged_of(mask, mask.shape.ndims - 1, dtype), ragged_of(data, mask.shape.ndims - 1, dtype)
    checks = [] if mask.row_splits is data.row_splits else [
        assert_equal(mask.row_splits, data.row_splits, message="mask must have the rows of data")]
    splits = partition.guarded(mask.row_splits, checks) if checks else mask.row_splits
    made = _masked(data.values, mask.values)
    if mask.shape.ndims > 2:
        return RaggedTensor._of(made, splits)
    lengths = raw.UnsortedSegmentSum(cast(mask.values, dtype), mask.value_rowids(), mask.nrows())
    with_rows = partition.splits_of_lengths(lengths)
    return RaggedTensor._of(made, partition.guarded(with_rows, checks) if checks else with_rows)


@handles(compare.where)
def where(fn: Function, condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Choose between ragged `x` and `y`, by element or by row; without them, return the places of True values."""
    if (x is None) != (y is None):
        raise ValueError("x and y must both be non-None or both be None.")
    with name_scope(name, "RaggedWhere", [condition, x, y]):
        condition = as_tensor(condition, dtypes.bool, "condition")
        if x is None:
            places, values, _ = RaggedTensorToSparse(list(condition.nested_row_splits), condition.flat_values)
            return dense.boolean_mask(places, values)
        x, y = as_tensor(x), as_tensor(y)
        if is_ragged(condition):
            if not (is_ragged(x) and is_ragged(y)):
                raise ValueError("Input shapes do not match: condition, x and y must be ragged in the same rows")
            return map_flat_values(fn, condition, x, y)
        condition.shape.assert_has_rank(1)
        dtype = (x if is_ragged(x) else y).row_splits.dtype
        count: Any = partition.size_of(condition, dtype)
        rows: Any = range_(cast(0, dtype), count)
        return _gathered(concat([x, y], 0), raw.Select(condition, rows, rows + count))


# Lookups, partitions

@handles(embedding_lookup)
def ragged_embedding_lookup(fn: Function, params: Any, ids: Any, *args: Any, **kwargs: Any) -> Any:
    """Look up the rows of ragged ids: a ragged tensor with one axis more."""
    return map_flat_values(lambda flat: fn(params, flat, *args, **kwargs), ids)


@handles(dense.one_hot)
def one_hot(fn: Function, indices: Any, *args: Any, **kwargs: Any) -> Any:
    """Encode ragged indices in one more, dense and last axis."""
    return map_flat_values(lambda flat: fn(flat, *args, **kwargs), indices)


def stack_dynamic_partitions(data: Any, partitions: Any, num_partitions: Any, name: str | None = None) -> Any:
    """Return a RaggedTensor whose row i has the elements of `data` whose partition is i.

    data: a Tensor or RaggedTensor. partitions: integers with the leading axes of the data. num_partitions: the number
    of rows. Running it raises InvalidArgumentError for a partition outside of [0, num_partitions).

    >>> sess.run(tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [0, 1, 0], 3)).to_list()
    [[b'a', b'c'], [b'b'], []]
    """
    with name_scope(name, "SegmentStack", [data, partitions, num_partitions]):
        data, rows = as_tensor(data, name="data"), as_tensor(partitions, name="partitions")
        rows = cast(rows, data.row_splits.dtype) if is_ragged(data) else rows
        count = cast(convert_to_tensor(num_partitions, name="num_partitions"), rows.dtype)
        if rows.shape.ndims is None:
            raise ValueError("partitions must have known rank.")
        if rows.shape.ndims == 0:
            return RaggedTensor.from_value_rowids(raw.ExpandDims(data, 0), raw.ExpandDims(rows, 0), count)
        if is_ragged(rows):
            if not is_ragged(data):
                raise ValueError("partitions must have the leading axes of data: it is ragged, data is not")
            return stack_dynamic_partitions(data.values, rows.values, count)
        if rows.shape.ndims > 1:
            inner: Any = raw.Shape(data)
            flat = raw.Reshape(data, concat([[-1], inner[rows.shape.ndims:]], 0))
            return stack_dynamic_partitions(flat, raw.Reshape(rows, [-1]), count)
        order = argsort(rows, stable=True)
        return RaggedTensor.from_value_rowids(_gathered(data, order), dense.gather(rows, order), count)
