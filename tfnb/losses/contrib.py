"""`tf.contrib.losses`: losses under their first names, predictions before labels, which join GraphKeys.LOSSES."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import LOSSES, describe
from tfnb.graph.parts.operation import Tensor
from tfnb.losses import losses as now


def absolute_difference(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None) -> Tensor:
    """Return the weighted mean of |predictions - labels|.

    >>> sess.run(tf.contrib.losses.absolute_difference([1.0, 4.0], [1.0, 2.0]))
    1.0
    """
    return now.absolute_difference(labels, predictions, weights, scope)


def cosine_distance(predictions: Any, labels: Any = None, axis: int | None = None, weights: Any = 1.0,
                    scope: str | None = None, dim: int | None = None) -> Tensor:
    """Return the weighted mean of 1 - the inner product along `axis` (formerly `dim`), of vectors of length 1.

    >>> sess.run(tf.contrib.losses.cosine_distance([[0.6, 0.8]], [[1.0, 0.0]], axis=1))
    0.4
    """
    return now.cosine_distance(labels, predictions, axis, weights, scope, dim=dim)


def hinge_loss(logits: Any, labels: Any = None, scope: str | None = None) -> Tensor:
    """Return max(0, 1 - y * logits) of each element, where y is -1 for the label 0 and 1 for the label 1.

    >>> sess.run(tf.contrib.losses.hinge_loss([0.5, 0.5], [1.0, 0.0]))
    array([0.5, 1.5], dtype=float32)
    """
    return now.hinge_loss(labels, logits, scope=scope, loss_collection=None, reduction=now.Reduction.NONE)


def log_loss(predictions: Any, labels: Any = None, weights: Any = 1.0, epsilon: float = 1e-7,
             scope: str | None = None) -> Tensor:
    """Return the weighted mean of the log loss of probabilities; `epsilon` is added in the logarithms.

    >>> sess.run(tf.contrib.losses.log_loss([0.9, 0.2], [1.0, 0.0]))
    0.1643
    """
    return now.log_loss(labels, predictions, weights, epsilon, scope)


def mean_squared_error(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None) -> Tensor:
    """Return the weighted mean of (predictions - labels) ** 2.

    >>> sess.run(tf.contrib.losses.mean_squared_error([1.0, 4.0], [1.0, 2.0]))
    2.0
    """
    return now.mean_squared_error(labels, predictions, weights, scope)


def mean_pairwise_squared_error(predictions: Any, labels: Any = None, weights: Any = 1.0,
                                scope: str | None = None) -> Tensor:
    """Return the mean square, over all pairs of elements of an example, of what their differences differ by.

    >>> sess.run(tf.contrib.losses.mean_pairwise_squared_error([[1.0, 2.0, 5.0]], [[1.0, 2.0, 3.0]]))
    2.6667
    """
    return now.mean_pairwise_squared_error(labels, predictions, weights, scope)


def sigmoid_cross_entropy(logits: Any, multi_class_labels: Any, weights: Any = 1.0, label_smoothing: float = 0,
                          scope: str | None = None) -> Tensor:
    """Return the weighted mean sigmoid cross entropy; label_smoothing: how far labels are moved towards 1/2.

    >>> sess.run(tf.contrib.losses.sigmoid_cross_entropy([[2.0], [2.0]], [[1.0], [0.0]]))
    1.1269
    """
    return now.sigmoid_cross_entropy(multi_class_labels, logits, weights, label_smoothing, scope)


def softmax_cross_entropy(logits: Any, onehot_labels: Any, weights: Any = 1.0, label_smoothing: float = 0,
                          scope: str | None = None) -> Tensor:
    """Return the weighted mean softmax cross entropy; label_smoothing: how far labels are moved towards uniform ones.

    >>> sess.run(tf.contrib.losses.softmax_cross_entropy([[0.0, 2.0]], [[0.0, 1.0]]))
    0.1269
    """
    return now.softmax_cross_entropy(onehot_labels, logits, weights, label_smoothing, scope)


def sparse_softmax_cross_entropy(logits: Any, labels: Any, weights: Any = 1.0, scope: str | None = None) -> Tensor:
    """Return the weighted mean softmax cross entropy of labels that are numbers of classes.

    >>> sess.run(tf.contrib.losses.sparse_softmax_cross_entropy([[0.0, 2.0]], [1]))
    0.1269
    """
    return now.sparse_softmax_cross_entropy(labels, logits, weights, scope)


describe(globals(), LOSSES)
