"""Functions (features, mode) -> logits, for models that combine several: `tf.estimator.experimental`."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.estimator.calls import arguments
from tfnb.estimator.models import parts
from tfnb.estimator.models.dnn import Network
from tfnb.estimator.models.linear import linear_logits
from tfnb.graph.parts.operation import Tensor


def call_logit_fn(logit_fn: Callable[..., Any], features: Any, mode: str, params: Any, config: Any) -> Any:
    """Call a function that computes logits with those of features, mode, params and config that it takes.

    logit_fn: returns a tensor, or a dict of tensors for several heads. features: of an input_fn. mode: a
    tf.estimator.ModeKeys. params: any value. Raises ValueError for another result.

    >>> logits = tf.estimator.experimental.call_logit_fn(
    ...     lambda features, params: features["x"] * params["scale"], {"x": tf.constant([[2.0]])}, "infer",
    ...     {"scale": 3.0}, None)
    >>> sess.run(logits)
    array([[6.]], dtype=float32)
    """
    taken = arguments(logit_fn)
    given = {"mode": mode, "params": params, "config": config}
    made = logit_fn(features=features, **{name: value for name, value in given.items() if name in taken})
    if not isinstance(made, (Tensor, Mapping)):
        raise ValueError(f"logit_fn should return a Tensor or a dictionary of Tensors, got {made!r}")
    return made


def dnn_logit_fn_builder(units: int, hidden_units: Sequence[int], feature_columns: Any,
                         activation_fn: Callable[[Any], Any] | None, dropout: float | None,
                         input_layer_partitioner: Any, batch_norm: bool) -> Callable[..., Any]:
    """Return the function (features, mode) -> logits [batch_size, units] of a deep network of feature columns.

    units: number of logits. The function makes its variables in the current variable scope, with names as those of
    tf.estimator.DNNClassifier.

    >>> logit_fn = tf.estimator.experimental.dnn_logit_fn_builder(
    ...     2, [4], [tf.feature_column.numeric_column("x")], tf.nn.relu, None, None, False)
    >>> logit_fn({"x": tf.constant([[1.0], [2.0]])}, tf.estimator.ModeKeys.TRAIN).shape
    TensorShape([Dimension(2), Dimension(2)])
    """
    _check_units(units)
    network = Network(hidden_units, feature_columns, activation_fn, dropout, batch_norm, input_layer_partitioner)

    def dnn_logit_fn(features: Any, mode: str) -> Any:
        parts.check_features(features)
        return network.logits(features, mode, units)
    return dnn_logit_fn


def linear_logit_fn_builder(units: int, feature_columns: Any, sparse_combiner: str = "sum") -> Callable[..., Any]:
    """Return the function (features) -> logits [batch_size, units] of a linear model of feature columns.

    units: number of logits. The function makes its variables in the current variable scope.

    >>> logit_fn = tf.estimator.experimental.linear_logit_fn_builder(1, [tf.feature_column.numeric_column("x")])
    >>> logit_fn({"x": tf.constant([[1.0], [2.0]])}).shape
    TensorShape([Dimension(2), Dimension(1)])
    """
    _check_units(units)
    columns = parts.check_columns(feature_columns)

    def linear_logit_fn(features: Any) -> Any:
        parts.check_features(features)
        return linear_logits(features, columns, units, sparse_combiner)
    return linear_logit_fn


def _check_units(units: Any) -> None:
    if not isinstance(units, int):
        raise ValueError(f"units must be an int. Given type: {type(units)}")


describe(globals(), ESTIMATORS)
