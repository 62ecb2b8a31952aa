"""Elements that may be missing: `tf.data.experimental.Optional`, and specifications of elements."""
from __future__ import annotations

from typing import Any

from tfnb.control_flow.tensor_array import TensorArraySpec
from tfnb.core import dtypes
from tfnb.core.arguments import DATASETS, describe
from tfnb.core.shape import TensorShape
from tfnb.data import structure
from tfnb.data.dataset import Dataset
from tfnb.data.structure import Component, Structured
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.composite.specs import SparseTensorSpec, TensorSpec, TypeSpec, of_values
from tfnb.ops.data import optionals as ops
from tfnb.ragged.specs import RaggedTensorSpec
from tfnb.ragged.tensor import RaggedTensor


def _spec(component: Component) -> TypeSpec:
    if component.wrap is SparseTensor:
        return SparseTensorSpec(component.shape, component.dtype)
    if component.wrap is RaggedTensor:
        return structure.ragged_spec(component)
    if component.wrap is Optional:
        return OptionalSpec(structure.convert(_spec, component.inner))
    if component.wrap is not None:
        return DatasetStructure(structure.convert(_spec, component.inner))
    return TensorSpec(component.shape, component.dtype)


def _component(spec: Any) -> Component:
    """Return the component that a specification describes. Raises TypeError for others than tensors of all kinds."""
    if isinstance(spec, RaggedTensorSpec):
        return structure.of_ragged_spec(spec)
    if not isinstance(spec, (TensorSpec, SparseTensorSpec)):
        raise TypeError(f"expected a structure of tf.TensorSpec, SparseTensorSpec and RaggedTensorSpec, got {spec!r}")
    return Component(spec.dtype, TensorShape(spec.shape), wrap=SparseTensor if isinstance(spec, SparseTensorSpec)
                     else None)


class Optional:
    """An element of a dataset, or nothing: `has_value` says which, `get_value` gives the element.

    Programs get one by `get_next_as_optional` or `from_value`. variant_tensor: the value; element: a description of
    each component.

    >>> some = tf.data.experimental.Optional.from_value((tf.constant(3), "a"))
    >>> sess.run([some.has_value(), some.get_value()])
    [True, (3, b'a')]
    """

    def __init__(self, variant_tensor: Tensor, element: Any) -> None:
        self._variant_tensor, self._element, self._class = variant_tensor, element, Optional

    def has_value(self, name: str | None = None) -> Tensor:
        """Return a bool scalar: whether there is an element."""
        made: Tensor = ops.OptionalHasValue(self._variant_tensor, name=name)
        return made

    def get_value(self, name: str | None = None) -> Any:
        """Return the element, tensors in its structure. Running them without one raises InvalidArgumentError."""
        made = ops.OptionalGetValue(self._variant_tensor, name=name, **structure.attrs(self._element))
        return structure.as_values(self._element, made)

    @property
    def value_structure(self) -> Any:
        """The specification of each component, in the structure of the element."""
        return structure.convert(_spec, self._element)

    element_spec = value_structure

    @staticmethod
    def from_value(value: Any) -> Optional:
        """Return an optional of an element: tensors in any structure."""
        element, flat = structure.as_tensors(value)
        return Optional(ops.OptionalFromValue(flat, name="optional"), element)

    @staticmethod
    def none_from_structure(value_structure: Any) -> Optional:
        """Return an optional without an element. value_structure: specifications, such as tf.TensorSpec, of one."""
        return Optional(ops.OptionalNone(), structure.pack(
            value_structure, [_component(each) for each in structure.flatten(value_structure)]))

    empty = none_from_structure


class OptionalSpec(TypeSpec):
    """The structure of the element of an Optional.

    element_spec: a specification, or a structure of them.

    >>> spec = tf.OptionalSpec(tf.TensorSpec([], tf.int32))
    >>> spec.is_compatible_with(tf.data.experimental.Optional.from_value(3))
    True
    """

    value_type = Optional

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    def _parts(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._element_spec!r})"


class DatasetStructure(TypeSpec):
    """The structure of the elements of a dataset.

    element_spec: a specification, or a structure of them. dataset_shape: must be (), a single dataset.

    >>> spec = tf.type_spec_from_value(tf.data.Dataset.range(3))
    >>> spec == tf.data.experimental.DatasetStructure(tf.TensorSpec([], tf.int64))
    True
    """

    value_type = Dataset

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        if TensorShape(dataset_shape).static != ():
            raise ValueError(f"dataset_shape must be (), got {dataset_shape}")
        self._element_spec = element_spec

    def _parts(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._element_spec!r})"


of_values(Optional, lambda value: OptionalSpec(value.element_spec))
of_values(Dataset, lambda value: DatasetStructure(get_structure(value)))


def get_structure(dataset_or_iterator: Structured) -> Any:
    """The specification of each component of an element of a dataset or an iterator, in its structure.

    >>> tf.data.experimental.get_structure(tf.data.Dataset.range(3))
    TensorSpec(shape=(), dtype=tf.int64, name=None)
    """
    return structure.convert(_spec, dataset_or_iterator._element)


def get_next_as_optional(iterator: Any) -> Optional:
    """Return the next element of an iterator as an Optional, which has none at the end of the dataset.

    iterator: a tf.data.Iterator.

    >>> iterator = tf.data.Dataset.range(1).make_one_shot_iterator()
    >>> element = tf.data.experimental.get_next_as_optional(iterator)
    >>> sess.run([element.has_value(), element.get_value()]), sess.run(element.has_value())
    ([True, 0], False)
    """
    return Optional(ops.IteratorGetNextAsOptional(iterator._iterator_resource, **structure.attrs(iterator._element)),
                    iterator._element)


def TensorStructure(dtype: Any, shape: Any) -> TensorSpec:  # noqa: N802 (the public name)
    """Return `tf.TensorSpec(shape, dtype)`.

    >>> tf.data.experimental.TensorStructure(tf.int32, [2])
    TensorSpec(shape=(2,), dtype=tf.int32, name=None)
    """
    return TensorSpec(shape, dtype)


def SparseTensorStructure(dtype: Any, shape: Any) -> SparseTensorSpec:  # noqa: N802 (the public name)
    """Return `tf.SparseTensorSpec(shape, dtype)`.

    >>> tf.data.experimental.SparseTensorStructure(tf.int32, [2]).dtype
    tf.int32
    """
    return SparseTensorSpec(shape, dtypes.as_dtype(dtype))


def TensorArrayStructure(dtype: Any, element_shape: Any, dynamic_size: bool,  # noqa: N802 (the public name)
                         infer_shape: bool) -> TensorArraySpec:
    """Return `tf.TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)`.

    >>> tf.data.experimental.TensorArrayStructure(tf.int32, [2], False, True) == tf.TensorArraySpec([2], tf.int32)
    True
    """
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)


def RaggedTensorStructure(dtype: Any, shape: Any, ragged_rank: int) -> RaggedTensorSpec:  # noqa: N802 (the public name)
    """Return `tf.RaggedTensorSpec(shape, dtype, ragged_rank)`.

    >>> spec = tf.RaggedTensorSpec([2, None], tf.int32)
    >>> tf.data.experimental.RaggedTensorStructure(tf.int32, [2, None], 1) == spec
    True
    """
    return RaggedTensorSpec(shape, dtype, ragged_rank)


describe(globals(), DATASETS)
