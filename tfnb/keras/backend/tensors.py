"""Functions of tensors of `tf.keras.backend`: arithmetic, reductions, products."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import KERAS, describe
from tfnb.core.dtypes import as_dtype
from tfnb.core.dtypes import bool as bool_
from tfnb.graph.convert import convert_to_tensor
from tfnb.keras.backend import ops
from tfnb.keras.backend.config import floatx


def _real(x: Any) -> Any:
    """Return `x` as floats, where it is bools: what means are taken of."""
    x = convert_to_tensor(x)
    return ops.cast(x, floatx()) if x.dtype.base_dtype == bool_ else x


def max(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the largest element along axes.

    >>> sess.run(tf.keras.backend.max(tf.constant([[1.0, 3.0], [2.0, 0.0]]), axis=1))
    array([3., 2.], dtype=float32)
    """
    return ops.reduce_max(x, axis, keepdims)


def min(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the smallest element along axes.

    >>> sess.run(tf.keras.backend.min(tf.constant([[1.0, 3.0], [2.0, 0.0]]), axis=1))
    array([1., 0.], dtype=float32)
    """
    return ops.reduce_min(x, axis, keepdims)


def sum(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the sum along axes.

    >>> sess.run(tf.keras.backend.sum(tf.constant([[1.0, 3.0], [2.0, 0.0]]), axis=1))
    array([4., 2.], dtype=float32)
    """
    return ops.reduce_sum(x, axis, keepdims)


def prod(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the product along axes.

    >>> sess.run(tf.keras.backend.prod(tf.constant([[1.0, 3.0], [2.0, 0.0]]), axis=1))
    array([3., 0.], dtype=float32)
    """
    return ops.reduce_prod(x, axis, keepdims)


def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the mean along axes; bools count as 0 and 1.

    >>> sess.run(tf.keras.backend.mean(tf.constant([[1.0, 3.0], [2.0, 0.0]]), axis=1))
    array([2., 1.], dtype=float32)
    """
    return ops.reduce_mean(_real(x), axis, keepdims)


def var(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the variance (of a population) along axes.

    >>> sess.run(tf.keras.backend.var(tf.constant([[1.0, 3.0], [2.0, 0.0]]), axis=1))
    array([1., 1.], dtype=float32)
    """
    x = _real(x)
    return ops.reduce_mean(ops.square(x - ops.reduce_mean(x, axis, True)), axis, keepdims)


def std(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the standard deviation (of a population) along axes.

    >>> sess.run(tf.keras.backend.std(tf.constant([[1.0, 3.0], [2.0, 0.0]]), axis=1))
    array([1., 1.], dtype=float32)
    """
    return ops.sqrt(var(x, axis, keepdims))


def any(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return whether any element along axes is not 0, a bool tensor.

    >>> sess.run(tf.keras.backend.any(tf.constant([[1.0, 3.0], [0.0, 0.0]]), axis=1))
    array([ True, False])
    """
    return ops.reduce_any(ops.cast(x, "bool"), axis, keepdims)


def all(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return whether all elements along axes are not 0, a bool tensor.

    >>> sess.run(tf.keras.backend.all(tf.constant([[1.0, 3.0], [2.0, 0.0]]), axis=1))
    array([ True, False])
    """
    return ops.reduce_all(ops.cast(x, "bool"), axis, keepdims)


def argmax(x: Any, axis: int = -1) -> Any:
    """Return the index of the largest element along an axis, int64.

    >>> sess.run(tf.keras.backend.argmax(tf.constant([[1.0, 3.0], [2.0, 0.0]])))
    array([1, 0])
    """
    return ops.argmax(x, axis)


def argmin(x: Any, axis: int = -1) -> Any:
    """Return the index of the smallest element along an axis, int64.

    >>> sess.run(tf.keras.backend.argmin(tf.constant([[1.0, 3.0], [2.0, 0.0]])))
    array([0, 1])
    """
    return ops.argmin(x, axis)


def cumsum(x: Any, axis: int = 0) -> Any:
    """Return the cumulative sum along an axis.

    >>> sess.run(tf.keras.backend.cumsum(tf.constant([1.0, 2.0, 3.0])))
    array([1., 3., 6.], dtype=float32)
    """
    return ops.cumsum(x, axis)


def cumprod(x: Any, axis: int = 0) -> Any:
    """Return the cumulative product along an axis.

    >>> sess.run(tf.keras.backend.cumprod(tf.constant([1.0, 2.0, 3.0])))
    array([1., 2., 6.], dtype=float32)
    """
    return ops.cumprod(x, axis)


def sqrt(x: Any) -> Any:
    """Return the square root, 0 for negative elements.

    >>> sess.run(tf.keras.backend.sqrt(tf.constant([4.0, -1.0])))
    array([2., 0.], dtype=float32)
    """
    return ops.sqrt(ops.maximum(x, ops.zeros_like(x)))


def pow(x: Any, a: Any) -> Any:
    """Return `x` to the power `a`.

    >>> sess.run(tf.keras.backend.pow(tf.constant([2.0, 3.0]), 2))
    array([4., 9.], dtype=float32)
    """
    return ops.pow(x, a)


def clip(x: Any, min_value: Any, max_value: Any) -> Any:
    """Return `x`, where it is below min_value that, where it is above max_value that; None: no bound.

    >>> sess.run(tf.keras.backend.clip(tf.constant([-1.0, 0.5, 3.0]), 0.0, 1.0))
    array([0. , 0.5, 1. ], dtype=float32)
    """
    x = convert_to_tensor(x)
    if min_value is not None and max_value is not None and not hasattr(min_value, "op") and max_value < min_value:
        max_value = min_value
    low, high = float("-inf") if min_value is None else min_value, float("inf") if max_value is None else max_value
    return ops.clip_by_value(x, ops.cast(low, x.dtype.base_dtype), ops.cast(high, x.dtype.base_dtype))


def l2_normalize(x: Any, axis: Any = None) -> Any:
    """Return `x` divided by its norm along axes.

    >>> sess.run(tf.keras.backend.l2_normalize(tf.constant([3.0, 4.0])))
    array([0.6, 0.8], dtype=float32)
    """
    return ops.l2_normalize(x, axis=axis)


def cast(x: Any, dtype: Any) -> Any:
    """Return `x` as another dtype.

    >>> tf.keras.backend.cast(tf.constant([1.5]), "float64").dtype.name
    'float64'
    """
    return ops.cast(x, as_dtype(dtype))


def dot(x: Any, y: Any) -> Any:
    """Return the product along the last axis of `x` and the last but one of `y`.

    >>> tf.keras.backend.dot(tf.ones([2, 3, 4]), tf.ones([5, 4, 6])).shape.as_list()
    [2, 3, 5, 6]
    """
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    if x.shape.ndims is None or (x.shape.ndims <= 2 and y.shape.ndims == 2):
        return ops.matmul(x, y)
    return ops.tensordot(x, y, [[x.shape.ndims - 1], [y.shape.ndims - 2 if y.shape.ndims > 1 else 0]])




def batch_dot(x: Any, y: Any, axes: Any = None) -> Any:
    """Return the products of the examples of two batches along one axis of each.

    axes: the two axes, or one for both; None: the last of `x` and the last but one of `y` (the last of a matrix).
    The result has the other axes of `x`, then those of `y`, at least one more than the batch. Raises ValueError for
    ranks below 2, an axis 0, and sizes that differ.

    >>> tf.keras.backend.batch_dot(tf.ones([7, 2, 3]), tf.ones([7, 3, 5])).shape.as_list()
    [7, 2, 5]
    """
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    rank, other = x.shape.ndims, y.shape.ndims
    if rank is None or other is None or rank < 2 or other < 2:
        raise ValueError(f"batch_dot takes tensors of rank 2 or more, got shapes {x.shape} and {y.shape}")
    if axes is None:
        axes = [rank - 1, 1 if other == 2 else other - 2]
    pair = [axes, axes] if isinstance(axes, int) else list(axes)
    a, b = pair[0] % rank, pair[1] % other
    if a == 0 or b == 0:
        raise ValueError("batch_dot multiplies along axes behind the batch: got the axis 0; use axis 1 or more")
    if None not in (x.shape.as_list()[a], y.shape.as_list()[b]) and x.shape.as_list()[a] != y.shape.as_list()[b]:
        raise ValueError(f"batch_dot of shapes {x.shape} and {y.shape} along axes {axes}: sizes differ, "
                         f"{x.shape.as_list()[a]} and {y.shape.as_list()[b]}")
    left = _last(x, a, rank)
    right = _last(y, b, other)
    letters = "cdefghijklmn"
    kept, more = letters[:rank - 2], letters[rank - 2:rank + other - 4]
    made = ops.einsum(f"a{kept}b,a{more}b->a{kept}{more}", left, right)
    return ops.expand_dims(made, 1) if rank == other == 2 else made


def _last(x: Any, axis: int, rank: int) -> Any:
    order = [each for each in range(rank) if each != axis] + [axis]
    return x if order == list(range(rank)) else ops.transpose(x, order)


def transpose(x: Any) -> Any:
    """Return `x` with its axes reversed.

    >>> tf.keras.backend.transpose(tf.ones([2, 3])).shape.as_list()
    [3, 2]
    """
    return ops.transpose(x)


def gather(reference: Any, indices: Any) -> Any:
    """Return rows of `reference` by their indices.

    >>> sess.run(tf.keras.backend.gather(tf.constant([[1.0], [2.0]]), [1, 0]))
    array([[2.],
           [1.]], dtype=float32)
    """
    return ops.gather(reference, indices)


def in_top_k(predictions: Any, targets: Any, k: int) -> Any:
    """Return whether each of `targets` is among the `k` largest predictions of its row.

    >>> sess.run(tf.keras.backend.in_top_k(tf.constant([[0.1, 0.7, 0.2]]), tf.constant([2]), 2))
    array([ True])
    """
    return ops.in_top_k(predictions, targets, k)


def zeros_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return zeros of the shape of `x`.

    >>> sess.run(tf.keras.backend.zeros_like(tf.constant([1.0, 2.0])))
    array([0., 0.], dtype=float32)
    """
    return ops.zeros_like(x, dtype, name)


def ones_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return ones of the shape of `x`.

    >>> sess.run(tf.keras.backend.ones_like(tf.constant([1.0, 2.0])))
    array([1., 1.], dtype=float32)
    """
    return ops.ones_like(x, dtype, name)


def dropout(x: Any, level: float, noise_shape: Any = None, seed: int | None = None) -> Any:
    """Return `x` with elements set to 0 with probability `level`, the others times 1 / (1 - level).

    noise_shape: the shape of the choices, broadcast to `x`.

    >>> sess.run(tf.keras.backend.dropout(tf.ones([3]), 0.0))
    array([1., 1., 1.], dtype=float32)
    """
    return ops.dropout(x, rate=level, noise_shape=noise_shape, seed=seed)


def random_normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None,
                  seed: int | None = None) -> Any:
    """Return normally distributed values.

    >>> tf.keras.backend.random_normal([2, 3]).shape.as_list()
    [2, 3]
    """
    return ops.random_normal(shape, mean, stddev, as_dtype(dtype or floatx()), seed)


def random_uniform(shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None,
                   seed: int | None = None) -> Any:
    """Return uniformly distributed values in [minval, maxval).

    >>> tf.keras.backend.random_uniform([2, 3]).shape.as_list()
    [2, 3]
    """
    return ops.random_uniform(shape, minval, maxval, as_dtype(dtype or floatx()), seed)


def random_binomial(shape: Any, p: float = 0.0, dtype: Any = None, seed: int | None = None) -> Any:
    """Return ones with probability `p`, else zeros.

    >>> sess.run(tf.keras.backend.random_binomial([3], p=1.0))
    array([1., 1., 1.], dtype=float32)
    """
    kind = as_dtype(dtype or floatx())
    return ops.cast(ops.random_uniform(shape, dtype=kind, seed=seed) <= p, kind)


def truncated_normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None,
                     seed: int | None = None) -> Any:
    """Return normal values, redrawn while more than two standard deviations from the mean.

    >>> tf.keras.backend.truncated_normal([2, 3]).shape.as_list()
    [2, 3]
    """
    return ops.truncated_normal(shape, mean, stddev, as_dtype(dtype or floatx()), seed)


def batch_normalization(x: Any, mean: Any, var: Any, beta: Any, gamma: Any, axis: int = -1,
                        epsilon: float = 1e-3) -> Any:
    """Return (x - mean) / sqrt(var + epsilon) * gamma + beta.

    beta, gamma: None for 0 and 1.

    >>> sess.run(tf.keras.backend.batch_normalization(tf.constant([[3.0]]), [1.0], [4.0], [0.0], [1.0], epsilon=0))
    array([[1.]], dtype=float32)
    """
    def wide(value: Any) -> Any:
        value = None if value is None else convert_to_tensor(value)
        if value is None or axis in (-1, x.shape.ndims - 1) or value.shape.ndims != 1:
            return value
        sizes = [1] * x.shape.ndims
        sizes[axis] = -1
        return ops.reshape(value, sizes)
    return ops.batch_normalization(x, wide(mean), wide(var), wide(beta), wide(gamma), epsilon)


def normalize_batch_in_training(x: Any, gamma: Any, beta: Any, reduction_axes: Any,
                                epsilon: float = 1e-3) -> tuple[Any, Any, Any]:
    """Return `x` normalized by its moments along reduction_axes, times gamma plus beta; and mean and variance.

    >>> y, mean, variance = tf.keras.backend.normalize_batch_in_training(tf.constant([[1.0], [3.0]]), [1.0], [0.0], [0])
    >>> sess.run([mean, variance])
    [array([2.], dtype=float32), array([1.], dtype=float32)]
    """
    mean_, variance = ops.moments(x, list(reduction_axes))
    others = [axis for axis in range(x.shape.ndims) if axis not in {each % x.shape.ndims for each in reduction_axes}]
    axis = others[0] if len(others) == 1 else -1
    return batch_normalization(x, mean_, variance, beta, gamma, axis, epsilon), mean_, variance


describe(globals(), KERAS)
