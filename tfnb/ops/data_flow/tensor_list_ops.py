"""TensorList ops: lists of tensors as values, of which loops in graphs of TensorFlow 2 make their arrays.

A list is a scalar of dtype variant that holds a `TensorList` (resources/lists.py). Shapes of elements come as tensors:
-1 is an unknown size, and as a scalar an unknown rank.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.dtypes import DType, int32
from tfnb.core.shape import Static, merge
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.raw import raw
from tfnb.resources.elements import own
from tfnb.resources.lists import TensorList

_SHAPE_TYPE = "{int32, int64}"


def _static(shape: np.ndarray) -> Static:
    """Return the shape that a tensor states. Raises ValueError for a scalar other than -1."""
    if shape.ndim == 0:
        if shape != -1:
            raise ValueError("The only valid scalar shape tensor is the fully unknown shape specified as -1.")
        return None
    return tuple(None if n < 0 else n for n in shape.tolist())


def _made(dtype: DType, shape: np.ndarray, items: Any = (), most: int = -1) -> TensorList:
    return TensorList(np.dtype(dtype.as_numpy_dtype), _static(shape), tuple(items), most)


def _rows(value: np.ndarray) -> list[np.ndarray]:
    if value.ndim < 1:
        raise ValueError("Tensor must be at least a vector, but saw shape: []")
    value = own(value)
    return [value[i, ...] for i in range(len(value))]


def _handle(value: Any) -> np.ndarray:
    made = np.empty((), object)
    made[()] = value
    return made


def _list(handle: np.ndarray) -> TensorList:
    found = handle[()]
    if not isinstance(found, TensorList):
        raise ValueError(f"Input handle is not a list. Saw: '{type(found).__name__}'")
    return found


def _element(at: int, *lead: None) -> Any:
    """Return a shape function: the element shape that input `at` states, behind leading axes of unknown size."""
    def shape(ctx: Any) -> list[Static]:
        """Infer the shape of a value, and of the handle before it."""
        known = ctx.value(at)
        static = None if known is None else _static(known)
        return [*[()] * (len(ctx.op.outputs) - 1), None if static is None else (*lead, *static)]
    return shape


@host("element_shape: shape_type, max_num_elements: int32 -> handle: variant", shape=shapes.scalar,
      element_dtype="type", shape_type=_SHAPE_TYPE)
def EmptyTensorList(element_shape: np.ndarray, max_num_elements: np.ndarray, *, element_dtype: DType) -> np.ndarray:
    """Return an empty list. max_num_elements: how many it may hold; -1: any number."""
    return _handle(_made(element_dtype, element_shape, most=int(max_num_elements)))


@host("element_shape: shape_type, num_elements: int32 -> handle: variant", shape=shapes.scalar,
      element_dtype="type", shape_type=_SHAPE_TYPE)
def TensorListReserve(element_shape: np.ndarray, num_elements: np.ndarray, *, element_dtype: DType) -> np.ndarray:
    """Return a list of `num_elements` elements that have no value yet."""
    count = int(num_elements)
    if count < 0:
        raise ValueError(f"The num_elements to reserve must be a non negative number, but got {count}")
    return _handle(_made(element_dtype, element_shape, [None] * count))


@host("tensor: element_dtype, element_shape: shape_type -> output_handle: variant", shape=shapes.scalar,
      element_dtype="type", shape_type=_SHAPE_TYPE)
def TensorListFromTensor(tensor: np.ndarray, element_shape: np.ndarray, *, element_dtype: DType) -> np.ndarray:
    """Return the list of the rows of `tensor`."""
    made = _made(element_dtype, element_shape, _rows(tensor))
    merge(made.shape, tensor.shape[1:])
    return _handle(made)


@host("input_handle: variant, tensor: element_dtype -> output_handle: variant", shape=shapes.scalar,
      element_dtype="type")
def TensorListPushBack(input_handle: np.ndarray, tensor: np.ndarray) -> np.ndarray:
    """Return the list with `tensor` behind its elements."""
    return _handle(_list(input_handle).pushed(own(tensor)))


@host("input_handles: variant, tensor: element_dtype -> output_handles: variant", shape=shapes.like_first,
      element_dtype="type")
def TensorListPushBackBatch(input_handles: np.ndarray, tensor: np.ndarray) -> np.ndarray:
    """Return lists with a row of `tensor` each behind its elements."""
    if tensor.shape[:1] != input_handles.shape:
        raise ValueError(f"tensor must have a row for each of the {input_handles.size} lists, got shape "
                         f"{list(tensor.shape)}")
    made = np.empty(input_handles.shape, object)
    for i, row in enumerate(_rows(tensor)):
        made[i] = input_handles[i].pushed(row)
    return made


@host("input_handle: variant, element_shape: int32 -> output_handle: variant, tensor: element_dtype",
      shape=_element(1), element_dtype="type")
def TensorListPopBack(input_handle: np.ndarray, element_shape: np.ndarray, *,
                      element_dtype: DType) -> tuple[np.ndarray, np.ndarray]:
    """Return the list without its last element, and that element."""
    found = _typed(input_handle, element_dtype)
    rest, value = found.popped(_static(element_shape))
    return _handle(rest), value


def _typed(handle: np.ndarray, dtype: DType) -> TensorList:
    found = _list(handle)
    found.check_dtype(np.dtype(dtype.as_numpy_dtype), "the op expects")
    return found


@host("input_handle: variant, element_shape: int32 -> tensor: element_dtype", shape=_element(1, None),
      element_dtype="type", num_elements="int = -1")
def TensorListStack(input_handle: np.ndarray, element_shape: np.ndarray, *, element_dtype: DType,
                    num_elements: int) -> np.ndarray:
    """Return the elements of a list as rows of one tensor. num_elements: how many it must have; -1: any number."""
    found = _typed(input_handle, element_dtype)
    if num_elements not in (-1, len(found.items)):
        raise ValueError(f"Operation expected a list with {num_elements} elements but got a list with "
                         f"{len(found.items)} elements.")
    return found.stacked(_static(element_shape))


@host("input_handle: variant, indices: int32, element_shape: int32 -> values: element_dtype", shape=_element(2, None),
      element_dtype="type")
def TensorListGather(input_handle: np.ndarray, indices: np.ndarray, element_shape: np.ndarray, *,
                     element_dtype: DType) -> np.ndarray:
    """Return the elements at `indices` as rows of one tensor."""
    return _typed(input_handle, element_dtype).stacked(_static(element_shape), indices.tolist())


@host("input_handle: variant, index: int32, element_shape: Tshape -> item: element_dtype", shape=_element(2),
      element_dtype="type", Tshape=f"{_SHAPE_TYPE} = DT_INT32")
def TensorListGetItem(input_handle: np.ndarray, index: np.ndarray, element_shape: np.ndarray, *,
                      element_dtype: DType) -> np.ndarray:
    """Return the element at `index`; zeros where it has no value."""
    return _typed(input_handle, element_dtype).item(int(index), _static(element_shape))


@host("input_handle: variant, index: int32, item: element_dtype -> output_handle: variant", shape=shapes.scalar,
      element_dtype="type", resize_if_index_out_of_bounds="bool = false")
def TensorListSetItem(input_handle: np.ndarray, index: np.ndarray, item: np.ndarray, *,
                      resize_if_index_out_of_bounds: bool) -> np.ndarray:
    """Return the list with `item` at `index`."""
    return _handle(_list(input_handle).with_item(int(index), own(item), resize_if_index_out_of_bounds))


@host("input_handle: variant -> length: int32", shape=shapes.scalar)
def TensorListLength(input_handle: np.ndarray) -> np.ndarray:
    """Return the number of elements of a list."""
    return np.array(len(_list(input_handle).items), np.int32)


@host("input_handle: variant -> element_shape: shape_type", shape=shapes.unknown, shape_type=_SHAPE_TYPE)
def TensorListElementShape(input_handle: np.ndarray, *, shape_type: DType) -> np.ndarray:
    """Return the shape of the elements of a list, -1 where it is unknown."""
    shape = _list(input_handle).shape
    return np.array(-1 if shape is None else [-1 if n is None else n for n in shape], shape_type.as_numpy_dtype)


@host("input_handle: variant, size: int32 -> output_handle: variant", shape=shapes.scalar)
def TensorListResize(input_handle: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the list with `size` elements: cut, or with new ones that have no value."""
    return _handle(_list(input_handle).resized(int(size)))


def _scattered(made: TensorList, tensor: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return the list with the rows of a tensor at `indices`."""
    rows = _rows(tensor)
    if len(rows) != len(indices):
        raise ValueError(f"Specified {len(indices)} indices, but the tensor has {len(rows)} rows")
    if len(indices) and indices.min() < 0:
        raise ValueError(f"Indices in TensorListScatter must all be non-negative, got {indices.tolist()}")
    if len(indices) and indices.max() >= len(made.items):
        raise ValueError(f"TensorListScatter: Trying to scatter at index {indices.max()} in list with size "
                         f"{len(made.items)}")
    for i, row in zip(indices.tolist(), rows, strict=True):
        made = made.with_item(i, row)
    return _handle(made)


def _scatter(tensor: np.ndarray, indices: np.ndarray, shape: np.ndarray, count: int, dtype: DType) -> np.ndarray:
    size = max(indices.tolist(), default=-1) + 1 if count < 0 else count
    return _scattered(_made(dtype, shape, [None] * size), tensor, indices)


@host("tensor: element_dtype, indices: int32, element_shape: shape_type -> output_handle: variant",
      shape=shapes.scalar, element_dtype="type", shape_type=_SHAPE_TYPE)
def TensorListScatter(tensor: np.ndarray, indices: np.ndarray, element_shape: np.ndarray, *,
                      element_dtype: DType) -> np.ndarray:
    """Return a list with the rows of `tensor` at `indices`, as long as these need it."""
    return _scatter(tensor, indices, element_shape, -1, element_dtype)


@host("tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32 -> "
      "output_handle: variant", shape=shapes.scalar, element_dtype="type", shape_type=_SHAPE_TYPE)
def TensorListScatterV2(tensor: np.ndarray, indices: np.ndarray, element_shape: np.ndarray, num_elements: np.ndarray,
                        *, element_dtype: DType) -> np.ndarray:
    """Return a list of `num_elements` (-1: as many as needed) with the rows of `tensor` at `indices`."""
    return _scatter(tensor, indices, element_shape, int(num_elements), element_dtype)


@host("input_handle: variant, tensor: element_dtype, indices: int32 -> output_handle: variant", shape=shapes.scalar,
      element_dtype="type")
def TensorListScatterIntoExistingList(input_handle: np.ndarray, tensor: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return the list with the rows of `tensor` at `indices`, longer if these need it."""
    found = _list(input_handle)
    size = max([len(found.items) - 1, *indices.tolist()]) + 1
    return _scattered(found.resized(size), tensor, indices)


def _joined(ctx: Any) -> list[Static]:
    rest = ctx.attrs.get("element_shape")
    if rest is None and len(ctx.op.inputs) > 1:
        known = ctx.value(1)
        rest = None if known is None else _static(known)
    return [None if rest is None else (None, *rest[1:]), (None,)]


@host("input_handle: variant -> tensor: element_dtype, lengths: int64", shape=_joined, element_dtype="type",
      element_shape="shape = {}")
def TensorListConcat(input_handle: np.ndarray, *, element_dtype: DType,
                     element_shape: Static) -> tuple[np.ndarray, np.ndarray]:
    """Return the elements one after another along their first axes, and the size of each."""
    return _typed(input_handle, element_dtype).concatenated(element_shape and element_shape[1:], ())


@host("input_handle: variant, element_shape: shape_type, leading_dims: int64 -> tensor: element_dtype, "
      "lengths: int64", shape=_joined, element_dtype="type", shape_type=_SHAPE_TYPE)
def TensorListConcatV2(input_handle: np.ndarray, element_shape: np.ndarray, leading_dims: np.ndarray, *,
                       element_dtype: DType) -> tuple[np.ndarray, np.ndarray]:
    """Return the elements one after another along their first axes, and the size of each.

    leading_dims: the sizes of elements that have no value.
    """
    shape = _static(element_shape)
    return _typed(input_handle, element_dtype).concatenated(shape and shape[1:], leading_dims.tolist())


@host("input_a: variant, input_b: variant -> output: variant", shape=shapes.like_first, element_dtype="type")
def TensorListConcatLists(input_a: np.ndarray, input_b: np.ndarray, *, element_dtype: DType) -> np.ndarray:
    """Return the elements of list `a` with those of list `b` behind them; of two tensors of lists, pair by pair."""
    if input_a.shape != input_b.shape:
        raise ValueError(f"input_a and input_b must have the same shape, got {list(input_a.shape)} and "
                         f"{list(input_b.shape)}")
    made = np.empty(input_a.shape, object)
    for at in np.ndindex(input_a.shape):
        first, second = (_typed(_handle(given[at]), element_dtype) for given in (input_a, input_b))
        made[at] = TensorList(first.dtype, merge(first.shape, second.shape), first.items + second.items)
    return made


@host("tensor: element_dtype, element_shape: shape_type, lengths: int64 -> output_handle: variant",
      shape=shapes.scalar, element_dtype="type", shape_type=_SHAPE_TYPE)
def TensorListSplit(tensor: np.ndarray, element_shape: np.ndarray, lengths: np.ndarray, *,
                    element_dtype: DType) -> np.ndarray:
    """Return the list of pieces of `tensor` with these lengths. element_shape: its first size must be unknown."""
    shape = _static(element_shape)
    if shape is not None and (not shape or shape[0] is not None):
        raise ValueError(f"TensorListSplit requires element_shape to be at least of rank 1 with an unknown first size, "
                         f"got {list(shape)}")
    if tensor.ndim < 1 or int(lengths.sum()) != len(tensor) or len(lengths) and lengths.min() < 0:
        raise ValueError(f"The lengths of the pieces must add up to the first size of the tensor, got "
                         f"{lengths.tolist()} for shape {list(tensor.shape)}")
    pieces = np.split(own(tensor), np.cumsum(lengths)[:-1]) if len(lengths) else []
    made = _made(element_dtype, element_shape)
    for piece in pieces:
        made = made.pushed(own(piece))
    return _handle(made)


for _op in (EmptyTensorList, TensorListReserve, TensorListLength, TensorListElementShape):
    _op.no_gradient("it depends on no number")
for _op in (TensorListPushBackBatch, TensorListConcatLists):
    _op.no_gradient("TensorFlow has none for it")


def _shape_of(handle: Tensor) -> Tensor:
    """Return the shape of the elements of a list, as the gradient of the list has it."""
    made: Tensor = TensorListElementShape(handle, shape_type=int32)
    return made


def _row_shape(tensor: Tensor) -> Tensor:
    made: Tensor = raw.Slice(raw.Shape(tensor), [1], [-1])
    return made


@TensorListPushBack.gradient
def _(op: Operation, dlist: Tensor) -> Any:
    return TensorListPopBack(dlist, raw.Shape(op.inputs[1]), element_dtype=op.inputs[1].dtype)


@TensorListPopBack.gradient
def _(op: Operation, dlist: Tensor, dvalue: Tensor) -> Any:
    return TensorListPushBack(dlist, dvalue), None


@TensorListFromTensor.gradient
def _(op: Operation, dlist: Tensor) -> Any:
    return TensorListStack(dlist, _row_shape(op.inputs[0]), element_dtype=op.inputs[0].dtype), None


@TensorListStack.gradient
def _(op: Operation, dtensor: Tensor) -> Any:
    return TensorListFromTensor(dtensor, _shape_of(op.inputs[0])), None


@TensorListGather.gradient
def _(op: Operation, dvalues: Tensor) -> Any:
    rows = raw.UnsortedSegmentSum(dvalues, op.inputs[1], TensorListLength(op.inputs[0]))
    return TensorListFromTensor(rows, _shape_of(op.inputs[0])), None, None


@TensorListGetItem.gradient
def _(op: Operation, ditem: Tensor) -> Any:
    handle, index = op.inputs[0], op.inputs[1]
    zeros = TensorListReserve(_shape_of(handle), TensorListLength(handle), element_dtype=ditem.dtype)
    return TensorListSetItem(zeros, index, ditem), None, None


@TensorListSetItem.gradient
def _(op: Operation, dlist: Tensor) -> Any:
    handle, index, item = op.inputs
    rest = TensorListSetItem(dlist, index, raw.ZerosLike(item))
    if op.get_attr("resize_if_index_out_of_bounds"):
        rest = TensorListResize(rest, TensorListLength(handle))
    return rest, None, TensorListGetItem(dlist, index, raw.Shape(item), element_dtype=item.dtype)


@TensorListResize.gradient
def _(op: Operation, dlist: Tensor) -> Any:
    return TensorListResize(dlist, TensorListLength(op.inputs[0])), None


def _gathered(dlist: Tensor, tensor: Tensor, indices: Tensor) -> Tensor:
    """Return the gradient of rows that were scattered to a list."""
    made: Tensor = TensorListGather(dlist, indices, _row_shape(tensor), element_dtype=tensor.dtype)
    return made


@TensorListScatter.gradient
@TensorListScatterV2.gradient
def _(op: Operation, dlist: Tensor) -> Any:
    return [_gathered(dlist, op.inputs[0], op.inputs[1]), *[None] * (len(op.inputs) - 1)]


@TensorListScatterIntoExistingList.gradient
def _(op: Operation, dlist: Tensor) -> Any:
    handle, tensor, indices = op.inputs
    rest = TensorListScatterIntoExistingList(dlist, raw.ZerosLike(tensor), indices)
    return TensorListResize(rest, TensorListLength(handle)), _gathered(dlist, tensor, indices), None


@TensorListConcat.gradient
@TensorListConcatV2.gradient
def _(op: Operation, dtensor: Tensor, _: Any) -> Any:
    dlist = TensorListSplit(dtensor, _shape_of(op.inputs[0]), op.outputs[1])
    return [dlist, *[None] * (len(op.inputs) - 1)]


@TensorListSplit.gradient
def _(op: Operation, dlist: Tensor) -> Any:
    tensor, _, lengths = op.inputs
    shape = raw.ConcatV2([[-1], _row_shape(tensor)], 0)
    return TensorListConcatV2(dlist, shape, lengths, element_dtype=tensor.dtype)[0], None, None
