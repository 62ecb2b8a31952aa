"""Ragged tensors as ops have them: flat values and the row splits of each ragged axis, outermost first.

Rows of an axis end where the next ones begin: row i is [splits[i], splits[i + 1]) of what is one level deeper.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfnb.core import dtypes, indexing
from tfnb.core.dtypes import DType
from tfnb.core.shape import Static
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.library.rows import vectors
from tfnb.ops.array.create import range_
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.raw import raw

_SPLITS = "{int32, int64} = DT_INT64"


def check_splits(splits: np.ndarray, count: int) -> None:
    """Raise ValueError unless row splits ascend from 0 to `count`."""
    if not len(splits) or splits[0] != 0 or splits[-1] != count or (np.diff(splits) < 0).any():
        raise ValueError(f"expected row splits that ascend from 0 to {count}, got {splits[:20].tolist()}")


def check_nested(nested: Sequence[np.ndarray], count: int) -> None:
    """Raise ValueError unless the splits of each axis end where the next axis, or the last of `count` values, does."""
    for splits, below in zip(nested, [*nested[1:], None], strict=True):
        check_splits(splits, count if below is None else len(below) - 1)


def counted(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the concatenated ranges [start, start + length)."""
    ends = np.cumsum(lengths)
    return indexing.repeat(starts - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0)


def splits_of(lengths: np.ndarray, dtype: Any) -> np.ndarray:
    """Return the row splits of rows of these lengths."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(dtype)


# Gathering

def _gathered_shapes(ctx: Any) -> list[Static]:
    ranks = ctx.attrs["PARAMS_RAGGED_RANK"], ctx.attrs["OUTPUT_RAGGED_RANK"]
    dense, indices = ctx.shape(ranks[0]), ctx.shape(ranks[0] + 1)
    if indices is not None and ranks[1] != ranks[0] + len(indices) - 1:
        raise ValueError(f"OUTPUT_RAGGED_RANK must be PARAMS_RAGGED_RANK + rank of indices - 1 = "
                         f"{ranks[0] + len(indices) - 1}, got {ranks[1]}")
    if dense == ():
        raise ValueError("Shape must be at least rank 1 but is rank 0: params_dense_values")
    splits = [(None,)] * ranks[1]
    if splits and indices and indices[0] is not None:
        splits[0] = (indices[0] + 1,)
    return [*splits, None if dense is None else (None, *dense[1:])]


@host("params_nested_splits: PARAMS_RAGGED_RANK * Tsplits, params_dense_values: Tvalues, indices: Tindices -> "
      "output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits, output_dense_values: Tvalues", shape=_gathered_shapes,
      ranks={"params_nested_splits": 1}, validate=_gathered_shapes, Tvalues="type", Tindices="{int32, int64}",
      Tsplits=_SPLITS, PARAMS_RAGGED_RANK="int >= 1", OUTPUT_RAGGED_RANK="int >= 0")
def RaggedGather(nested: Sequence[np.ndarray], dense: np.ndarray, indices: np.ndarray, **attrs: Any) -> Any:
    """Gather rows of a ragged tensor; axes of `indices` before its last one become ragged axes, too.

    Running it raises InvalidArgumentError for an index outside of the rows, and for splits that don't ascend.

    >>> splits, values = tf.raw_ops.RaggedGather(params_nested_splits=[tf.constant([0, 2, 3], tf.int64)],
    ...     params_dense_values=[1.0, 2.0, 3.0], indices=[1, 0], OUTPUT_RAGGED_RANK=1)
    >>> sess.run([splits, values])
    [[array([0, 1, 3])], array([3., 1., 2.], dtype=float32)]
    """
    check_nested(nested, len(dense))
    rows, count = indices.reshape(-1).astype(np.int64), len(nested[0]) - 1
    if ((rows < 0) | (rows >= count)).any():
        wrong = rows[(rows < 0) | (rows >= count)][0]
        raise ValueError(f"indices = {wrong} is not in [0, {count})")
    kind = nested[0].dtype
    made = [splits_of(np.full(int(np.prod(indices.shape[:axis])), indices.shape[axis]), kind)
            for axis in range(1, indices.ndim)]
    for splits in nested:
        lengths = splits[rows + 1] - splits[rows]
        made.append(splits_of(lengths, kind))
        rows = counted(splits[rows].astype(np.int64), lengths)
    return [*made, dense[rows]]


@RaggedGather.gradient
def _(op: Operation, *dys: Any) -> list[Any]:
    *nested, dense, indices = op.inputs
    size: Any = raw.Shape(dense, out_type=dtypes.int64)
    taken = RaggedGather(nested, range_(size[0]), indices, OUTPUT_RAGGED_RANK=op.get_attr("OUTPUT_RAGGED_RANK"))
    return [None] * len(nested) + [IndexedSlices(dys[-1], taken.output_dense_values, size), None]


# Ranges

def _range_shapes(ctx: Any) -> list[Static]:
    sizes = {shape[0] for i in range(3) if (shape := ctx.shape(i)) and shape[0] is not None}
    if any(shape is not None and len(shape) > 1 for shape in map(ctx.shape, range(3))):
        raise ValueError("starts, limits, and deltas must be scalars or vectors")
    if len(sizes) > 1:
        raise ValueError("starts, limits, and deltas must have the same shape")
    unknown = any(shape is None or None in shape for shape in map(ctx.shape, range(3)))
    return [(min(sizes) + 1,) if sizes else (None,) if unknown else (2,), (None,)]


@host("starts: T, limits: T, deltas: T -> rt_nested_splits: Tsplits, rt_dense_values: T", shape=_range_shapes,
      validate=_range_shapes, T="{bfloat16, float, double, int32, int64} = DT_INT32", Tsplits=_SPLITS)
def RaggedRange(starts: np.ndarray, limits: np.ndarray, deltas: np.ndarray, *, Tsplits: DType, **attrs: Any) -> Any:
    """Make a row of each range [start, limit) with step delta; scalars serve all rows. Returns row splits and values.

    Running it raises InvalidArgumentError for a delta of 0.

    >>> sess.run(tf.raw_ops.RaggedRange(starts=[0, 5], limits=[3, 6], deltas=1))
    RaggedRange(rt_nested_splits=array([0, 3, 4]), rt_dense_values=array([0, 1, 2, 5], dtype=int32))
    """
    by_kernel = vectors.ranges(starts, limits, deltas)
    if by_kernel is not None:
        return by_kernel[0].astype(Tsplits.as_numpy_dtype, copy=False), by_kernel[1]
    made: Any = np.broadcast_arrays(*(np.atleast_1d(each) for each in (starts, limits, deltas)))
    first, last, step = made
    if (step == 0).any():
        raise ValueError("Requires delta != 0")
    wide = np.int64 if first.dtype.kind == "i" else np.float64
    span, by = last.astype(wide) - first.astype(wide), step.astype(wide)
    sizes = np.maximum(-(-span // by) if wide is np.int64 else np.ceil(span / by), 0).astype(np.int64)
    place = counted(np.zeros(len(sizes), np.int64), sizes).astype(wide)
    values = indexing.repeat(first.astype(wide), sizes) + place * indexing.repeat(by, sizes)
    return splits_of(sizes, Tsplits.as_numpy_dtype), values.astype(starts.dtype)


RaggedRange.no_gradient("its values are counted")


# Conversions

def _sparse_shapes(ctx: Any) -> list[Static]:
    ragged, dense = ctx.attrs["RAGGED_RANK"], ctx.shape(ctx.attrs["RAGGED_RANK"])
    if dense == ():
        raise ValueError("Shape must be at least rank 1 but is rank 0: rt_dense_values")
    rank = None if dense is None else ragged + len(dense)
    count = None if dense is None or None in dense else int(np.prod(dense, dtype=np.int64))
    return [(count, rank), (count,), (rank,)]


def _coordinates(nested: Sequence[np.ndarray], count: int) -> tuple[np.ndarray, list[int]]:
    """Return the index vector of each of `count` rows of values over the ragged axes, and the sizes of these axes."""
    columns, sizes = [np.arange(len(nested[0]) - 1)], [len(nested[0]) - 1]
    for splits in nested:
        lengths = np.diff(splits)
        columns = [indexing.repeat(column, lengths) for column in columns]
        columns.append(counted(np.zeros(len(lengths), np.int64), lengths))
        sizes.append(int(lengths.max(initial=0)))
    return np.stack(columns, 1) if columns[0].size else np.zeros((count, len(sizes)), np.int64), sizes


@host("rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: T -> sparse_indices: int64, sparse_values: T, "
      "sparse_dense_shape: int64", shape=_sparse_shapes, ranks={"rt_nested_splits": 1}, RAGGED_RANK="int >= 1",
      T="type", Tsplits=_SPLITS)
def RaggedTensorToSparse(nested: Sequence[np.ndarray], dense: np.ndarray, **attrs: Any) -> Any:
    """Make the parts of a SparseTensor of a ragged tensor: as wide as the longest row of each axis.

    Running it raises InvalidArgumentError for splits that don't ascend.

    >>> sess.run(tf.raw_ops.RaggedTensorToSparse(rt_nested_splits=[tf.constant([0, 2, 3], tf.int64)],
    ...     rt_dense_values=[1, 2, 3]).sparse_indices)
    array([[0, 0],
           [0, 1],
           [1, 0]])
    """
    check_nested(nested, len(dense))
    outer, sizes = _coordinates(nested, len(dense))
    inner = np.array(list(np.ndindex(*dense.shape[1:])), np.int64).reshape(
        int(np.prod(dense.shape[1:])), dense.ndim - 1)
    places = np.concatenate([indexing.repeat(outer, len(inner), 0), np.tile(inner, (len(outer), 1))], 1)
    return places.astype(np.int64), dense.reshape(-1), np.array([*sizes, *dense.shape[1:]], np.int64)


@RaggedTensorToSparse.gradient
def _(op: Operation, _: Any, dy: Tensor, __: Any) -> list[Any]:
    return [None] * (len(op.inputs) - 1) + [raw.Reshape(dy, raw.Shape(op.inputs[-1]))]


def _splits_of(tensors: Sequence[np.ndarray], types: Sequence[bytes]) -> list[np.ndarray]:
    """Return the row splits of each axis of row partitions: by splits, or by a first size and row indices."""
    if all(kind == b"ROW_SPLITS" for kind in types):
        return list(tensors)
    if types[0] != b"FIRST_DIM_SIZE" or any(kind != b"VALUE_ROWIDS" for kind in types[1:]):
        raise ValueError(f"expected row partitions of type ROW_SPLITS, or FIRST_DIM_SIZE and VALUE_ROWIDS, "
                         f"got {[kind.decode() for kind in types]}")
    made, rows = [], int(tensors[0])
    for ids in tensors[1:]:
        if (np.diff(ids) < 0).any() or ids.size and not 0 <= ids[0] <= ids[-1] < rows:
            raise ValueError(f"expected ascending row indices in [0, {rows}), got {ids[:20].tolist()}")
        made.append(np.searchsorted(ids, np.arange(rows + 1)))
        rows = len(ids)
    return made


def _dense_shape(ctx: Any) -> list[Static]:
    values, wanted = ctx.shape(1), ctx.value(0)
    ragged = sum(kind != b"FIRST_DIM_SIZE" for kind in ctx.attrs["row_partition_types"])
    if wanted is not None and wanted.ndim:
        return [tuple(None if size < 0 else int(size) for size in wanted)]
    return [None if values is None else (*[None] * (ragged + 1), *values[1:])]


@host("shape: Tshape, values: T, default_value: T, row_partition_tensors: num_row_partition_tensors * Tindex -> "
      "result: T", shape=_dense_shape, T="type", Tindex="{int64, int32}", Tshape="{int64, int32}",
      num_row_partition_tensors="int >= 1", row_partition_types="list(string)")
def RaggedTensorToTensor(shape: np.ndarray, values: np.ndarray, default: np.ndarray, tensors: Sequence[np.ndarray], *,
                         row_partition_types: Sequence[bytes], **attrs: Any) -> Any:
    """Pad the rows of a ragged tensor with `default_value`; sizes of `shape` other than -1 cut or pad them to that.

    row_partition_types: ROW_SPLITS for each axis, or FIRST_DIM_SIZE and then VALUE_ROWIDS for each.

    >>> sess.run(tf.raw_ops.RaggedTensorToTensor(shape=tf.constant(-1, tf.int64), values=[1, 2, 3], default_value=0,
    ...     row_partition_tensors=[tf.constant([0, 2, 3], tf.int64)], row_partition_types=["ROW_SPLITS"]))
    array([[1, 2],
           [3, 0]], dtype=int32)
    """
    nested = _splits_of(tensors, row_partition_types)
    check_nested(nested, len(values))
    lengths = [np.diff(splits) for splits in nested]
    found = [len(lengths[0]), *(int(each.max(initial=0)) for each in lengths)]
    sizes = [*found, *values.shape[1:]]
    if shape.ndim and len(shape) != len(sizes):
        raise ValueError(f"shape.dims = {len(shape)} and value.dims = {values.ndim} don't fit a ragged rank of "
                         f"{len(nested)}")
    sizes = [size if want < 0 else int(want) for size, want in zip(sizes, np.broadcast_to(shape, len(sizes)),
                                                                  strict=True)]
    if sizes[len(found):] != list(values.shape[1:]):
        raise ValueError(f"expected values of inner shape {sizes[len(found):]}, got {list(values.shape[1:])}")
    made = np.empty(sizes, values.dtype)
    made[...] = default
    if len(found) == 2 and sizes[0] >= found[0] and sizes[1] >= found[1]:       # 10 times as fast as by coordinates
        made[:found[0]][np.arange(sizes[1]) < lengths[0][:, None]] = values
        return made
    outer, _ = _coordinates(nested, len(values))
    kept = (outer < sizes[:len(found)]).all(1)
    made[tuple(outer[kept].T)] = values[kept]
    return made


@RaggedTensorToTensor.gradient
def _(op: Operation, dy: Tensor) -> list[Any]:
    shape, values, default, *tensors = op.inputs
    types: list[bytes] = op.get_attr("row_partition_types")
    ragged = sum(kind != b"FIRST_DIM_SIZE" for kind in types)
    size: Any = raw.Shape(values, out_type=dtypes.int64)
    inner = size[1:]
    outer = shape if shape.shape.ndims == 0 else shape[:ragged + 1]
    rows = raw.RaggedTensorToTensor(outer, range_(size[0]), convert_to_tensor(-1, dtypes.int64), tensors,
                                    row_partition_types=types)
    rows, flat = raw.Reshape(rows, [-1]), raw.Reshape(dy, raw.ConcatV2([[-1], inner], 0))
    padded = raw.Gather(flat, raw.Reshape(raw.Where(rows < 0), [-1]))
    given: Any = raw.Shape(default, out_type=dtypes.int64)
    axes, _ = raw.BroadcastGradientArgs(given, raw.Shape(padded, out_type=dtypes.int64))
    return [None, raw.UnsortedSegmentSum(flat, rows, size[0]),
            raw.Reshape(raw.Sum(padded, axes), given), *[None] * len(tensors)]
