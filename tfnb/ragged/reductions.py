"""Reductions of ragged tensors, and sums of their rows by segment."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfnb.control_flow.assertions import assert_equal
from tfnb.core import dtypes
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.create import ones_like, range_
from tfnb.ops.array.gather import gather
from tfnb.ops.array.ragged import RaggedRange
from tfnb.ops.array.reshape import expand_dims
from tfnb.ops.declaration.arguments import renamed
from tfnb.ops.declaration.dispatch import handles
from tfnb.ops.declaration.public import named
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import square
from tfnb.ops.math.casting import cast
from tfnb.ops.math.functions import sqrt
from tfnb.ops.reductions import reduce as dense
from tfnb.ops.reductions import segments
from tfnb.ragged import partition
from tfnb.ragged.tensor import RaggedTensor, as_tensor, is_ragged

Function = Callable[..., Any]


# Segments

@handles(segments.unsorted_segment_sum, segments.unsorted_segment_prod, segments.unsorted_segment_max,
         segments.unsorted_segment_min, segments.unsorted_segment_mean, segments.unsorted_segment_sqrt_n)
def unsorted_segment(fn: Function, data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """Combine the rows of ragged data by segment: element i of a segment's row is made of all elements i of its rows.

    segment_ids: a vector, or ragged in the rows of the data, whose values are combined then. Raises TypeError for
    floats, ValueError for ids in other rows.
    """
    data, ids = as_tensor(data), as_tensor(segment_ids)
    if not ids.dtype.is_integer:
        raise TypeError(f"segment_ids must be integers, got {ids.dtype.name}")
    with name_scope(name, "RaggedSegment"):
        while is_ragged(ids):
            if not is_ragged(data):
                raise ValueError("segment_ids.shape must be a prefix of data.shape, but segment_ids is ragged and data "
                                 "is not.")
            partition.same_dtype([ids.row_splits, data.row_splits])
            same = [] if ids.row_splits is data.row_splits else [assert_equal(
                ids.row_splits, data.row_splits, message="segment_ids must have the rows of data")]
            data, ids = data.values, ids._with(partition.guarded(ids.values, same)).values \
                if same and not is_ragged(ids.values) else ids.values
        return combined(fn, data, ids, num_segments)


def combined(fn: Function, data: Any, ids: Any, count: Any) -> Any:
    """Return the rows of `data` combined by segment ids in [0, count) by a function of dense segments."""
    if not is_ragged(data):
        return fn(data, ids, cast(count, dtypes.int32) if isinstance(count, Tensor) else count)
    dtype = data.row_splits.dtype
    ids, lengths = cast(ids, dtype), data.row_lengths()
    widest = raw.Maximum(raw.UnsortedSegmentMax(lengths, ids, count), cast(0, dtype))
    splits: Any = partition.splits_of_lengths(widest)
    # Value v of row r goes to element (its column) of the row of the segment of r.
    rows = data.value_rowids()
    columns = _columns(data)
    places = gather(gather(splits, ids), rows) + columns
    return RaggedTensor._of(combined(fn, data.values, places, splits[-1]), splits)


def _columns(ragged: Any) -> Any:
    """Return the place of each value in its row."""
    dtype = ragged.row_splits.dtype
    each = range_(cast(0, dtype), partition.size_of(ragged.values, dtype))
    return each - gather(ragged.row_splits, ragged.value_rowids())


# Reductions

def _axes(axis: Any, rank: int | None) -> list[int]:
    """Return axes as ascending numbers. Raises ValueError for unknown or missing ones."""
    found = constant_value(axis) if isinstance(axis, Tensor) else axis
    if found is None:
        raise ValueError("axis must be known at graph construction time.")
    made = []
    for each in np.atleast_1d(np.array(found)).tolist():
        if rank is not None and not -rank <= each < rank:
            raise ValueError(f"axis={each} out of bounds: expected {-rank}<=axis<{rank}")
        if each < 0 and rank is None:
            raise ValueError(f"axis={each} may only be negative if the rank is statically known.")
        made.append(each + rank if each < 0 and rank is not None else each)
    return sorted(set(made))


def _aggregate(whole: Function, segment: Function, x: Any, axes: Sequence[int] | None, keepdims: bool) -> Any:
    """Reduce axes, the last one first: within flat values by `whole`, along ragged axes by `segment`."""
    if axes is None:
        made = whole(x.flat_values)
        for _ in range((x.shape.ndims or 0) if keepdims else 0):
            made = raw.ExpandDims(made, 0)
        return made
    for axis in reversed(axes):
        x = _along(whole, segment, x, axis, keepdims) if is_ragged(x) else whole(x, axis, keepdims=keepdims)
    return x


def _along(whole: Function, segment: Function, x: Any, axis: int, keepdims: bool) -> Any:
    if axis > 1:
        inner = x.values
        return x._with(_along(whole, segment, inner, axis - 1, keepdims) if is_ragged(inner)
                       else whole(inner, axis - 1, keepdims=keepdims))
    if axis == 1:
        made = combined(segment, x.values, x.value_rowids(), x.nrows())
    else:
        made = combined(segment, x.values, _columns(x), partition.longest(x.row_splits))
    return expand_dims(made, axis) if keepdims else made


_SEGMENT: dict[str, tuple[Function, Function]] = {
    "reduce_sum": (dense.reduce_sum, segments.unsorted_segment_sum),
    "reduce_prod": (dense.reduce_prod, segments.unsorted_segment_prod),
    "reduce_min": (dense.reduce_min, segments.unsorted_segment_min),
    "reduce_max": (dense.reduce_max, segments.unsorted_segment_max),
    "reduce_all": (dense.reduce_prod, segments.unsorted_segment_prod),
    "reduce_any": (dense.reduce_sum, segments.unsorted_segment_sum)}


@handles(dense.reduce_sum, dense.reduce_prod, dense.reduce_min, dense.reduce_max, dense.reduce_all, dense.reduce_any,
         dense.reduce_mean, dense.reduce_variance, dense.reduce_std)
def reduce(fn: Function, input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None,
           reduction_indices: Any = None, keep_dims: Any = None) -> Any:
    """Reduce ragged axes by segments: the result is dense where no ragged axis is left.

    Raises ValueError for an axis out of range, or one that is not known while the graph is built.
    """
    x = as_tensor(input_tensor)
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    keep = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims, default=False))
    axes = None if axis is None else _axes(axis, x.shape.ndims)
    with name_scope(name, "RaggedReduce", [x]):
        return _reduced(fn.__name__, x, axes, keep)


def _reduced(name: str, x: Any, axes: Sequence[int] | None, keep: bool) -> Any:
    if name == "reduce_mean":
        return _mean(x, axes, keep)
    if name in ("reduce_variance", "reduce_std"):
        squares = square(x)
        variance = _mean(squares, axes, keep) - square(_mean(x, axes, keep))
        return variance if name == "reduce_variance" else sqrt(variance)
    if name in ("reduce_all", "reduce_any"):
        return cast(_aggregate(*_SEGMENT[name], cast(x, dtypes.int32), axes, keep), dtypes.bool)
    return _aggregate(*_SEGMENT[name], x, axes, keep)


def _mean(x: Any, axes: Sequence[int] | None, keep: bool) -> Any:
    total = _aggregate(*_SEGMENT["reduce_sum"], x, axes, keep)
    count = _aggregate(*_SEGMENT["reduce_sum"], ones_like(x), axes, keep)
    return total / count


@handles(dense.cumsum)
def cumsum(fn: Function, x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False,
           name: str | None = None) -> Any:
    """Sum up within the rows of the innermost ragged axis, or within dense axes behind it."""
    x = as_tensor(x)
    axis, = _axes(axis, x.shape.ndims)
    if axis == 0:
        raise ValueError("cumsum of a ragged tensor expects an axis behind the first one, got 0")
    with name_scope(name, "RaggedCumSum", [x]):
        if axis > 1:
            return x._with(dense.cumsum(x.values, axis - 1, exclusive=exclusive, reverse=reverse))
        if is_ragged(x.values):
            raise ValueError("cumsum of a ragged tensor expects dense values behind the axis")
        sums = fn(x.to_tensor(), 1, exclusive=exclusive, reverse=reverse)
        return RaggedTensor.from_tensor(sums, lengths=x.row_lengths(), row_splits_dtype=x.row_splits.dtype)


@named("range")
def ragged_range(starts: Any, limits: Any = None, deltas: Any = 1, dtype: Any = None, name: str | None = None,
                 row_splits_dtype: Any = dtypes.int64) -> RaggedTensor:
    """Return a RaggedTensor whose row i is the range from starts[i] to limits[i] by steps of deltas[i].

    starts, limits, deltas: scalars or vectors; without limits the ranges begin at 0 and end at starts. dtype: of the
    values. row_splits_dtype: int32 or int64. Running it raises InvalidArgumentError for a delta of 0.

    >>> sess.run(tf.ragged.range([3, 5, 2])).to_list()
    [[0, 1, 2], [0, 1, 2, 3, 4], [0, 1]]
    """
    if limits is None:
        starts, limits = 0, starts
    with name_scope(name, "RaggedRange", [starts, limits, deltas]):
        tensors = [as_tensor(each, dtype=dtype, name=label) for each, label in (
            (starts, "starts"), (limits, "limits"), (deltas, "deltas"))]
        wanted = max((each.dtype.base_dtype for each in tensors), key=_RANGES.index)
        splits, values = RaggedRange(*(cast(each, wanted) for each in tensors), Tsplits=row_splits_dtype)
        return RaggedTensor._of(values, splits)


_RANGES = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]
