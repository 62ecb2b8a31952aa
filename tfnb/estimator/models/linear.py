"""Linear models of feature columns: `tf.estimator.LinearClassifier` and its like."""
from __future__ import annotations

import math
from typing import Any

from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.estimator.estimator import Estimator
from tfnb.estimator.heads.base import Head
from tfnb.estimator.models import parts
from tfnb.estimator.models.linear_sdca import LinearSDCA
from tfnb.estimator.models.optimizers import optimizer_of
from tfnb.feature_column.linear_model import linear_model
from tfnb.graph.convert import convert_to_tensor
from tfnb.losses.losses import Reduction
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import reshape
from tfnb.ops.io.summary import histogram as histogram_summary
from tfnb.ops.io.summary import scalar as scalar_summary
from tfnb.ops.reductions.reduce import zero_fraction
from tfnb.variables.scope import variable_scope

_LEARNING_RATE = 0.2


def linear_logits(features: Any, columns: Any, units: int, sparse_combiner: str = "sum",
                  cols_to_vars: dict[Any, Any] | None = None) -> Any:
    """Return the logits [batch_size, units] of a linear model, with summaries of its weights.

    cols_to_vars: a dict that gets the list of variables of each column, and of "bias".
    """
    variables: dict[Any, Any] = {}
    logits = linear_model(features, columns, units=units, sparse_combiner=sparse_combiner, cols_to_vars=variables)
    if cols_to_vars is not None:
        cols_to_vars.update(variables)
    bias = variables.pop("bias")
    bias = bias[0] if isinstance(bias, (list, tuple)) else bias
    if units > 1:
        histogram_summary("bias", convert_to_tensor(bias))
    else:
        scalar_summary("bias", reshape(convert_to_tensor(bias), [-1])[0])
    weights = [reshape(convert_to_tensor(each), [-1]) for found in variables.values()
               for each in (found if isinstance(found, (list, tuple)) else [found])]
    scalar_summary("fraction_of_zero_weights", zero_fraction(concat(weights, 0)))
    return logits


class LinearEstimator(Estimator):
    """Linear model of feature columns, with a head.

    head: as of tf.contrib.estimator. optimizer: an Optimizer, a name (by default "Ftrl", with the learning rate 0.2),
    or a function that returns one; tf.estimator.experimental.LinearSDCA; None: Ftrl with a rate of 1 / sqrt(number of
    columns), at most 0.2.

    >>> x = np.array([[1.0], [2.0]], np.float32)
    >>> input_fn = tf.estimator.inputs.numpy_input_fn({"x": x}, 3 * x, num_epochs=None, shuffle=False)
    >>> model = tf.estimator.LinearEstimator(
    ...     tf.estimator.RegressionHead(), [tf.feature_column.numeric_column("x")], "model")
    >>> model.train(input_fn, steps=1).get_variable_names()[1:3]
    ['linear/linear_model/bias_weights', 'linear/linear_model/bias_weights/part_0/Ftrl']
    """

    def __init__(self, head: Head, feature_columns: Any, model_dir: Any = None, optimizer: Any = "Ftrl",
                 config: Any = None, partitioner: Any = None, sparse_combiner: str = "sum",
                 warm_start_from: Any = None) -> None:
        columns = parts.check_columns(feature_columns)
        if isinstance(optimizer, LinearSDCA) and sparse_combiner != "sum":
            raise ValueError(f"sparse_combiner must be 'sum' with LinearSDCA, got {sparse_combiner!r}")

        def model_fn(features: Any, labels: Any, mode: str) -> Any:
            parts.check_features(features)
            variables: dict[Any, Any] = {}
            if not isinstance(optimizer, LinearSDCA):
                made = optimizer_of("Ftrl", min(_LEARNING_RATE, 1.0 / math.sqrt(len(columns)))) \
                    if optimizer is None else optimizer_of(optimizer, _LEARNING_RATE)
            with variable_scope("linear", values=tuple(features.values()),
                                partitioner=parts.input_partitioner(partitioner)):
                logits = linear_logits(features, columns, head.logits_dimension, sparse_combiner, variables)
                if isinstance(optimizer, LinearSDCA):
                    return head.create_estimator_spec(
                        features, mode, logits, labels,
                        train_op_fn=lambda loss: optimizer.head_train_op(head, variables, features, labels, logits))
                return head.create_estimator_spec(features, mode, logits, labels, made)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class LinearClassifier(LinearEstimator):
    """Linear classifier of feature columns: logistic or softmax regression.

    optimizer: as of LinearEstimator; None: the default.

    >>> x, y = np.array([[-1.0], [2.0]], np.float32), np.array([0, 1])
    >>> input_fn = tf.estimator.inputs.numpy_input_fn({"x": x}, y, num_epochs=None, shuffle=False)
    >>> model = tf.estimator.LinearClassifier([tf.feature_column.numeric_column("x")], model_dir="model")
    >>> model = model.train(input_fn, steps=20)
    >>> model.evaluate(input_fn, steps=1)["accuracy"]
    1.0
    """

    def __init__(self, feature_columns: Any, model_dir: Any = None, n_classes: int = 2, weight_column: Any = None,
                 label_vocabulary: Any = None, optimizer: Any = "Ftrl", config: Any = None, partitioner: Any = None,
                 warm_start_from: Any = None, loss_reduction: str = Reduction.SUM,
                 sparse_combiner: str = "sum") -> None:
        head = parts.classification_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, feature_columns, model_dir, optimizer, config, partitioner, sparse_combiner,
                         warm_start_from)


class LinearRegressor(LinearEstimator):
    """Linear regression of feature columns.

    optimizer: as of LinearEstimator.

    >>> x = np.array([[1.0], [2.0]], np.float32)
    >>> input_fn = tf.estimator.inputs.numpy_input_fn({"x": x}, 3 * x, num_epochs=None, shuffle=False)
    >>> model = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], model_dir="model",
    ...                                      optimizer=tf.train.GradientDescentOptimizer(0.0005))
    >>> model.train(input_fn, steps=100).get_variable_value("linear/linear_model/x/weights").shape
    (1, 1)
    """

    def __init__(self, feature_columns: Any, model_dir: Any = None, label_dimension: int = 1,
                 weight_column: Any = None, optimizer: Any = "Ftrl", config: Any = None, partitioner: Any = None,
                 warm_start_from: Any = None, loss_reduction: str = Reduction.SUM,
                 sparse_combiner: str = "sum") -> None:
        head = parts.regression_head(label_dimension, weight_column, loss_reduction)
        super().__init__(head, feature_columns, model_dir, optimizer, config, partitioner, sparse_combiner,
                         warm_start_from)


describe(globals(), ESTIMATORS)
