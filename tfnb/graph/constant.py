"""Constants: Python and NumPy values as arrays of a dtype, and as Const nodes."""
from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tfnb.core import dtypes, indexing
from tfnb.core.dtypes import DType, as_dtype
from tfnb.core.nest import require_levels
from tfnb.core.shape import MOST_AXES, Dimension, Static, TensorShape, as_static, is_known, shape_str
from tfnb.graph.parts.elements import spec_of
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import get_default_graph

_INT32 = np.iinfo(np.int32)
_STRINGS = (str, bytes, bytearray)
_NUMBERS = (float, np.floating, int, np.integer, np.bool_)


def make_constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const",
                  verify_shape: bool = False) -> Tensor:
    """The output of a new Const node in the default graph. See `to_array` for what may be a value, and errors."""
    array = to_array(value, dtype, shape, verify_shape)
    found = as_dtype(array.dtype) if dtype is None else as_dtype(dtype).base_dtype
    array.flags.writeable = False
    attrs = {"value": array, "dtype": found}
    return get_default_graph().add_op(spec_of("Const"), (), attrs, name or "Const", (found,)).outputs[0]


def to_array(value: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False) -> np.ndarray:
    """A new array with `value`: a Python scalar, a NumPy array or scalar, or nested lists of scalars.

    Without dtype: NumPy values keep theirs; Python floats are float32, ints int32 (int64 if they don't fit), strings
    and bytes string, complex numbers complex128. With `shape`, fewer values are filled up with the last one (not with
    verify_shape); a shape without elements takes any Python value, and is float32 without dtype. Raises TypeError where
    a value is not of the dtype, ValueError for None, ragged lists and values that don't fill `shape`.
    """
    wanted, static = None if dtype is None else as_dtype(dtype).base_dtype, None if shape is None else as_static(shape)
    if static and 0 in static and is_known(static) and value is not None and not hasattr(type(value), "__array__"):
        return np.empty(static, np.float32 if wanted is None else wanted.np_dtype)
    try:
        array = _as_array(value, wanted)
    except RecursionError:
        require_levels(value, MOST_AXES)
        raise
    return array if shape is None else _shaped(array, value, static, verify_shape)


def _as_array(value: Any, wanted: DType | None) -> np.ndarray:
    kind = type(value)
    if kind is float and (wanted is None or wanted is dtypes.float32) and -3.4e38 < value < 3.4e38:     # the usual ones
        return np.array(value, np.float32)
    if kind is int and wanted is None and _INT32.min <= value <= _INT32.max:
        return np.array(value, np.int32)
    if isinstance(value, (np.ndarray, np.generic)) or (hasattr(kind, "__array__") and kind is not Tensor):
        return _from_numpy(value, wanted)
    quick = _quick(value, wanted) if kind is list or kind is tuple else None
    return _from_python(value, wanted) if quick is None else quick


def _from_numpy(value: Any, wanted: DType | None) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind in "SUO" or wanted is dtypes.string:
        return _strings(array, wanted)
    target = as_dtype(array.dtype) if wanted is None else wanted
    with np.errstate(all="ignore"):
        if array.dtype.kind == "c" and not target.is_complex:
            array = array.real
        return np.array(array, target.np_dtype, order="C")


def _strings(array: np.ndarray, wanted: DType | None) -> np.ndarray:
    if wanted not in (None, dtypes.string):
        raise TypeError(f"Expected {wanted.name if wanted else ''}, got an array of {array.dtype} instead.")
    made = np.empty(array.shape, object)
    flat = made.reshape(-1)
    for i, element in enumerate(array.reshape(-1).tolist()):
        if not isinstance(element, _STRINGS):
            raise TypeError(f"Expected binary or unicode string, got {element!r}")
        flat[i] = _bytes(element)
    return made


def _bytes(text: Any) -> bytes:
    return text.encode() if isinstance(text, str) else bytes(text)


def _quick(value: Any, wanted: DType | None) -> np.ndarray | None:
    """Lists of plain numbers, by NumPy alone; None for what it can't judge."""
    try:
        array = np.array(value)
    except Exception:       # noqa: BLE001  ragged lists, tensors in lists: the slow way says what is wrong
        return None
    depth, first = 0, value
    while isinstance(first, (list, tuple)) and first:
        depth, first = depth + 1, first[0]
    if not array.size or depth != array.ndim or array.dtype.kind not in "biuf":
        return None
    if wanted is None:
        return _inferred(array)
    allowed = "biuf" if wanted.is_floating else "biu" if wanted.is_integer else "b" if wanted.is_bool else ""
    if array.dtype.kind not in allowed:
        return None
    with np.errstate(all="ignore"):
        return array.astype(wanted.np_dtype)


def _from_python(value: Any, wanted: DType | None) -> np.ndarray:
    if value is None:
        raise ValueError("None values not supported.")
    if isinstance(value, range):
        value = list(value)
    if isinstance(value, Tensor):
        raise TypeError(f"List of Tensors when single Tensor expected, or a Tensor where a constant is: {value!r}")
    shape = _dense_shape(value)
    elements = _flat(value)
    if wanted is dtypes.string or (wanted is None and elements and isinstance(elements[0], _STRINGS)):
        for element in elements:
            _check(element, dtypes.string)
        made = np.empty(len(elements), object)
        made[:] = [_bytes(element) for element in elements]
        return made.reshape(shape)
    if wanted is not None:
        for element in elements:
            _check(element, wanted)
        return _cast(elements, wanted).reshape(shape)
    for element in elements:
        if not isinstance(element, (*_NUMBERS, complex, np.complexfloating)):
            raise TypeError(f"Failed to convert object of type {type(value).__name__} to Tensor. Contents: {value!r}. "
                            f"Its element {element!r} is of type {type(element).__name__}; a number, string or bool "
                            "is wanted.")
    return _inferred(np.array(elements) if elements else np.array([], np.float32)).reshape(shape)


def _inferred(array: np.ndarray) -> np.ndarray:
    if array.dtype == np.float64:
        with np.errstate(over="ignore"):
            return array.astype(np.float32)
    if array.dtype == np.int64 and (_INT32.min <= array.min() and array.max() <= _INT32.max):
        return array.astype(np.int32)
    if array.dtype == object:
        raise TypeError(f"Failed to convert {array.tolist()!r} to a Tensor: a number is too large for 64 bits")
    return array


def _cast(elements: list[Any], wanted: DType) -> np.ndarray:
    """Return an array of Python values that `_check` let pass. Raises OverflowError for integers beyond 64 bits."""
    with np.errstate(all="ignore"):
        if wanted.is_integer:       # wraps, as TensorFlow does: -1 as uint8 is 255
            for e in elements:
                if not -(1 << 63) <= e < 1 << 64:
                    raise OverflowError(f"Expected {wanted.name}, got {e!r}, which is too large for 64 bits")
            bits = wanted.size * 8
            low = 0 if wanted.is_unsigned else -(1 << (bits - 1))
            elements = [(int(e) - low) % (1 << bits) + low for e in elements]
        return np.array(elements, wanted.np_dtype)


def _check(element: Any, wanted: DType) -> None:
    """Raise TypeError if a Python value is not one of the dtype. An int is a float too, and a bool an int."""
    if element is None:
        raise ValueError("None values not supported.")
    if wanted is dtypes.string:
        fits = isinstance(element, _STRINGS)
    elif wanted.is_bool:
        fits = isinstance(element, (bool, np.bool_))
    elif wanted.is_integer:
        fits = isinstance(element, (int, np.integer, np.bool_))
    elif wanted.is_floating:
        fits = isinstance(element, _NUMBERS)
    else:
        fits = wanted.is_complex and isinstance(element, (*_NUMBERS, complex, np.complexfloating))
    if not fits:
        raise TypeError(f"Expected {wanted.name}, got {element!r} of type {type(element).__name__!r} instead.")


def _dense_shape(value: Any) -> tuple[int, ...]:
    """The shape of nested lists. Raises ValueError if they are ragged, or hold arrays."""
    if isinstance(value, (np.ndarray, Tensor)) and value.shape != ():
        raise ValueError(f"Argument must be a dense tensor: it is a list with an array of shape {value.shape} in it. "
                         "Use numpy.array on the whole list, or tf.stack.")
    if not isinstance(value, (list, tuple)):
        return ()
    inner = {_dense_shape(v) for v in value}
    if len(inner) > 1:
        raise ValueError(f"Argument must be a dense tensor: {value!r} has elements of shapes "
                         f"{', '.join(map(shape_str, sorted(inner)))}")
    return (len(value), *(inner.pop() if inner else ()))


def _flat(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [element for v in value for element in _flat(v)]
    if isinstance(value, Dimension):
        if value.value is None:
            raise ValueError("Cannot convert an unknown Dimension to a Tensor.")
        return [value.value]
    return [value.item() if isinstance(value, np.ndarray) else value]


def _shaped(array: np.ndarray, value: Any, shape: Static, verify: bool) -> np.ndarray:
    if shape is None or not is_known(shape):
        raise ValueError(f"the shape of a constant must be fully known, got {shape_str(shape)}")
    if array.shape == shape:
        return array
    if verify:
        raise TypeError(f"Expected Tensor's shape: {shape_str(shape)}, got {shape_str(array.shape)}.")
    size = prod(shape)
    if array.size > size:
        raise ValueError(f"Too many elements provided. Needed at most {size}, but received {array.size}")
    if array.size < size:
        last = array.reshape(-1)[-1:] if array.size else np.array([b"" if array.dtype == object else 0], array.dtype)
        array = np.concatenate([array.reshape(-1), indexing.repeat(last, size - array.size)])
    return array.reshape(shape)


def constant_conversion(value: Any, dtype: DType | None = None, name: str | None = None,
                        as_ref: bool = False) -> Any:
    """The conversion of everything that is no tensor: a constant."""
    if isinstance(value, Operation):
        raise TypeError(f"Can't convert Operation {value.name!r} to Tensor: it is no value. Use one of its outputs.")
    return make_constant(value, dtype, name=name or "Const")


def shape_conversion(value: Any, dtype: DType | None = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    """The conversion of a TensorShape or a Dimension: int32 (int64 where a size does not fit).

    Raises ValueError if something of it is unknown, TypeError for another dtype.
    """
    sizes = (value.value,) if isinstance(value, Dimension) else as_static(value)
    if sizes is None or not is_known(sizes):
        raise ValueError(f"Cannot convert a partially known {type(value).__name__} {value} to a Tensor.")
    if dtype is not None and dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a {type(value).__name__} to dtype {dtype.name}: int32 or int64 is wanted")
    large = any(size is not None and size > _INT32.max for size in sizes)
    found = dtype or (dtypes.int64 if large else dtypes.int32)
    array = np.array(sizes[0] if isinstance(value, Dimension) else sizes, found.np_dtype)
    return make_constant(array, found, name=name or "shape_as_tensor")


DEFAULT_CONVERSIONS: Sequence[tuple[int, Any, Any]] = (
    (100, (TensorShape, Dimension), shape_conversion), (200, object, constant_conversion))
