"""Partitioned variables: one variable stored as several, "w/part_0", "w/part_1"..., cut along one axis."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tfnb.core.dtypes import DType, as_dtype
from tfnb.core.shape import TensorShape, as_shape
from tfnb.graph.convert import register_tensor_conversion_function
from tfnb.graph.graph import Graph
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import identity
from tfnb.ops.array.slicing import split
from tfnb.variables.variable import Variable, pass_on_operators


@dataclass(frozen=True, slots=True)
class PartitionInfo:
    """Position of a part in the whole variable, for its initializer."""

    full_shape: list[int]
    var_offset: list[int]


def slices_along(shape: Sequence[int], partitions: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """(offset, shape) of each part; where the parts can't be equal, the first ones are longer by one.

    Raises ValueError for more parts than the axis is long.
    """
    axis = next((i for i, n in enumerate(partitions) if n > 1), 0)
    length, count = shape[axis], partitions[axis]
    if count > max(length, 1):
        raise ValueError(f"the shape {list(shape)} can't be cut in {count} parts along axis {axis}")
    found, start = [], 0
    for i in range(count):
        size = length // count + (i < length % count)
        found.append(([start if a == axis else 0 for a in range(len(shape))],
                      [size if a == axis else n for a, n in enumerate(shape)]))
        start += size
    return found


class PartitionedVariable:
    """The parts of a variable, in order (iterating gives them), which ops take as one tensor: their concatenation.

    name, shape, dtype: of the whole; partitions: the number of parts along each axis, of which one is above 1.
    """

    __array_priority__ = 100

    def __init__(self, name: str, shape: Any, dtype: Any, variable_list: Sequence[Variable],
                 partitions: Sequence[int]) -> None:
        if not variable_list:
            raise ValueError(f"variable_list may not be empty: {name}")
        self._name, self._shape, self._dtype = name, as_shape(shape), as_dtype(dtype)
        self._variable_list, self._partitions = list(variable_list), list(partitions)
        self._whole: Tensor | None = None

    def __repr__(self) -> str:
        return f"<tf.PartitionedVariable '{self.name}' shape={self.shape} dtype={self.dtype.name} of {len(self)} parts>"

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._variable_list)

    def __len__(self) -> int:
        return len(self._variable_list)

    @property
    def name(self) -> str:
        """The name of the whole, as checkpoints have it."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """Return the shape of the whole."""
        return self._shape

    @property
    def graph(self) -> Graph:
        """The graph of the parts."""
        return self._variable_list[0].graph

    def _get_variable_list(self) -> list[Variable]:
        return self._variable_list

    def _get_partitions(self) -> list[int]:
        return self._partitions

    def _partition_axes(self) -> list[int]:
        """Return the axis along which the parts follow one another, in a list."""
        return [i for i, n in enumerate(self._partitions) if n > 1] or [0]

    def as_tensor(self) -> Tensor:
        """Return the concatenation of the parts: new nodes at each call."""
        with control_dependencies(None):
            if len(self) == 1:
                joined: Any = self._variable_list[0]
            else:
                with name_scope(f"{self._name}/ConcatPartitions/"):
                    joined = concat(self._variable_list, self._partition_axes()[0])
            with name_scope(None):
                return identity(joined, name=self._name)

    def _as_graph_element(self) -> Tensor:
        if self._whole is None or self._whole.op._dead is not None:
            self._whole = self.as_tensor()
        return self._whole

    _AsTensor = value = _as_graph_element

    def __getitem__(self, key: Any) -> Tensor:
        """Return a slice of the whole."""
        part: Tensor = self._as_graph_element()[key]
        return part

    def _of_parts(self, change: Callable[[Variable, Any], Any], value: Any, read_value: bool) -> list[Any]:
        if isinstance(value, (list, PartitionedVariable)):
            pieces = list(value)
            if len(pieces) != len(self):
                raise ValueError(f"{self.name} has {len(self)} parts, but {len(pieces)} values were given")
        else:
            axis = self._partition_axes()[0]
            pieces = split(value, [part.shape.as_list()[axis] for part in self], axis=axis)
        changed = [change(part, piece) for part, piece in zip(self, pieces, strict=True)]
        return changed if read_value else [part.op for part in changed]

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None,
               read_value: bool = True) -> list[Any]:
        """Assign all parts, from one tensor or a list of as many. Returns them after that (read_value=False: ops)."""
        return self._of_parts(lambda part, v: part.assign(v, use_locking, name), value, read_value)

    def assign_add(self, value: Any, use_locking: bool = False, name: str | None = None,
                   read_value: bool = True) -> list[Any]:
        """Add to all parts; else as `assign`."""
        return self._of_parts(lambda part, v: part.assign_add(v, use_locking, name), value, read_value)

    def assign_sub(self, value: Any, use_locking: bool = False, name: str | None = None,
                   read_value: bool = True) -> list[Any]:
        """Subtract from all parts; else as `assign`."""
        return self._of_parts(lambda part, v: part.assign_sub(v, use_locking, name), value, read_value)


pass_on_operators(PartitionedVariable)


def _to_tensor(value: PartitionedVariable, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    if dtype is not None and not as_dtype(dtype).is_compatible_with(value.dtype):
        raise ValueError(f"Incompatible type conversion requested to type {as_dtype(dtype).name!r} for variable "
                         f"{value.name!r} of type {value.dtype.name!r}")
    if as_ref:
        raise NotImplementedError("PartitionedVariable doesn't support being used as a reference; its parts do: "
                                  f"{[part.name for part in value]}")
    return value.as_tensor()


register_tensor_conversion_function(PartitionedVariable, _to_tensor)
