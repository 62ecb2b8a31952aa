"""Deep neural networks of feature columns: `tf.estimator.DNNClassifier` and its like."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.estimator.estimator import Estimator
from tfnb.estimator.heads.base import Head
from tfnb.estimator.models import parts
from tfnb.estimator.models.optimizers import optimizer_of
from tfnb.estimator.spec import ModeKeys
from tfnb.feature_column.input_layer import input_layer
from tfnb.layers.core import dense
from tfnb.layers.core import dropout as dropout_layer
from tfnb.layers.normalization import batch_normalization
from tfnb.losses.losses import Reduction
from tfnb.ops.nn.activations import relu
from tfnb.variables.initializers import glorot_uniform_initializer
from tfnb.variables.scope import variable_scope

_LEARNING_RATE = 0.05
_MOMENTUM = 0.999                                  # of the averages of a batch normalization


class Network:
    """Layers of a deep network over feature columns, as arguments of a model say."""

    def __init__(self, hidden_units: Sequence[int], feature_columns: Any, activation_fn: Callable[[Any], Any] | None,
                 dropout: float | None, batch_norm: bool, input_layer_partitioner: Any) -> None:
        self.hidden_units, self.columns = tuple(hidden_units or ()), parts.check_columns(feature_columns)
        self._activation, self._dropout, self._batch_norm = activation_fn, dropout, batch_norm
        self.input_partitioner = parts.input_partitioner(input_layer_partitioner)

    def logits(self, features: Any, mode: str, units: int) -> Any:
        """Return the logits [batch_size, units]; variables are made in the current variable scope."""
        training = mode == ModeKeys.TRAIN
        with variable_scope("input_from_feature_columns", values=tuple(features.values()),
                            partitioner=self.input_partitioner):
            net = input_layer(features, list(self.columns))
        for i, size in enumerate(self.hidden_units):
            with variable_scope(f"hiddenlayer_{i}", values=(net,)) as scope:
                net = dense(net, size, self._activation, kernel_initializer=glorot_uniform_initializer(), name=scope)
                if self._dropout is not None and training:
                    net = dropout_layer(net, rate=self._dropout, training=True)
                if self._batch_norm:
                    net = batch_normalization(net, momentum=_MOMENTUM, training=training, name=f"batchnorm_{i}")
            parts.layer_summary(net, scope.name)
        with variable_scope("logits", values=(net,)) as scope:
            made = dense(net, units, kernel_initializer=glorot_uniform_initializer(), name=scope)
        parts.layer_summary(made, scope.name)
        return made


class DNNEstimator(Estimator):
    """Deep neural network of feature columns, with a head.

    head: as of tf.contrib.estimator. optimizer: an Optimizer, a name (by default "Adagrad", with the learning rate
    0.05) or a function that returns one.

    >>> x = np.array([[1.0], [2.0]], np.float32)
    >>> input_fn = tf.estimator.inputs.numpy_input_fn({"x": x}, 3 * x, num_epochs=None, shuffle=False)
    >>> model = tf.estimator.DNNEstimator(
    ...     tf.estimator.RegressionHead(), [4], [tf.feature_column.numeric_column("x")], "model")
    >>> model.train(input_fn, steps=1).get_variable_value("dnn/hiddenlayer_0/kernel").shape
    (1, 4)
    """

    def __init__(self, head: Head, hidden_units: Sequence[int], feature_columns: Any, model_dir: Any = None,
                 optimizer: Any = "Adagrad", activation_fn: Callable[[Any], Any] | None = relu,
                 dropout: float | None = None, input_layer_partitioner: Any = None, config: Any = None,
                 warm_start_from: Any = None, batch_norm: bool = False) -> None:
        network = Network(hidden_units, feature_columns, activation_fn, dropout, batch_norm, input_layer_partitioner)

        def model_fn(features: Any, labels: Any, mode: str) -> Any:
            parts.check_features(features)
            with variable_scope("dnn", values=tuple(features.values()), partitioner=parts.partitioner()):
                logits = network.logits(features, mode, head.logits_dimension)
                return head.create_estimator_spec(features, mode, logits, labels,
                                                  optimizer_of(optimizer, _LEARNING_RATE))
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNClassifier(DNNEstimator):
    """Classifier: a deep neural network of feature columns.

    optimizer: as of DNNEstimator.

    >>> x, y = np.array([[-1.0], [2.0]], np.float32), np.array([0, 1])
    >>> input_fn = tf.estimator.inputs.numpy_input_fn({"x": x}, y, num_epochs=None, shuffle=False)
    >>> config = tf.estimator.RunConfig("model", tf_random_seed=1)
    >>> model = tf.estimator.DNNClassifier([8, 4], [tf.feature_column.numeric_column("x")], config=config)
    >>> model = model.train(input_fn, steps=20)
    >>> model.evaluate(input_fn, steps=1)["accuracy"]
    1.0
    """

    def __init__(self, hidden_units: Sequence[int], feature_columns: Any, model_dir: Any = None, n_classes: int = 2,
                 weight_column: Any = None, label_vocabulary: Any = None, optimizer: Any = "Adagrad",
                 activation_fn: Callable[[Any], Any] | None = relu, dropout: float | None = None,
                 input_layer_partitioner: Any = None, config: Any = None, warm_start_from: Any = None,
                 loss_reduction: str = Reduction.SUM, batch_norm: bool = False) -> None:
        head = parts.classification_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout,
                         input_layer_partitioner, config, warm_start_from, batch_norm)


class DNNRegressor(DNNEstimator):
    """Regressor: a deep neural network of feature columns.

    optimizer: as of DNNEstimator.

    >>> x = np.array([[1.0], [2.0]], np.float32)
    >>> input_fn = tf.estimator.inputs.numpy_input_fn({"x": x}, 3 * x, num_epochs=None, shuffle=False)
    >>> config = tf.estimator.RunConfig("model", tf_random_seed=1)
    >>> model = tf.estimator.DNNRegressor([8], [tf.feature_column.numeric_column("x")], config=config)
    >>> model = model.train(input_fn, steps=1)
    >>> next(model.predict(input_fn))["predictions"].shape
    (1,)
    """

    def __init__(self, hidden_units: Sequence[int], feature_columns: Any, model_dir: Any = None,
                 label_dimension: int = 1, weight_column: Any = None, optimizer: Any = "Adagrad",
                 activation_fn: Callable[[Any], Any] | None = relu, dropout: float | None = None,
                 input_layer_partitioner: Any = None, config: Any = None, warm_start_from: Any = None,
                 loss_reduction: str = Reduction.SUM, batch_norm: bool = False) -> None:
        head = parts.regression_head(label_dimension, weight_column, loss_reduction)
        super().__init__(head, hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout,
                         input_layer_partitioner, config, warm_start_from, batch_norm)


describe(globals(), ESTIMATORS)
