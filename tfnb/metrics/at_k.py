"""Metrics of rankings: recall, precision and average precision among the k predictions of the highest scores.

labels: int64 classes, a Tensor or SparseTensor [..., num_labels], or a Tensor [...] for one label each. A label that is
no class is never found, and so counts as a false negative.
"""
from __future__ import annotations

from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import METRICS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.losses.weights import assert_broadcastable, broadcast_weights
from tfnb.metrics.base import joined, metric_variable
from tfnb.ops.array.create import fill, ones_like, range_
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import expand_dims, shape, size
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.math.arithmetic import add, minimum, multiply
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import equal, greater_equal, less, where
from tfnb.ops.math.division import div_no_nan, divide
from tfnb.ops.reductions.reduce import cumsum, reduce_any, reduce_sum
from tfnb.ops.reductions.top import top_k
from tfnb.ops.sparse.conversion import sparse_tensor_to_dense
from tfnb.ops.sparse.sets import set_difference, set_intersection, set_size
from tfnb.ops.sparse.shapes import sparse_reshape
from tfnb.ops.state.assign import assign_add


def _at_k(name: str, k: Any, class_id: Any = None) -> str:
    """Return the default name of a metric, of one class or of all."""
    return f"{name}_at_{'k' if k is None else k}" + (f"_class{class_id}" if class_id is not None else "")


def _classes(labels: Any, predictions: Any) -> Any:
    """Return int64 labels with a last axis for the labels of one example, as predictions have."""
    if not isinstance(labels, SparseTensor):
        labels = convert_to_tensor(labels)
    labels = cast(labels, dtypes.int64)
    own, wanted = labels.get_shape().ndims, convert_to_tensor(predictions).shape.ndims
    if own is None or wanted is None or own == wanted:
        return labels
    if own != wanted - 1:
        raise ValueError(f"labels must have the rank of predictions, {wanted}, or one less, got rank {own}")
    if isinstance(labels, SparseTensor):
        return sparse_reshape(labels, concat([shape(labels), [1]], 0))
    return expand_dims(labels, -1)


def _of_class(ids: Any, class_id: Any) -> Any:
    """Return the ids (last axis) that are `class_id`, as a SparseTensor; all of them for None."""
    if class_id is None:
        return ids
    sizes: Any = ids.dense_shape if isinstance(ids, SparseTensor) else shape(ids, out_type=dtypes.int64)
    return set_intersection(fill(concat([sizes[:-1], [1]], 0), cast(class_id, dtypes.int64)), ids)


def _counted(what: str, found: SparseTensor, weights: Any, k: Any, class_id: Any) -> tuple[Any, Any]:
    """Return (variable, update) of how many elements the rows of `found` had so far."""
    with name_scope(None, _at_k(what, k, class_id)) as scope:
        counts: Any = cast(set_size(found), dtypes.float64)
        if weights is not None:
            with control_dependencies((assert_broadcastable(weights, counts),)):
                counts = multiply(counts, cast(weights, dtypes.float64))
        total = metric_variable([], dtypes.float64, name=scope.rstrip("/") + "/")
        return total, assign_add(total, reduce_sum(counts), name="update")


def _share(metric: str, data: tuple[Any, Any, Any], k: Any, class_id: Any, collections: tuple[Any, Any],
           scope: str) -> tuple[Any, Any]:
    """Return TP / (TP + the other predictions, or the other labels) and its update."""
    labels, ids, weights = data
    ids = cast(ids, dtypes.int64)
    labels = _of_class(_classes(labels, ids), class_id)
    ids = _of_class(ids, class_id)
    right, more_right = _counted("true_positive", set_intersection(ids, labels), weights, k, class_id)
    other = "false_positive" if metric == "precision" else "false_negative"
    missed = set_difference(ids, labels, aminusb=metric == "precision")
    wrong, more_wrong = _counted(other, missed, weights, k, class_id)
    value = divide(right, add(right, wrong), name=scope)
    update = divide(more_right, add(more_right, more_wrong), name="update")
    return joined(collections[0], value), joined(collections[1], update)


def recall_at_top_k(labels: Any, predictions_idx: Any, k: int | None = None, class_id: int | None = None,
                    weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None,
                    name: str | None = None) -> tuple[Any, Any]:
    """Compute how many of the labels are among the classes predicted for their example; NaN without labels.

    predictions_idx: int64 [..., k], classes. class_id: count this class alone; k: part of names.

    >>> labels, ids = tf.constant([[0], [3]], tf.int64), tf.constant([[1, 0], [1, 2]], tf.int64)
    >>> recall, update = tf.metrics.recall_at_top_k(labels, predictions_idx=ids, k=2)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    0.5
    """
    with name_scope(name, _at_k("recall", k, class_id), (predictions_idx, labels, weights)) as scope:
        return _share("recall", (labels, predictions_idx, weights), k, class_id,
                      (metrics_collections, updates_collections), scope)


def precision_at_top_k(labels: Any, predictions_idx: Any, k: int | None = None, class_id: int | None = None,
                       weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None,
                       name: str | None = None) -> tuple[Any, Any]:
    """Compute how many of the predicted classes are labels of their example; NaN without predictions.

    predictions_idx: int64 [..., k], classes. class_id: count this class alone; k: part of names.

    >>> labels, ids = tf.constant([[0], [3]], tf.int64), tf.constant([[1, 0], [1, 2]], tf.int64)
    >>> precision, update = tf.metrics.precision_at_top_k(labels, predictions_idx=ids, k=2)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    0.25
    """
    with name_scope(name, _at_k("precision", k, class_id), (predictions_idx, labels, weights)) as scope:
        return _share("precision", (labels, predictions_idx, weights), k, class_id,
                      (metrics_collections, updates_collections), scope)


def recall_at_k(labels: Any, predictions: Any, k: int, class_id: int | None = None, weights: Any = None,
                metrics_collections: Any = None, updates_collections: Any = None,
                name: str | None = None) -> tuple[Any, Any]:
    """Compute how many of the labels are among the `k` classes of the highest scores; NaN without labels.

    predictions: scores [..., num_classes]. class_id: count this class alone.

    >>> labels = tf.constant([[0], [1]], tf.int64)
    >>> recall, update = tf.metrics.recall_at_k(labels, predictions=[[0.3, 0.5, 0.2], [0.6, 0.1, 0.3]], k=2)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    0.5
    """
    with name_scope(name, _at_k("recall", k, class_id), (predictions, labels, weights)) as scope:
        return recall_at_top_k(labels, top_k(predictions, k)[1], k, class_id, weights, metrics_collections,
                               updates_collections, scope)


def precision_at_k(labels: Any, predictions: Any, k: int, class_id: int | None = None, weights: Any = None,
                   metrics_collections: Any = None, updates_collections: Any = None,
                   name: str | None = None) -> tuple[Any, Any]:
    """Compute how many of the `k` classes of the highest scores are labels; NaN without predictions.

    predictions: scores [..., num_classes]. class_id: count this class alone.

    >>> labels = tf.constant([[0], [1]], tf.int64)
    >>> precision, update = tf.metrics.precision_at_k(labels, [[0.3, 0.5, 0.2], [0.6, 0.1, 0.3]], k=2)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    0.25
    """
    with name_scope(name, _at_k("precision", k, class_id), (predictions, labels, weights)) as scope:
        return precision_at_top_k(labels, top_k(predictions, k)[1], k, class_id, weights, metrics_collections,
                                  updates_collections, scope)


def sparse_precision_at_k(labels: Any, predictions: Any, k: int, class_id: int | None = None, weights: Any = None,
                          metrics_collections: Any = None, updates_collections: Any = None,
                          name: str | None = None) -> tuple[Any, Any]:
    """Compute `precision_at_k`: an old name of it. k, class_id: as there.

    >>> labels = tf.constant([[0], [1]], tf.int64)
    >>> precision, update = tf.metrics.sparse_precision_at_k(labels, [[0.3, 0.5, 0.2], [0.6, 0.1, 0.3]], k=2)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    0.25
    """
    return precision_at_k(labels, predictions, k, class_id, weights, metrics_collections, updates_collections, name)


def _average_precision(labels: Any, ids: Any) -> Any:
    """Return the average precision of each example, [...]: the mean over its labels of the precision at their ranks."""
    count: Any = shape(ids)[-1]
    if isinstance(labels, SparseTensor):
        number: Any = set_size(labels)
        labels = sparse_tensor_to_dense(labels, default_value=-1, validate_indices=False)
    else:
        number = reduce_sum(cast(greater_equal(labels, 0), dtypes.int32), -1)
    relevant = minimum(number, count)
    found = reduce_any(equal(expand_dims(ids, -1), expand_dims(labels, -2)), -1)
    hits = cast(found, dtypes.float64)
    precision = divide(cumsum(hits, -1), cast(range_(1, count + 1), dtypes.float64))
    return divide(reduce_sum(precision * hits, -1), cast(relevant, dtypes.float64))


def _known(labels: Any, scores: Any) -> Any:
    """Return the labels, -1 in place of those that are no class."""
    if isinstance(labels, SparseTensor):
        return SparseTensor(labels.indices, _known(labels.values, scores), labels.dense_shape)
    return where(less(labels, shape(scores, out_type=dtypes.int64)[-1]),
                 labels, -ones_like(labels))


def average_precision_at_k(labels: Any, predictions: Any, k: int, weights: Any = None, metrics_collections: Any = None,
                           updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """Compute the mean over examples of the average precision among the `k` classes of the highest scores.

    predictions: scores [..., num_classes]. The average precision is the sum, over the ranks up to k that hold a label,
    of the precision up to that rank, divided by the smaller of k and the number of labels that are classes.

    >>> labels = tf.constant([[0], [1]], tf.int64)
    >>> value, update = tf.metrics.average_precision_at_k(labels, [[0.3, 0.5, 0.2], [0.6, 0.1, 0.3]], k=2)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    0.25
    """
    with name_scope(name, _at_k("average_precision", k), (predictions, labels, weights)) as scope:
        ids = cast(top_k(predictions, k)[1], dtypes.int64)
        values = _average_precision(_known(_classes(labels, ids), predictions), ids)
        if weights is None:
            number: Any = cast(size(values), dtypes.float64)
        else:
            weights = broadcast_weights(cast(weights, dtypes.float64), values)
            values, number = multiply(values, weights), reduce_sum(weights)
        with name_scope(None, "max", (values,)) as inner:
            most = metric_variable([], dtypes.float64, name=inner)
            more_most = assign_add(most, number, name="update")
        with name_scope(None, "total", (values,)) as inner:
            total = metric_variable([], dtypes.float64, name=inner)
            more_total = assign_add(total, reduce_sum(values), name="update")
        value = joined(metrics_collections, div_no_nan(total, most, name="mean"))
        return value, joined(updates_collections, div_no_nan(more_total, more_most, name=scope))


def sparse_average_precision_at_k(labels: Any, predictions: Any, k: int, weights: Any = None,
                                  metrics_collections: Any = None, updates_collections: Any = None,
                                  name: str | None = None) -> tuple[Any, Any]:
    """Compute `average_precision_at_k`: an old name of it. k: as there.

    >>> labels = tf.constant([[0], [1]], tf.int64)
    >>> value, update = tf.metrics.sparse_average_precision_at_k(labels, [[0.3, 0.5, 0.2], [0.6, 0.1, 0.3]], k=2)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    0.25
    """
    return average_precision_at_k(labels, predictions, k, weights, metrics_collections, updates_collections, name)


describe(globals(), METRICS)
