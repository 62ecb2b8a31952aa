"""Metrics of Keras as functions of (y_true, y_pred), one value for each example: `tf.keras.metrics`."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import KERAS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.keras.backend import ops
from tfnb.keras.backend.config import floatx
from tfnb.keras.losses.functions import floats


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """Return 1.0 where both are equal, else 0.0, of floatx."""
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    return ops.cast(ops.equal(y_true, ops.cast(y_pred, y_true.dtype.base_dtype)), floatx())


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    """Return the share of elements, along the last axis, whose prediction is on the right side of a threshold.

    >>> sess.run(tf.keras.metrics.binary_accuracy(tf.constant([[1.0, 0.0]]), tf.constant([[0.9, 0.6]])))
    array([0.5], dtype=float32)
    """
    y_true, y_pred = floats(y_true, y_pred)
    positive = ops.cast(y_pred > threshold, y_pred.dtype.base_dtype)
    return ops.reduce_mean(ops.cast(ops.equal(y_true, positive), floatx()), axis=-1)


def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Return 1.0 where the largest prediction is that of the true class, given one-hot, else 0.0.

    >>> sess.run(tf.keras.metrics.categorical_accuracy(tf.constant([[0.0, 1.0]]), tf.constant([[0.4, 0.6]])))
    array([1.], dtype=float32)
    """
    return ops.cast(ops.equal(ops.argmax(y_true, axis=-1), ops.argmax(y_pred, axis=-1)), floatx())


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Return 1.0 where the largest prediction is that of the true class, an integer, else 0.0.

    >>> sess.run(tf.keras.metrics.sparse_categorical_accuracy(tf.constant([1]), tf.constant([[0.4, 0.6]])))
    array([1.], dtype=float32)
    """
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    if y_true.shape.ndims is not None and y_true.shape.ndims == y_pred.shape.ndims:
        y_true = ops.squeeze(y_true, [-1])
    largest = ops.argmax(y_pred, axis=-1)
    return ops.cast(ops.equal(ops.cast(y_true, "int64"), largest), floatx())


def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """Return 1.0 where the true class, given one-hot, is among the `k` largest predictions, else 0.0.

    >>> y_pred = tf.constant([[0.1, 0.7, 0.2]])
    >>> sess.run(tf.keras.metrics.top_k_categorical_accuracy(tf.constant([[0.0, 0.0, 1.0]]), y_pred, k=2))
    array([1.], dtype=float32)
    """
    return ops.cast(ops.in_top_k(y_pred, ops.argmax(y_true, axis=-1), k), floatx())


def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """Return 1.0 where the true class, an integer, is among the `k` largest predictions, else 0.0.

    >>> y_pred = tf.constant([[0.1, 0.7, 0.2]])
    >>> sess.run(tf.keras.metrics.sparse_top_k_categorical_accuracy(tf.constant([2]), y_pred, k=2))
    array([1.], dtype=float32)
    """
    classes = ops.cast(ops.reshape(y_true, [-1]), "int32")
    return ops.cast(ops.in_top_k(y_pred, classes, k), floatx())


def cosine_proximity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """Return the cosine of the angle between vectors along an axis.

    >>> sess.run(tf.keras.metrics.cosine_proximity(tf.constant([[3.0, 4.0]]), tf.constant([[1.0, 0.0]])))
    array([0.6], dtype=float32)
    """
    y_true, y_pred = floats(y_true, y_pred)
    return ops.reduce_sum(ops.l2_normalize(y_true, axis=axis) * ops.l2_normalize(y_pred, axis=axis), axis=axis)


cosine = cosine_similarity = cosine_proximity


describe(globals(), KERAS)
