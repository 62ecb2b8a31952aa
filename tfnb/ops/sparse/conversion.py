"""Sparse tensor ops: conversion to and from dense ones, and element-wise products and quotients with dense ones."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.errors import InvalidArgumentError
from tfnb.core.shape import Static, TensorShape, merge, shape_str
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.library.rows import sparse as kernels
from tfnb.kernels.scalar import numpy_forms as forms
from tfnb.ops.array.create import zeros
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.control.source import constant, placeholder, placeholder_with_default
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.broadcast import BroadcastGradientArgs
from tfnb.ops.math.casting import cast
from tfnb.ops.math.complex import conj
from tfnb.ops.math.division import AS_FLOAT
from tfnb.ops.reductions.reduce import reduce_sum


def _brackets(sizes: np.ndarray) -> str:
    return str(sizes.tolist()).replace(" ", "")


def _dense(ctx: Any) -> list[Static]:
    merge(ctx.shape(3), ())
    return [ctx.partial(1)]


@host("sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T -> dense: T", shape=_dense,
      ranks={"output_shape": 1, "default_value": 0}, validate_indices="bool = true", T="type",
      Tindices="{int32, int64}")
def SparseToDense(sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any, *,
                  validate_indices: bool, ctx: Any) -> Any:
    """Scatter `sparse_values` at `sparse_indices` into a dense tensor, with `default_value` elsewhere.

    With validate_indices they must be in order, without repetitions.
    """
    sizes, plain = output_shape.tolist(), sparse_values.dtype.kind in "biufc"
    dense = np.zeros(sizes, sparse_values.dtype) if plain and not any(default_value.tobytes()) else (
        np.full(sizes, default_value[()], sparse_values.dtype))          # (zeros: pages that nothing touches)
    places = sparse_indices.reshape(-1, 1) if sparse_indices.ndim < 2 else sparse_indices
    if places.shape[1] != dense.ndim:
        raise InvalidArgumentError(None, ctx.op, "output_shape has incorrect number of elements: "
                                                 f"{dense.ndim} should be: {places.shape[1]}")
    if sparse_values.shape not in ((), (len(places),)):
        raise InvalidArgumentError(None, ctx.op, f"sparse_values must be a scalar or of shape [{len(places)}], got "
                                                 f"{list(sparse_values.shape)}")
    flat, outside, order = kernels.located(places, output_shape)
    if outside >= 0:
        raise InvalidArgumentError(None, ctx.op, f"indices[{outside}] = {_brackets(places[outside])} is out of bounds: "
                                                 f"need 0 <= index < {_brackets(output_shape)}")
    if validate_indices and order != kernels.STRICT:
        row = int((np.diff(flat) <= 0).argmax()) + 1
        what = "repeated" if flat[row] == flat[row - 1] else "out of order. Many sparse ops require sorted indices."
        raise InvalidArgumentError(None, ctx.op, f"indices[{row}] = {_brackets(places[row])} is {what}")
    dense.reshape(-1)[flat] = sparse_values
    return dense


@SparseToDense.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    indices, output_shape, values, _ = op.inputs
    if not (dy.dtype.is_floating or dy.dtype.is_complex):
        return [None] * 4
    axes: Any = raw.Shape(output_shape)
    taken = raw.GatherNd(dy, raw.Reshape(indices, raw.ConcatV2([[-1], axes], 0)))
    rest = raw.Sub(reduce_sum(dy), reduce_sum(taken))
    if values.static is None or not values.static:
        repeated, _ = BroadcastGradientArgs(raw.Shape(values), raw.Shape(taken))
        taken = raw.Reshape(raw.Sum(taken, repeated), raw.Shape(values))
    return [None, None, taken, rest]


def sparse_to_dense(sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any = 0,
                    validate_indices: bool = True, name: str | None = None) -> Tensor:
    """Return a dense tensor of `output_shape` with `sparse_values` at `sparse_indices`, elsewhere `default_value`.

    >>> sess.run(tf.sparse_to_dense([0, 3], [5], 1.0, 0.0))
    array([1., 0., 0., 1., 0.], dtype=float32)
    """
    tensor: Tensor = SparseToDense(sparse_indices, output_shape, sparse_values, default_value,
                                   validate_indices=validate_indices, name=name)
    return tensor


def sparse_tensor_to_dense(sp_input: Any, default_value: Any = None, validate_indices: bool = True,
                           name: str | None = None) -> Tensor:
    """Convert a SparseTensor to a dense one, with `default_value` (zero, the empty string) where it has none.

    >>> x = tf.SparseTensor(indices=[[0, 1], [1, 0]], values=[5, 6], dense_shape=[2, 2])
    >>> sess.run(tf.sparse_tensor_to_dense(x, default_value=-1))
    array([[-1,  5],
           [ 6, -1]], dtype=int32)
    """
    sparse = SparseTensor.from_value(sp_input)
    if default_value is None:
        default_value = zeros([], dtype=sparse.dtype)
    return sparse_to_dense(sparse.indices, sparse.dense_shape, sparse.values, default_value, validate_indices, name)


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """Return a SparseTensor whose value must be fed: a SparseTensorValue, or a tuple of three arrays.

    shape: where it is given, it need not be fed.

    >>> x = tf.sparse_placeholder(tf.float32, shape=[1, 3])
    >>> sess.run(tf.sparse_tensor_to_dense(x), {x: ([[0, 1]], [5.0], [1, 3])})
    array([[0., 5., 0.]], dtype=float32)
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
    made = SparseTensor(indices, values, sizes)
    made._told = told
    return made


# With dense tensors

_WITH_DENSE = "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T"


def _sparse_values(ctx: Any) -> list[Static]:
    merge(ctx.shape(0), (None, None))
    merge(ctx.shape(2), (None,))
    (count,) = merge(ctx.shape(1), (None,)) or (None,)
    places = ctx.shape(0)
    return [(places[0] if count is None and places is not None else count,)]


def _counted(ctx: Any) -> None:
    """Raise ValueError unless the indices, values and shape of the sparse tensor belong together."""
    count, rank = ctx.shape(0)
    if ctx.shape(1) != (count,) or ctx.shape(2) != (rank,):
        raise ValueError(f"expected {count} values and {rank} sizes for indices of shape {shape_str(ctx.shape(0))}, "
                         f"got shapes {shape_str(ctx.shape(1))} and {shape_str(ctx.shape(2))}")


def _beside(ctx: Any, indices: np.ndarray, shape: np.ndarray, dense: np.ndarray) -> np.ndarray:
    """The elements of `dense`, broadcast to `shape`, at the indices. Raises InvalidArgumentError for other shapes."""
    sizes = tuple(shape.tolist())
    aligned = zip(reversed(dense.shape), reversed(sizes), strict=False)
    if dense.ndim > len(sizes) or any(m not in (1, n) for m, n in aligned):
        raise InvalidArgumentError(None, ctx.op, "SparseDenseBinaryOpShared broadcasts dense to sparse only; got "
                                                 f"incompatible shapes: {_brackets(shape)} vs. "
                                                 f"{_brackets(np.array(dense.shape, int))}")
    places, outside, _ = kernels.located(indices, shape)
    if outside >= 0:
        raise InvalidArgumentError(None, ctx.op, f"Index {outside} of the sparse tensor, {_brackets(indices[outside])}"
                                                 f", is outside of its shape {_brackets(shape)}")
    found: np.ndarray = dense.reshape(-1)[places] if dense.shape == sizes else (
        np.broadcast_to(dense, sizes)[tuple(indices.T)])
    return found


@host(_WITH_DENSE, shape=_sparse_values, ranks={"sp_indices": 2}, validate=_counted, T="numbertype")
def SparseDenseCwiseMul(indices: Any, values: Any, shape: Any, dense: Any, *, ctx: Any) -> Any:
    """Multiply each value of a sparse tensor by its element of `dense`, broadcast to its shape."""
    return values * _beside(ctx, indices, shape, dense)


@host(_WITH_DENSE, shape=_sparse_values, ranks={"sp_indices": 2}, validate=_counted, T="numbertype")
def SparseDenseCwiseDiv(indices: Any, values: Any, shape: Any, dense: Any, *, ctx: Any) -> Any:
    """Divide each value of a sparse tensor by its element of `dense`, broadcast to its shape."""
    divisors = _beside(ctx, indices, shape, dense)
    if values.dtype.kind in "iu" and not divisors.all():
        raise InvalidArgumentError(None, ctx.op, "Integer division by zero")
    with np.errstate(all="ignore"):
        return np.asarray(forms.divide(values, divisors), values.dtype)


def _values_gradient(op: Operation, dz: Tensor, slopes: Callable[..., tuple[Tensor, Tensor]]) -> list[Tensor | None]:
    """Return the gradients of the values, and of the elements of `dense` that they meet. slopes: fn(dz, values, those
    elements) -> these two."""
    indices, values, sizes, dense = op.inputs
    shape: Any = raw.Shape(dense, out_type=dtypes.int64)
    missing = raw.Sub(raw.Size(sizes, out_type=dtypes.int64), raw.Size(shape, out_type=dtypes.int64))
    of_dense: Any = raw.Slice(indices, raw.Pack([0, missing]), [-1, -1])
    places = raw.FloorMod(of_dense, shape)                  # an axis of size 1 is met at 0; the others are in range
    dx, dy = slopes(dz, conj(values), conj(raw.GatherNd(dense, places)))
    return [None, dx, None, raw.ScatterNd(places, dy, shape)]


@SparseDenseCwiseMul.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor | None]:
    return _values_gradient(op, dz, lambda dz, x, y: (raw.Mul(dz, y), raw.Mul(dz, x)))


@SparseDenseCwiseDiv.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor | None]:
    return _values_gradient(op, dz, lambda dz, x, y: (
        raw.RealDiv(dz, y), raw.Mul(dz, raw.RealDiv(raw.RealDiv(raw.Neg(x), y), y))))


def _operator(name: str, op: Any) -> Any:
    """`sparse <op> dense`, a SparseTensor."""
    def apply(x: SparseTensor, y: Any) -> SparseTensor:
        with name_scope(None, name, [x, y]) as scope:
            y = convert_to_tensor(y, dtype=x.dtype.base_dtype, name="y")
            return SparseTensor(x.indices, op(x.indices, x.values, x.dense_shape, y, name=scope), x.dense_shape)
    return apply


def _true_quotient(indices: Tensor, values: Tensor, sizes: Tensor, y: Tensor, name: str) -> Any:
    """As Python 3 divides: integers become floats first."""
    wide = AS_FLOAT.get(values.dtype.base_dtype, values.dtype.base_dtype)
    return SparseDenseCwiseDiv(indices, cast(values, wide), sizes, cast(y, wide), name=name)


SparseTensor._override("__mul__", _operator("mul", SparseDenseCwiseMul))
SparseTensor._override("__rmul__", _operator("mul", SparseDenseCwiseMul))
SparseTensor._override("__div__", _operator("div", SparseDenseCwiseDiv))
SparseTensor._override("__truediv__", _operator("truediv", _true_quotient))


describe(globals(), TENSORS)
