"""`convert_to_tensor` and the table of conversions behind it, to which other layers and users add."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfnb.core.dtypes import DType, as_dtype
from tfnb.core.nest import require_levels
from tfnb.core.shape import MOST_AXES
from tfnb.graph.constant import DEFAULT_CONVERSIONS
from tfnb.graph.parts.operation import Operation, Tensor

Conversion = Callable[..., Any]

_table: list[tuple[int, int, Any, Conversion]] = []         # (priority, order of registration, types, function)
_of_type: dict[type, list[tuple[Any, Conversion]]] = {}     # what `_table` says for a type, looked up once


def register_tensor_conversion_function(base_type: Any, conversion_func: Conversion, priority: int = 100) -> None:
    """Let `conversion_func(value, dtype=None, name=None, as_ref=False)` convert values of `base_type` (or several).

    It returns a Tensor, or NotImplemented to leave the value to the next one; of several, a lower `priority` goes
    first, then the earlier registered. Raises TypeError if the arguments are no types or no function.

    >>> class Point:
    ...     def __init__(self, x, y):
    ...         self.x, self.y = x, y
    >>> def convert(point, dtype=None, name=None, as_ref=False):
    ...     return tf.convert_to_tensor([point.x, point.y], dtype=dtype, name=name)
    >>> tf.register_tensor_conversion_function(Point, convert)
    >>> sess.run(tf.add(Point(1, 2), [10, 20]))
    array([11, 22], dtype=int32)
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(t, type) for t in types):
        raise TypeError("base_type must be a type or a tuple of types.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    _table.append((priority, len(_table), types, conversion_func))
    _table.sort(key=lambda row: row[:2])
    _of_type.clear()


def _conversions(kind: type) -> list[tuple[Any, Conversion]]:
    found = _of_type.get(kind)
    if found is None:
        found = _of_type[kind] = [(types, fn) for _, _, types, fn in _table if issubclass(kind, types)]
    return found


def convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None,
                      dtype_hint: Any = None) -> Tensor:
    """`value` (a tensor, variable, array, number, string, or nested lists of these) as a Tensor.

    dtype: what it must be; preferred_dtype (or dtype_hint): what it shall be if it can; name: of the node if one is
    made. Raises TypeError if there is no conversion to the dtype, ValueError if a tensor has another one.

    >>> x = tf.convert_to_tensor(np.array([1.5, 2.5]), dtype=tf.float32)
    >>> x.dtype, x.shape.as_list()
    (tf.float32, [2])
    """
    return internal_convert_to_tensor(value, dtype, name, False, preferred_dtype or dtype_hint)


def internal_convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False,
                               preferred_dtype: Any = None) -> Tensor:
    """`convert_to_tensor`; with `as_ref`, variables give their reference, which ops write to."""
    if dtype is not None:
        dtype = as_dtype(dtype)
    if isinstance(value, Tensor):
        if dtype is not None and not dtype.is_compatible_with(value.dtype):
            raise ValueError(f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
                             f"{value.dtype.name}: {value!r}")
        return value
    prefix = f"Error converting {name}: " if name else ""
    for types, fn in _conversions(type(value)):
        made = NotImplemented
        try:
            if dtype is None and preferred_dtype is not None:
                made = _try_preferred(fn, value, as_dtype(preferred_dtype), name, as_ref)
            if made is NotImplemented:
                made = fn(value, dtype=dtype, name=name, as_ref=as_ref)
        except RecursionError:
            require_levels(value, MOST_AXES)
            raise
        if made is not NotImplemented:
            return _checked(made, dtype, prefix, fn, types)
    raise TypeError(f"{prefix}Cannot convert {value!r} with type {type(value)} to Tensor: no conversion function "
                    "registered.")


def _try_preferred(fn: Conversion, value: Any, preferred: DType, name: str | None, as_ref: bool) -> Any:
    try:
        made = fn(value, dtype=preferred, name=name, as_ref=as_ref)
    except (TypeError, ValueError):
        return NotImplemented
    if made is not NotImplemented and made.dtype.base_dtype is not preferred.base_dtype:
        raise TypeError(f"convert_to_tensor did not convert to the preferred dtype: {made.dtype.base_dtype.name} vs "
                        f"{preferred.base_dtype.name}")
    return made


def beyond_int32(value: Any) -> bool:
    """Return whether a number, nested list or array has an integer that would wrap around as an int32."""
    if isinstance(value, (list, tuple)):
        return any(map(beyond_int32, value))
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iu" and value.size > 0 and not -(1 << 31) <= value.min() <= value.max() < 1 << 31
    return isinstance(value, (int, np.integer)) and not -(1 << 31) <= value < 1 << 31


def _checked(made: Any, dtype: DType | None, prefix: str, fn: Conversion, types: Any) -> Tensor:
    if not isinstance(made, Tensor):
        raise RuntimeError(f"{prefix}Conversion function {fn!r} for type {types} returned non-Tensor: {made!r}")
    if dtype is not None and not dtype.is_compatible_with(made.dtype):
        raise RuntimeError(f"{prefix}Conversion function {fn!r} for type {types} returned incompatible dtype: "
                           f"requested = {dtype.base_dtype.name}, actual = {made.dtype.name}")
    return made


def internal_convert_n_to_tensor(values: Sequence[Any], dtype: Any = None, name: str | None = None,
                                 as_ref: bool = False, preferred_dtype: Any = None) -> list[Tensor]:
    """Each of `values` as a Tensor; new nodes are called `name_0`, `name_1`... Raises TypeError for no sequence."""
    if not isinstance(values, Sequence):
        raise TypeError("values must be a sequence.")
    return [internal_convert_to_tensor(value, dtype, None if name is None else f"{name}_{i}", as_ref, preferred_dtype)
            for i, value in enumerate(values)]


def convert_n_to_tensor(values: Sequence[Any], dtype: Any = None, name: str | None = None,
                        preferred_dtype: Any = None) -> list[Tensor]:
    """Each of `values` as a Tensor. See `internal_convert_n_to_tensor`."""
    return internal_convert_n_to_tensor(values, dtype, name, False, preferred_dtype)


def _element_conversion(value: Any, dtype: DType | None = None, name: str | None = None, as_ref: bool = False) -> Any:
    """The conversion of what stands for a tensor by `_as_graph_element` and has no conversion of its own."""
    convert = getattr(value, "_as_graph_element", None)
    if not callable(convert):
        return NotImplemented
    element = convert()
    if isinstance(element, Operation):
        return NotImplemented
    return internal_convert_to_tensor(element, dtype, name, as_ref)


register_tensor_conversion_function(object, _element_conversion, 190)
for _priority, _types, _fn in DEFAULT_CONVERSIONS:
    register_tensor_conversion_function(_types, _fn, _priority)
