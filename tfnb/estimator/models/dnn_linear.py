"""Wide and deep models: a linear model and a deep network whose logits are added (Cheng et al., 2016)."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.estimator.estimator import Estimator
from tfnb.estimator.heads.base import Head
from tfnb.estimator.models import parts
from tfnb.estimator.models.dnn import Network
from tfnb.estimator.models.linear import linear_logits
from tfnb.estimator.models.optimizers import optimizer_of
from tfnb.graph.stack import control_dependencies
from tfnb.losses.losses import Reduction
from tfnb.ops.control.group import group
from tfnb.ops.nn.activations import relu
from tfnb.ops.state.assign import assign_add
from tfnb.train.global_step import get_global_step
from tfnb.variables.scope import variable_scope

_DNN_RATE, _LINEAR_RATE = 0.001, 0.005          # TensorFlow's, smaller than those of each part alone


class DNNLinearCombinedEstimator(Estimator):
    """Wide and deep model: the logits of a linear model and of a deep network are added, with a head.

    head: as of tf.contrib.estimator. linear_feature_columns, dnn_feature_columns: columns of each part; one of them may
    be left out. dnn_hidden_units, dnn_activation_fn, dnn_dropout, batch_norm: of the network, as of DNNEstimator.
    linear_optimizer, dnn_optimizer: Optimizers, names or functions, for the variables of each part.
    linear_sparse_combiner: as sparse_combiner of LinearEstimator. Raises ValueError without any columns, and for deep
    columns without hidden units.

    >>> x = np.array([[1.0], [2.0]], np.float32)
    >>> input_fn = tf.estimator.inputs.numpy_input_fn({"x": x}, 3 * x, num_epochs=None, shuffle=False)
    >>> columns = [tf.feature_column.numeric_column("x")]
    >>> model = tf.estimator.DNNLinearCombinedEstimator(
    ...     tf.estimator.RegressionHead(), "model", columns, dnn_feature_columns=columns, dnn_hidden_units=[4])
    >>> model.train(input_fn, steps=2).get_variable_value("global_step")
    2
    """

    def __init__(self, head: Head, model_dir: Any = None, linear_feature_columns: Any = None,
                 linear_optimizer: Any = "Ftrl", dnn_feature_columns: Any = None, dnn_optimizer: Any = "Adagrad",
                 dnn_hidden_units: Sequence[int] | None = None,
                 dnn_activation_fn: Callable[[Any], Any] | None = relu, dnn_dropout: float | None = None,
                 input_layer_partitioner: Any = None, config: Any = None, batch_norm: bool = False,
                 linear_sparse_combiner: str = "sum", warm_start_from: Any = None) -> None:
        if not linear_feature_columns and not dnn_feature_columns:
            raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
        if dnn_feature_columns and not dnn_hidden_units:
            raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
        network = Network(dnn_hidden_units or (), dnn_feature_columns, dnn_activation_fn, dnn_dropout, batch_norm,
                          input_layer_partitioner) if dnn_feature_columns else None
        linear = parts.check_columns(linear_feature_columns) if linear_feature_columns else ()

        def model_fn(features: Any, labels: Any, mode: str) -> Any:
            parts.check_features(features)
            logits_of, optimizers, values = [], {}, tuple(features.values())
            if network is not None:
                optimizers["dnn"] = optimizer_of(dnn_optimizer, _DNN_RATE)
                with variable_scope("dnn", values=values, partitioner=parts.partitioner()):
                    logits_of.append(network.logits(features, mode, head.logits_dimension))
            if linear:
                optimizers["linear"] = optimizer_of(linear_optimizer, min(_LINEAR_RATE, 1 / math.sqrt(len(linear))))
                with variable_scope("linear", values=values,
                                    partitioner=parts.input_partitioner(input_layer_partitioner)) as scope:
                    logits_of.append(linear_logits(features, linear, head.logits_dimension, linear_sparse_combiner))
                    parts.layer_summary(logits_of[-1], scope.name)
            logits = logits_of[0] + logits_of[1] if len(logits_of) > 1 else logits_of[0]
            return head.create_estimator_spec(features, mode, logits, labels,
                                              train_op_fn=lambda loss: _trained(loss, optimizers))
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


def _trained(loss: Any, optimizers: dict[str, Any]) -> Any:
    """Return an op that trains the variables of each scope by its optimizer, and then counts the step."""
    step = get_global_step()
    trained = group(*(optimizer.minimize(loss, var_list=parts.trainable(scope))
                      for scope, optimizer in optimizers.items()))
    with control_dependencies([trained]):
        return assign_add(step, 1).op


class DNNLinearCombinedClassifier(DNNLinearCombinedEstimator):
    """Wide and deep classifier.

    linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units, dnn_activation_fn,
    dnn_dropout, linear_sparse_combiner: as of DNNLinearCombinedEstimator.

    >>> x, y = np.array([[-1.0], [2.0]], np.float32), np.array([0, 1])
    >>> input_fn = tf.estimator.inputs.numpy_input_fn({"x": x}, y, num_epochs=None, shuffle=False)
    >>> columns = [tf.feature_column.numeric_column("x")]
    >>> model = tf.estimator.DNNLinearCombinedClassifier(
    ...     "model", columns, tf.train.FtrlOptimizer(0.5), dnn_feature_columns=columns, dnn_hidden_units=[4])
    >>> model = model.train(input_fn, steps=20)
    >>> model.evaluate(input_fn, steps=1)["accuracy"]
    1.0
    """

    def __init__(self, model_dir: Any = None, linear_feature_columns: Any = None, linear_optimizer: Any = "Ftrl",
                 dnn_feature_columns: Any = None, dnn_optimizer: Any = "Adagrad",
                 dnn_hidden_units: Sequence[int] | None = None,
                 dnn_activation_fn: Callable[[Any], Any] | None = relu, dnn_dropout: float | None = None,
                 n_classes: int = 2, weight_column: Any = None, label_vocabulary: Any = None,
                 input_layer_partitioner: Any = None, config: Any = None, warm_start_from: Any = None,
                 loss_reduction: str = Reduction.SUM, batch_norm: bool = False,
                 linear_sparse_combiner: str = "sum") -> None:
        head = parts.classification_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, model_dir, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer,
                         dnn_hidden_units, dnn_activation_fn, dnn_dropout, input_layer_partitioner, config, batch_norm,
                         linear_sparse_combiner, warm_start_from)


class DNNLinearCombinedRegressor(DNNLinearCombinedEstimator):
    """Wide and deep regressor.

    linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units, dnn_activation_fn,
    dnn_dropout, linear_sparse_combiner: as of DNNLinearCombinedEstimator.

    >>> x = np.array([[1.0], [2.0]], np.float32)
    >>> input_fn = tf.estimator.inputs.numpy_input_fn({"x": x}, 3 * x, num_epochs=None, shuffle=False)
    >>> columns = [tf.feature_column.numeric_column("x")]
    >>> model = tf.estimator.DNNLinearCombinedRegressor(
    ...     "model", columns, dnn_feature_columns=columns, dnn_hidden_units=[4])
    >>> model.train(input_fn, steps=1).get_variable_value("linear/linear_model/x/weights").shape
    (1, 1)
    """

    def __init__(self, model_dir: Any = None, linear_feature_columns: Any = None, linear_optimizer: Any = "Ftrl",
                 dnn_feature_columns: Any = None, dnn_optimizer: Any = "Adagrad",
                 dnn_hidden_units: Sequence[int] | None = None,
                 dnn_activation_fn: Callable[[Any], Any] | None = relu, dnn_dropout: float | None = None,
                 label_dimension: int = 1, weight_column: Any = None, input_layer_partitioner: Any = None,
                 config: Any = None, warm_start_from: Any = None, loss_reduction: str = Reduction.SUM,
                 batch_norm: bool = False, linear_sparse_combiner: str = "sum") -> None:
        head = parts.regression_head(label_dimension, weight_column, loss_reduction)
        super().__init__(head, model_dir, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer,
                         dnn_hidden_units, dnn_activation_fn, dnn_dropout, input_layer_partitioner, config, batch_norm,
                         linear_sparse_combiner, warm_start_from)


describe(globals(), ESTIMATORS)
