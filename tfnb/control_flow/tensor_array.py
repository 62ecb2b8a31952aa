"""tf.TensorArray: arrays of tensors that loops write and read by index."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfnb.control_flow.cond import CARRIED
from tfnb.core import dtypes
from tfnb.core.dtypes import DType
from tfnb.core.shape import TensorShape
from tfnb.graph.constant import make_constant
from tfnb.graph.convert import convert_to_tensor, internal_convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import colocate_with, control_dependencies, device, name_scope
from tfnb.ops.array.create import range_
from tfnb.ops.array.reshape import Identity, shape
from tfnb.ops.composite.specs import TypeSpec, of_values
from tfnb.ops.data_flow.tensor_array_ops import (
    TensorArrayCloseV3,
    TensorArrayConcatV3,
    TensorArrayGatherV3,
    TensorArrayGradV3,
    TensorArrayReadV3,
    TensorArrayScatterV3,
    TensorArraySizeV3,
    TensorArraySplitV3,
    TensorArrayV3,
    TensorArrayWriteV3,
)
from tfnb.ops.declaration.public import public
from tfnb.ops.math.casting import cast


class TensorArray:
    """An array of tensors of one dtype, each written once, for loops: write in the body, stack behind the loop.

    Methods that write return the array after that, which must be used from then on. size: int or int32 scalar;
    dynamic_size: writing behind the end makes it longer; clear_after_read: reading a place drops its value;
    infer_shape: all elements have one shape; element_shape: that, as far as it is known; handle, flow: of an array
    that is there already; tensor_array_name: of the array in the session; colocate_with_first_write_call: on the
    device of the first value. Raises ValueError for arguments that exclude one another, TypeError for a handle that
    is no tensor.

    >>> squares = tf.TensorArray(tf.int32, size=3)
    >>> for i in range(3):
    ...     squares = squares.write(i, i * i)
    >>> sess.run(squares.stack())
    array([0, 1, 4], dtype=int32)
    """

    def __init__(self, dtype: Any, size: Any = None, dynamic_size: bool | None = None,
                 clear_after_read: bool | None = None, tensor_array_name: str | None = None, handle: Any = None,
                 flow: Any = None, infer_shape: bool = True, element_shape: Any = None,
                 colocate_with_first_write_call: bool = True, name: str | None = None) -> None:
        _check_arguments(handle, size, {"element_shape": element_shape, "dynamic_size": dynamic_size,
                                        "clear_after_read": clear_after_read, "tensor_array_name": tensor_array_name})
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size, self._size = bool(dynamic_size), size
        self._colocate_with: list[Tensor] | None = [] if colocate_with_first_write_call else None
        self._infer_shape = infer_shape or element_shape is not None
        self._element_shape = [TensorShape(element_shape)]      # shared with the arrays after each write
        with name_scope(name, "TensorArray", [handle, size, flow]) as scope:
            if handle is None:
                with device(None), colocate_with(None, ignore_existing=True):
                    self._handle, self._flow = TensorArrayV3(
                        size, dtype=self._dtype, element_shape=self._element_shape[0],
                        identical_element_shapes=infer_shape, dynamic_size=self._dynamic_size,
                        clear_after_read=clear_after_read is not False, tensor_array_name=tensor_array_name or "",
                        name=scope)
                return
            self._handle, self._flow = handle, flow
            if flow is None:
                with colocate_with(handle):
                    self._flow = make_constant(0, dtype=dtypes.float32, name="flow")

    @property
    def flow(self) -> Tensor:
        """The flow tensor, which orders the ops on this array."""
        return self._flow

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._dtype

    @property
    def handle(self) -> Tensor:
        """The array itself, as a resource."""
        return self._handle

    @property
    def element_shape(self) -> TensorShape:
        """The shape of the elements, as far as it is known."""
        return self._element_shape[0]

    @property
    def dynamic_size(self) -> bool:
        """Whether the array grows."""
        return self._dynamic_size

    def _after(self, flow: Tensor) -> TensorArray:
        """Return the same array with another flow."""
        made = TensorArray(self._dtype, handle=self._handle, flow=flow, infer_shape=self._infer_shape,
                           colocate_with_first_write_call=self._colocate_with is not None)
        made._dynamic_size, made._size = self._dynamic_size, self._size
        made._colocate_with, made._element_shape = self._colocate_with, self._element_shape
        return made

    def identity(self) -> TensorArray:
        """Return the same array, with what it waits for."""
        return self._after(Identity(self._flow))

    def grad(self, source: str, flow: Any = None, name: str | None = None) -> TensorArray:
        """Return the array of gradients of this one that `source`, the scope of a call of tf.gradients, computes."""
        flow = self._flow if flow is None else flow
        with name_scope(name, "TensorArrayGrad", [self._handle]), colocate_with(self._handle):
            handle, _ = TensorArrayGradV3(self._handle, flow, source=source, name=name)
            with control_dependencies([handle]):
                flow = Identity(flow, name="gradient_flow")
            made = TensorArray(self._dtype, handle=handle, flow=flow, infer_shape=self._infer_shape,
                               colocate_with_first_write_call=False)
            made._element_shape = self._element_shape
            return made

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """Return the element at `index`."""
        value: Tensor = TensorArrayReadV3(self._handle, index, self._flow, dtype=self._dtype, name=name)
        value.set_shape(self.element_shape)
        return value

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Write `value` at `index`: the new array. Raises ValueError for another shape, TypeError for another dtype."""
        with name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = self._value(value)
            self._learn(value.shape)
            with self._beside(value):
                return self._after(TensorArrayWriteV3(self._handle, index, value, self._flow, name=name))

    def stack(self, name: str | None = None) -> Tensor:
        """Return all elements, stacked along a new first axis."""
        with colocate_with(self._handle), name_scope(name, "TensorArrayStack", [self._handle]):
            value = self.gather(range_(0, self.size()), name=name)
            if self.element_shape.ndims is not None and not self._dynamic_size and self._size is not None:
                known = constant_value(convert_to_tensor(self._size)) if not isinstance(self._size, int) else self._size
                value.set_shape(TensorShape([None if known is None else int(known)]).concatenate(self.element_shape))
            return value

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """Return the elements at `indices`, stacked along a new first axis."""
        value: Tensor = TensorArrayGatherV3(self._handle, indices, self._flow, dtype=self._dtype, name=name,
                                            element_shape=self.element_shape)
        if self.element_shape.ndims is not None:
            value.set_shape(TensorShape([None]).concatenate(self.element_shape))
        return value

    def concat(self, name: str | None = None) -> Tensor:
        """Return all elements, concatenated along their first axis."""
        rest = self.element_shape[1:] if self.element_shape.ndims is not None else TensorShape(None)
        value, _ = TensorArrayConcatV3(self._handle, self._flow, dtype=self._dtype, name=name,
                                       element_shape_except0=rest)
        if rest.ndims is not None:
            value.set_shape(TensorShape([None]).concatenate(rest))
        return value

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Return the array with the rows of `value` as its elements."""
        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            return self.scatter(range_(0, shape(value)[0]), value, name=name)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Return the array with the rows of `value` at `indices`."""
        with name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = self._value(value)
            self._learn(value.shape[1:])
            with self._beside(value):
                return self._after(TensorArrayScatterV3(self._handle, indices, value, self._flow, name=name))

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Return the array with pieces of `value` of these lengths as its elements."""
        with name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value = self._value(value)
            with self._beside(value):
                lengths = cast(lengths, dtypes.int64)
                known = constant_value(lengths)
                if value.shape.ndims is not None and known is not None and known.size and known.max() == known.min():
                    self._learn(TensorShape([int(known.reshape(-1)[0])]).concatenate(value.shape[1:]))
                return self._after(TensorArraySplitV3(self._handle, value, lengths, self._flow, name=name))

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of elements, an int32 scalar."""
        if not self._dynamic_size and self._size is not None:
            return convert_to_tensor(self._size, dtype=dtypes.int32)
        return TensorArraySizeV3(self._handle, self._flow, name=name)

    def close(self, name: str | None = None) -> Operation:
        """Return an operation that drops all elements."""
        return TensorArrayCloseV3(self._handle, name=name)

    def _value(self, value: Any) -> Tensor:
        made = internal_convert_to_tensor(value, name="value", preferred_dtype=self._dtype)
        if made.dtype.base_dtype != self._dtype:
            raise TypeError(f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype "
                            f"{made.dtype.name}")
        return made

    def _learn(self, shape: TensorShape) -> None:
        """Check the shape of a new element; it may be that of all."""
        if not self.element_shape.is_compatible_with(shape):
            raise ValueError(f"Inconsistent shapes: saw {shape} but expected {self.element_shape} "
                             "(and infer_shape=True)")
        if self._infer_shape:
            self._element_shape[0] = self.element_shape.merge_with(shape)

    @contextmanager
    def _beside(self, value: Tensor) -> Iterator[None]:
        """Place ops that write on the device of the first value written."""
        if self._colocate_with is None:
            yield
            return
        if not self._colocate_with:
            self._colocate_with.append(value)
        with colocate_with(self._colocate_with[0]):
            yield


def _check_arguments(handle: Any, size: Any, others: dict[str, Any]) -> None:
    if handle is None:
        if size is None:
            raise ValueError("Size must be provided if handle is not provided")
        return
    if not isinstance(handle, Tensor):
        raise TypeError("Handle must be a Tensor")
    for name, value in (("size", size), *others.items()):
        if value is not None:
            raise ValueError(f"Cannot provide both a handle and {name} at the same time")


CARRIED[TensorArray] = (lambda array: array.flow, lambda array, flow: array._after(flow))


# Gradients: what was read is written to the array of gradients, and the other way around

def _grad_source(tensor: Any) -> str:
    """Return the scope of the call of tf.gradients that `tensor` was made in."""
    parts = tensor.name.split("/")
    inside = [i for i, part in enumerate(parts) if part.startswith("gradients")]
    if not inside:
        raise ValueError("Expected op/tensor name to start with gradients (excluding scope), got: "
                         f"{tensor.name}. This means that a tf.gradients op with this op in its dependency path has a "
                         "custom name that does not start with 'gradients'. Please make sure all calls to "
                         "tf.gradients that use TensorArray ops have names that start with 'gradients'.")
    return "/".join(parts[:inside[-1] + 1])


def _of(dtype: DType, op: Operation, flow: Tensor, source: Any) -> TensorArray:
    array = TensorArray(dtype, handle=op.inputs[0], flow=flow, colocate_with_first_write_call=False)
    return array.grad(_grad_source(source), flow=flow)


@TensorArrayReadV3.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    gradients = _of(op.attrs["dtype"], op, op.inputs[2], dy)
    return [None, None, gradients.write(op.inputs[1], dy).flow]


@TensorArrayWriteV3.gradient
def _(op: Operation, flow: Tensor) -> list[Tensor | None]:
    gradients = _of(op.attrs["T"], op, flow, flow)
    return [None, None, gradients.read(op.inputs[1]), flow]


@TensorArrayGatherV3.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    gradients = _of(op.attrs["dtype"], op, op.inputs[2], dy)
    return [None, None, gradients.scatter(op.inputs[1], dy).flow]


@TensorArrayScatterV3.gradient
def _(op: Operation, flow: Tensor) -> list[Tensor | None]:
    gradients = _of(op.attrs["T"], op, flow, flow)
    return [None, None, gradients.gather(op.inputs[1]), flow]


@TensorArrayConcatV3.gradient
def _(op: Operation, dy: Tensor, _: Any) -> list[Tensor | None]:
    gradients = _of(op.attrs["dtype"], op, op.inputs[1], dy)
    return [None, gradients.split(dy, lengths=op.outputs[1]).flow]


@TensorArraySplitV3.gradient
def _(op: Operation, flow: Tensor) -> list[Tensor | None]:
    gradients = _of(op.attrs["T"], op, flow, flow)
    return [None, gradients.concat(), None, flow]


@public("TensorArraySpec")
class TensorArraySpec(TypeSpec):
    """The dtype and the shape of the elements of a TensorArray, and how it grows.

    element_shape: as far as it is known, None for any. dtype: of the elements. dynamic_size: whether the array grows.
    infer_shape: whether all elements have one shape.

    >>> spec = tf.TensorArraySpec([2], tf.int32)
    >>> spec.is_compatible_with(tf.TensorArray(tf.int32, 3, element_shape=[2]))
    True
    """

    value_type = TensorArray

    def __init__(self, element_shape: Any = None, dtype: Any = dtypes.float32, dynamic_size: bool = False,
                 infer_shape: bool = True) -> None:
        self._element_shape, self._dtype = TensorShape(element_shape), dtypes.as_dtype(dtype)
        self._dynamic_size, self._infer_shape = bool(dynamic_size), bool(infer_shape)

    def _parts(self) -> tuple[Any, ...]:
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape

    @classmethod
    def from_value(cls, value: TensorArray) -> TensorArraySpec:
        """Return the specification of an array."""
        return cls(value.element_shape, value.dtype, value.dynamic_size, value._infer_shape)

    def __repr__(self) -> str:
        return (f"TensorArraySpec({self._element_shape}, {self._dtype!r}, {self._dynamic_size}, "
                f"{self._infer_shape})")


of_values(TensorArray, TensorArraySpec.from_value)
