"""Ragged constants and placeholders from nested lists."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.dtypes import as_dtype
from tfnb.core.nest import require_levels
from tfnb.core.shape import MOST_AXES, TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.reshape import Reshape
from tfnb.ops.control.source import placeholder as dense_placeholder
from tfnb.ops.declaration.public import named
from tfnb.ragged.tensor import RaggedTensor
from tfnb.ragged.value import RaggedTensorValue


def constant(pylist: Any, dtype: Any = None, ragged_rank: int | None = None, inner_shape: Any = None,
             name: str | None = None, row_splits_dtype: Any = dtypes.int64) -> Any:
    """Return a constant RaggedTensor of nested lists; a Tensor for a number or a flat list.

    pylist: nested lists, tuples or arrays whose numbers all have one depth. dtype: of the values, by default that of a
    constant of them. ragged_rank: the number of ragged axes, by default all but the first. inner_shape: of the values
    that the ragged axes hold. row_splits_dtype: int32 or int64. Raises ValueError for numbers of different depths,
    for values of other inner shapes, for a ragged rank that is too large and for more than 64 levels of lists.

    >>> sess.run(tf.ragged.constant([[1, 2], [], [3]])).to_list()
    [[1, 2], [], [3]]
    """
    with name_scope(name, "RaggedConstant"):
        kind = as_dtype(row_splits_dtype)

        def splits(values: list[int]) -> Any:
            """Return a constant of row splits."""
            return convert_to_tensor(np.array(values, kind.as_numpy_dtype), name="row_splits")

        def leaf(values: Any, shape: Any) -> Any:
            """Return a constant of the values."""
            made = convert_to_tensor(values, dtype=dtype, name="values")
            return made if shape is None else Reshape(made, list(shape))
        return _nested(pylist, dtype, ragged_rank, inner_shape, RaggedTensor._of, splits, leaf)


def constant_value(pylist: Any, dtype: Any = None, ragged_rank: int | None = None, inner_shape: Any = None,
                   row_splits_dtype: Any = "int64") -> Any:
    """Return a RaggedTensorValue of nested lists, as it is fed; an array for a number or a flat list.

    dtype: a NumPy dtype. The other arguments are those of tf.ragged.constant: pylist, ragged_rank, inner_shape,
    row_splits_dtype.

    >>> tf.ragged.constant_value([[1, 2], [], [3]]).row_splits
    array([0, 2, 2, 3])
    """
    kind = as_dtype(row_splits_dtype).as_numpy_dtype

    def leaf(values: Any, shape: Any) -> np.ndarray:
        """Return an array of the values."""
        made = np.array(values, dtype)
        return made if shape is None else made.reshape(shape)
    return _nested(pylist, dtype, ragged_rank, inner_shape, RaggedTensorValue, lambda s: np.array(s, kind), leaf)


def _plain(pylist: Any) -> Any:
    """Return arrays as nested lists."""
    if isinstance(pylist, (list, tuple)):
        return [_plain(item) for item in pylist]
    return pylist.tolist() if isinstance(pylist, np.ndarray) else pylist


def _nested(pylist: Any, dtype: Any, ragged_rank: int | None, inner_shape: Any, make: Callable[..., Any],
            splits: Callable[[list[int]], Any], leaf: Callable[[Any, Any], Any]) -> Any:
    """Return `make(values, row splits)` of nested lists, as tf.ragged.constant documents."""
    require_levels(pylist, MOST_AXES)
    pylist = _plain(pylist)
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank}: must be nonnegative")
    if not isinstance(pylist, list):
        if ragged_rank:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}")
        if inner_shape:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with inner_shape={inner_shape}")
        return leaf(pylist, None)
    scalars, deepest = _depths(pylist)
    shape = None if inner_shape is None else tuple(TensorShape(inner_shape).as_list())
    _check(pylist, scalars, deepest, ragged_rank, shape)
    if ragged_rank is None:
        ragged_rank = max(deepest - 1, 0) if shape is None else max((scalars or deepest + len(shape)) - 1 - len(shape),
                                                                   0)
    if ragged_rank == 0:
        return leaf(pylist, shape and (len(pylist), *shape))
    nested = []
    for _ in range(ragged_rank):
        lengths = [len(row) for row in pylist]
        nested.append([0, *np.cumsum(lengths).tolist()])
        pylist = [item for row in pylist for item in row]
    if shape is None:
        shape = _inner(pylist) if scalars is None or scalars > ragged_rank + 1 else ()
    _require(pylist, shape)
    made = leaf(pylist, (len(pylist), *shape))
    for each in reversed(nested):
        made = make(made, splits(each))
    return made


def _depths(value: Any) -> tuple[int | None, int]:
    """Return the depth of scalars in nested lists (None without any) and the largest depth of lists."""
    if not isinstance(value, list):
        return 0, 0
    found = [_depths(item) for item in value]
    scalars = {depth for depth, _ in found if depth is not None}
    if len(scalars) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    return (scalars.pop() + 1 if scalars else None), max((deep for _, deep in found), default=0) + 1


def _check(pylist: Any, scalars: int | None, deepest: int, ragged_rank: int | None, shape: Any) -> None:
    if scalars is not None and deepest > scalars:
        raise ValueError(f"Invalid pylist={pylist}: empty list nesting is greater than scalar value nesting")
    if ragged_rank is None:
        return
    if shape is not None and scalars is not None and ragged_rank + len(shape) + 1 != scalars:
        raise ValueError(f"Invalid pylist={pylist}: ragged_rank={ragged_rank} and inner_shape={shape} don't fit lists "
                         f"of depth {scalars}")
    if scalars is not None and ragged_rank >= scalars:
        raise ValueError(f"Invalid pylist={pylist}: scalars of depth {scalars} need a ragged_rank below that, got "
                         f"{ragged_rank}")
    if ragged_rank > deepest:
        raise ValueError(f"Invalid pylist={pylist}: max depth {deepest} is smaller than ragged_rank={ragged_rank}")


def _inner(values: Sequence[Any]) -> tuple[int, ...]:
    """Return the shape of the first of the values, () if there is none."""
    shape: tuple[int, ...] = ()
    first = values[0] if values else None
    while isinstance(first, list):
        shape, first = (*shape, len(first)), first[0] if first else None
    return shape


def _require(values: Sequence[Any], shape: tuple[int, ...]) -> None:
    """Raise ValueError unless all values have a shape."""
    for value in values:
        if isinstance(value, list) != bool(shape) or shape and len(value) != shape[0]:
            raise ValueError("inner values have inconsistent shape")
        if shape:
            _require(value, shape[1:])


@named("placeholder")
def ragged_placeholder(dtype: Any, ragged_rank: int, value_shape: Any = None, name: str | None = None) -> Any:
    """Return a RaggedTensor whose value must be fed: a tf.ragged.RaggedTensorValue.

    dtype: of the values. ragged_rank: the number of ragged axes; 0 for a Tensor. value_shape: of one of the values,
    by default unknown.

    >>> x = tf.ragged.placeholder(tf.int32, ragged_rank=1, value_shape=[])
    >>> sess.run(tf.reduce_sum(x, axis=1), {x: tf.ragged.constant_value([[1, 2], [3]], np.int32)})
    array([3, 3], dtype=int32)
    """
    shape = TensorShape(None) if value_shape is None else TensorShape([None]).concatenate(TensorShape(value_shape))
    if ragged_rank == 0:
        return dense_placeholder(dtype, value_shape, name)
    with name_scope(name, "RaggedPlaceholder"):
        made: Any = dense_placeholder(dtype, shape, "flat_values")
        for axis in reversed(range(ragged_rank)):
            made = RaggedTensor._of(made, dense_placeholder(dtypes.int64, [None], f"row_splits_{axis}"))
        return made
