"""Sparse tensors in coordinate (COO) form: indices, values and the dense shape."""
from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from functools import wraps
from typing import Any, Self

from tfnb.core import dtypes, nest
from tfnb.core.dtypes import DType
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value_as_shape
from tfnb.graph.parts.context import session_for
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.declaration.arguments import renamed
from tfnb.ops.declaration.dispatch import dispatched


class SparseTensorValue(namedtuple("SparseTensorValue", ("indices", "values", "dense_shape"))):
    """Value of a fetched SparseTensor: three arrays. The third was called `shape` before 1.0.

    indices: [elements, rank], int64; values: [elements]; dense_shape: of the dense array.

    >>> x = tf.sparse_placeholder(tf.float32)
    >>> value = tf.SparseTensorValue(indices=[[0, 1]], values=[5.0], dense_shape=[1, 3])
    >>> sess.run(tf.sparse_tensor_to_dense(x), {x: value})
    array([[0., 5., 0.]], dtype=float32)
    """

    __slots__ = ()

    def __new__(cls, indices: Any, values: Any, dense_shape: Any = None, shape: Any = None) -> Self:
        """Raises TypeError without a dense shape, ValueError if it is given under both names."""
        dense_shape = renamed("dense_shape", dense_shape, "shape", shape)
        if dense_shape is None:
            raise TypeError("SparseTensorValue() expected `dense_shape`, got None")
        return super().__new__(cls, indices, values, dense_shape)

    @property
    def shape(self) -> Any:
        """The dense shape."""
        return self.dense_shape


class SparseTensor:
    """A tensor of which few elements are not zero.

    indices: int64 [N, rank], the place of each value; values: [N]; dense_shape: int64 [rank] (`shape` before 1.0).
    Raises ValueError for shapes that don't fit together.

    >>> x = tf.SparseTensor(indices=[[0, 1], [2, 0]], values=[5, 6], dense_shape=[3, 2])
    >>> sess.run(tf.sparse_tensor_to_dense(x))
    array([[0, 5],
           [0, 0],
           [6, 0]], dtype=int32)
    """

    _told: TensorShape | None = None            # of a placeholder: the shape that it was made with

    def __init__(self, indices: Any, values: Any, dense_shape: Any = None, shape: Any = None) -> None:
        dense_shape = renamed("dense_shape", dense_shape, "shape", shape)
        if dense_shape is None:
            raise TypeError("SparseTensor() expected `dense_shape`, got None")
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert_to_tensor(indices, name="indices", dtype=dtypes.int64)
            self._values = convert_to_tensor(values, name="values")
            self._dense_shape = convert_to_tensor(dense_shape, name="dense_shape", dtype=dtypes.int64)
        places = self._indices.get_shape().with_rank(2)
        sizes = self._dense_shape.get_shape().with_rank(1)
        self._values.get_shape().with_rank(1)[0].merge_with(places[0])
        places[1].merge_with(sizes[0])

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """Return a SparseTensor of a SparseTensorValue. Raises TypeError for something else."""
        if isinstance(sparse_tensor_value, cls):
            return sparse_tensor_value
        if not isinstance(sparse_tensor_value, SparseTensorValue):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}.")
        return cls(*sparse_tensor_value)

    @property
    def indices(self) -> Tensor:
        """The index vector of each value."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """The values."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The shape of the whole."""
        return self._dense_shape

    @property
    def parts(self) -> tuple[Tensor, Tensor, Tensor]:
        """Indices, values and dense shape: what is fetched and fed."""
        return self._indices, self._values, self._dense_shape

    @property
    def op(self) -> Operation:
        """The operation that makes the values."""
        return self._values.op

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._values.dtype

    @property
    def graph(self) -> Any:
        """The graph they are in."""
        return self._indices.graph

    @property
    def device(self) -> str:
        """The device of the values."""
        return self._values.device

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole, as far as it is known."""
        told = self._told
        return told if told is not None else TensorShape(constant_value_as_shape(self._dense_shape))

    def get_shape(self) -> TensorShape:
        """Return the shape of the whole, as far as it is known."""
        return self.shape

    def eval(self, feed_dict: Any = None, session: Any = None) -> SparseTensorValue:
        """Return the value in a session, by default the default one."""
        found: SparseTensorValue = session_for(session, self.graph, "evaluate SparseTensor").run(self, feed_dict)
        return found

    @staticmethod
    def _override(operator: str, fn: Callable[..., Any]) -> None:
        """Give all sparse tensors the operator (`"__mul__"`)."""
        setattr(SparseTensor, operator, fn)

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self._indices}, values={self._values}, dense_shape={self._dense_shape})"


def of_values(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of one tensor take a SparseTensor too: the result has its indices."""
    @dispatched
    @wraps(fn)
    def of_either(x: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(x, SparseTensor):
            return fn(x, *args, **kwargs)
        return SparseTensor(x.indices, fn(x.values, *args, **kwargs), x.dense_shape)
    return of_either


def _part_shapes(sparse: SparseTensor, shape: TensorShape | None) -> list[TensorShape]:
    """Return the shapes of the parts, of which `shape` is that of the dense shape. The number of values may change."""
    sizes = (sparse.dense_shape.shape if shape is None else shape).with_rank(1)
    return [TensorShape([None, sizes[0]]), TensorShape([None]), sizes]


nest.register_composite(SparseTensor, lambda sparse: [sparse.indices, sparse.values, sparse.dense_shape],
                        lambda sparse, parts: SparseTensor(*parts), _part_shapes,
                        lambda sparse, arrays: SparseTensorValue(*arrays))
