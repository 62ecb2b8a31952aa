"""Sizes of states and outputs of recurrent cells: integers, shapes or tensors, behind the size of the batch."""
from __future__ import annotations

from typing import Any

from tfnb.core import dtypes, nest
from tfnb.core.shape import TensorShape
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.array.create import zeros
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import expand_dims
from tfnb.ops.control.source import constant


def _part(given: Any) -> tuple[Any, Any]:
    """(a vector tensor, or None where a size is not known; its value as far as it is known) of sizes."""
    if isinstance(given, Tensor):
        value = constant_value(given)
        if given.shape.ndims not in (0, 1):
            raise ValueError(f"sizes must be a scalar or a vector, but saw tensor: {given}")
        return (expand_dims(given, 0) if given.shape.ndims == 0 else given), value
    shape = TensorShape(given)
    sizes = None if shape.ndims is None else shape.as_list()
    return constant(sizes, dtype=dtypes.int32) if shape.is_fully_defined() else None, sizes


def joined(first: Any, second: Any) -> Any:
    """A shape tensor: `first`, then `second`. Raises ValueError where sizes are not known."""
    a, b = _part(first)[0], _part(second)[0]
    if a is None or b is None:
        raise ValueError(f"Provided a prefix or suffix of None: {first} and {second}")
    return concat((a, b), 0)


def joined_static(first: Any, second: Any) -> Any:
    """The same as far as it is known while the graph is made: a list with None for unknown sizes, or None."""
    a, b = _part(first)[1], _part(second)[1]
    shape = TensorShape(a).concatenate(TensorShape(b))
    return None if shape.ndims is None else shape.as_list()


def zero_states(state_size: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros (batch, size) in the structure of `state_size`."""
    def make(size: Any) -> Any:
        made = zeros(joined(batch_size, size), dtype=dtype)
        made.set_shape(joined_static(batch_size, size))
        return made
    return nest.map_structure(make, state_size)
