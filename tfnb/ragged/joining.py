"""Ragged tensors side by side: concatenation, stacks, repetition, axes of size 1, reversed rows."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfnb.control_flow.assertions import assert_equal
from tfnb.core import dtypes
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array import joining, reshape
from tfnb.ops.array.create import range_
from tfnb.ops.array.gather import gather
from tfnb.ops.declaration.arguments import renamed
from tfnb.ops.declaration.dispatch import handles
from tfnb.ops.declaration.public import named
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast
from tfnb.ragged import partition
from tfnb.ragged.conversion import from_dense, uniform_splits
from tfnb.ragged.tensor import RaggedTensor, as_tensor, is_ragged

Function = Callable[..., Any]
SPLITS_DTYPE = dtypes.int64


def positive(axis: int, rank: int | None) -> int:
    """Return an axis of a rank as a number of 0 or more. Raises ValueError for one out of range."""
    if rank is None:
        if axis < 0:
            raise ValueError(f"axis={axis} may only be negative if the rank is statically known.")
        return axis
    if not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    return axis + rank if axis < 0 else axis


def ragged_of(x: Any, ragged_rank: int, dtype: Any) -> Any:
    """Return a tensor with at least as many ragged axes."""
    found = x.ragged_rank if is_ragged(x) else 0
    if found >= ragged_rank:
        return x
    inner = from_dense(RaggedTensor, x.flat_values if found else x, None, None, ragged_rank - found, dtype)
    return x.with_flat_values(inner) if found else inner


def _alike(values: Sequence[Any], least: int = 0) -> list[Any]:
    """Return tensors with the same number of ragged axes. Raises ValueError for different ranks."""
    ranks = {each.shape.ndims for each in values if each.shape.ndims is not None}
    if len(ranks) > 1:
        raise ValueError(f"expected tensors of one rank, got {[each.shape.ndims for each in values]}")
    ragged = [each for each in values if is_ragged(each)]
    partition.same_dtype([each.row_splits for each in ragged])
    dtype = ragged[0].row_splits.dtype if ragged else SPLITS_DTYPE
    most = max([each.ragged_rank for each in ragged], default=0)
    return [ragged_of(each, max(most, least), dtype) for each in values]


def _below(values: Sequence[Any]) -> Any:
    """Concatenate along the first axis."""
    if not is_ragged(values[0]):
        return joining.concat(list(values), 0)
    lengths = joining.concat([each.row_lengths() for each in values], 0)
    return RaggedTensor._of(_below([each.values for each in values]), partition.splits_of_lengths(lengths))


def _woven(values: Sequence[Any]) -> tuple[Any, Tensor]:
    """Return the rows of all tensors, row i of each beside one another, and the number of rows of one."""
    dtype = values[0].row_splits.dtype
    rows: Any = values[0].nrows()
    same = [assert_equal(each.nrows(), rows, message="expected tensors with as many rows") for each in values[1:]]
    count = partition.guarded(rows, same) if same else rows
    places = raw.Transpose(raw.Reshape(range_(cast(0, dtype), count * len(values)), [len(values), -1]), [1, 0])
    return gather(_below(values), raw.Reshape(places, [-1])), count


def _within(values: Sequence[Any], join: Callable[[list[Any]], Any]) -> Any:
    """Return `join` of the values of tensors with the same rows, in these rows."""
    first = values[0]
    same = [assert_equal(each.row_splits, first.row_splits, message="Inputs must have identical ragged splits")
            for each in values[1:] if each.row_splits is not first.row_splits]
    made = join([each.values for each in values])
    if not same:
        return first._with(made)
    return RaggedTensor._of(made, partition.guarded(first.row_splits, same))


def _concatenated(values: Sequence[Any], axis: int) -> Any:
    if not any(map(is_ragged, values)):
        return joining.concat(list(values), axis)
    if axis == 0:
        return _below(_alike(values))
    values = _alike(values, 1)
    if axis == 1:
        rows, _ = _woven(values)
        return RaggedTensor._of(rows.values, rows.row_splits[::len(values)])
    return _within(values, lambda inner: _concatenated(inner, axis - 1))


@handles(joining.concat)
def concat(fn: Function, values: Any = None, axis: Any = None, name: Any = "concat", concat_dim: Any = None) -> Any:
    """Concatenate ragged and dense tensors along an axis. Raises ValueError for an unknown axis, or different ranks."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    axis = renamed("axis", axis, "concat_dim", concat_dim)
    known = constant_value(axis) if isinstance(axis, Tensor) else axis
    if known is None:
        raise ValueError("axis must be known while the graph is built to concatenate ragged tensors")
    with name_scope(name, "RaggedConcat", list(values)):
        tensors = [as_tensor(each) for each in values]
        return _concatenated(tensors, positive(int(known), tensors[0].shape.ndims))


def _stacked(values: Sequence[Any], axis: int) -> Any:
    if axis > 0 and not any(map(is_ragged, values)):
        return joining.stack(list(values), axis)
    if axis == 0:
        values = _alike(values)
        dtype = values[0].row_splits.dtype if is_ragged(values[0]) else SPLITS_DTYPE
        sizes = joining.stack([partition.size_of(each, dtype) for each in values])
        return RaggedTensor._of(_below(values), partition.splits_of_lengths(sizes))
    values = _alike(values, 1)
    if axis == 1:
        rows, count = _woven(values)
        return RaggedTensor._of(rows, uniform_splits(count, len(values)))
    return _within(values, lambda inner: _stacked(inner, axis - 1))


@handles(joining.stack)
def _stack(fn: Function, values: Any, axis: int = 0, name: Any = "stack") -> Any:
    return ragged_stack(values, axis, name)


@named("stack")
def ragged_stack(values: Sequence[Any], axis: int = 0, name: str | None = None) -> Any:
    """Stack tensors of one rank along a new axis; their other sizes may differ, and are ragged axes of the result.

    values: Tensors, RaggedTensors or what makes some. axis: of the result, negative ones from its end. Raises
    ValueError for an axis out of range, and different ranks.

    >>> sess.run(tf.ragged.stack([[1, 2], [3]])).to_list()
    [[1, 2], [3]]
    """
    with name_scope(name, "RaggedStack", list(values)):
        tensors = [as_tensor(each) for each in values]
        rank = tensors[0].shape.ndims
        if rank == 0:
            return joining.stack(tensors, axis)
        return _stacked(tensors, positive(axis, None if rank is None else rank + 1))


@handles(joining.tile)
def tile(fn: Function, input: Any, multiples: Any, name: str | None = None) -> Any:
    """Repeat the rows of a ragged tensor along each axis."""
    with name_scope(name, "RaggedTile", [input, multiples]):
        x = as_tensor(input)
        counts: Any = convert_to_tensor(multiples, name="multiples")
        rank, given = x.shape.ndims, counts.shape
        given.assert_has_rank(1)
        if rank is not None and given[0].value is not None and given[0].value != rank:
            raise ValueError(f"expected {rank} multiples, one for each axis, got {given[0].value}")
        return _tiled(fn, x, cast(counts, x.row_splits.dtype))


def _tiled(fn: Function, x: Any, counts: Any) -> Any:
    if not is_ragged(x):
        return fn(x, counts)
    rest = joining.concat([cast([1], counts.dtype), counts[2:]], 0)
    inner = x._with(_tiled(fn, x.values, rest))
    known = constant_value(counts)
    if known is None or known[1] != 1:
        splits: Any = inner.row_splits * counts[1]
        values: Any = range_(cast(0, splits.dtype), partition.size_of(inner.values, splits.dtype) * counts[1])
        rows = partition.rows_of(splits, partition.size_of(values, splits.dtype))
        places = gather(inner.row_splits, rows) + raw.FloorMod(values - gather(splits, rows),
                                                               gather(inner.row_lengths(), rows))
        inner = RaggedTensor._of(gather(inner.values, places), splits)
    if known is None or known[0] != 1:
        inner = gather(inner, raw.Tile(range_(cast(0, counts.dtype), inner.nrows()), counts[:1]))
    return inner


# Axes

@handles(reshape.expand_dims)
def expand_dims(fn: Function, input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """Insert an axis of size 1 into a ragged tensor."""
    axis = renamed("axis", axis, "dim", dim)
    with name_scope(name, "RaggedExpandDims", [input]):
        x = as_tensor(input)
        return _expanded(x, positive(int(axis), None if x.shape.ndims is None else x.shape.ndims + 1))


def _expanded(x: Any, axis: int) -> Any:
    if not is_ragged(x):
        return raw.ExpandDims(x, axis)
    if axis == 0:
        return RaggedTensor._of(x, raw.Pack([cast(0, x.row_splits.dtype), x.nrows()]))
    if axis == 1:
        return RaggedTensor._of(x, range_(cast(0, x.row_splits.dtype), x.nrows() + 1))
    return x._with(_expanded(x.values, axis - 1))


@handles(reshape.squeeze)
def squeeze(fn: Function, input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Any:
    """Remove axes of size 1, which are named. A run raises InvalidArgumentError for others."""
    axis = renamed("axis", axis, "squeeze_dims", squeeze_dims)
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    with name_scope(name, "RaggedSqueeze", [input]):
        x = as_tensor(input)
        for each in sorted((positive(a, x.shape.ndims) for a in ([axis] if isinstance(axis, int) else axis)),
                           reverse=True):
            x = _squeezed(fn, x, each)
        return x


def _squeezed(fn: Function, x: Any, axis: int) -> Any:
    if not is_ragged(x):
        return fn(x, [axis])
    if axis > 1:
        return x._with(_squeezed(fn, x.values, axis - 1))
    one = cast(1, x.row_splits.dtype)
    sizes = x.nrows() if axis == 0 else x.row_lengths()
    check = assert_equal(sizes, one, message=f"expected size 1 of axis {axis}, which is squeezed")
    if is_ragged(x.values):
        return RaggedTensor._of(x.values.values, partition.guarded(x.values.row_splits, [check]))
    return partition.guarded(x.values, [check])


@handles(reshape.size)
def size(fn: Function, input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """Return the number of values."""
    return fn(as_tensor(input).flat_values, name=name, out_type=out_type)  # type: ignore[no-any-return]


@handles(reshape.rank)
def rank(fn: Function, input: Any, name: str | None = None) -> Tensor:
    """Return the number of axes."""
    with name_scope(name, "RaggedRank", [input]):
        x = as_tensor(input)
        if x.shape.ndims is not None:
            return convert_to_tensor(x.shape.ndims, dtype=dtypes.int32)
        return x.ragged_rank + fn(x.flat_values)  # type: ignore[no-any-return]


@handles(reshape.reverse)
def reverse(fn: Function, tensor: Any, axis: Any = None, name: str | None = None, dims: Any = None) -> Any:
    """Reverse the order of rows, or within rows, along the named axes."""
    with name_scope(name, "RaggedReverse", [tensor]):
        x = as_tensor(tensor)
        for each in renamed("axis", axis, "dims", dims):
            x = _reversed(fn, x, positive(int(each), x.shape.ndims))
        return x


def _reversed(fn: Function, x: Any, axis: int) -> Any:
    if not is_ragged(x):
        return fn(x, [axis])
    if axis > 1:
        return x._with(_reversed(fn, x.values, axis - 1))
    dtype = x.row_splits.dtype
    if axis == 0:
        return gather(x, x.nrows() - 1 - range_(cast(0, dtype), x.nrows()))
    rows = x.value_rowids()
    values = range_(cast(0, dtype), partition.size_of(x.values, dtype))
    return x._with(gather(x.values, gather(x.row_splits, rows) + gather(x.row_splits, rows + 1) - 1 - values))
