"""Elementwise functions of ragged tensors: applied to flat values, in the rows that the arguments share.

Where a dense tensor meets a ragged one it has the size 1, which is repeated for each row, or the length of all rows.
"""
from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tfnb.control_flow.assertions import assert_equal
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.create import range_
from tfnb.ops.array.gather import gather
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import reshape, shape
from tfnb.ops.declaration.dispatch import handles
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast
from tfnb.ragged import functions, partition
from tfnb.ragged.conversion import uniform_splits
from tfnb.ragged.tensor import RaggedTensor, as_tensor, is_ragged

# One partition

def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Apply a function to the flat values of its ragged arguments, and return the result in their rows.

    op: what is called with `args` and `kwargs`, each ragged one (also in lists) replaced by its flat values. A run
    raises InvalidArgumentError where the rows of two differ. Raises ValueError for different ragged ranks.

    >>> x = tf.ragged.constant([[1, 2, 3], [], [4]])
    >>> sess.run(tf.ragged.map_flat_values(lambda v: v * 10, x)).to_list()
    [[10, 20, 30], [], [40]]
    """
    found: list[RaggedTensor] = []
    _replaced([list(args), list(kwargs.values())], found.append)
    if not found:
        return op(*args, **kwargs)
    first, checks = _same_rows(found)
    values = iter([partition.guarded(each.flat_values, checks) if checks else each.flat_values for each in found])
    flat = _replaced(list(args), lambda _: next(values))
    named = dict(zip(kwargs, _replaced(list(kwargs.values()), lambda _: next(values)), strict=True))
    return first.with_flat_values(op(*flat, **named))


def _replaced(value: Any, fn: Callable[[RaggedTensor], Any]) -> Any:
    """Return nested lists with `fn` of each ragged tensor in them."""
    if isinstance(value, (list, tuple)):
        return type(value)(_replaced(item, fn) for item in value) if not hasattr(value, "_fields") else value
    return fn(as_tensor(value)) if is_ragged(value) else value


def _same_rows(found: Sequence[RaggedTensor]) -> tuple[RaggedTensor, partition.Checks]:
    """Return the first of ragged tensors, and the checks that the others have its rows."""
    first = found[0]
    checks = []
    for other in found[1:]:
        if other.ragged_rank != first.ragged_rank:
            raise ValueError(f"Inputs must have identical ragged splits, got ragged ranks {first.ragged_rank} and "
                             f"{other.ragged_rank}")
        checks += [_same_splits(*pair) for pair in zip(first.nested_row_splits, other.nested_row_splits, strict=True)
                   if pair[0] is not pair[1]]
    return first, checks


def _same_splits(a: Tensor, b: Tensor) -> Any:
    partition.same_dtype([a, b])
    return assert_equal(a, b, message="Inputs must have identical ragged splits")


# Two operands

def aligned(x: Any, y: Any) -> tuple[Any, Any, Callable[[Any], Any]]:
    """Return the flat values of two operands, one of them ragged, and the function that gives a result their rows.

    Raises ValueError for a dense operand of unknown rank. A run raises InvalidArgumentError for rows that differ.
    """
    x, y = as_tensor(x), as_tensor(y)
    _know_ranks(x, y)
    if not (is_ragged(x) and is_ragged(y)):
        ragged, dense = (x, y) if is_ragged(x) else (y, x)
        if dense.shape.ndims < ragged.flat_values.shape.ndims:
            return getattr(x, "flat_values", x), getattr(y, "flat_values", y), ragged.with_flat_values
    x, y = _as_many_axes(x, y), _as_many_axes(y, x)
    if not is_ragged(x) and not _one(x.shape[0]) and not _one(y.shape[0]):
        x.shape[:1].assert_is_compatible_with(y.shape[:1])
    x, y = _rows_alike(x, y)
    splits: list[Tensor] = []
    while is_ragged(x) or is_ragged(y):
        x, y, found = _level(x, y)
        splits.append(found)
    return x, y, lambda made: RaggedTensor.from_nested_row_splits(made, splits, validate=False)


def _know_ranks(*operands: Any) -> None:
    for each in operands:
        if each.shape.ndims is None:
            raise ValueError(f"Unable to broadcast a ragged tensor: expected operands of known rank, got {each!r}")


def _as_many_axes(x: Any, y: Any) -> Any:
    """Return `x` with leading axes of size 1, as many as `y` has more."""
    for _ in range(y.shape.ndims - x.shape.ndims):
        if is_ragged(x):
            splits: Any = raw.Pack([cast(0, x.row_splits.dtype), x.nrows()])
            x = RaggedTensor._of(x, splits)
        else:
            x = raw.ExpandDims(x, 0)
    return x


def _one(size: Any) -> bool:
    return bool(size.value == 1)


def _rows_alike(x: Any, y: Any) -> tuple[Any, Any]:
    """Return both with as many rows: one that has a single row where the other has more repeats it."""
    if x.shape[0].value is not None and x.shape[0].value == y.shape[0].value:
        return x, y
    dtype = (x if is_ragged(x) else y).row_splits.dtype
    rows: Any = [partition.size_of(each, dtype) for each in (x, y)]
    made = []
    for each, mine, other in ((x, *rows), (y, *rows[::-1])):
        if each.shape[0].value is not None and not _one(each.shape[0]):
            made.append(each)
            continue
        fit = raw.LogicalOr(raw.Equal(mine, 1), raw.LogicalOr(raw.Equal(other, 1), raw.Equal(mine, other)))
        count = partition.guarded(raw.Select(raw.Equal(mine, 1), other, mine), [raw.Assert(fit, [
            "Incompatible numbers of rows:", mine, other])])
        places = raw.Minimum(range_(cast(0, dtype), count), mine - 1)
        made.append(gather(each, places))
    return made[0], made[1]


def _level(x: Any, y: Any) -> tuple[Any, Any, Tensor]:
    """Return the values of the next axis of operands with as many rows, aligned one to one, and its row splits."""
    if is_ragged(x) and is_ragged(y):
        if x.row_splits is y.row_splits:
            return x.values, y.values, x.row_splits
        splits = partition.guarded(x.row_splits, [_same_splits(x.row_splits, y.row_splits)])
        return x.values, y.values, splits
    if is_ragged(x):
        return x.values, _spread(y, x), x.row_splits
    return _spread(x, y), y.values, y.row_splits


def _spread(dense: Tensor, ragged: RaggedTensor) -> Tensor:
    """Return the values of the second axis of a dense tensor, repeated to the rows of a ragged one if there is one."""
    dtype = ragged.row_splits.dtype
    sizes: Any = shape(dense, out_type=dtype)
    flat = reshape(dense, concat([[-1] if dtype is None else cast([-1], dtype), sizes[2:]], 0))
    flat.set_shape([None, *dense.shape.as_list()[2:]])
    if _one(dense.shape[1]):
        return gather(flat, ragged.value_rowids())
    ones = raw.Equal(sizes[1], 1)
    wide = uniform_splits(sizes[0], sizes[1])
    expected = raw.Select(raw.Fill(raw.Shape(wide), ones), ragged.row_splits, wide)
    fit = _same_splits(ragged.row_splits, expected)
    if dense.shape[1].value is not None:
        return partition.guarded(flat, [fit])
    values: Any = range_(cast(0, dtype), partition.size_of(ragged.values, dtype))
    places = raw.Select(raw.Fill(raw.Shape(values), ones), ragged.value_rowids(), values)
    return gather(flat, partition.guarded(places, [fit]))


# Handlers

@handles(functions.Elementwise)
def elementwise(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Apply the op to flat values, those of two operands aligned."""
    return (binary if len(fn.spec.inputs) == 2 else each)(fn, *args, **kwargs)  # type: ignore[attr-defined]


@handles(*functions.EACH)
def each(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Apply a function of one tensor, or of lists of tensors in the same rows, to flat values."""
    return map_flat_values(fn, *args, **kwargs)


@handles(*functions.BINARY)
def binary(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Apply a function of two operands, its first arguments, to aligned flat values."""
    bound = inspect.signature(fn).bind(*args, **kwargs)
    first, second = list(bound.arguments)[:2]
    with name_scope(bound.arguments.get("name"), getattr(fn, "__name__", None)):
        x, y = bound.arguments[first], bound.arguments[second]
        if not is_ragged(x):
            x = convert_to_tensor(x, dtype=as_tensor(y).dtype) if not hasattr(x, "dtype") else as_tensor(x)
        if not is_ragged(y):
            y = convert_to_tensor(y, dtype=x.dtype) if not hasattr(y, "dtype") else as_tensor(y)
        flat_x, flat_y, rebuild = aligned(x, y)
        bound.arguments.update({first: flat_x, second: flat_y, "name": None})
        return rebuild(fn(**bound.arguments))


# Operators

def _reflected(fn: Callable[..., Any]) -> Callable[..., Any]:
    return lambda y, x: fn(x, y)


def _no_truth(_: RaggedTensor) -> bool:
    raise TypeError("RaggedTensor may not be used as a boolean: its values are known in a run, use tf.cond or tf.where")


def _install() -> None:
    for name, fn in functions.OPERATORS.items():
        RaggedTensor._override(f"__{name}__", lambda x, y, fn=fn: fn(x, y))
        RaggedTensor._override(f"__r{name}__", _reflected(fn))
    for name, fn in functions.COMPARISONS.items():
        RaggedTensor._override(f"__{name}__", lambda x, y, fn=fn: fn(x, y))
    for name, fn in functions.UNARY_OPERATORS.items():
        RaggedTensor._override(f"__{name}__", lambda x, fn=fn: fn(x))
    RaggedTensor._override("__bool__", _no_truth)


_install()
