"""Metrics over many runs: `tf.metrics`. Each is a pair (value of all data so far, op that adds more and gives it).

weights: a scalar, or one for each value (axes of size 1 are broadcast). metrics_collections, updates_collections: where
the two go. Their variables are local: `tf.local_variables_initializer()` sets them to zero.
"""
from __future__ import annotations

from typing import Any

from tfnb.control_flow.assertions import assert_rank_in, assert_type
from tfnb.core import dtypes
from tfnb.core.arguments import METRICS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import control_dependencies
from tfnb.losses.weights import broadcast_weights, remove_squeezable_dimensions
from tfnb.metrics.base import fitted, joined, mean, metric_variable, pair
from tfnb.ops.array.counting import confusion_matrix
from tfnb.ops.array.create import diag_part, ones, ones_like, zeros_like
from tfnb.ops.array.reshape import rank, reshape, size
from tfnb.ops.math.arithmetic import abs, maximum, multiply, squared_difference, subtract
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import equal, greater, less, logical_and, where
from tfnb.ops.math.division import div_no_nan, divide
from tfnb.ops.math.functions import sqrt
from tfnb.ops.reductions.reduce import reduce_mean, reduce_sum
from tfnb.ops.state.assign import assign_add
from tfnb.ops.state.scatter import scatter_add
from tfnb.variables.scope import variable_scope


def accuracy(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
             updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """Accuracy, the frequency with which predictions match labels, a float32 scalar: (value, update op).

    labels, predictions: of one shape (else ValueError); weights: to broadcast to them, how much each counts. Two local
    variables, which `tf.local_variables_initializer` sets to 0, keep the sums.

    >>> accuracy, update = tf.metrics.accuracy(labels=[1, 0, 1, 1], predictions=[1, 0, 0, 1])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    0.75
    """
    predictions, labels, weights = fitted(predictions, labels, weights)
    predictions.shape.assert_is_compatible_with(labels.shape)
    if labels.dtype != predictions.dtype:
        predictions = cast(predictions, labels.dtype)
    right = cast(equal(predictions, labels), dtypes.float32)
    return mean(right, weights, metrics_collections, updates_collections, name or "accuracy")


def mean_absolute_error(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                        updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """The mean of |predictions - labels|.

    >>> error, update = tf.metrics.mean_absolute_error(labels=[1.0, 2.0], predictions=[1.0, 4.0])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    1.0
    """
    predictions, labels, weights = fitted(predictions, labels, weights)
    errors = abs(predictions - labels)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_absolute_error")


def mean_squared_error(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                       updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """The mean of (labels - predictions) ** 2.

    >>> error, update = tf.metrics.mean_squared_error(labels=[1.0, 2.0], predictions=[1.0, 4.0])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    2.0
    """
    predictions, labels, weights = fitted(predictions, labels, weights)
    errors = squared_difference(labels, predictions)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_squared_error")


def root_mean_squared_error(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                            updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """The root of `mean_squared_error`.

    >>> error, update = tf.metrics.root_mean_squared_error(labels=[1.0, 2.0], predictions=[1.0, 4.0])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    1.4142
    """
    predictions, labels, weights = fitted(predictions, labels, weights)
    value, update = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    value = joined(metrics_collections, sqrt(value))
    return value, joined(updates_collections, sqrt(update))


def mean_relative_error(labels: Any, predictions: Any, normalizer: Any, weights: Any = None,
                        metrics_collections: Any = None, updates_collections: Any = None,
                        name: str | None = None) -> tuple[Any, Any]:
    """The mean of |labels - predictions| / normalizer, and of 0 where that is 0.

    >>> error, update = tf.metrics.mean_relative_error([1.0, 2.0], [1.0, 4.0], normalizer=[1.0, 2.0])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    0.5
    """
    predictions, labels, weights = fitted(predictions, labels, weights)
    predictions, normalizer = remove_squeezable_dimensions(predictions, normalizer)
    predictions.shape.assert_is_compatible_with(normalizer.shape)
    errors = where(equal(normalizer, 0.0), zeros_like(labels), divide(abs(labels - predictions), normalizer))
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_relative_error")


def mean_cosine_distance(labels: Any, predictions: Any, dim: int, weights: Any = None,
                         metrics_collections: Any = None, updates_collections: Any = None,
                         name: str | None = None) -> tuple[Any, Any]:
    """1 - the mean inner product along `dim`, of vectors of length 1.

    >>> distance, update = tf.metrics.mean_cosine_distance([[1.0, 0.0]], [[0.6, 0.8]], dim=1)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    0.4
    """
    predictions, labels, weights = fitted(predictions, labels, weights)
    products = reduce_sum(multiply(predictions, labels), axis=[dim], keepdims=True)
    value, update = mean(products, weights, None, None, name or "mean_cosine_distance")
    value, update = subtract(1.0, value), subtract(1.0, update)
    return joined(metrics_collections, value), joined(updates_collections, update)


def percentage_below(values: Any, threshold: float, weights: Any = None, metrics_collections: Any = None,
                     updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """The share (0 to 1) of values below a threshold.

    >>> share, update = tf.metrics.percentage_below([1.0, 2.0, 3.0, 4.0], threshold=2.5)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    0.5
    """
    below = cast(less(values, threshold), dtypes.float32)
    return mean(below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold")


def mean_tensor(values: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None,
                name: str | None = None) -> tuple[Any, Any]:
    """The mean of each element of `values` over the runs.

    >>> average, update = tf.metrics.mean_tensor([1.0, 2.0])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    array([1., 2.], dtype=float32)
    """
    with variable_scope(name, "mean", (values, weights)):
        values = cast(values, dtypes.float32)
        total = metric_variable(values.shape, dtypes.float32, name="total_tensor")
        count = metric_variable(values.shape, dtypes.float32, name="count_tensor")
        number: Any = ones_like(values)
        if weights is not None:
            values, _, weights = fitted(values, None, weights)
            weights = broadcast_weights(cast(weights, dtypes.float32), values)
            values, number = multiply(values, weights), multiply(number, weights)
        more_total = assign_add(total, values)
        with control_dependencies([values]):
            more_count = assign_add(count, number)
        return pair((total, count), (more_total, more_count),
                    lambda both, what: div_no_nan(both[0], maximum(both[1], 0), name=what), metrics_collections,
                    updates_collections)


def mean_per_class_accuracy(labels: Any, predictions: Any, num_classes: int, weights: Any = None,
                            metrics_collections: Any = None, updates_collections: Any = None,
                            name: str | None = None) -> tuple[Any, Any]:
    """The mean over the classes of how often their labels are predicted; the update gives that of each class.

    >>> labels, predictions = tf.constant([0, 0, 0, 1]), tf.constant([0, 0, 1, 1])
    >>> accuracy, update = tf.metrics.mean_per_class_accuracy(labels, predictions, num_classes=2)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    array([0.6667, 1.    ], dtype=float32)
    >>> sess.run(accuracy)
    0.8333
    """
    with variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels = cast(labels, dtypes.int64)
        labels = reshape(labels, [-1]) if labels.shape.ndims > 1 else labels
        predictions = convert_to_tensor(predictions)
        predictions = reshape(predictions, [-1]) if predictions.shape.ndims > 1 else predictions
        predictions.shape.assert_is_compatible_with(labels.shape)
        total = metric_variable([num_classes], dtypes.float32, name="total")
        count = metric_variable([num_classes], dtypes.float32, name="count")
        number: Any = ones([size(labels)], dtypes.float32)
        if labels.dtype != predictions.dtype:
            predictions = cast(predictions, labels.dtype)
        right: Any = cast(equal(predictions, labels), dtypes.float32)
        if weights is not None:
            weights = convert_to_tensor(weights)
            weights = cast(reshape(weights, [-1]) if weights.shape.ndims > 1 else weights, dtypes.float32)
            right, number = right * weights, number * weights
        more_total, more_count = scatter_add(total, labels, number), scatter_add(count, labels, right)
        each = div_no_nan(count, maximum(total, 0))
        value = joined(metrics_collections, reduce_mean(each, name="mean_accuracy"))
        update = div_no_nan(more_count, maximum(more_total, 0), name="update_op")
        return value, joined(updates_collections, update)


def mean_iou(labels: Any, predictions: Any, num_classes: int, weights: Any = None, metrics_collections: Any = None,
             updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """The mean over the classes of intersection over union, TP / (TP + FP + FN); the update gives the confusion matrix.

    Classes that neither labels nor predictions have don't count.

    >>> labels, predictions = tf.constant([0, 0, 0, 1]), tf.constant([0, 0, 1, 1])
    >>> iou, update = tf.metrics.mean_iou(labels, predictions, num_classes=2)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    array([[2., 1.],
           [0., 1.]])
    >>> sess.run(iou)
    0.5833
    """
    with variable_scope(name, "mean_iou", (predictions, labels, weights)):
        predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
        predictions.shape.assert_is_compatible_with(labels.shape)
        total = metric_variable([num_classes, num_classes], dtypes.float64, name="total_confusion_matrix")
        predictions, labels = cast(predictions, dtypes.int64), cast(labels, dtypes.int64)
        flat = [None if each is None else each if each.shape.ndims == 1 else reshape(each, [-1])
                for each in (labels, predictions, None if weights is None else convert_to_tensor(weights))]
        more = confusion_matrix(flat[0], flat[1], num_classes, dtypes.float64, weights=flat[2])
        update = assign_add(total, more)
        right = diag_part(total)
        union = reduce_sum(total, 0) + reduce_sum(total, 1) - right
        ratios = divide(right, where(greater(union, 0), union, ones_like(union)))
        valid = reduce_sum(cast(greater(union, 0), dtypes.float64))
        value = cast(div_no_nan(reduce_sum(ratios), valid), dtypes.float32, name="mean_iou")
        return joined(metrics_collections, value), joined(updates_collections, update)


def _counted(values: Any, weights: Any, metrics_collections: Any, updates_collections: Any) -> tuple[Any, Any]:
    """Sum the weights of the values that are True."""
    assert_type(values, dtypes.bool)
    count = metric_variable([], dtypes.float32, name="count")
    values = cast(values, dtypes.float32)
    if weights is not None:
        with control_dependencies((assert_rank_in(weights, (0, rank(values))),)):
            values = multiply(values, cast(weights, dtypes.float32))
    value = joined(metrics_collections, _read(count))
    return value, joined(updates_collections, assign_add(count, reduce_sum(values)))


def _read(variable: Any) -> Any:
    return convert_to_tensor(variable)


def _outcomes(scope: str, label: bool, prediction: bool, doc: str) -> Any:
    def metric(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
               updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
        with variable_scope(name, scope, (predictions, labels, weights)):
            predictions, labels, weights = fitted(cast(predictions, dtypes.bool), cast(labels, dtypes.bool), weights)
            found = logical_and(equal(labels, label), equal(predictions, prediction))
            return _counted(found, weights, metrics_collections, updates_collections)
    metric.__name__ = metric.__qualname__ = scope
    metric.__doc__ = doc + _example(scope, "2.0" if label and prediction else "1.0")
    return metric


def _example(name: str, result: str) -> str:
    """Return the example of a metric of bools: 2 true positives, and 1 of each other outcome."""
    return f"""

    >>> value, update = tf.metrics.{name}(labels=[1, 1, 0, 0, 1], predictions=[1, 0, 1, 0, 1])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    {result}
    """


true_positives = _outcomes("true_positives", True, True, "Count true positives: true labels predicted true.")
false_positives = _outcomes("false_positives", False, True, "Count false positives: false labels predicted true.")
true_negatives = _outcomes("true_negatives", False, False, "Count true negatives: false labels predicted false.")
false_negatives = _outcomes("false_negatives", True, False, "Count false negatives: true labels predicted false.")


def _share(scope: str, other: Any, doc: str) -> Any:
    """The true positives as a share of them and of what `other` counts."""
    def metric(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
               updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
        with variable_scope(name, scope, (predictions, labels, weights)):
            predictions, labels, weights = fitted(cast(predictions, dtypes.bool), cast(labels, dtypes.bool), weights)
            right, more_right = true_positives(labels, predictions, weights)
            wrong, more_wrong = other(labels, predictions, weights)

            def share(both: Any, what: str) -> Any:
                """`a / (a + b)`; 0 where both are 0."""
                a, b = both
                return where(greater(a + b, 0), divide(a, a + b), zeros_like(a), name=what)
            return pair((right, wrong), (more_right, more_wrong), share, metrics_collections, updates_collections)
    metric.__name__ = metric.__qualname__ = scope
    metric.__doc__ = doc + _example(scope, "0.6667")
    return metric


precision = _share("precision", false_positives, "Compute precision, TP / (TP + FP); 0 without positive predictions.")
recall = _share("recall", false_negatives, "Compute recall, TP / (TP + FN); 0 without positive labels.")


describe(globals(), METRICS)
