"""`tf.contrib.losses`: losses under their first names, predictions before labels, which join GraphKeys.LOSSES."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import LOSSES, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Tensor
from tfnb.losses import losses as now
from tfnb.losses import weights as weights_module
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import reshape, shape


def _spread(weights: Any, values: Any) -> Any:
    """Return weights with axes of size 1 behind theirs: [batch] weighs examples, also where tf.losses refuses it."""
    weights, values = convert_to_tensor(weights), convert_to_tensor(values)
    own, wanted = weights.shape.ndims, values.shape.ndims
    if not own or wanted is None or own >= wanted:
        return weights
    return reshape(weights, [*weights.shape.as_list(), *[1] * (wanted - own)] if weights.shape.is_fully_defined()
                   else concat([shape(weights), [1] * (wanted - own)], 0))


def absolute_difference(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None) -> Tensor:
    """Return the weighted mean of |predictions - labels|.

    >>> sess.run(tf.contrib.losses.absolute_difference([1.0, 4.0], [1.0, 2.0]))
    1.0
    """
    return now.absolute_difference(labels, predictions, _spread(weights, predictions), scope)


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
    return now.log_loss(labels, predictions, _spread(weights, predictions), epsilon, scope)


def mean_squared_error(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None) -> Tensor:
    """Return the weighted mean of (predictions - labels) ** 2.

    >>> sess.run(tf.contrib.losses.mean_squared_error([1.0, 4.0], [1.0, 2.0]))
    2.0
    """
    return now.mean_squared_error(labels, predictions, _spread(weights, predictions), scope)


def mean_pairwise_squared_error(predictions: Any, labels: Any = None, weights: Any = 1.0,
                                scope: str | None = None) -> Tensor:
    """Return the mean square, over all pairs of elements of an example, of what their differences differ by.

    The pairs of an element with itself count, too: of n elements the result is (n - 1) / n of that of tf.losses.

    >>> sess.run(tf.contrib.losses.mean_pairwise_squared_error([[1.0, 2.0, 5.0]], [[1.0, 2.0, 3.0]]))
    1.7778
    """
    return now.pairwise(labels, predictions, _spread(weights, predictions), scope, GraphKeys.LOSSES,
                        others=lambda n: n)


def sigmoid_cross_entropy(logits: Any, multi_class_labels: Any, weights: Any = 1.0, label_smoothing: float = 0,
                          scope: str | None = None) -> Tensor:
    """Return the weighted mean sigmoid cross entropy; label_smoothing: how far labels are moved towards 1/2.

    >>> sess.run(tf.contrib.losses.sigmoid_cross_entropy([[2.0], [2.0]], [[1.0], [0.0]]))
    1.1269
    """
    return now.sigmoid_cross_entropy(multi_class_labels, logits, _spread(weights, logits), label_smoothing, scope)


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


def remove_squeezable_dimensions(predictions: Any, labels: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return (predictions, labels), the one that has a rank too many without its last axis, if that has size 1.

    predictions, labels: tensors.

    >>> predictions, labels = tf.contrib.framework.remove_squeezable_dimensions(tf.zeros([4]), tf.zeros([4, 1]))
    >>> labels.shape.as_list()
    [4]
    """
    labels, predictions = weights_module.remove_squeezable_dimensions(labels, predictions, name=name)
    return predictions, labels


describe(globals(), LOSSES)
