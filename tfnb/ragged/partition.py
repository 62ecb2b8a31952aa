"""Row partitions: row splits from and to lengths, row indices, starts and limits, and their validation.

What compiled programs do with row splits has a size that is known from the shapes of values and splits: row indices
are found by binary search in the splits, not by repetition.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.control_flow.assertions import (
    assert_equal,
    assert_greater_equal,
    assert_less,
    assert_less_equal,
    assert_non_negative,
)
from tfnb.core import dtypes
from tfnb.core.dtypes import DType
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.ops.array.create import range_
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import expand_dims, identity, shape
from tfnb.ops.array.searching import LowerBound, UpperBound
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast
from tfnb.ops.reductions.reduce import cumsum, reduce_max, reduce_sum

SPLITS_DTYPES = (dtypes.int32, dtypes.int64)
Checks = list[Operation]


def as_partition(value: Any, name: str) -> Tensor:
    """Convert a vector of splits, lengths or row indices: int64 by default. Raises ValueError unless it is int32/64."""
    tensor = convert_to_tensor(value, name=name, preferred_dtype=dtypes.int64)
    if tensor.dtype.base_dtype not in SPLITS_DTYPES:
        raise ValueError(f"{name} must have dtype int32 or int64, got {tensor.dtype.name}")
    return tensor


def size_of(values: Any, dtype: DType) -> Tensor:
    """Return the number of rows of a tensor or RaggedTensor, a scalar."""
    if isinstance(values, Tensor):
        whole: Any = shape(values, out_type=dtype)
        return whole[0]  # type: ignore[no-any-return]
    return values.nrows(out_type=dtype)  # type: ignore[no-any-return]


def lengths_of(splits: Any) -> Tensor:
    """Return the length of each row."""
    return splits[1:] - splits[:-1]  # type: ignore[no-any-return]


def splits_of_lengths(lengths: Tensor) -> Tensor:
    """Return row splits: 0 and the cumulated lengths."""
    return concat([convert_to_tensor([0], dtype=lengths.dtype), cumsum(lengths)], 0)


def rows_of(splits: Tensor, count: Any) -> Tensor:
    """Return the row of each of `count` values."""
    places: Tensor = range_(cast(0, splits.dtype), count)
    found: Any = UpperBound(expand_dims(splits, 0), expand_dims(places, 0), out_type=splits.dtype)
    return found[0] - 1  # type: ignore[no-any-return]


def splits_of_rows(rows: Tensor, nrows: Any) -> Tensor:
    """Return the row splits of values whose ascending rows are given."""
    each: Tensor = range_(cast(0, rows.dtype), nrows + 1)
    found: Any = LowerBound(expand_dims(rows, 0), expand_dims(each, 0), out_type=rows.dtype)
    return found[0]  # type: ignore[no-any-return]


def longest(splits: Tensor) -> Tensor:
    """Return the length of the longest row, 0 if there is none."""
    return raw.Maximum(reduce_max(lengths_of(splits)), cast(0, splits.dtype))  # type: ignore[no-any-return]


# Validation

def guarded(tensor: Tensor, checks: Checks) -> Tensor:
    """Return the tensor, computed behind checks."""
    with control_dependencies(checks):
        same: Tensor = identity(tensor)
        return same


def ascending(tensor: Any, message: str) -> Operation:
    """Return the check that the elements of a vector don't descend."""
    return assert_non_negative(tensor[1:] - tensor[:-1], message=f"{message}: expected ascending numbers")


def splits_checks(splits: Any, values: Any, message: str) -> Checks:
    """Return the checks that row splits ascend from 0 to the number of values."""
    zero = cast(0, splits.dtype)
    return [assert_equal(splits[0], zero, message=f"{message}: expected 0 as first row split"),
            ascending(splits, message),
            assert_equal(splits[-1], size_of(values, splits.dtype), message=f"{message}: expected the number of values "
                                                                           "as last row split")]


def lengths_checks(lengths: Any, values: Any, message: str) -> Checks:
    """Return the checks that row lengths sum up to the number of values."""
    return [assert_non_negative(lengths, message=f"{message}: expected lengths of 0 or more"),
            assert_equal(reduce_sum(lengths), size_of(values, lengths.dtype),
                         message=f"{message}: expected lengths that sum up to the number of values")]


def rows_checks(rows: Any, nrows: Any, message: str) -> Checks:
    """Return the checks that row indices ascend inside of [0, nrows)."""
    return [assert_non_negative(nrows, message=f"{message}: expected nrows of 0 or more"),
            assert_non_negative(rows[:1], message=f"{message}: expected row indices of 0 or more"),
            ascending(rows, message),
            assert_less(rows[-1:], nrows, message=f"{message}: expected row indices below nrows")]


def starts_checks(starts: Any, values: Any, message: str) -> Checks:
    """Return the checks that row starts ascend from 0 inside of the values."""
    return [assert_equal(starts[:1], cast(0, starts.dtype), message=f"{message}: expected 0 as first start"),
            ascending(starts, message),
            assert_less_equal(starts[-1:], size_of(values, starts.dtype), message=f"{message}: expected starts inside "
                                                                                 "of the values")]


def limits_checks(limits: Any, values: Any, message: str) -> Checks:
    """Return the checks that row limits ascend to the number of values."""
    return [assert_greater_equal(limits[:1], cast(0, limits.dtype), message=f"{message}: expected limits of 0 or more"),
            ascending(limits, message),
            assert_equal(limits[-1:], size_of(values, limits.dtype), message=f"{message}: expected the number of "
                                                                            "values as last limit")]


# Public conversions

def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Tensor:
    """Return the row of each value, as segment functions take it.

    splits: row splits, int32 or int64 [rows + 1]. out_type: int32 or int64, by default that of the splits. Raises
    ValueError for another dtype, and for splits that are empty.

    >>> sess.run(tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5]))
    array([0, 0, 0, 2, 2])
    """
    with name_scope(name, "RaggedSplitsToSegmentIds"):
        found: Any = as_partition(splits, "splits")
        found.shape.assert_has_rank(1)
        if found.shape[0].value == 0:
            raise ValueError(f"Invalid row_splits: expected at least one, got {splits!r}")
        rows = rows_of(found - found[0], found[-1] - found[0])
        return rows if out_type is None else cast(rows, out_type)


def segment_ids_to_row_splits(segment_ids: Any, num_segments: Any = None, out_type: Any = None,
                              name: str | None = None) -> Tensor:
    """Return the row splits of rows that segment functions would take by these indices.

    segment_ids: ascending row indices, int32 or int64. num_segments: the number of rows; by default up to the last one.
    out_type: int32 or int64, by default that of the indices. Raises ValueError for another dtype.

    >>> sess.run(tf.ragged.segment_ids_to_row_splits([0, 0, 0, 2, 2, 3]))
    array([0, 3, 3, 5, 6])
    """
    with name_scope(name, "SegmentIdsToRaggedSplits"):
        rows: Any = as_partition(segment_ids, "segment_ids")
        rows.shape.assert_has_rank(1)
        count = _segments(rows) if num_segments is None else cast(as_partition(num_segments, "num_segments"),
                                                                  rows.dtype)
        ones = raw.OnesLike(rows)
        lengths = raw.UnsortedSegmentSum(ones, rows, count)
        splits = splits_of_lengths(lengths)
        return splits if out_type is None else cast(splits, out_type)


def _segments(rows: Any) -> Any:
    """Return one more than the largest row index, 0 if there is none."""
    return raw.Maximum(reduce_max(rows) + 1, cast(0, rows.dtype))


def last_row(rows: Any) -> Any:
    """Return the number of rows up to the last of ascending row indices."""
    known = constant_value(rows)
    if known is not None:
        return convert_to_tensor(known[-1] + 1 if len(known) else 0, dtype=rows.dtype)
    return reduce_max(concat([convert_to_tensor([-1], dtype=rows.dtype), rows[-1:]], 0)) + 1


def same_dtype(splits: Sequence[Tensor], message: str = "row_splits") -> None:
    """Raise ValueError unless row splits have one dtype."""
    found = {each.dtype.base_dtype for each in splits}
    if len(found) > 1:
        raise ValueError(f"{message} must have the same dtype, got {sorted(each.name for each in found)}: use "
                         "RaggedTensor.with_row_splits_dtype() to convert them")
