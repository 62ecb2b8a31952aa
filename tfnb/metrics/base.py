"""Parts that metrics share: variables that count, and pairs (value, update) which join collections."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.control_flow.cond import cond
from tfnb.core import dtypes
from tfnb.core.arguments import METRICS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import add_to_collections, control_dependencies
from tfnb.losses.weights import broadcast_weights, remove_squeezable_dimensions
from tfnb.ops.array.create import zeros
from tfnb.ops.array.reshape import expand_dims, rank, size, squeeze
from tfnb.ops.math.arithmetic import maximum, multiply
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import equal
from tfnb.ops.math.division import div_no_nan
from tfnb.ops.reductions.reduce import reduce_sum
from tfnb.ops.state.assign import assign_add
from tfnb.variables.scope import variable_scope
from tfnb.variables.variable import Variable


def metric_variable(shape: Any, dtype: Any, validate_shape: bool = True, name: str | None = None) -> Variable:
    """A variable of zeros in LOCAL_VARIABLES and METRIC_VARIABLES: `tf.local_variables_initializer()` resets it."""
    return Variable(lambda: zeros(shape, dtype), trainable=False, validate_shape=validate_shape, name=name,
                    collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES])


def joined(collections: Any, value: Any) -> Any:
    """`value`, added to the collections."""
    if collections:
        add_to_collections(collections, value)
    return value


def fitted(predictions: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
    """(predictions, labels, weights) with an axis of size 1 less or more, where their ranks differ by one."""
    predictions = convert_to_tensor(predictions)
    if labels is not None:
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
    if weights is None:
        return predictions, labels, None
    weights = convert_to_tensor(weights)
    if weights.shape.ndims == 0:
        return predictions, labels, weights
    ranks = weights.shape.ndims, predictions.shape.ndims
    if None not in ranks:
        if ranks[0] - ranks[1] == 1:
            weights = squeeze(weights, [-1])
        elif ranks[1] - ranks[0] == 1:
            weights = expand_dims(weights, [-1])
        return predictions, labels, weights
    return predictions, labels, _fitted_later(weights, predictions)


def _fitted_later(weights: Any, predictions: Any) -> Any:
    own: Any = rank(weights)
    more = own - rank(predictions)
    wide = weights.static is not None and weights.static[-1] not in (1, None)

    def adjusted() -> Any:
        return cond(equal(more, 1), lambda: weights if wide else squeeze(weights, [-1]),
                    lambda: cond(equal(more, -1), lambda: expand_dims(weights, [-1]), lambda: weights))
    return cond(equal(own, 0), lambda: weights, adjusted)


def mean(values: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None,
         name: str | None = None) -> tuple[Any, Any]:
    """(the weighted mean of all values so far, an op that adds these values and gives the mean).

    >>> average, update = tf.metrics.mean([1.0, 2.0, 6.0])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    3.0
    """
    with variable_scope(name, "mean", (values, weights)):
        values = cast(values, dtypes.float32)
        total, count = (metric_variable([], dtypes.float32, name=each) for each in ("total", "count"))
        if weights is None:
            number = cast(size(values), dtypes.float32)
        else:
            values, _, weights = fitted(values, None, weights)
            weights = broadcast_weights(cast(weights, dtypes.float32), values)
            values = multiply(values, weights)
            number = reduce_sum(weights)
        more_total = assign_add(total, reduce_sum(values))
        with control_dependencies([values]):
            more_count = assign_add(count, number)
        value = joined(metrics_collections, div_no_nan(total, maximum(count, 0), name="value"))
        update = div_no_nan(more_total, maximum(more_count, 0), name="update_op")
        return value, joined(updates_collections, update)


def pair(values: Any, updates: Any, compute: Callable[[Any, str], Any], metrics_collections: Any,
         updates_collections: Any) -> tuple[Any, Any]:
    """(compute(values, "value"), compute(updates, "update_op")), in their collections."""
    value = joined(metrics_collections, compute(values, "value"))
    return value, joined(updates_collections, compute(updates, "update_op"))


describe(globals(), METRICS)
