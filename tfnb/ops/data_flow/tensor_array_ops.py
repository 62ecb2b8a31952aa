"""TensorArray ops: arrays of tensors that are written and read one by one, mostly in loops.

The "flow" of an op is a number without meaning: taking it orders reads after writes.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core.dtypes import DType
from tfnb.core.shape import Static, merge
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host
from tfnb.resources.elements import Elements, own

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext


def _flow() -> np.ndarray:
    return np.zeros((), np.float32)


def _made(ctx: ShapeContext) -> list[Static]:
    merge(ctx.shape(0), ())
    return [(), ()]


@host("size: int32 -> handle: resource, flow: float", shape=_made, transient=True, dtype="type",
      element_shape="shape = {}", dynamic_size="bool = false", clear_after_read="bool = true",
      identical_element_shapes="bool = false", tensor_array_name="string = ''")
def TensorArrayV3(size: np.ndarray, *, dtype: DType, element_shape: Static, dynamic_size: bool, clear_after_read: bool,
                  identical_element_shapes: bool, tensor_array_name: bytes, ctx: Any) -> tuple[Any, np.ndarray]:
    """Create an array of `size` tensors at each run (it grows with `dynamic_size`), and a first flow."""
    name = tensor_array_name.decode() or ctx.op.name
    return Elements(name, np.dtype(dtype.as_numpy_dtype), int(size), element_shape, dynamic_size, clear_after_read,
                    identical_element_shapes), _flow()


@host("handle: resource, flow_in: float -> grad_handle: resource, flow_out: float", shape=lambda ctx: [(), ()],
      transient=True, element="gradient", source="string")
def TensorArrayGradV3(handle: Any, flow_in: np.ndarray, *, source: bytes) -> tuple[Any, np.ndarray]:
    """Return the array for the gradients of an array that `source` computes: made when it is first asked for."""
    return handle[()].gradient(source), _flow()


@host("handle: resource, flow_in: float, shape_to_prepend: int32 -> grad_handle: resource, flow_out: float",
      shape=lambda ctx: [(), ()], transient=True, ranks={"shape_to_prepend": 1}, source="string")
def TensorArrayGradWithShape(handle: Any, flow_in: np.ndarray, shape_to_prepend: np.ndarray, *,
                             source: bytes) -> tuple[Any, np.ndarray]:
    """Return an array as TensorArrayGradV3, whose elements have more axes before those of the array."""
    if (shape_to_prepend < 0).any():
        raise ValueError(f"shape_to_prepend must have sizes that are at least 0, got {shape_to_prepend.tolist()}")
    return handle[()].gradient(source, tuple(shape_to_prepend.tolist())), _flow()


@host("handle: resource, index: int32, value: T, flow_in: float -> flow_out: float", shape=shapes.scalar,
      transient=True, element="write", T="type")
def TensorArrayWriteV3(handle: Any, index: np.ndarray, value: np.ndarray, flow_in: np.ndarray) -> np.ndarray:
    """Write `value` at `index`."""
    handle[()].write(int(index), own(value))
    return _flow()


@host("handle: resource, index: int32, flow_in: float -> value: dtype", shape=shapes.unknown, transient=True,
      element="read", dtype="type")
def TensorArrayReadV3(handle: Any, index: np.ndarray, flow_in: np.ndarray) -> np.ndarray:
    """Read the value at `index`."""
    return handle[()].read(int(index))


def _gathered(ctx: ShapeContext) -> list[Static]:
    element = ctx.attrs["element_shape"]
    return [None if element is None else (None, *element)]


@host("handle: resource, indices: int32, flow_in: float -> value: dtype", shape=_gathered, transient=True, dtype="type",
      element_shape="shape = {}")
def TensorArrayGatherV3(handle: Any, indices: np.ndarray, flow_in: np.ndarray, *,
                        element_shape: Static) -> np.ndarray:
    """Read the values at `indices`, stacked."""
    return handle[()].gather(indices, element_shape)


@host("handle: resource, indices: int32, value: T, flow_in: float -> flow_out: float", shape=shapes.scalar,
      transient=True, T="type")
def TensorArrayScatterV3(handle: Any, indices: np.ndarray, value: np.ndarray, flow_in: np.ndarray, *,
                         ctx: Any) -> np.ndarray:
    """Write the rows of `value` at `indices`."""
    handle[()].scatter(indices, value.copy() if ctx.store.holds(value) else value)
    return _flow()


def _concatenated(ctx: ShapeContext) -> list[Static]:
    rest = ctx.attrs["element_shape_except0"]
    return [None if rest is None else (None, *rest), (None,)]


@host("handle: resource, flow_in: float -> value: dtype, lengths: int64", shape=_concatenated, transient=True,
      dtype="type", element_shape_except0="shape = {}")
def TensorArrayConcatV3(handle: Any, flow_in: np.ndarray, *,
                        element_shape_except0: Static) -> tuple[np.ndarray, np.ndarray]:
    """Concatenate all values, and return the length of each."""
    return handle[()].concat(element_shape_except0)


@host("handle: resource, value: T, lengths: int64, flow_in: float -> flow_out: float", shape=shapes.scalar,
      transient=True, T="type")
def TensorArraySplitV3(handle: Any, value: np.ndarray, lengths: np.ndarray, flow_in: np.ndarray, *,
                       ctx: Any) -> np.ndarray:
    """Split `value` into pieces of these lengths and write one at each index."""
    handle[()].split(value.copy() if ctx.store.holds(value) else value, lengths.tolist())
    return _flow()


@host("handle: resource, flow_in: float -> size: int32", shape=shapes.scalar, transient=True,
      element="size")
def TensorArraySizeV3(handle: Any, flow_in: np.ndarray) -> np.ndarray:
    """Return the size of the array."""
    array = handle[()]
    array.check_open()
    return np.array(len(array), np.int32)


@host("handle: resource", shape=lambda ctx: [], transient=True)
def TensorArrayCloseV3(handle: Any) -> tuple[()]:
    """Drop all values; the array can't be used any more."""
    handle[()].close()
    return ()


for _op in (TensorArrayV3, TensorArrayGradV3, TensorArrayGradWithShape, TensorArraySizeV3, TensorArrayCloseV3):
    _op.no_gradient("a handle or a size does not change with the numbers")
