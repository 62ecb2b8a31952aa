"""Rows of dense and sparse tensors as ragged ones."""
from __future__ import annotations

from typing import Any

from tfnb.control_flow.assertions import assert_equal, assert_less_equal
from tfnb.core.dtypes import DType
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.array.create import range_
from tfnb.ops.array.gather import boolean_mask, sequence_mask
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import reshape, shape
from tfnb.ops.composite.sparse_tensor import SparseTensor, SparseTensorValue
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import not_equal
from tfnb.ops.reductions.reduce import reduce_any, reduce_max
from tfnb.ragged import partition


def uniform_splits(nrows: Any, size: Any) -> Tensor:
    """Return the row splits of rows of one size: scalars of one dtype."""
    return range_(cast(0, nrows.dtype), nrows + 1) * size  # type: ignore[no-any-return]


def from_dense(cls: Any, tensor: Tensor, lengths: Any, padding: Any, ragged_rank: int, dtype: DType) -> Any:
    """Return a ragged tensor: see RaggedTensor.from_tensor."""
    _check(tensor, lengths, padding, ragged_rank, dtype)
    if isinstance(lengths, (list, tuple)) and lengths and not isinstance(lengths[0], (int, float)):
        if ragged_rank not in (1, len(lengths)):
            raise ValueError(f"If lengths is a tuple of row_lengths, argument `ragged_rank` must be len(lengths): "
                             f"{len(lengths)}. Received {ragged_rank}.")
        return _by_nested_lengths(cls, tensor, lengths, dtype)
    if ragged_rank > 1:
        sizes: Any = shape(tensor, out_type=dtype)
        merged = reshape(tensor, concat([[sizes[0] * sizes[1]], sizes[2:]], 0))
        if tensor.shape.ndims is not None:
            merged.set_shape([None, *tensor.shape.as_list()[2:]])
        inner = from_dense(cls, merged, lengths, padding, ragged_rank - 1, dtype)
        return cls._of(inner, uniform_splits(sizes[0], sizes[1]))
    if padding is not None:
        lengths = _lengths_without(tensor, convert_to_tensor(padding, dtype=tensor.dtype, name="padding"), dtype)
    return _by_lengths(cls, tensor, lengths, dtype)


def _check(tensor: Tensor, lengths: Any, padding: Any, ragged_rank: Any, dtype: DType) -> None:
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank!r}.")
    if ragged_rank <= 0:
        raise ValueError(f"Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.")
    if dtype not in partition.SPLITS_DTYPES:
        raise TypeError(f"row_splits_dtype must be int32 or int64, got {dtype.name}")
    tensor.shape.with_rank_at_least(ragged_rank + 1)


def _by_lengths(cls: Any, tensor: Tensor, lengths: Any, dtype: DType) -> Any:
    """Return the rows of a Tensor, cut to their lengths if there are some."""
    sizes: Any = shape(tensor, out_type=dtype)
    if lengths is None:
        values = reshape(tensor, concat([[-1], sizes[2:]], 0))
        if tensor.shape.ndims is not None:
            values.set_shape([None, *tensor.shape.as_list()[2:]])
        return cls._of(values, uniform_splits(sizes[0], sizes[1]), nrows=sizes[0])
    given = cast(convert_to_tensor(lengths, name="lengths"), dtype)
    given.shape.assert_has_rank(1)
    cut = raw.Maximum(raw.Minimum(given, sizes[1]), cast(0, dtype))
    values = boolean_mask(tensor, sequence_mask(cut, sizes[1]))
    return cls._of(values, partition.splits_of_lengths(cut), lengths=cut)


def _by_nested_lengths(cls: Any, tensor: Tensor, lengths: Any, dtype: DType) -> Any:
    sizes: Any = shape(tensor, out_type=dtype)
    given = cast(convert_to_tensor(lengths[0], name="lengths"), dtype)
    fit = assert_less_equal(given, sizes[1], message="expected lengths of at most the size of the axis")
    outer = _by_lengths(cls, tensor, partition.guarded(given, [fit]), dtype)
    return outer if len(lengths) == 1 else outer._with(_by_nested_lengths(cls, outer.values, lengths[1:], dtype))


def _lengths_without(tensor: Tensor, padding: Tensor, dtype: DType) -> Tensor:
    """Return the lengths of the rows up to the last element that is not `padding`."""
    if tensor.shape.ndims is None:
        raise ValueError("padding expects a tensor of known rank")
    padding.shape.assert_is_compatible_with(tensor.shape[2:])
    kept = not_equal(tensor, padding)
    kept = reduce_any(kept, axis=list(range(2, tensor.shape.ndims))) if tensor.shape.ndims > 2 else kept
    sizes: Any = shape(tensor, out_type=dtype)
    ends = range_(cast(1, dtype), sizes[1] + 1) * cast(kept, dtype)
    return raw.Maximum(reduce_max(ends, axis=1), cast(0, dtype))  # type: ignore[no-any-return]


def from_sparse(cls: Any, st_input: Any, dtype: DType) -> Any:
    """Return a ragged tensor: see RaggedTensor.from_sparse."""
    if isinstance(st_input, SparseTensorValue):
        st_input = SparseTensor.from_value(st_input)
    if not isinstance(st_input, SparseTensor):
        raise TypeError(f"Argument `st_input` must be of type SparseTensor, but is of type {type(st_input).__name__}.")
    rank = st_input.dense_shape.shape[0].value if st_input.dense_shape.shape.ndims else None
    if (rank if rank is not None else st_input.indices.shape[1].value) != 2:
        raise ValueError("rank(st_input) must be 2.")
    places: Any = cast(st_input.indices, dtype)
    rows = partition.guarded(places[:, 0], [partition.ascending(places[:, 0], "SparseTensor is not right-ragged")])
    nrows = cast(st_input.dense_shape[0], dtype)
    made = cls._of(st_input.values, partition.splits_of_rows(rows, nrows), nrows=nrows)
    columns = range_(cast(0, dtype), partition.size_of(st_input.values, dtype)) - raw.GatherV2(
        made.row_splits, rows, 0)
    gapless = assert_equal(places[:, 1], columns, message="SparseTensor is not right-ragged: rows have gaps")
    return made._with(partition.guarded(st_input.values, [gapless]))


