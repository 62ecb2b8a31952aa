"""Specifications of values: dtype and shape of a tensor, a SparseTensor or IndexedSlices (`tf.TensorSpec`...)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from tfnb.core import dtypes
from tfnb.core.shape import TensorShape
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.declaration.public import public


@public("TypeSpec")
class TypeSpec:
    """Base class of specifications. Equal ones have equal classes and parts; they can be keys of a dict.

    >>> isinstance(tf.TensorSpec([2]), tf.TypeSpec)
    True
    """

    value_type: Any = None

    def _parts(self) -> tuple[Any, ...]:
        raise NotImplementedError(f"{type(self).__name__} has no parts")

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Return whether a value, or all values of another specification, may have this one."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else type_spec_from_value(spec_or_value)
        if type(self) is not type(other):
            return False
        return all(mine.is_compatible_with(theirs) if isinstance(mine, TensorShape) else mine == theirs
                   for mine, theirs in zip(self._parts(), other._parts(), strict=True))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return (type(self).__name__, *(str(part) for part in self._parts()))


class _Described(TypeSpec):
    """A specification of a dtype and a shape."""

    def __init__(self, shape: Any, dtype: Any = dtypes.float32) -> None:
        self._shape, self._dtype = TensorShape(shape), dtypes.as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the elements."""
        return self._dtype

    def _parts(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._shape}, {self._dtype!r})"


@public("TensorSpec")
class TensorSpec(_Described):
    """The dtype, the static shape and a name of a tensor.

    shape: a TensorShape or what makes one, with None for unknown sizes. dtype: of the elements. name: for messages.

    >>> spec = tf.TensorSpec([None, 3], tf.float32)
    >>> spec.is_compatible_with(tf.zeros([2, 3])), spec.is_compatible_with(tf.zeros([3]))
    (True, False)
    """

    value_type = Tensor

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> None:
        super().__init__(shape, dtype)
        self._name = name

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> Self:
        """Return a specification of the shape and dtype of another, by default of its name, too."""
        return cls(spec.shape, spec.dtype, name or getattr(spec, "name", None))

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> Self:
        """Return the specification of a tensor; name: by default that of its operation."""
        return cls(tensor.shape, tensor.dtype, name or tensor.op.name)

    @property
    def name(self) -> str | None:
        """The name, or None."""
        return self._name

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


@public("SparseTensorSpec")
class SparseTensorSpec(_Described):
    """The dtype and the dense shape of a SparseTensor.

    shape: of the whole, None for an unknown rank. dtype: of the values.

    >>> tf.SparseTensorSpec([2, None], tf.int64).shape.as_list()
    [2, None]
    """

    value_type = SparseTensor

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(shape, dtype)


@public("IndexedSlicesSpec")
class IndexedSlicesSpec(_Described):
    """The dtypes and shapes of IndexedSlices.

    shape: of the dense tensor. dtype: of the values. indices_dtype, dense_shape_dtype: of these parts, None for no
    dense shape. indices_shape: of the indices.

    >>> tf.IndexedSlicesSpec([4, 2], tf.float32).dtype
    tf.float32
    """

    value_type = IndexedSlices

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32, indices_dtype: Any = dtypes.int64,
                 dense_shape_dtype: Any = None, indices_shape: Any = None) -> None:
        super().__init__(shape, dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape(indices_shape)

    def _parts(self) -> tuple[Any, ...]:
        return *super()._parts(), self._indices_dtype, self._dense_shape_dtype, self._indices_shape


_MAKERS: dict[type, Callable[[Any], TypeSpec]] = {
    SparseTensor: lambda value: SparseTensorSpec(value.shape, value.dtype),
    IndexedSlices: lambda value: IndexedSlicesSpec(
        value.shape, value.dtype, value.indices.dtype,
        None if value.dense_shape is None else value.dense_shape.dtype, value.indices.shape)}


def of_values(cls: type, make: Callable[[Any], TypeSpec]) -> None:
    """Register how the specification of a value of a class is made."""
    _MAKERS[cls] = make


@public("type_spec_from_value")
def type_spec_from_value(value: Any) -> TypeSpec:
    """Return the specification of a tensor, a variable, a SparseTensor, RaggedTensor, IndexedSlices, array or number.

    Raises TypeError for another value.

    >>> tf.type_spec_from_value(tf.zeros([2])).dtype
    tf.float32
    """
    make = next((make for cls, make in _MAKERS.items() if isinstance(value, cls)), None)
    if make is not None:
        return make(value)
    if hasattr(value, "shape") and hasattr(value, "dtype") and hasattr(value, "op"):
        return TensorSpec(value.shape, value.dtype.base_dtype)
    if isinstance(value, (np.ndarray, np.generic, int, float, bool, complex, str, bytes)):
        array = np.asarray(value)
        dtype = {float: dtypes.float32, int: dtypes.int32}.get(type(value), None)
        return TensorSpec(array.shape, dtype or (dtypes.string if array.dtype.kind in "SUO" else array.dtype))
    raise TypeError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}")
