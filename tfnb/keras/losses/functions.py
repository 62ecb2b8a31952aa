"""Losses of Keras as functions of (y_true, y_pred), one value for each example: `tf.keras.losses`."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.arguments import KERAS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.keras.backend import entropy, ops
from tfnb.keras.backend.config import epsilon


def floats(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Return both as tensors of the dtype of the predictions."""
    y_pred = convert_to_tensor(y_pred)
    return ops.cast(y_true, y_pred.dtype.base_dtype), y_pred


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """Return the mean of (y_true - y_pred) ** 2 along the last axis.

    >>> sess.run(tf.keras.losses.mean_squared_error(tf.constant([[1.0, 2.0]]), tf.constant([[1.0, 4.0]])))
    array([2.], dtype=float32)
    """
    y_true, y_pred = floats(y_true, y_pred)
    return ops.reduce_mean(ops.squared_difference(y_pred, y_true), axis=-1)


def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    """Return the mean of |y_true - y_pred| along the last axis.

    >>> sess.run(tf.keras.losses.mean_absolute_error(tf.constant([[1.0, 2.0]]), tf.constant([[1.0, 4.0]])))
    array([1.], dtype=float32)
    """
    y_true, y_pred = floats(y_true, y_pred)
    return ops.reduce_mean(ops.abs(y_pred - y_true), axis=-1)


def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Any:
    """Return 100 times the mean of |y_true - y_pred| / |y_true| along the last axis.

    >>> sess.run(tf.keras.losses.mean_absolute_percentage_error(tf.constant([[1.0, 2.0]]), tf.constant([[1.0, 4.0]])))
    array([50.], dtype=float32)
    """
    y_true, y_pred = floats(y_true, y_pred)
    share = ops.abs((y_true - y_pred) / ops.maximum(ops.abs(y_true), epsilon()))
    return 100.0 * ops.reduce_mean(share, axis=-1)


def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Any:
    """Return the mean of (log(y_true + 1) - log(y_pred + 1)) ** 2 along the last axis.

    >>> sess.run(tf.keras.losses.mean_squared_logarithmic_error(tf.constant([[0.0]]), tf.constant([[np.e - 1]])))
    array([1.], dtype=float32)
    """
    y_true, y_pred = floats(y_true, y_pred)
    first, second = (ops.log(ops.maximum(each, epsilon()) + 1.0) for each in (y_pred, y_true))
    return ops.reduce_mean(ops.squared_difference(first, second), axis=-1)


def _signs(y_true: Any) -> Any:
    """Return labels -1 and 1, also for labels that are all 0 and 1."""
    zero, one = ops.equal(y_true, 0), ops.equal(y_true, 1)
    binary = ops.reduce_all(ops.logical_or(zero, one))
    return ops.cond(binary, lambda: 2.0 * y_true - 1.0, lambda: ops.identity(y_true))


def hinge(y_true: Any, y_pred: Any) -> Any:
    """Return the mean of max(1 - y_true * y_pred, 0) along the last axis; labels 0 and 1 count as -1 and 1.

    >>> sess.run(tf.keras.losses.hinge(tf.constant([[-1.0, 1.0]]), tf.constant([[0.5, 0.5]])))
    array([1.], dtype=float32)
    """
    y_true, y_pred = floats(y_true, y_pred)
    return ops.reduce_mean(ops.maximum(1.0 - _signs(y_true) * y_pred, 0.0), axis=-1)


def squared_hinge(y_true: Any, y_pred: Any) -> Any:
    """Return the mean of max(1 - y_true * y_pred, 0) ** 2 along the last axis; labels 0 and 1 count as -1 and 1.

    >>> sess.run(tf.keras.losses.squared_hinge(tf.constant([[-1.0, 1.0]]), tf.constant([[0.5, 0.5]])))
    array([1.25], dtype=float32)
    """
    y_true, y_pred = floats(y_true, y_pred)
    return ops.reduce_mean(ops.square(ops.maximum(1.0 - _signs(y_true) * y_pred, 0.0)), axis=-1)


def categorical_hinge(y_true: Any, y_pred: Any) -> Any:
    """Return max(1 + largest prediction of a wrong class - that of the true class, 0).

    >>> sess.run(tf.keras.losses.categorical_hinge(tf.constant([[0.0, 1.0]]), tf.constant([[0.4, 0.6]])))
    array([0.8], dtype=float32)
    """
    y_true, y_pred = floats(y_true, y_pred)
    right = ops.reduce_sum(y_true * y_pred, axis=-1)
    wrong = ops.reduce_max((1.0 - y_true) * y_pred, axis=-1)
    return ops.maximum(0.0, wrong - right + 1.0)


def huber_loss(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    """Return half the squares of errors up to `delta`, delta * (|error| - delta / 2) beyond: for each element."""
    y_true, y_pred = floats(y_true, y_pred)
    error = ops.abs(y_pred - y_true)
    quadratic = ops.minimum(error, delta)
    return 0.5 * quadratic * quadratic + delta * (error - quadratic)


def logcosh(y_true: Any, y_pred: Any) -> Any:
    """Return the mean of log(cosh(y_pred - y_true)) along the last axis.

    >>> sess.run(tf.keras.losses.logcosh(tf.constant([[0.0]]), tf.constant([[1.0]])))
    array([0.4338], dtype=float32)
    """
    y_true, y_pred = floats(y_true, y_pred)
    error = y_pred - y_true
    return ops.reduce_mean(error + ops.softplus(-2.0 * error) - float(np.log(2.0)), axis=-1)


def _smoothed(y_true: Any, label_smoothing: Any, share: Any) -> Any:
    if isinstance(label_smoothing, (int, float)) and not label_smoothing:
        return y_true
    smoothing = ops.cast(label_smoothing, y_true.dtype.base_dtype)
    return y_true * (1.0 - smoothing) + share(smoothing)


def categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0) -> Any:
    """Return the cross entropy of the true probabilities of the classes and predicted ones.

    >>> sess.run(tf.keras.losses.categorical_crossentropy(tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])))
    array([0.6931], dtype=float32)
    """
    y_true, y_pred = floats(y_true, y_pred)
    sizes: Any = ops.shape(y_true)
    y_true = _smoothed(y_true, label_smoothing, lambda rate: rate / ops.cast(sizes[1], y_pred.dtype.base_dtype))
    return entropy.categorical_crossentropy(y_true, y_pred, from_logits)


def sparse_categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """Return the cross entropy of the true classes, integers, and predicted probabilities along an axis.

    >>> sess.run(tf.keras.losses.sparse_categorical_crossentropy(tf.constant([1]), tf.constant([[0.5, 0.5]])))
    array([0.6931], dtype=float32)
    """
    return entropy.sparse_categorical_crossentropy(y_true, y_pred, from_logits, axis)


def binary_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0) -> Any:
    """Return the mean cross entropy of probabilities along the last axis.

    >>> sess.run(tf.keras.losses.binary_crossentropy(tf.constant([[1.0, 0.0]]), tf.constant([[0.5, 0.5]])))
    array([0.6931], dtype=float32)
    """
    y_true, y_pred = floats(y_true, y_pred)
    y_true = _smoothed(y_true, label_smoothing, lambda rate: 0.5 * rate)
    return ops.reduce_mean(entropy.binary_crossentropy(y_true, y_pred, from_logits), axis=-1)


def kullback_leibler_divergence(y_true: Any, y_pred: Any) -> Any:
    """Return the divergence sum(y_true * log(y_true / y_pred)) along the last axis.

    >>> sess.run(tf.keras.losses.kullback_leibler_divergence(tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])))
    array([0.6931], dtype=float32)
    """
    y_true, y_pred = (ops.clip_by_value(each, epsilon(), 1.0) for each in floats(y_true, y_pred))
    return ops.reduce_sum(y_true * ops.log(y_true / y_pred), axis=-1)


def poisson(y_true: Any, y_pred: Any) -> Any:
    """Return the mean of y_pred - y_true * log(y_pred) along the last axis.

    >>> sess.run(tf.keras.losses.poisson(tf.constant([[1.0]]), tf.constant([[1.0]])))
    array([1.], dtype=float32)
    """
    y_true, y_pred = floats(y_true, y_pred)
    return ops.reduce_mean(y_pred - y_true * ops.log(y_pred + epsilon()), axis=-1)


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """Return minus the cosine of the angle between vectors along an axis.

    >>> sess.run(tf.keras.losses.cosine_similarity(tf.constant([[3.0, 4.0]]), tf.constant([[1.0, 0.0]])))
    array([-0.6], dtype=float32)
    """
    y_true, y_pred = floats(y_true, y_pred)
    return -ops.reduce_sum(ops.l2_normalize(y_true, axis=axis) * ops.l2_normalize(y_pred, axis=axis), axis=axis)


mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kullback_leibler_divergence
cosine = cosine_proximity = cosine_similarity


describe(globals(), KERAS)
