"""Variables and placeholders of `tf.keras.backend`, and their values."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.arguments import KERAS, describe
from tfnb.core.dtypes import as_dtype
from tfnb.graph.parts.operation import Tensor
from tfnb.keras.backend import ops
from tfnb.keras.backend.config import floatx
from tfnb.keras.backend.session import track_variable
from tfnb.keras.backend.values import get_value
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.train.optimizers.moving_averages import assign_moving_average
from tfnb.variables.variable import Variable


def variable(value: Any, dtype: Any = None, name: str | None = None, constraint: Any = None) -> Any:
    """Return a variable, which `get_session` initializes.

    value: the initial value, an array, tensor or function without arguments. constraint: a projection of it.

    >>> v = tf.keras.backend.variable([1.0, 2.0])
    >>> tf.keras.backend.eval(v)
    array([1., 2.], dtype=float32)
    """
    if isinstance(value, SparseTensor):
        raise NotImplementedError("variable() takes no sparse value: tfnb has no sparse variables. Pass an array.")
    kind = as_dtype(dtype or floatx())
    given = value if callable(value) else ops.cast(value, kind) if isinstance(value, Tensor) else np.asarray(value)
    made = Variable(given, dtype=None if isinstance(value, Tensor) else kind, name=name, constraint=constraint,
                    use_resource=True)
    track_variable(made)
    return made


def cast_to_floatx(x: Any) -> Any:
    """Return an array, or a tensor, in the dtype `floatx()`.

    x: an array, tensor or list of numbers.

    >>> tf.keras.backend.cast_to_floatx([1, 2])
    array([1., 2.], dtype=float32)
    """
    return ops.cast(x, as_dtype(floatx())) if isinstance(x, (Tensor, SparseTensor, Variable)) else \
        np.asarray(x, dtype=floatx())


def placeholder(shape: Any = None, ndim: int | None = None, dtype: Any = None, sparse: bool = False,
                name: str | None = None) -> Any:
    """Return a placeholder.

    shape: sizes, None for any. ndim: the rank, where shape is None. sparse: whether it is a SparseTensor.

    >>> tf.keras.backend.placeholder(shape=(2, None, 3)).shape.as_list()
    [2, None, 3]
    """
    if shape is None and ndim:
        shape = (None,) * ndim
    make = ops.sparse_placeholder if sparse else ops.placeholder
    made = make(as_dtype(dtype or floatx()), shape=shape, name=name)
    return made


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """Return a constant tensor.

    >>> sess.run(tf.keras.backend.constant([1, 2]))
    array([1., 2.], dtype=float32)
    """
    return ops.constant(value, dtype=dtype or floatx(), shape=shape, name=name or "Const")


def is_sparse(tensor: Any) -> bool:
    """Return whether `tensor` is a SparseTensor.

    >>> tf.keras.backend.is_sparse(tf.keras.backend.placeholder((2, 2), sparse=True))
    True
    """
    return isinstance(tensor, SparseTensor)


def to_dense(tensor: Any) -> Any:
    """Return `tensor` as a dense one.

    >>> sess.run(tf.keras.backend.to_dense(tf.SparseTensor([[1]], [3.0], [2])))
    array([0., 3.], dtype=float32)
    """
    return ops.sparse_tensor_to_dense(tensor) if is_sparse(tensor) else tensor


def is_keras_tensor(x: Any) -> bool:
    """Return whether a layer of Keras, or `Input`, made the tensor. Raises ValueError if `x` is no tensor.

    >>> tf.keras.backend.is_keras_tensor(tf.constant(1)), tf.keras.backend.is_keras_tensor(tf.keras.Input([2]))
    (False, True)
    """
    if not isinstance(x, (Tensor, SparseTensor, Variable)):
        raise ValueError(f"Expected a symbolic tensor instance, got {x!r} of type {type(x).__name__}")
    return hasattr(x, "_keras_history")


def int_shape(x: Any) -> tuple[int | None, ...] | None:
    """Return the static shape as a tuple, None for an unknown rank.

    >>> tf.keras.backend.int_shape(tf.placeholder(tf.float32, [None, 2]))
    (None, 2)
    """
    sizes = x.shape
    return None if sizes.ndims is None else tuple(sizes.as_list())


def ndim(x: Any) -> int | None:
    """Return the rank, None if it is unknown.

    >>> tf.keras.backend.ndim(tf.zeros([2, 3]))
    2
    """
    rank = x.shape.ndims
    return None if rank is None else int(rank)


def dtype(x: Any) -> str:
    """Return the name of the dtype.

    >>> tf.keras.backend.dtype(tf.zeros([2]))
    'float32'
    """
    return str(x.dtype.base_dtype.name)


def count_params(x: Any) -> int:
    """Return the count of elements of a variable or tensor of known shape.

    >>> tf.keras.backend.count_params(tf.keras.backend.zeros([2, 3]))
    6
    """
    return int(np.prod(x.shape.as_list()))


def eval(x: Any) -> Any:
    """Return the value of a tensor or variable, of Keras' session.

    >>> tf.keras.backend.eval(tf.constant(1) + 1)
    2
    """
    return get_value(to_dense(x))


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return a variable of zeros; a tensor where sizes of the shape are not known.

    >>> tf.keras.backend.eval(tf.keras.backend.zeros([2]))
    array([0., 0.], dtype=float32)
    """
    return _filled(ops.zeros(shape, as_dtype(dtype or floatx())), dtype, name)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return a variable of ones; a tensor where sizes of the shape are not known.

    >>> tf.keras.backend.eval(tf.keras.backend.ones([2]))
    array([1., 1.], dtype=float32)
    """
    return _filled(ops.ones(shape, as_dtype(dtype or floatx())), dtype, name)


def _filled(value: Any, dtype: Any, name: str | None) -> Any:
    return variable(value, dtype, name) if value.shape.is_fully_defined() else value


def eye(size: int, dtype: Any = None, name: str | None = None) -> Any:
    """Return a variable with the identity matrix. size: its rows.

    >>> tf.keras.backend.eval(tf.keras.backend.eye(2))
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return variable(np.eye(size), dtype, name)


def random_uniform_variable(shape: Any, low: float, high: float, dtype: Any = None, name: str | None = None,
                            seed: int | None = None) -> Any:
    """Return a variable of uniformly distributed values in [low, high).

    >>> tf.keras.backend.random_uniform_variable((2, 3), 0.0, 1.0).shape.as_list()
    [2, 3]
    """
    return variable(ops.random_uniform(shape, low, high, as_dtype(dtype or floatx()), seed), dtype, name)


def random_normal_variable(shape: Any, mean: float, scale: float, dtype: Any = None, name: str | None = None,
                           seed: int | None = None) -> Any:
    """Return a variable of normally distributed values. scale: the standard deviation.

    >>> tf.keras.backend.random_normal_variable((2, 3), 0.0, 1.0).shape.as_list()
    [2, 3]
    """
    return variable(ops.random_normal(shape, mean, scale, as_dtype(dtype or floatx()), seed), dtype, name)


def update(x: Any, new_x: Any) -> Any:
    """Return the op that sets a variable. new_x: the new value.

    >>> v = tf.keras.backend.variable(3.0)
    >>> tf.keras.backend.get_value(tf.keras.backend.update(v, 4.0))
    4.0
    """
    return ops.assign(x, new_x)


def update_add(x: Any, increment: Any) -> Any:
    """Return the op that adds `increment` to a variable.

    >>> v = tf.keras.backend.variable(3.0)
    >>> tf.keras.backend.get_value(tf.keras.backend.update_add(v, 1.0))
    4.0
    """
    return ops.assign_add(x, increment)


def update_sub(x: Any, decrement: Any) -> Any:
    """Return the op that subtracts `decrement` from a variable.

    >>> v = tf.keras.backend.variable(3.0)
    >>> tf.keras.backend.get_value(tf.keras.backend.update_sub(v, 1.0))
    2.0
    """
    return ops.assign_sub(x, decrement)


def moving_average_update(x: Any, value: Any, momentum: float) -> Any:
    """Return the op that moves a variable towards `value`: x * momentum + value * (1 - momentum).

    >>> v = tf.keras.backend.variable(4.0)
    >>> tf.keras.backend.get_value(tf.keras.backend.moving_average_update(v, 0.0, 0.5))
    2.0
    """
    return assign_moving_average(x, value, momentum, zero_debias=False)


describe(globals(), KERAS)
