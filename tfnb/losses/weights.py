"""Weights of losses and metrics: scalars, or of the rank of the values with sizes that are 1 or the same."""
from __future__ import annotations

from typing import Any

from tfnb.control_flow.assertions import Assert
from tfnb.control_flow.cond import cond
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.ops.array.create import ones_like
from tfnb.ops.array.reshape import rank, shape, squeeze
from tfnb.ops.control.group import no_op
from tfnb.ops.math.arithmetic import multiply
from tfnb.ops.math.compare import equal, logical_or
from tfnb.ops.reductions.reduce import reduce_all

_PROBLEM = "weights can not be broadcast to values."


def assert_broadcastable(weights: Any, values: Any) -> Operation:
    """An op that fails if the weights can't be broadcast to the values. Raises ValueError where that is known now."""
    with name_scope(None, "assert_broadcastable", (weights, values)) as scope:
        with name_scope(None, "weights", (weights,)) as inner:
            weights = convert_to_tensor(weights, name=inner)
            weights_shape, weights_rank = shape(weights, name="shape"), rank(weights, name="rank")
        with name_scope(None, "values", (values,)) as inner:
            values = convert_to_tensor(values, name=inner)
            values_shape, values_rank = shape(values, name="shape"), rank(values, name="rank")
        known = _known(weights, values, *(constant_value(t) for t in (weights_rank, values_rank, weights_shape,
                                                                        values_shape)))
        if known is not None:
            return known
        is_scalar = equal(0, weights_rank, name="is_scalar")
        data = (_PROBLEM, "weights.shape=", weights.name, weights_shape, "values.shape=", values.name, values_shape,
                "is_scalar=", is_scalar)
        valid = cond(is_scalar, lambda: is_scalar,
                     lambda: _fits(weights_rank, weights_shape, values_rank, values_shape), name="is_valid_shape")
        return Assert(valid, data, name=scope)


def _known(weights: Any, values: Any, weights_rank: Any, values_rank: Any, weights_shape: Any,
           values_shape: Any) -> Operation | None:
    """The op of a check that is done while the graph is made; None if it can't be."""
    if weights_rank is None or values_rank is None:
        return None
    if weights_rank == 0:
        return no_op(name="static_scalar_check_success")
    problem = (f"{_PROBLEM} values.shape={values.shape}, weights.shape={weights.shape}. Received weights={weights}, "
               f"values={values}")
    if weights_rank != values_rank:
        raise ValueError(problem)
    if weights_shape is None or values_shape is None:
        return None
    if any(w not in (1, v) for w, v in zip(weights_shape, values_shape, strict=True)):
        raise ValueError(problem)
    return no_op(name="static_dims_check_success")


def _fits(weights_rank: Any, weights_shape: Any, values_rank: Any, values_shape: Any) -> Any:
    with name_scope(None, "has_valid_nonscalar_shape",
                    (weights_rank, weights_shape, values_rank, values_shape)) as scope:
        same = equal(values_rank, weights_rank, name="is_same_rank")
        return cond(same, lambda: reduce_all(logical_or(equal(weights_shape, 1), equal(weights_shape, values_shape))),
                    lambda: same, name=scope)


def broadcast_weights(weights: Any, values: Any) -> Tensor:
    """Return the weights in the shape of the values, and in their dtype. Fails as `assert_broadcastable`.

    weights: a scalar, or of the rank of `values` with sizes 1 or theirs; values: a tensor.

    >>> sess.run(tf.contrib.framework.broadcast_weights([[1.0], [2.0]], tf.zeros([2, 3])))
    array([[1., 1., 1.],
           [2., 2., 2.]], dtype=float32)
    """
    with name_scope(None, "broadcast_weights", (weights, values)) as scope:
        values = convert_to_tensor(values, name="values")
        weights = convert_to_tensor(weights, dtype=values.dtype.base_dtype, name="weights")
        if weights.shape.is_fully_defined() and values.shape.is_fully_defined() and \
                weights.shape.is_compatible_with(values.shape):
            return weights          # type: ignore[no-any-return]
        with control_dependencies((assert_broadcastable(weights, values),)):
            return multiply(weights, ones_like(values), name=scope)     # type: ignore[no-any-return]


def remove_squeezable_dimensions(labels: Any, predictions: Any, expected_rank_diff: int = 0,
                                 name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return (labels, predictions), the one that has a rank too many without its last axis, if that has size 1.

    labels, predictions: tensors; expected_rank_diff: how much larger the rank of the predictions should be.
    """
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
        labels_rank, predictions_rank = labels.shape.ndims, predictions.shape.ndims
        if labels_rank is not None and predictions_rank is not None:
            more = predictions_rank - labels_rank - expected_rank_diff
            if more == 1 and _single(predictions):
                predictions = squeeze(predictions, [-1])
            elif more == -1 and _single(labels):
                labels = squeeze(labels, [-1])
            return labels, predictions
        difference: Any = rank(predictions) - rank(labels)
        if predictions_rank is None or _single(predictions):
            predictions = _squeezed_if(equal(expected_rank_diff + 1, difference), predictions)
        if labels_rank is None or _single(labels):
            labels = _squeezed_if(equal(expected_rank_diff - 1, difference), labels)
        return labels, predictions


def _single(x: Tensor) -> bool:
    """Return whether the last axis may have size 1."""
    return bool(x.static) and x.static[-1] in (1, None)         # type: ignore[index]


def _squeezed_if(condition: Any, x: Tensor) -> Any:
    return cond(condition, lambda: squeeze(x, [-1]), lambda: x)


def squeeze_weights(weights: Any, values: Tensor) -> Tensor:
    """Weights that have a rank more than the values, without their last axis."""
    weights = convert_to_tensor(weights)
    ranks = weights.shape.ndims, values.shape.ndims
    if None not in ranks:
        return squeeze(weights, [-1]) if ranks[0] - ranks[1] == 1 else weights
    difference: Any = rank(weights) - rank(values)
    if ranks[0] is None or (ranks[0] > 0 and _single(weights)):
        weights = _squeezed_if(equal(1, difference), weights)
    return weights              # type: ignore[no-any-return]
