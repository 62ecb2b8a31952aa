"""Models of `tf.contrib.learn`: deep, linear, and both, of the feature columns of `tf.contrib.layers`."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.estimator.extenders import clip_gradients_by_norm
from tfnb.estimator.heads.base import Head
from tfnb.estimator.heads.kinds import BinaryClassHead, MultiClassHead, RegressionHead
from tfnb.estimator.learn.estimator import Estimator, gathered
from tfnb.estimator.models import parts
from tfnb.estimator.models.linear_sdca import LinearSDCA
from tfnb.estimator.spec import EstimatorSpec, ModeKeys
from tfnb.feature_column.contrib import input_from_feature_columns, weighted_sum_from_feature_columns
from tfnb.graph.stack import control_dependencies
from tfnb.layers.contrib.layers import dropout as dropout_layer
from tfnb.layers.contrib.layers import fully_connected
from tfnb.ops.array.reshape import squeeze
from tfnb.ops.control.group import group
from tfnb.ops.nn.activations import relu
from tfnb.ops.state.assign import assign_add
from tfnb.train.global_step import get_global_step
from tfnb.train.optimizers.adagrad import AdagradOptimizer
from tfnb.train.optimizers.ftrl import FtrlOptimizer
from tfnb.variables.scope import get_variable_scope, variable_scope

_METRICS = {"auc": "auc", "accuracy": "accuracy", "label/mean": "labels/actual_label_mean",
            "prediction/mean": "labels/prediction_mean", "accuracy_baseline": "accuracy/baseline_label_mean",
            "precision": "precision/positive_threshold_0.500000_mean",
            "recall": "recall/positive_threshold_0.500000_mean"}


class _Deep:
    """Deep part of a model. optimizer: by default Adagrad with the learning rate 0.05."""

    def __init__(self, hidden_units: Sequence[int], columns: Any, optimizer: Any, activation_fn: Any,
                 dropout: float | None) -> None:
        self.scope, self._units, self._columns = "dnn", tuple(hidden_units), list(columns)
        self._optimizer, self._activation, self._dropout = optimizer, activation_fn, dropout

    def optimizer(self) -> Any:
        """Return the optimizer of its variables."""
        return self._optimizer() if callable(self._optimizer) else self._optimizer or AdagradOptimizer(0.05)

    def logits(self, features: Mapping[str, Any], mode: str, size: int) -> Any:
        """Return the logits [batch_size, size]."""
        with variable_scope("input_from_feature_columns") as scope:
            net = input_from_feature_columns(features, self._columns, scope=scope)
        for i, units in enumerate(self._units):
            with variable_scope(f"hiddenlayer_{i}") as scope:
                net = fully_connected(net, units, activation_fn=self._activation, scope=scope)
                if self._dropout is not None and mode == ModeKeys.TRAIN:
                    net = dropout_layer(net, keep_prob=1.0 - self._dropout)
            parts.layer_summary(net, scope.name)
        with variable_scope("logits") as scope:
            made = fully_connected(net, size, activation_fn=None, scope=scope)
        parts.layer_summary(made, scope.name)
        return made


class _Wide:
    """Linear part of a model. optimizer: by default Ftrl, of a learning rate of at most 0.2.

    variables: those of each column and of "bias", once there are logits.
    """

    def __init__(self, columns: Any, optimizer: Any) -> None:
        self.scope, self._columns, self._optimizer = "linear", list(columns), optimizer
        self.variables: dict[Any, Any] = {}

    def optimizer(self) -> Any:
        """Return the optimizer of its variables."""
        rate = min(0.2, 1.0 / math.sqrt(len(self._columns)))
        return self._optimizer() if callable(self._optimizer) else self._optimizer or FtrlOptimizer(rate)

    def logits(self, features: Mapping[str, Any], mode: str, size: int) -> Any:
        """Return the logits [batch_size, size]."""
        made, self.variables, bias = weighted_sum_from_feature_columns(features, self._columns, size,
                                                                       scope=get_variable_scope())
        self.variables = {**self.variables, "bias": bias}
        return made


class _Model(Estimator):
    """Estimator whose logits are the sum of those of its parts, with a head."""

    def __init__(self, head: Head, pieces: Sequence[Any], model_dir: Any, config: Any, engineer: Any,
                 clip_norm: float | None, answer: str, named_classes: bool = False) -> None:
        self._answer = answer

        def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
            named = features if isinstance(features, Mapping) else {"": features}
            logits: Any = None
            for piece in pieces:
                with variable_scope(piece.scope, values=list(named.values()), partitioner=parts.partitioner()):
                    made = piece.logits(named, mode, head.logits_dimension)
                logits = made if logits is None else logits + made

            def train(loss: Any) -> Any:
                optimizers = [piece.optimizer() for piece in pieces]
                if len(pieces) == 1 and isinstance(optimizers[0], LinearSDCA):
                    return optimizers[0].head_train_op(head, pieces[0].variables, named, labels, logits)
                return _trained(loss, pieces, optimizers, clip_norm)
            return _renamed(head.create_estimator_spec(named, mode, logits, labels, train_op_fn=train), named_classes)
        super().__init__(model_fn, model_dir, config, None, engineer)

    def predict(self, x: Any = None, input_fn: Callable[..., Any] | None = None, batch_size: int | None = None,
                outputs: Any = None, as_iterable: bool = True, iterate_batches: bool = False) -> Any:
        """Return an iterator of the predicted class (of a regressor: the score) of each example.

        outputs: names of predictions, such as "probabilities", of which it is an iterator of dicts then. The rest: as
        of tf.contrib.learn.Estimator.predict.
        """
        if outputs is not None:
            return super().predict(x, input_fn, batch_size, outputs, as_iterable, iterate_batches)
        return self._only(self._answer, x, input_fn, batch_size, as_iterable)

    def _only(self, key: str, x: Any, input_fn: Any, batch_size: int | None, as_iterable: bool) -> Any:
        found = (each[key] for each in super().predict(x, input_fn, batch_size, [key]))
        return found if as_iterable else gathered(found)


def _trained(loss: Any, pieces: Sequence[Any], optimizers: Sequence[Any], clip_norm: float | None) -> Any:
    """Return an op that trains each part by its optimizer, and then counts the step."""
    step, made = get_global_step(), []
    for piece, optimizer in zip(pieces, optimizers, strict=True):
        if clip_norm is not None:
            optimizer = clip_gradients_by_norm(optimizer, clip_norm)
        made.append(optimizer.minimize(loss, var_list=parts.trainable(piece.scope)))
    with control_dependencies([group(*made)]):
        return assign_add(step, 1).op


def _renamed(spec: EstimatorSpec, named: bool) -> EstimatorSpec:
    """Return the spec with the names that predictions and metrics have in tf.contrib.learn."""
    found = dict(spec.predictions)
    if "class_ids" in found:
        classes = found["classes"] if named else found["class_ids"]
        found = {"classes": squeeze(classes, [-1]), **{key: found[key] for key in (
            "probabilities", "logits", "logistic") if key in found}}
    elif "predictions" in found:
        scores = found["predictions"]
        found = {"scores": squeeze(scores, [1]) if scores.shape[-1].value == 1 else scores}
    metrics = {_METRICS[key]: value for key, value in spec.eval_metric_ops.items() if key in _METRICS}
    if "scores" in found:
        metrics = {}
    return spec._replace(predictions=found, eval_metric_ops=metrics)


def _class_head(n_classes: int, weight_column_name: str | None, label_keys: Any) -> Head:
    if n_classes < 2:
        raise ValueError(f"n_classes should be greater than 1. Given: {n_classes}")
    if n_classes == 2:
        return BinaryClassHead(weight_column_name, label_vocabulary=label_keys)
    return MultiClassHead(n_classes, weight_column_name, label_keys)


class _Classifier(_Model):
    """Classifier: `predict` returns classes, `predict_proba` probabilities."""

    def predict_classes(self, x: Any = None, input_fn: Callable[..., Any] | None = None, batch_size: int | None = None,
                        as_iterable: bool = True) -> Any:
        """Return an iterator of the predicted class of each example; an array unless as_iterable."""
        return self._only("classes", x, input_fn, batch_size, as_iterable)

    def predict_proba(self, x: Any = None, input_fn: Callable[..., Any] | None = None, batch_size: int | None = None,
                      as_iterable: bool = True) -> Any:
        """Return an iterator of the probabilities of the classes for each example; an array unless as_iterable."""
        return self._only("probabilities", x, input_fn, batch_size, as_iterable)


class _Regressor(_Model):
    """Regressor: `predict` returns scores."""

    def predict_scores(self, x: Any = None, input_fn: Callable[..., Any] | None = None, batch_size: int | None = None,
                       as_iterable: bool = True) -> Any:
        """Return an iterator of the prediction for each example; an array unless as_iterable."""
        return self._only("scores", x, input_fn, batch_size, as_iterable)


class DNNClassifier(_Classifier):
    """Classifier: a deep neural network of feature columns.

    optimizer: by default Adagrad with the learning rate 0.05.

    >>> x, y = np.array([[-1.0], [2.0]]), np.array([0, 1])
    >>> columns = tf.contrib.learn.infer_real_valued_columns_from_input(x)
    >>> config = tf.contrib.learn.RunConfig(tf_random_seed=1)
    >>> model = tf.contrib.learn.DNNClassifier([8], columns, model_dir="model", config=config)
    >>> list(model.fit(x, y, steps=30).predict(x))
    [0, 1]
    """

    def __init__(self, hidden_units: Sequence[int], feature_columns: Any, model_dir: Any = None, n_classes: int = 2,
                 weight_column_name: str | None = None, optimizer: Any = None,
                 activation_fn: Callable[[Any], Any] | None = relu, dropout: float | None = None,
                 gradient_clip_norm: float | None = None, enable_centered_bias: bool = False, config: Any = None,
                 feature_engineering_fn: Any = None, embedding_lr_multipliers: Any = None,
                 input_layer_min_slice_size: Any = None, label_keys: Any = None) -> None:
        _unsupported(embedding_lr_multipliers=embedding_lr_multipliers)
        deep = _Deep(hidden_units, feature_columns, optimizer, activation_fn, dropout)
        super().__init__(_class_head(n_classes, weight_column_name, label_keys), [deep], model_dir, config,
                         feature_engineering_fn, gradient_clip_norm, "classes",
                         label_keys is not None)


class DNNRegressor(_Regressor):
    """Regressor: a deep neural network of feature columns.

    optimizer: by default Adagrad with the learning rate 0.05.

    >>> x = np.array([[1.0], [2.0]])
    >>> columns = tf.contrib.learn.infer_real_valued_columns_from_input(x)
    >>> model = tf.contrib.learn.DNNRegressor([8], columns, model_dir="model").fit(x, 3 * x, steps=1)
    >>> model.predict(x, as_iterable=False).shape
    (2,)
    """

    def __init__(self, hidden_units: Sequence[int], feature_columns: Any, model_dir: Any = None,
                 weight_column_name: str | None = None, optimizer: Any = None,
                 activation_fn: Callable[[Any], Any] | None = relu, dropout: float | None = None,
                 gradient_clip_norm: float | None = None, enable_centered_bias: bool = False, config: Any = None,
                 feature_engineering_fn: Any = None, label_dimension: int = 1, embedding_lr_multipliers: Any = None,
                 input_layer_min_slice_size: Any = None) -> None:
        _unsupported(embedding_lr_multipliers=embedding_lr_multipliers)
        deep = _Deep(hidden_units, feature_columns, optimizer, activation_fn, dropout)
        super().__init__(RegressionHead(label_dimension, weight_column_name), [deep], model_dir, config,
                         feature_engineering_fn, gradient_clip_norm, "scores")


class LinearClassifier(_Classifier):
    """Linear classifier of feature columns.

    optimizer: by default Ftrl, of the learning rate 0.2 or 1 / sqrt(number of columns).

    >>> x, y = np.array([[-1.0], [2.0]]), np.array([0, 1])
    >>> columns = tf.contrib.learn.infer_real_valued_columns_from_input(x)
    >>> model = tf.contrib.learn.LinearClassifier(columns, model_dir="model").fit(x, y, steps=30)
    >>> list(model.predict(x))
    [0, 1]
    """

    def __init__(self, feature_columns: Any, model_dir: Any = None, n_classes: int = 2,
                 weight_column_name: str | None = None, optimizer: Any = None,
                 gradient_clip_norm: float | None = None, enable_centered_bias: bool = False,
                 _joint_weight: bool = False, config: Any = None, feature_engineering_fn: Any = None,
                 label_keys: Any = None) -> None:
        super().__init__(_class_head(n_classes, weight_column_name, label_keys), [_Wide(feature_columns, optimizer)],
                         model_dir, config, feature_engineering_fn, gradient_clip_norm, "classes",
                         label_keys is not None)


class LinearRegressor(_Regressor):
    """Linear regressor of feature columns.

    optimizer: by default Ftrl, of the learning rate 0.2 or 1 / sqrt(number of columns).

    >>> x = np.array([[1.0], [2.0]])
    >>> columns = tf.contrib.learn.infer_real_valued_columns_from_input(x)
    >>> model = tf.contrib.learn.LinearRegressor(columns, model_dir="model", optimizer=tf.train.AdamOptimizer(0.1))
    >>> model.fit(x, 3 * x[:, 0], steps=1).get_variable_value("linear/bias_weight")
    array([0.1], dtype=float32)
    """

    def __init__(self, feature_columns: Any, model_dir: Any = None, weight_column_name: str | None = None,
                 optimizer: Any = None, gradient_clip_norm: float | None = None, enable_centered_bias: bool = False,
                 label_dimension: int = 1, _joint_weights: bool = False, config: Any = None,
                 feature_engineering_fn: Any = None) -> None:
        super().__init__(RegressionHead(label_dimension, weight_column_name), [_Wide(feature_columns, optimizer)],
                         model_dir, config, feature_engineering_fn, gradient_clip_norm, "scores")


def _both(linear_columns: Any, linear_optimizer: Any, dnn_columns: Any, dnn_optimizer: Any, hidden_units: Any,
          activation_fn: Any, dropout: float | None) -> list[Any]:
    if not linear_columns and not dnn_columns:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    if dnn_columns and not hidden_units:
        raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
    deep = [_Deep(hidden_units, dnn_columns, dnn_optimizer, activation_fn, dropout)] if dnn_columns else []
    return [*deep, *([_Wide(linear_columns, linear_optimizer)] if linear_columns else [])]


class DNNLinearCombinedClassifier(_Classifier):
    """Wide and deep classifier.

    linear_feature_columns, linear_optimizer: of its linear part; dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
    dnn_activation_fn, dnn_dropout: of its deep part, as of LinearClassifier and DNNClassifier.

    >>> x, y = {"x": np.array([[-1.0], [2.0]])}, np.array([0, 1])
    >>> columns = [tf.contrib.layers.real_valued_column("x")]
    >>> model = tf.contrib.learn.DNNLinearCombinedClassifier(
    ...     model_dir="model", linear_feature_columns=columns, dnn_feature_columns=columns, dnn_hidden_units=[4])
    >>> list(model.fit(x, y, steps=30).predict(x))
    [0, 1]
    """

    def __init__(self, model_dir: Any = None, n_classes: int = 2, weight_column_name: str | None = None,
                 linear_feature_columns: Any = None, linear_optimizer: Any = None, _joint_linear_weights: bool = False,
                 dnn_feature_columns: Any = None, dnn_optimizer: Any = None,
                 dnn_hidden_units: Sequence[int] | None = None,
                 dnn_activation_fn: Callable[[Any], Any] | None = relu, dnn_dropout: float | None = None,
                 gradient_clip_norm: float | None = None, enable_centered_bias: bool = False, config: Any = None,
                 feature_engineering_fn: Any = None, embedding_lr_multipliers: Any = None,
                 input_layer_min_slice_size: Any = None, label_keys: Any = None,
                 fix_global_step_increment_bug: bool = False) -> None:
        _unsupported(embedding_lr_multipliers=embedding_lr_multipliers)
        pieces = _both(linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
                       dnn_activation_fn, dnn_dropout)
        super().__init__(_class_head(n_classes, weight_column_name, label_keys), pieces, model_dir, config,
                         feature_engineering_fn, gradient_clip_norm, "classes",
                         label_keys is not None)


class DNNLinearCombinedRegressor(_Regressor):
    """Wide and deep regressor.

    linear_feature_columns, linear_optimizer: of its linear part; dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
    dnn_activation_fn, dnn_dropout: of its deep part, as of LinearRegressor and DNNRegressor.

    >>> x = {"x": np.array([[1.0], [2.0]])}
    >>> columns = [tf.contrib.layers.real_valued_column("x")]
    >>> model = tf.contrib.learn.DNNLinearCombinedRegressor(
    ...     model_dir="model", linear_feature_columns=columns, dnn_feature_columns=columns, dnn_hidden_units=[4])
    >>> model.fit(x, np.array([3.0, 6.0]), steps=1).predict(x, as_iterable=False).shape
    (2,)
    """

    def __init__(self, model_dir: Any = None, weight_column_name: str | None = None,
                 linear_feature_columns: Any = None, linear_optimizer: Any = None, _joint_linear_weights: bool = False,
                 dnn_feature_columns: Any = None, dnn_optimizer: Any = None,
                 dnn_hidden_units: Sequence[int] | None = None,
                 dnn_activation_fn: Callable[[Any], Any] | None = relu, dnn_dropout: float | None = None,
                 gradient_clip_norm: float | None = None, enable_centered_bias: bool = False,
                 label_dimension: int = 1, config: Any = None, feature_engineering_fn: Any = None,
                 embedding_lr_multipliers: Any = None, input_layer_min_slice_size: Any = None,
                 fix_global_step_increment_bug: bool = False) -> None:
        _unsupported(embedding_lr_multipliers=embedding_lr_multipliers)
        pieces = _both(linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
                       dnn_activation_fn, dnn_dropout)
        super().__init__(RegressionHead(label_dimension, weight_column_name), pieces, model_dir, config,
                         feature_engineering_fn, gradient_clip_norm, "scores")


def _unsupported(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} must be None: it is not supported, got {value!r}")


describe(globals(), ESTIMATORS)
