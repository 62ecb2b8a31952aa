"""`tf.contrib.metrics`: metrics under their first names, `predictions` before `labels`, and some more."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import METRICS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.metrics import at_k, base, thresholds
from tfnb.metrics import metrics as values
from tfnb.metrics.base import fitted, joined, metric_variable, pair
from tfnb.ops.array.reshape import identity, size
from tfnb.ops.math.arithmetic import multiply
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import equal
from tfnb.ops.math.division import div_no_nan
from tfnb.ops.math.functions import sqrt
from tfnb.ops.reductions.reduce import reduce_mean, reduce_sum
from tfnb.ops.reductions.top import in_top_k
from tfnb.ops.state.assign import assign_add
from tfnb.variables.scope import variable_scope

_PLACES = (values, base, thresholds, at_k)


def _original(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = next(vars(place)[name] for place in _PLACES if name in vars(place))
    return found


def streaming(name: str, original: str = "") -> Callable[..., Any]:
    """Return a metric of tf.metrics as a function whose first arguments are predictions and labels."""
    metric = _original(original or name)
    signature = inspect.signature(metric)
    first = list(signature.parameters.values())
    if [p.name for p in first[:2]] == ["labels", "predictions"]:
        first[:2] = first[1::-1]
    order = signature.replace(parameters=first)

    def call(*args: Any, **kwargs: Any) -> Any:
        return metric(**order.bind(*args, **kwargs).arguments)
    call.__name__ = call.__qualname__ = f"streaming_{name}"
    vars(call).update(__signature__=order)
    arguments = ", ".join(p.name for p in first)
    call.__doc__ = f"Return (value, update op) of `tf.metrics.{original or name}`, predictions before labels.\n\n" \
                   f"    {arguments}: as there.\n\n" + (_EXAMPLES[name] if name in _EXAMPLES else _example(name))
    return call


def _example(name: str) -> str:
    return f"""    >>> predictions, labels = tf.constant([1.0, 0.0, 1.0]), tf.constant([1.0, 0.0, 0.0])
    >>> value, update = tf.contrib.metrics.streaming_{name}(predictions, labels)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    {_RESULTS[name]}
    """


_RESULTS = {
    "accuracy": "0.6667", "auc": "0.75", "false_negatives": "0.0", "false_positives": "1.0", "true_negatives": "1.0",
    "true_positives": "1.0", "precision": "0.5", "recall": "1.0", "mean_absolute_error": "0.3333",
    "mean_squared_error": "0.3333", "root_mean_squared_error": "0.5774"}


def _with(name: str, call: str, result: str) -> str:
    return f"""    >>> value, update = tf.contrib.metrics.streaming_{name}({call})
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    {result}
    """


_DATA = "tf.constant([0.9, 0.2, 0.6]), tf.constant([1, 0, 0])"
_RANKS = "[[0.3, 0.5, 0.2]], labels=[[0]], k=2"
_EXAMPLES = {
    "mean": _with("mean", "[1.0, 3.0]", "2.0"),
    "mean_tensor": _with("mean_tensor", "tf.constant([1.0, 3.0])", "array([1., 3.], dtype=float32)"),
    "percentage_less": _with("percentage_less", "[1.0, 3.0], 2.0", "0.5"),
    "mean_cosine_distance": _with("mean_cosine_distance", "[[1.0, 0.0]], [[0.6, 0.8]], 1", "0.4"),
    "mean_relative_error": _with("mean_relative_error", "[1.0, 4.0], [1.0, 2.0], [1.0, 2.0]", "0.5"),
    "mean_iou": _with("mean_iou", "[0, 0, 1], [0, 0, 0], 2", "array([[2., 1.],\n           [0., 0.]])"),
    "sparse_recall_at_k": _with("sparse_recall_at_k", _RANKS, "1.0"),
    "sparse_precision_at_k": _with("sparse_precision_at_k", _RANKS, "0.5"),
    "sparse_average_precision_at_k": _with("sparse_average_precision_at_k", _RANKS, "0.5"),
    "sparse_precision_at_top_k": _with("sparse_precision_at_top_k", "[[1, 0]], labels=[[0]]", "0.5"),
    **{f"{name}_at_thresholds": _with(f"{name}_at_thresholds", f"{_DATA}, [0.5]", f"array([{result}], dtype=float32)")
       for name, result in (("precision", "0.5"), ("recall", "1."), ("true_positives", "1."),
                            ("false_positives", "1."), ("true_negatives", "1."), ("false_negatives", "0."))},
    "sensitivity_at_specificity": _with("sensitivity_at_specificity", f"{_DATA}, 0.5", "1.0"),
    "specificity_at_sensitivity": _with("specificity_at_sensitivity", f"{_DATA}, 0.9", "1.0"),
}
_SAME = [*_RESULTS, "mean", "mean_tensor", "mean_cosine_distance", "mean_relative_error", "mean_iou",
         "precision_at_thresholds", "recall_at_thresholds", "true_positives_at_thresholds",
         "false_positives_at_thresholds", "true_negatives_at_thresholds", "false_negatives_at_thresholds",
         "sensitivity_at_specificity", "specificity_at_sensitivity", "sparse_precision_at_k",
         "sparse_average_precision_at_k"]
STREAMING = {f"streaming_{name}": streaming(name) for name in _SAME}
STREAMING["streaming_percentage_less"] = streaming("percentage_less", "percentage_below")
STREAMING["streaming_sparse_recall_at_k"] = streaming("sparse_recall_at_k", "recall_at_k")


def accuracy(predictions: Any, labels: Any, weights: Any = None, name: str | None = None) -> Any:
    """Return how many predictions equal their labels, a float32 scalar of this batch alone.

    Raises ValueError for labels of another dtype.

    >>> sess.run(tf.contrib.metrics.accuracy(tf.constant([1, 2]), tf.constant([1, 3])))
    0.5
    """
    predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
    if labels.dtype.base_dtype != predictions.dtype.base_dtype:
        raise ValueError(f"dtype of labels and predictions must match, got {labels.dtype} and {predictions.dtype}")
    with name_scope(name, "accuracy", (predictions, labels)):
        right = cast(equal(predictions, labels), dtypes.float32)
        if weights is None:
            return reduce_mean(right)
        weights = cast(weights, dtypes.float32)
        return reduce_sum(multiply(right, weights)) / reduce_sum(multiply(weights, right * 0 + 1))


def aggregate_metrics(*value_update_tuples: Any) -> tuple[list[Any], list[Any]]:
    """Return (values, update ops) of metrics. Raises ValueError without any.

    >>> values, updates = tf.contrib.metrics.aggregate_metrics(tf.metrics.mean([1.0]), tf.metrics.mean([3.0]))
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(updates)
    [1.0, 3.0]
    """
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    found, updates = zip(*value_update_tuples, strict=True)
    return list(found), list(updates)


def aggregate_metric_map(names_to_tuples: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (values, update ops) by name. names_to_tuples: a dict of names to metrics, pairs (value, update op).

    >>> values, updates = tf.contrib.metrics.aggregate_metric_map({"a": tf.metrics.mean([1.0, 3.0])})
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(updates)
    {'a': 2.0}
    """
    return ({name: value for name, (value, _) in names_to_tuples.items()},
            {name: update for name, (_, update) in names_to_tuples.items()})


def count(values: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None,
          name: str | None = None) -> tuple[Any, Any]:
    """Count the values of all runs, or sum their weights: (value, update op).

    >>> number, update = tf.contrib.metrics.count([1.0, 3.0])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    2.0
    """
    with variable_scope(name, "count", (values, weights)):
        total = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            number: Any = cast(size(values), dtypes.float32)
        else:
            values, _, weights = fitted(values, None, weights)
            number = reduce_sum(multiply(cast(weights, dtypes.float32), cast(values, dtypes.float32) * 0 + 1))
        with control_dependencies([convert_to_tensor(values)]):
            update = assign_add(total, number)
        return joined(metrics_collections, convert_to_tensor(total)), joined(updates_collections, update)


def streaming_covariance(predictions: Any, labels: Any, weights: Any = None, metrics_collections: Any = None,
                         updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """Compute the unbiased sample covariance of predictions and labels over all runs: (value, update op).

    By the update of means and co-moments of two sets (Chan, Golub and LeVeque, 1979).

    >>> value, update = tf.contrib.metrics.streaming_covariance([1.0, 2.0, 3.0], [1.0, 2.0, 6.0])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    2.5
    """
    with variable_scope(name, "covariance", (predictions, labels, weights)):
        predictions, labels, weights = fitted(cast(predictions, dtypes.float32), cast(labels, dtypes.float32), weights)
        every = {what: metric_variable([], dtypes.float32, name=what) for what in (
            "count", "mean_prediction", "mean_label", "comoment")}
        ones = predictions * 0 + 1
        factors = ones if weights is None else multiply(cast(weights, dtypes.float32), ones)
        number = reduce_sum(factors)
        means = [div_no_nan(reduce_sum(each * factors), number) for each in (predictions, labels)]
        before: Any = convert_to_tensor(every["count"]) + 0
        old = [convert_to_tensor(every[what]) + 0 for what in ("mean_prediction", "mean_label")]
        total = before + number
        inside = reduce_sum((predictions - means[0]) * (labels - means[1]) * factors)
        apart = (means[0] - old[0]) * (means[1] - old[1]) * div_no_nan(before * number, total)
        changes = [(what, div_no_nan((mean - was) * number, total))
                   for what, mean, was in zip(("mean_prediction", "mean_label"), means, old, strict=True)]
        changes += [("comoment", inside + apart), ("count", number)]
        with control_dependencies([change for _, change in changes]):
            updated = {what: assign_add(every[what], change) for what, change in changes}
        with control_dependencies(list(updated.values())):        # those of the means, too
            updated = {what: identity(value) for what, value in updated.items()}
        return pair(every, updated, lambda now, what: div_no_nan(
            convert_to_tensor(now["comoment"]), convert_to_tensor(now["count"]) - 1, name=what),
            metrics_collections, updates_collections)


def streaming_pearson_correlation(predictions: Any, labels: Any, weights: Any = None, metrics_collections: Any = None,
                                  updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """Compute Pearson's correlation of predictions and labels over all runs: (value, update op).

    >>> value, update = tf.contrib.metrics.streaming_pearson_correlation([1.0, 2.0, 3.0], [1.0, 2.0, 6.0])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    0.9449
    """
    with variable_scope(name, "pearson_r", (predictions, labels, weights)):
        predictions, labels, weights = fitted(cast(predictions, dtypes.float32), cast(labels, dtypes.float32), weights)
        both, first, second = (streaming_covariance(a, b, weights, name=what) for a, b, what in (
            (predictions, labels, "covariance"), (predictions, predictions, "variance_predictions"),
            (labels, labels, "variance_labels")))
        value, update = (div_no_nan(both[i], multiply(sqrt(first[i]), sqrt(second[i])), name=what)
                         for i, what in enumerate(("pearson_r", "update_op")))
        return joined(metrics_collections, value), joined(updates_collections, update)


def streaming_recall_at_k(predictions: Any, labels: Any, k: int, weights: Any = None, metrics_collections: Any = None,
                          updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """Compute how many labels, one of each example, are among the k classes of the highest scores.

    predictions: scores [batch_size, num_classes]; labels: [batch_size].

    >>> value, update = tf.contrib.metrics.streaming_recall_at_k([[0.3, 0.5, 0.2], [0.6, 0.1, 0.3]], [0, 1], k=2)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    0.5
    """
    found = cast(in_top_k(predictions, labels, k), dtypes.float32)
    return base.mean(found, weights, metrics_collections, updates_collections, name or f"recall_at_{k}")


globals().update(STREAMING)
describe(globals(), METRICS)
