"""Sparse tensors: the values that are there, and where they stand."""
from __future__ import annotations

from collections import namedtuple
from typing import Any, Self

import numpy as np

from tfnb.core import dtypes, nest
from tfnb.core.dtypes import DType
from tfnb.core.errors import InvalidArgumentError
from tfnb.core.shape import Static, TensorShape, merge
from tfnb.graph.constant_value import constant_value_as_shape
from tfnb.graph.context import session_for
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.arguments import renamed
from tfnb.ops.create import zeros
from tfnb.ops.declare import host
from tfnb.ops.source import constant, placeholder, placeholder_with_default


class SparseTensorValue(namedtuple("SparseTensorValue", ("indices", "values", "dense_shape"))):
    """What fetching a SparseTensor gives: three arrays. The third was called `shape` before 1.0."""

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
    """

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
        self._values.get_shape().with_rank(1).dims[0].merge_with(places[0])
        places[1].merge_with(sizes[0])

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """A SparseTensor of a SparseTensorValue. Raises TypeError for something else."""
        if isinstance(sparse_tensor_value, cls):
            return sparse_tensor_value
        if not isinstance(sparse_tensor_value, SparseTensorValue):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}.")
        return cls(*sparse_tensor_value)

    @property
    def indices(self) -> Tensor:
        """The place of each value."""
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
        return TensorShape(constant_value_as_shape(self._dense_shape))

    def get_shape(self) -> TensorShape:
        """The shape of the whole, as far as it is known."""
        return self.shape

    def eval(self, feed_dict: Any = None, session: Any = None) -> SparseTensorValue:
        """The value in a session, by default the default one."""
        found: SparseTensorValue = session_for(session, self.graph, "evaluate SparseTensor").run(self, feed_dict)
        return found

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self._indices}, values={self._values}, dense_shape={self._dense_shape})"


def _brackets(sizes: np.ndarray) -> str:
    return str(sizes.tolist()).replace(" ", "")


def _dense(ctx: Any) -> list[Static]:
    merge(ctx.shape(3), ())
    return [ctx.partial(1)]


@host("sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T -> dense: T", shape=_dense,
      validate_indices="bool = true", T="type", Tindices="{int32, int64}")
def SparseToDense(sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any, *,
                  validate_indices: bool, ctx: Any) -> Any:
    """A dense tensor with `sparse_values` at `sparse_indices` and `default_value` elsewhere.

    With validate_indices they must be in order, without repetitions.
    """
    dense = np.empty(output_shape.tolist(), sparse_values.dtype)
    dense[...] = default_value[()]
    places = sparse_indices.reshape(-1, 1) if sparse_indices.ndim < 2 else sparse_indices
    if places.shape[1] != dense.ndim:
        raise InvalidArgumentError(None, ctx.op, "output_shape has incorrect number of elements: "
                                                 f"{dense.ndim} should be: {places.shape[1]}")
    if len(places) and ((places < 0) | (places >= output_shape)).any():
        row = int(((places < 0) | (places >= output_shape)).any(1).argmax())
        raise InvalidArgumentError(None, ctx.op, f"indices[{row}] = {_brackets(places[row])} is out of bounds: need "
                                                 f"0 <= index < {_brackets(output_shape)}")
    if validate_indices and len(places) > 1:
        flat = np.ravel_multi_index(tuple(places.T), dense.shape)
        if (np.diff(flat) <= 0).any():
            row = int((np.diff(flat) <= 0).argmax()) + 1
            what = "repeated" if flat[row] == flat[row - 1] else "out of order. Many sparse ops require sorted indices."
            raise InvalidArgumentError(None, ctx.op, f"indices[{row}] = {_brackets(places[row])} is {what}")
    dense[tuple(places.T)] = sparse_values
    return dense


SparseToDense.no_gradient("the gradient of its values is that of a gather; TensorFlow states none for places")


def sparse_to_dense(sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any = 0,
                    validate_indices: bool = True, name: str | None = None) -> Tensor:
    """A dense tensor of shape `output_shape` with `sparse_values` at `sparse_indices`, elsewhere `default_value`."""
    tensor: Tensor = SparseToDense(sparse_indices, output_shape, sparse_values, default_value,
                                   validate_indices=validate_indices, name=name)
    return tensor


def sparse_tensor_to_dense(sp_input: Any, default_value: Any = None, validate_indices: bool = True,
                           name: str | None = None) -> Tensor:
    """A SparseTensor as a dense one, with `default_value` (zero, the empty string) where it has none."""
    sparse = SparseTensor.from_value(sp_input)
    if default_value is None:
        default_value = zeros([], dtype=sparse.dtype)
    return sparse_to_dense(sparse.indices, sparse.dense_shape, sparse.values, default_value, validate_indices, name)


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """A SparseTensor whose value must be fed: a SparseTensorValue, or a tuple of three arrays.

    shape: where it is told, it need not be fed.
    """
    before = "" if name is None else name + "/"
    if shape is None:
        values = placeholder(dtype, [None], name=before + "values" if name else None)
        indices = placeholder(dtypes.int64, [None, None], name=before + "indices" if name else None)
        sizes = placeholder(dtypes.int64, [None], name=before + "shape" if name else None)
        return SparseTensor(indices, values, sizes)
    told = TensorShape(shape)
    known = constant([-1 if n is None else n for n in told.as_list()], dtypes.int64,
                     name=before + "shape_default" if name else "Const")
    sizes = placeholder_with_default(known, known.get_shape(), name=before + "shape" if name else None)
    values = placeholder(dtype, [None], name=before + "values" if name else None)
    indices = placeholder(dtypes.int64, [None, told.ndims], name=before + "indices" if name else None)
    return SparseTensor(indices, values, sizes)


nest.register_composite(SparseTensor, lambda sparse: [sparse.indices, sparse.values, sparse.dense_shape],
                        lambda sparse, parts: SparseTensor(*parts))
