"""IndexedSlices: some rows of a tensor, by index (the gradient of a gather)."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tfnb.core import nest
from tfnb.core.dtypes import DType, int64
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import internal_convert_to_tensor, register_tensor_conversion_function
from tfnb.graph.graph import Graph
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import graph_of
from tfnb.ops.declaration.raw import raw


class IndexedSlicesValue(NamedTuple):
    """Value of a fetched IndexedSlices, or to feed one.

    values: the slices; indices: their places along the first axis; dense_shape: of the whole array, or None.

    >>> table = tf.Variable([[0.0], [1.0], [2.0]])
    >>> gradient, = tf.gradients(tf.gather(table, [2, 0]), [table])
    >>> sess.run(gradient).indices
    array([2, 0], dtype=int32)
    """

    values: Any
    indices: Any
    dense_shape: Any = None


class IndexedSlices:
    """Rows `values[i]` that stand at `indices[i]` of a tensor with shape `dense_shape`; other rows are zero.

    values: [n, d1, ...]; indices: int32 or int64 [n], where a row may come several times (they add up);
    dense_shape: int tensor [1 + rank of a row], or None where nobody knows it.

    >>> table = tf.Variable([[0.0], [1.0], [2.0]])
    >>> gradient, = tf.gradients(tf.gather(table, [2, 0]), [table])
    >>> type(gradient).__name__, sess.run(gradient.indices)
    ('IndexedSlices', array([2, 0], dtype=int32))
    """

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Tensor | None = None) -> None:
        self._values, self._indices, self._dense_shape = values, indices, dense_shape

    @property
    def values(self) -> Tensor:
        """The rows."""
        return self._values

    @property
    def indices(self) -> Tensor:
        """The index of each row in the whole tensor."""
        return self._indices

    @property
    def dense_shape(self) -> Tensor | None:
        """The shape of the whole tensor, or None."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The static shape of the whole tensor, as far as `dense_shape` is known while the graph is built."""
        if self._dense_shape is None:
            return TensorShape(None)
        known = graph_of(self._values).shape_from_tensor(self._dense_shape)
        return TensorShape(known)

    def get_shape(self) -> TensorShape:
        """Return the static shape of the whole tensor."""
        return self.shape

    @property
    def parts(self) -> list[Tensor]:
        """The tensors it is made of: values, indices, and dense_shape if there is one."""
        return [self._values, self._indices] + ([] if self._dense_shape is None else [self._dense_shape])

    @property
    def name(self) -> str:
        """The name of `values`."""
        return self._values.name

    @property
    def device(self) -> str:
        """The device of `values`."""
        return self._values.device

    @property
    def op(self) -> Operation:
        """The operation that makes `values`."""
        return self._values.op

    @property
    def dtype(self) -> DType:
        """The dtype of `values`."""
        return self._values.dtype

    @property
    def graph(self) -> Graph:
        """The graph of `values`."""
        return graph_of(self._values)

    def __str__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape}"
        return f"IndexedSlices(indices={self._indices}, values={self._values}{shape})"

    __repr__ = __str__

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)


def with_equal_indices(slices: Sequence[IndexedSlices]) -> list[IndexedSlices]:
    """Return the same, with int64 indices if some have these and others have int32 ones."""
    if len({each.indices.dtype for each in slices}) < 2:
        return list(slices)
    return [each if each.indices.dtype == int64 else
            IndexedSlices(each.values, raw.Cast(each.indices, DstT=int64), each.dense_shape) for each in slices]


def convert_to_tensor_or_indexed_slices(value: Any, dtype: Any = None, name: str | None = None,
                                        as_ref: bool = False) -> Any:
    """`value` itself if it is an IndexedSlices of `dtype`, else as a tensor. Raises ValueError for another dtype.

    as_ref: a variable gives its reference.

    >>> tf.convert_to_tensor_or_indexed_slices([1, 2]).shape.as_list()
    [2]
    """
    if not isinstance(value, IndexedSlices):
        return internal_convert_to_tensor(value, dtype, name, as_ref)
    if dtype is not None and not value.dtype.is_compatible_with(dtype):
        raise ValueError(f"Tensor conversion requested dtype {dtype} for IndexedSlices with dtype {value.dtype.name}: "
                         f"{value}")
    return value


def convert_n_to_tensor_or_indexed_slices(values: Sequence[Any], name: str, as_ref: bool = False) -> list[Any]:
    """Return each of `values` converted (new constants called "name_0", "name_1", ...); None stays None."""
    return [None if value is None else
            convert_to_tensor_or_indexed_slices(value, name=f"{name}_{i}", as_ref=as_ref)
            for i, value in enumerate(values)]


def _to_dense(value: IndexedSlices, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    if dtype is not None and not value.dtype.is_compatible_with(dtype):
        raise ValueError(f"Tensor conversion requested dtype {dtype} for IndexedSlices with dtype {value.dtype.name}")
    if value.dense_shape is None:
        raise ValueError(f"Tensor conversion requested for IndexedSlices without dense_shape: {value}")
    sizes: Any = value.dense_shape
    dense: Tensor = raw.UnsortedSegmentSum(value.values, value.indices, sizes[0], name=name)
    return dense


register_tensor_conversion_function(IndexedSlices, _to_dense)
def _part_shapes(slices: IndexedSlices, shape: TensorShape | None) -> list[TensorShape]:
    """Return the shapes of the parts, of which `shape` is that of the values."""
    shape = slices.values.shape if shape is None else shape
    shapes = [shape, TensorShape([None if shape.ndims is None else shape[0]]), TensorShape([shape.ndims])]
    return shapes[:len(slices.parts)]


nest.register_composite(IndexedSlices, lambda slices: slices.parts, lambda slices, parts: IndexedSlices(*parts),
                        _part_shapes, lambda slices, arrays: IndexedSlicesValue(*arrays))
