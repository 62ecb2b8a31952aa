"""Metrics of predictions that are probabilities, at many thresholds: the area under a curve, precision and recall."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.control_flow.assertions import assert_greater_equal, assert_less_equal
from tfnb.core import dtypes
from tfnb.core.arguments import METRICS, describe
from tfnb.core.program import log
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import control_dependencies
from tfnb.losses.weights import broadcast_weights
from tfnb.metrics.base import fitted, joined, metric_variable, pair
from tfnb.ops.array.create import ones_like
from tfnb.ops.array.joining import stack, tile
from tfnb.ops.array.reshape import expand_dims, reshape, shape, transpose
from tfnb.ops.control.source import constant
from tfnb.ops.math.arithmetic import abs, maximum, minimum, multiply
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import greater, logical_and, logical_not, where
from tfnb.ops.math.division import div_no_nan, divide
from tfnb.ops.math.functions import log as _log
from tfnb.ops.reductions.reduce import argmax, argmin, cumsum, reduce_min, reduce_sum
from tfnb.ops.state.assign import assign_add
from tfnb.variables.scope import variable_scope

Counts = dict[str, Any]
_NAMES = {"tp": "true_positives", "fn": "false_negatives", "tn": "true_negatives", "fp": "false_positives"}
_BIT = 1e-7


def _counts(labels: Any, predictions: Any, thresholds: Sequence[float], weights: Any,
            wanted: Sequence[str] = ("tp", "fn", "tn", "fp")) -> tuple[Counts, Counts]:
    """Of each kind of outcome, (its number at each threshold, an op that adds to it)."""
    predictions = convert_to_tensor(predictions)
    message = "predictions must be in [0, 1]"
    with control_dependencies([
            assert_greater_equal(predictions, cast(0.0, dtype=predictions.dtype), message=message),
            assert_less_equal(predictions, cast(1.0, dtype=predictions.dtype), message=message)]):
        predictions, labels, weights = fitted(cast(predictions, dtypes.float32), cast(labels, dtypes.bool), weights)
    number = len(thresholds)
    column = reshape(predictions, [-1, 1])
    row = reshape(cast(labels, dtypes.bool), [1, -1])
    count: Any = column.shape.as_list()[0]
    if count is None:
        sizes: Any = shape(column)
        count = sizes[0]
    limits = tile(expand_dims(constant(list(thresholds)), [1]), stack([1, count]))
    said = greater(tile(transpose(column), [number, 1]), limits)
    unsaid = logical_not(said) if {"fn", "tn"} & set(wanted) else None
    true = tile(row, [number, 1])
    untrue = logical_not(true) if {"fp", "tn"} & set(wanted) else None
    tiled = None
    if weights is not None:
        weights = broadcast_weights(cast(weights, dtypes.float32), predictions)
        tiled = tile(reshape(weights, [1, -1]), [number, 1])
    sides = {"tp": (true, said), "fn": (true, unsaid), "tn": (untrue, unsaid), "fp": (untrue, said)}
    values, updates = {}, {}
    for kind in (kind for kind in _NAMES if kind in wanted):
        values[kind] = metric_variable([number], dtypes.float32, name=_NAMES[kind])
        found: Any = cast(logical_and(*sides[kind]), dtypes.float32)
        found = found if tiled is None else found * tiled
        updates[kind] = assign_add(values[kind], reduce_sum(found, 1))
    return values, updates


def _grid(number: int, last: float = 1.0 + _BIT) -> list[float]:
    return [0.0 - _BIT, *((i + 1) * 1.0 / (number - 1) for i in range(number - 2)), last]


def auc(labels: Any, predictions: Any, weights: Any = None, num_thresholds: int = 200, metrics_collections: Any = None,
        updates_collections: Any = None, curve: str = "ROC", name: str | None = None,
        summation_method: str = "trapezoidal", thresholds: Sequence[float] | None = None) -> tuple[Any, Any]:
    """The area under a curve: "ROC" (true over false positive rate) or "PR" (precision over recall).

    labels: bools. predictions: probabilities in [0, 1] (InvalidArgumentError for others). summation_method:
    "trapezoidal", "careful_interpolation" (for PR: Davis and Goadrich, 2006), "minoring" or "majoring". Raises
    ValueError for another curve or method.

    >>> labels, predictions = tf.constant([0, 0, 1, 1]), tf.constant([0.1, 0.4, 0.35, 0.8])
    >>> auc, update = tf.metrics.auc(labels, predictions)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    0.75
    """
    with variable_scope(name, "auc", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"Curve must be either ROC or PR. Curve {curve} is unknown.")
        if summation_method not in ("trapezoidal", "careful_interpolation", "minoring", "majoring"):
            raise ValueError(f"Invalid summation_method: {summation_method} summation_method should be 'trapezoidal', "
                             "'careful_interpolation', 'minoring', or 'majoring'.")
        if curve == "PR" and summation_method == "trapezoidal":
            log.warning("Trapezoidal rule is known to produce incorrect PR-AUCs; please switch to "
                        "\"careful_interpolation\" instead.")
        limits = [0.0 - _BIT, *sorted(thresholds), 1.0 + _BIT] if thresholds is not None else _grid(num_thresholds)
        values, updates = _counts(labels, predictions, limits, weights)
        return pair(values, updates, lambda counts, what: _area(counts, what, curve, summation_method),
                    metrics_collections, updates_collections)


def _area(counts: Counts, name: str, curve: str, method: str) -> Any:
    tp, fn, tn, fp = (convert_to_tensor(counts[kind]) for kind in ("tp", "fn", "tn", "fp"))
    if curve == "PR" and method == "careful_interpolation":
        return _interpolated(tp, fp, fn)
    recall = divide(tp + 1e-6, tp + fn + 1e-6)
    if curve == "ROC":
        x, y = divide(fp, fp + tn + 1e-6), recall
    else:
        x, y = recall, divide(tp + 1e-6, tp + fp + 1e-6)
    before, after = y[:-1], y[1:]
    combine: dict[str, Any] = {"minoring": minimum, "majoring": maximum}
    heights = combine.get(method, lambda a, b: (a + b) / 2.0)(before, after)
    return reduce_sum(multiply(x[:-1] - x[1:], heights), name=name)


def _interpolated(tp: Any, fp: Any, fn: Any) -> Any:
    """Between two thresholds false positives grow linearly with true ones."""
    steps, positives = tp[:-1] - tp[1:], tp + fp
    slope = div_no_nan(steps, maximum(positives[:-1] - positives[1:], 0), name="prec_slope")
    start = tp[1:] - multiply(slope, positives[1:])
    ratio = where(logical_and(positives[:-1] > 0, positives[1:] > 0),
                  div_no_nan(positives[:-1], maximum(positives[1:], 0), name="recall_relative_ratio"),
                  ones_like(positives[1:]))
    parts = div_no_nan(slope * (steps + start * _log(ratio)), maximum(tp[1:] + fn[1:], 0), name="pr_auc_increment")
    return reduce_sum(parts, name="interpolate_pr_auc")


def _at_thresholds(scope: str, word: str, other: str, doc: str, result: str) -> Any:
    """The true positives as a share of them and of `other`, at each threshold."""
    def metric(labels: Any, predictions: Any, thresholds: Sequence[float], weights: Any = None,
               metrics_collections: Any = None, updates_collections: Any = None,
               name: str | None = None) -> tuple[Any, Any]:
        with variable_scope(name, scope, (predictions, labels, weights)):
            values, updates = _counts(labels, predictions, thresholds, weights, ("tp", other))
            return pair(values, updates, lambda counts, what: divide(
                counts["tp"], _BIT + counts["tp"] + counts[other], name=f"{word}_{what}"), metrics_collections,
                updates_collections)
    metric.__name__ = metric.__qualname__ = scope
    metric.__doc__ = doc + _example(scope, result)
    return metric


def _example(name: str, result: str) -> str:
    """Return the example of a metric at two thresholds: 2 and 1 true positives, 1 and 0 false ones."""
    return f"""

    Returns (value, update), vectors with an element for each of `thresholds`. labels: bools, or numbers that are cast
    to bool; predictions: floats from 0 to 1 of the same shape.

    >>> value, update = tf.metrics.{name}(
    ...     labels=tf.constant([1, 1, 0, 0]), predictions=tf.constant([0.9, 0.5, 0.6, 0.1]), thresholds=[0.25, 0.75])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    array({result}, dtype=float32)
    """


precision_at_thresholds = _at_thresholds("precision_at_thresholds", "precision", "fp",
                                         "Compute precision, TP / (TP + FP), at each threshold.", "[0.6667, 1.    ]")
recall_at_thresholds = _at_thresholds("recall_at_thresholds", "recall", "fn",
                                      "Compute recall, TP / (TP + FN), at each threshold.", "[1. , 0.5]")


def _count_at_thresholds(kind: str, doc: str, result: str) -> Any:
    def metric(labels: Any, predictions: Any, thresholds: Sequence[float], weights: Any = None,
               metrics_collections: Any = None, updates_collections: Any = None,
               name: str | None = None) -> tuple[Any, Any]:
        with variable_scope(name, _NAMES[kind], (predictions, labels, weights)):
            values, updates = _counts(labels, predictions, thresholds, weights, (kind,))
            value = joined(metrics_collections, convert_to_tensor(values[kind]))
            return value, joined(updates_collections, updates[kind])
    metric.__name__ = metric.__qualname__ = f"{_NAMES[kind]}_at_thresholds"
    metric.__doc__ = doc + _example(metric.__name__, result)
    return metric


true_positives_at_thresholds = _count_at_thresholds(
    "tp", "Count true positives: true labels with predictions above each threshold.", "[2., 1.]")
false_negatives_at_thresholds = _count_at_thresholds(
    "fn", "Count false negatives: true labels with predictions up to each threshold.", "[0., 1.]")
true_negatives_at_thresholds = _count_at_thresholds(
    "tn", "Count true negatives: false labels with predictions up to each threshold.", "[1., 2.]")
false_positives_at_thresholds = _count_at_thresholds(
    "fp", "Count false positives: false labels with predictions above each threshold.", "[1., 0.]")


def _balanced(scope: str, wanted: float, last: float, rate: Any, choose: Any, result: Any, data: tuple[Any, ...],
              number: int, collections: tuple[Any, Any], name: str | None) -> tuple[Any, Any]:
    if not 0 <= wanted <= 1:
        raise ValueError(f"the rate must be in the range [0, 1], not {wanted}")
    labels, predictions, weights = data
    with variable_scope(name, scope, (predictions, labels, weights)):
        values, updates = _counts(labels, predictions, _grid(number, last), weights)

        def compute(counts: Counts, what: str) -> Any:
            """The result at the threshold whose rate is nearest to the wanted one."""
            place = cast(choose(abs(rate(counts) - wanted)), dtypes.int32)
            hit, miss = (convert_to_tensor(each)[place] for each in result(counts))
            return divide(hit, hit + miss + _BIT, what)
        return pair(values, updates, compute, *collections)


def sensitivity_at_specificity(labels: Any, predictions: Any, specificity: float, weights: Any = None,
                               num_thresholds: int = 200, metrics_collections: Any = None,
                               updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """Compute the sensitivity, TP / (TP + FN), at the threshold whose specificity is nearest to `specificity`.

    >>> labels, predictions = tf.constant([0, 0, 1, 1]), tf.constant([0.1, 0.4, 0.35, 0.8])
    >>> value, update = tf.metrics.sensitivity_at_specificity(labels, predictions, 0.5)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    1.0
    """
    return _balanced("sensitivity_at_specificity", specificity, 1.0 + _BIT,
                     lambda c: divide(c["tn"], c["tn"] + c["fp"] + _BIT), lambda away: argmin(away, 0),
                     lambda c: (c["tp"], c["fn"]), (labels, predictions, weights), num_thresholds,
                     (metrics_collections, updates_collections), name)


def _last_smallest(away: Any) -> Any:
    smallest = cast(abs(away - reduce_min(away)) <= 0.0, dtypes.int64)
    return argmax(cumsum(smallest), 0)


def specificity_at_sensitivity(labels: Any, predictions: Any, sensitivity: float, weights: Any = None,
                               num_thresholds: int = 200, metrics_collections: Any = None,
                               updates_collections: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """Compute the specificity, TN / (TN + FP), at the threshold whose sensitivity is nearest to `sensitivity`.

    >>> labels, predictions = tf.constant([0, 0, 1, 1]), tf.constant([0.1, 0.4, 0.35, 0.8])
    >>> value, update = tf.metrics.specificity_at_sensitivity(labels, predictions, 0.5)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    1.0
    """
    return _balanced("specificity_at_sensitivity", sensitivity, 1.0 - _BIT,
                     lambda c: divide(c["tp"], c["tp"] + c["fn"] + _BIT), _last_smallest,
                     lambda c: (c["tn"], c["fp"]), (labels, predictions, weights), num_thresholds,
                     (metrics_collections, updates_collections), name)


describe(globals(), METRICS)
