"""Python's operators on tensors: `x + 1`, `x @ w`, `x[1:, 0]`, `-x`, `x < 0`. Importing this module installs them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.dimension import Dimension
from tfnb.graph.constant import make_constant
from tfnb.graph.convert import convert_to_tensor, register_tensor_conversion_function
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.gather import boolean_mask
from tfnb.ops.array.joining import Pack, stack
from tfnb.ops.array.slicing import StridedSlice
from tfnb.ops.declaration import evaluate  # noqa: F401 - it tells the graph how to compute constant values
from tfnb.ops.math.arithmetic import Add, AddV2, Mul, Neg, Pow, Sub, abs
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import (
    LogicalAnd,
    LogicalNot,
    LogicalOr,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_xor,
)
from tfnb.ops.math.division import FloorDiv, FloorMod, truediv
from tfnb.ops.reductions.matmul import matmul

newaxis = None


def _add(x: Tensor, y: Tensor, name: str) -> Tensor:
    return (Add if x.dtype.base_dtype == dtypes.string else AddV2)(x, y, name=name)


_BINARY: dict[str, tuple[str, Callable[..., Tensor]]] = {
    "add": ("add", _add), "sub": ("sub", Sub), "mul": ("mul", Mul), "truediv": ("truediv", truediv),
    "floordiv": ("floordiv", FloorDiv), "mod": ("mod", FloorMod), "pow": ("pow", Pow), "matmul": ("matmul", matmul),
    "and": ("and", LogicalAnd), "or": ("or", LogicalOr), "xor": ("xor", logical_xor),
}


def _foreign(y: Any, operator: str) -> bool:
    """Return whether `y` is of a class with its own reflected operator, that is not a number or an array."""
    return hasattr(type(y), f"__r{operator}__") and not isinstance(
        y, (bool, int, float, complex, str, bytes, list, tuple, np.ndarray, np.generic))


def _forward(operator: str) -> Callable[[Tensor, Any], Any]:
    label, fn = _BINARY[operator]

    def apply(x: Tensor, y: Any) -> Any:
        with name_scope(None, label, [x, y]) as scope:
            if not isinstance(y, Tensor):
                try:
                    y = convert_to_tensor(y, preferred_dtype=x.dtype.base_dtype, name="y")
                except (TypeError, ValueError):
                    if _foreign(y, operator):
                        return NotImplemented
                    raise
                if y.dtype.base_dtype != x.dtype.base_dtype and operator != "truediv":
                    raise TypeError(_mismatch(fn, label, x, y))
            return fn(x, y, name=scope)
    return apply


def _mismatch(fn: Any, label: str, x: Tensor, y: Tensor) -> str:
    op = getattr(getattr(fn, "spec", None), "name", label)
    return (f"Input 'y' of '{op}' Op has type {y.dtype.base_dtype.name} that does not match type "
            f"{x.dtype.base_dtype.name} of argument 'x'.")


def _backward(operator: str) -> Callable[[Tensor, Any], Any]:
    label, fn = _BINARY[operator]

    def apply(y: Tensor, x: Any) -> Any:
        with name_scope(None, label, [x, y]) as scope:
            return fn(convert_to_tensor(x, dtype=y.dtype.base_dtype, name="x"), y, name=scope)
    return apply


# Indexing

_WRONG = ("Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are "
          "valid indices, got {!r}")


def index_of(index: Any) -> Any:
    """Return an index as an int or a scalar tensor. Raises TypeError for anything else."""
    if isinstance(index, Dimension):
        index = index.value
    if isinstance(index, np.ndarray) and index.ndim == 0:
        index = index[()]
    if isinstance(index, (int, np.integer)) and not isinstance(index, (bool, np.bool_)):
        return int(index)
    if hasattr(index, "_as_graph_element") or isinstance(index, Tensor):
        tensor = index if isinstance(index, Tensor) else convert_to_tensor(index)
        if tensor.dtype.base_dtype in (dtypes.int16, dtypes.int32, dtypes.int64) and tensor.static in ((), None):
            return tensor
    raise TypeError(_WRONG.format(index))


def _is_open(bound: Any) -> bool:
    """Return whether a bound of a slice is left open: None, or a Dimension of unknown size."""
    return bound is None or isinstance(bound, Dimension) and bound.value is None


class _Spec:
    """The bounds and masks of a StridedSlice, collected index by index."""

    def __init__(self) -> None:
        self.begin: list[Any] = []
        self.end: list[Any] = []
        self.strides: list[Any] = []
        self.masks = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0)

    def put(self, begin: Any, end: Any, stride: Any, *masks: str) -> None:
        """Add one axis: its bounds and stride, and the masks whose bit it sets."""
        for mask in masks:
            self.masks[mask] |= 1 << len(self.begin)
        self.begin.append(begin)
        self.end.append(end)
        self.strides.append(stride)

    def add(self, index: Any) -> None:
        """Add an index: a slice, `...`, tf.newaxis or a number. Raises TypeError for anything else."""
        if isinstance(index, slice):
            start, stop, step = (None if _is_open(one) else index_of(one)
                                 for one in (index.start, index.stop, index.step))
            masks = [m for m, bound in (("begin_mask", start), ("end_mask", stop)) if bound is None]
            self.put(0 if start is None else start, 0 if stop is None else stop, 1 if step is None else step, *masks)
        elif index is Ellipsis:
            self.put(0, 0, 1, "ellipsis_mask")
        elif index is newaxis:
            self.put(0, 0, 1, "new_axis_mask")
        else:
            index = index_of(index)
            self.put(index, index + 1, 1, "shrink_axis_mask")


def _item(x: Tensor, key: Any) -> Tensor:
    """`x[key]`: ints, scalar tensors, slices, `...`, None, a tuple of these; or a tensor of bools (boolean_mask)."""
    if _is_mask(key):
        return boolean_mask(x, key)
    spec = _Spec()
    for index in key if isinstance(key, (list, tuple)) else (key,):
        spec.add(index)
    with name_scope(None, "strided_slice", [x, *spec.begin, *spec.end, *spec.strides]) as scope:
        bounds = [_bound(values) for values in (spec.begin, spec.end, spec.strides)]
        if dtypes.int64 in [b.dtype for b in bounds]:
            bounds = [cast(b, dtypes.int64) for b in bounds]
        return StridedSlice(x, *bounds, **spec.masks, name=scope)


def _bound(values: list[Any]) -> Tensor:
    if not values:
        return make_constant([], dtype=dtypes.int32, shape=(0,), name="stack")
    return stack(values)


def _is_mask(key: Any) -> bool:
    if isinstance(key, Tensor):
        return key.dtype.base_dtype == dtypes.bool
    return isinstance(key, np.ndarray) and key.dtype == bool and key.ndim > 0


# Lists with tensors in them

def _has_tensor(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_has_tensor(v) for v in value)
    return isinstance(value, Tensor) or hasattr(value, "_as_graph_element")


def _has_dimension(value: Any) -> bool:
    return any(map(_has_dimension, value)) if isinstance(value, (list, tuple)) else isinstance(value, Dimension)


def _sizes(value: Any) -> Any:
    """Return the nested list with ints for Dimensions. Raises ValueError for an unknown one."""
    if isinstance(value, (list, tuple)):
        return [_sizes(v) for v in value]
    if isinstance(value, Dimension):
        if value.value is None:
            raise ValueError("Cannot convert an unknown Dimension to a Tensor: use tf.shape(x)[i] for it")
        return value.value
    return value


def _first_dtype(value: Any) -> Any:
    """Return the dtype of the first tensor in a nested list, or None."""
    if isinstance(value, (list, tuple)):
        return next((d for d in map(_first_dtype, value) if d is not None), None)
    return value.dtype.base_dtype if isinstance(value, Tensor) or hasattr(value, "_as_graph_element") else None


def _pack_list(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    """A list (or nested lists) with tensors in it as a Pack of its elements; NotImplemented for one without any."""
    if _has_dimension(value):
        value = _sizes(value)
        if not _has_tensor(value):
            return convert_to_tensor(value, dtype=dtype, name=name)
    if not _has_tensor(value):
        return NotImplemented
    found = _first_dtype(value)
    if dtype is not None and dtypes.as_dtype(dtype).base_dtype != found:
        found = dtypes.as_dtype(dtype).base_dtype
        value = _cast_tensors(value, found)
    return _packed(value, found, name or "packed")


def _cast_tensors(value: Any, dtype: Any) -> Any:
    """Return the nested list with its tensors cast to `dtype`."""
    if isinstance(value, (list, tuple)):
        return [_cast_tensors(v, dtype) for v in value]
    return cast(value, dtype) if _has_tensor(value) else value


def _packed(values: Any, dtype: Any, name: str) -> Tensor:
    with name_scope(name) as scope:
        parts = []
        for i, value in enumerate(values):
            if isinstance(value, (list, tuple)) and _has_tensor(value):
                parts.append(_packed(value, dtype, str(i)))
            else:
                parts.append(convert_to_tensor(value, dtype=None if isinstance(value, Tensor) else dtype, name=str(i)))
        return Pack(parts, name=scope)


def _install() -> None:
    for operator in _BINARY:
        Tensor._override(f"__{operator}__", _forward(operator))
        Tensor._override(f"__r{operator}__", _backward(operator))
    for python2, operator in (("div", "truediv"),):
        Tensor._override(f"__{python2}__", _forward(operator))
        Tensor._override(f"__r{python2}__", _backward(operator))
    for method, constructor in (("lt", less), ("le", less_equal), ("gt", greater), ("ge", greater_equal)):
        Tensor._override(f"__{method}__", lambda x, y, make=constructor: make(x, y))
    Tensor._override("__neg__", lambda x: Neg(x))
    Tensor._override("__abs__", lambda x: abs(x))
    Tensor._override("__invert__", lambda x: LogicalNot(x))
    Tensor._override("__getitem__", _item)
    register_tensor_conversion_function((list, tuple), _pack_list, priority=99)


_install()
