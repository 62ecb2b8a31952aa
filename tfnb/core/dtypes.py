"""Element types of tensors: TensorFlow's `DType`, with its official enum values (`types.proto`).

Every DType is one object, made here; all its facts are attributes, computed once, since graph construction reads them
for each tensor. A reference dtype (`float32_ref`) is the type of a variable's own output.
"""
from __future__ import annotations

import builtins
from typing import Any

import ml_dtypes
import numpy as np

_REF = 100          # official: the enum value of a reference dtype is that of its base plus 100


class DType:
    """Element type of a tensor.

    Attributes: name; as_datatype_enum (enum value); base_dtype (without reference); real_dtype (of the parts of
    a complex one); as_numpy_dtype (a NumPy type; raises TypeError for resource and variant); size in bytes (1 for
    resource and variant, a pointer's for string); is_floating, is_integer, is_complex, is_bool, is_quantized,
    is_unsigned, is_numpy_compatible.

    Equal to what `as_dtype` makes of the other side: names and NumPy types compare too. type_enum: an enum value.

    >>> tf.float32.name, tf.float32.is_floating, tf.int32.max, tf.float32.as_numpy_dtype
    ('float32', True, 2147483647, <class 'numpy.float32'>)
    """

    __slots__ = ("name", "as_datatype_enum", "base_dtype", "real_dtype", "_numpy", "_np_dtype", "_other", "size",
                 "is_floating", "is_integer", "is_complex", "is_bool", "is_quantized", "is_unsigned", "_is_ref_dtype",
                 "is_numpy_compatible", "_hash")
    name: str
    as_datatype_enum: int
    base_dtype: DType
    real_dtype: DType
    size: int
    is_floating: builtins.bool
    is_integer: builtins.bool
    is_complex: builtins.bool
    is_bool: builtins.bool
    is_quantized: builtins.bool
    is_unsigned: builtins.bool
    is_numpy_compatible: builtins.bool
    _is_ref_dtype: builtins.bool
    _numpy: Any
    _np_dtype: np.dtype[Any] | None
    _other: DType
    _hash: int

    def __new__(cls, type_enum: int) -> DType:
        """Return the one DType of an enum value. Raises TypeError for an unknown one: users make no dtypes."""
        try:
            return _BY_ENUM[int(type_enum)]
        except KeyError:
            raise TypeError(f"type_enum is not a valid types_pb2.DataType: {type_enum}") from None

    def __init__(self, type_enum: int) -> None:
        """All is set when this module is imported."""

    @property
    def as_numpy_dtype(self) -> Any:
        """The NumPy type of the elements (`object` for strings). Raises TypeError for resource and variant."""
        if self._numpy is None:
            raise TypeError(f"{self.name} has no NumPy type: its values are handles of the runtime")
        return self._numpy

    @property
    def np_dtype(self) -> np.dtype[Any]:
        """`numpy.dtype(as_numpy_dtype)`, made once. Raises TypeError for resource and variant."""
        if self._np_dtype is None:
            raise TypeError(f"{self.name} has no NumPy type: its values are handles of the runtime")
        return self._np_dtype

    @property
    def _as_ref(self) -> DType:
        return self if self._is_ref_dtype else self._other

    @property
    def min(self) -> Any:
        """Least finite value. Raises TypeError for dtypes without one (bool, complex, string...)."""
        return self._limit("minimum")

    @property
    def max(self) -> Any:
        """Greatest finite value. Raises TypeError for dtypes without one (bool, complex, string...)."""
        return self._limit("maximum")

    def _limit(self, which: str) -> Any:
        field = "min" if which == "minimum" else "max"
        if self.is_integer:
            return int(getattr(np.iinfo(self.np_dtype), field))
        if self.is_floating:
            info = ml_dtypes.finfo if self.base_dtype is bfloat16 else np.finfo
            return getattr(info(self.np_dtype), field)
        raise TypeError(f"Cannot find {which} value of {self}.")

    @property
    def limits(self) -> tuple[Any, Any]:
        """The range of intensities of images of this type: (0, 1) for floats, (0, max) for integers."""
        if self.is_integer or self.is_bool:
            return 0, (self.max if self.is_integer else True)
        if self.base_dtype in (float32, float64):
            return 0, 1
        raise ValueError(f"{self} does not have defined limits.")

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Return whether a value of dtype `other` is accepted where this one is expected: a reference as its base."""
        other = as_dtype(other)
        return self is other or (not self._is_ref_dtype and self is other.base_dtype)

    def __eq__(self, other: object) -> builtins.bool:
        if self is other:
            return True
        if other is None or isinstance(other, DType):
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __ne__(self, other: object) -> builtins.bool:
        return not self == other

    def __hash__(self) -> int:
        return self._hash

    def __int__(self) -> int:
        return self.as_datatype_enum

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return as_dtype, (self.name,)


_BY_ENUM: dict[int, DType] = {}
_BY_NAME: dict[Any, DType] = {}
_BY_NUMPY: dict[Any, DType] = {}
_QUANTIZED = {"qint8": np.int8, "quint8": np.uint8, "qint16": np.int16, "quint16": np.uint16, "qint32": np.int32}


def _numpy_type(name: str) -> Any:
    if name in ("resource", "variant"):
        return None
    if name in _QUANTIZED:
        return np.dtype([(name, _QUANTIZED[name])])
    return {"string": np.object_, "bool": np.bool_, "bfloat16": ml_dtypes.bfloat16}.get(name) or getattr(np, name)


def _bare(name: str, enum: int, numpy: Any) -> DType:
    made = object.__new__(DType)
    made.name, made.as_datatype_enum, made._hash, made._numpy = name, enum, enum, numpy
    made._np_dtype = np.dtype(numpy) if numpy is not None else None
    made.size = 1 if made._np_dtype is None else made._np_dtype.itemsize
    _BY_ENUM[enum] = _BY_NAME[name] = made
    return made


def _make(name: str, enum: int) -> DType:
    numpy = _numpy_type(name)
    base, ref = _bare(name, enum, numpy), _bare(name + "_ref", enum + _REF, numpy)
    kind = "" if name in _QUANTIZED or numpy is None else np.dtype(numpy).kind
    for made, other in ((base, ref), (ref, base)):
        made.base_dtype, made._other, made._is_ref_dtype = base, other, made is ref
        made.real_dtype = made
        made.is_floating = kind == "f" or name == "bfloat16"
        made.is_integer, made.is_unsigned = kind in tuple("iu"), kind == "u"
        made.is_complex, made.is_bool, made.is_quantized = kind == "c", kind == "b", name in _QUANTIZED
        made.is_numpy_compatible = numpy is not None
    if numpy is not None:
        _BY_NUMPY[np.dtype(numpy)] = base
        if not isinstance(numpy, np.dtype):
            _BY_NUMPY[numpy] = base
    return base


float32 = _make("float32", 1)
float64 = double = _make("float64", 2)
int32 = _make("int32", 3)
uint8 = _make("uint8", 4)
int16 = _make("int16", 5)
int8 = _make("int8", 6)
string = _make("string", 7)
complex64 = _make("complex64", 8)
int64 = _make("int64", 9)
bool = _make("bool", 10)        # noqa: A001  TensorFlow's name
qint8 = _make("qint8", 11)
quint8 = _make("quint8", 12)
qint32 = _make("qint32", 13)
bfloat16 = _make("bfloat16", 14)
qint16 = _make("qint16", 15)
quint16 = _make("quint16", 16)
uint16 = _make("uint16", 17)
complex128 = _make("complex128", 18)
float16 = half = _make("float16", 19)
resource = _make("resource", 20)
variant = _make("variant", 21)
uint32 = _make("uint32", 22)
uint64 = _make("uint64", 23)
complex64.real_dtype = complex64._other.real_dtype = float32
complex128.real_dtype = complex128._other.real_dtype = float64

# The names in op signatures and in TensorFlow's C++ API.
for _alias, _dtype in (("float", float32), ("double", float64), ("half", float16)):
    _BY_NAME[_alias], _BY_NAME[_alias + "_ref"] = _dtype, _dtype._as_ref
_BY_PYTHON: dict[Any, DType] = {float: float32, builtins.bool: bool, object: string}
QUANTIZED_DTYPES = frozenset(_BY_NAME[name + ref] for name in _QUANTIZED for ref in ("", "_ref"))
ALL = tuple(_BY_ENUM[number] for number in sorted(_BY_ENUM) if number < _REF)


def as_dtype(type_value: Any) -> DType:
    """Convert a name ("float32", "half", "float32_ref"), enum value, NumPy type, array or Python type to a DType.

    `float` is float32, `bool` bool, `object` string; `int` is none (it could be int32 or int64). An object with a
    `dtype` attribute has that dtype. Raises TypeError if there is no such dtype. type_value: any of these.

    >>> tf.as_dtype("float32") is tf.float32, tf.as_dtype(np.int64) is tf.int64
    (True, True)
    """
    if isinstance(type_value, DType):
        return type_value
    if type(type_value) is int and type_value in _BY_ENUM:      # not 3.0, nor a NumPy 3, which equal 3
        return _BY_ENUM[type_value]
    for table in (_BY_NAME, _BY_NUMPY, _BY_PYTHON):
        try:
            return table[type_value]
        except (KeyError, TypeError):
            continue
    if isinstance(type_value, np.dtype):
        return _of_numpy(type_value)
    held = getattr(type_value, "dtype", None)
    if isinstance(held, (np.dtype, DType)):
        return as_dtype(held)
    raise TypeError(f"Cannot convert value {type_value!r} to a TensorFlow DType.")


def _of_numpy(dtype: np.dtype[Any]) -> DType:
    if dtype.kind in "SU":
        return string
    native = _BY_NUMPY.get(dtype.newbyteorder("="))
    if native is None:
        raise TypeError(f"Cannot convert value {dtype!r} to a TensorFlow DType.")
    return native
