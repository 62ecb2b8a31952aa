"""Indexing of ragged tensors: rows by number, slices of any axis, new axes."""
from __future__ import annotations

from typing import Any

from tfnb.core import dtypes
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.create import range_
from tfnb.ops.array.gather import gather
from tfnb.ops.array.ragged import RaggedRange
from tfnb.ops.array.reshape import expand_dims
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast
from tfnb.ops.overloads import index_of
from tfnb.ragged.gathering import boolean_mask
from tfnb.ragged.tensor import RaggedTensor, is_ragged

FULL = slice(None)


def item(x: Any, key: Any) -> Any:
    """Return `x[key]`: numbers, slices, `...`, tf.newaxis, a tuple of these; or a ragged tensor of bools.

    Raises ValueError for a number on a ragged axis behind the first one, TypeError for anything else.
    """
    with name_scope(None, "RaggedGetItem", [x]):
        if is_ragged(key) or isinstance(key, Tensor) and key.dtype == dtypes.bool:
            return boolean_mask(x, key)
        keys = _without_ellipsis(list(key) if isinstance(key, (list, tuple)) else [key], x.shape.ndims)
        return _outer(x, keys)


def _without_ellipsis(keys: list[Any], rank: int | None) -> list[Any]:
    """Return keys with full slices for `...`. Raises ValueError for more than one, and an unknown rank."""
    places = [i for i, key in enumerate(keys) if key is Ellipsis]
    if not places:
        return keys
    if len(places) > 1 or rank is None:
        raise ValueError("expected one ellipsis at most, and a known rank")
    left = rank - sum(key is not None for key in keys) + 1
    return [*keys[:places[0]], *[FULL] * left, *keys[places[0] + 1:]]


def _outer(x: Any, keys: list[Any]) -> Any:
    """Return x[keys], from the first axis on."""
    if not keys:
        return x
    if not is_ragged(x):
        return x[tuple(keys)]
    first, rest = keys[0], keys[1:]
    if first is None:
        return expand_dims(_outer(x, rest), 0)
    if isinstance(first, slice):
        if first != FULL:
            numbers: Any = range_(cast(0, x.row_splits.dtype), x.nrows())
            x = gather(x, numbers[first])
        return _inner(x, rest)
    number = index_of(first)
    starts, limits = x.row_splits[:-1], x.row_splits[1:]
    begin, end = starts[number], limits[number]
    values = gather(x.values, range_(begin, end)) if is_ragged(x.values) else x.values[begin:end]
    return _outer(values, rest)


def _inner(x: Any, keys: list[Any]) -> Any:
    """Return x with its axes behind the first one indexed by keys."""
    if not keys:
        return x
    if not is_ragged(x):
        return x[(FULL, *keys)]
    first, rest = keys[0], keys[1:]
    if first is None:
        inner = _inner(x, rest)
        return RaggedTensor._of(inner, range_(cast(0, x.row_splits.dtype), x.nrows() + 1))
    if not isinstance(first, slice):
        index_of(first)
        raise ValueError("Cannot index into an inner ragged dimension.")
    if first != FULL:
        x = _sliced(x, first)
    return x._with(_inner(x.values, rest))


def _sliced(x: Any, key: slice) -> Any:
    """Return the slice of each row."""
    dtype, lengths = x.row_splits.dtype, x.row_lengths()
    step = 1 if key.step is None else index_of(key.step)
    step = constant_value(step) if isinstance(step, Tensor) else step
    if step is None or step == 0:
        raise ValueError(f"expected a known step other than 0 of a slice of a ragged axis, got {key.step!r}")
    low, high = (0, lengths) if step > 0 else (-1, lengths - 1)
    first = (cast(low, dtype) + 0 * lengths) if step > 0 else high
    last = high if step > 0 else cast(low, dtype) + 0 * lengths
    begin = first if key.start is None else _place(key.start, lengths, low, high)
    end = last if key.stop is None else _place(key.stop, lengths, low, high)
    splits, places = RaggedRange(x.row_splits[:-1] + begin, x.row_splits[:-1] + end, cast(int(step), dtype),
                                 Tsplits=dtype)
    return RaggedTensor._of(gather(x.values, places), splits)


def _place(bound: Any, lengths: Any, low: Any, high: Any) -> Any:
    """Return a bound of a slice in rows of these lengths, as Python counts and clips."""
    at = cast(convert_to_tensor(index_of(bound)), lengths.dtype)
    counted = at + lengths * cast(at < 0, lengths.dtype)
    return raw.Maximum(raw.Minimum(counted, high), cast(low, lengths.dtype))


RaggedTensor._override("__getitem__", item)
