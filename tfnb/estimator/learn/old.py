"""First form of `tf.contrib.learn`: functions (X, y) -> (predictions, loss), and the estimator that trains them."""
from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.core.files.gfile import MakeDirs, read_file_to_string
from tfnb.estimator.learn.arrays import as_array
from tfnb.estimator.learn.estimator import Estimator, ModeKeys, ModelFnOps
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.graph import Graph
from tfnb.layers.contrib.layers import convolution2d, fully_connected
from tfnb.layers.contrib.layers import dropout as dropout_layer
from tfnb.layers.contrib.optimize_loss import optimize_loss
from tfnb.losses.losses import mean_squared_error, softmax_cross_entropy
from tfnb.ops.array.create import zeros
from tfnb.ops.array.gather import one_hot
from tfnb.ops.array.reshape import expand_dims, identity, shape
from tfnb.ops.control.source import placeholder
from tfnb.ops.math.casting import cast
from tfnb.ops.nn.activations import relu
from tfnb.ops.nn.cross_entropy import softmax
from tfnb.ops.reductions.matmul import matmul
from tfnb.runtime.session import Session
from tfnb.train.checkpoints.reader import list_variables, load_variable
from tfnb.train.checkpoints.saver import Saver, import_meta_graph
from tfnb.train.checkpoints.state import latest_checkpoint
from tfnb.train.global_step import create_global_step, get_global_step
from tfnb.variables.embedding import embedding_lookup
from tfnb.variables.initializers import random_normal_initializer
from tfnb.variables.scope import get_variable, variable_scope

_INPUT, _OUTPUT, _SETTINGS = "input", "predictions", "model.def"


def _linear(scope: str, x: Any, size: int, mean: float | None, stddev: float) -> Any:
    """Return x * weights + bias, of variables in a scope."""
    x = convert_to_tensor(x)
    with variable_scope(scope):
        initializer = None if mean is None else random_normal_initializer(mean, stddev)
        weights = get_variable("weights", [x.shape[1].value, size], initializer=initializer)
        bias = get_variable("bias", [size], initializer=initializer)
        return matmul(x, weights) + bias


def logistic_regression(X: Any, y: Any, class_weight: Any = None,  # noqa: N803 (the public name)
                        init_mean: float | None = None, init_stddev: float | None = 1.0) -> tuple[Any, Any]:
    """Return (probabilities, loss) of a softmax regression.

    X: [batch_size, n_features]; y: [batch_size, n_classes], one-hot. class_weight: factors of the classes.
    init_mean, init_stddev: of a normal distribution where weights begin; None: Glorot's uniform one.

    >>> found, loss = tf.contrib.learn.models.logistic_regression(tf.ones([2, 3]), tf.constant([[1.0, 0], [0, 1.0]]))
    >>> found.shape
    TensorShape([Dimension(2), Dimension(2)])
    """
    size = convert_to_tensor(y).shape[1].value
    logits = _linear("logistic_regression", X, size, init_mean, init_stddev or 1.0)
    logits = logits if class_weight is None else logits * class_weight
    return softmax(logits), softmax_cross_entropy(y, logits)


def linear_regression(X: Any, y: Any, init_mean: float | None = None,  # noqa: N803 (the public name)
                      init_stddev: float | None = 1.0) -> tuple[Any, Any]:
    """Return (predictions, loss) of a linear regression.

    X: [batch_size, n_features]; y: [batch_size] or [batch_size, n_outputs]. init_mean, init_stddev: as of
    logistic_regression.

    >>> predictions, loss = tf.contrib.learn.models.linear_regression(tf.ones([2, 3]), tf.constant([1.0, 2.0]))
    >>> predictions.shape
    TensorShape([Dimension(2), Dimension(1)])
    """
    y = convert_to_tensor(y)
    y = expand_dims(y, 1) if y.shape.ndims == 1 else y
    made = _linear("linear_regression", X, y.shape[1].value, init_mean, init_stddev or 1.0)
    return made, mean_squared_error(y, made)


def get_dnn_model(hidden_units: Sequence[int], target_predictor_fn: Callable[..., Any], dropout: float | None = None
                  ) -> Callable[..., Any]:
    """Return a model (X, y): fully connected layers, and `target_predictor_fn` on top, such as logistic_regression.

    >>> model = tf.contrib.learn.models.get_dnn_model([4], tf.contrib.learn.models.linear_regression)
    >>> predictions, loss = model(tf.ones([2, 3]), tf.constant([1.0, 2.0]))
    >>> predictions.shape
    TensorShape([Dimension(2), Dimension(1)])
    """
    def model(X: Any, y: Any) -> Any:  # noqa: N803 (the public name)
        return target_predictor_fn(dnn(X, hidden_units, dropout=dropout), y)
    return model


def dnn(tensor_in: Any, hidden_units: Sequence[int], activation: Callable[[Any], Any] | None = relu,
        dropout: float | None = None) -> Any:
    """Return the output of fully connected layers over `tensor_in`, [batch_size, n_features].

    activation: between them.

    >>> tf.contrib.learn.ops.dnn(tf.ones([2, 3]), [10, 5]).shape
    TensorShape([Dimension(2), Dimension(5)])
    """
    with variable_scope("dnn"):
        for i, units in enumerate(hidden_units):
            with variable_scope(f"layer{i}") as scope:
                tensor_in = fully_connected(tensor_in, units, activation_fn=activation, scope=scope)
                if dropout is not None:
                    tensor_in = dropout_layer(tensor_in, keep_prob=1.0 - dropout)
        return tensor_in


def conv2d(tensor_in: Any, n_filters: int, filter_shape: Sequence[int], strides: Sequence[int] | None = None,
           padding: str = "SAME", bias: bool = True, activation: Callable[[Any], Any] | None = None,
           batch_norm: bool = False) -> Any:
    """Return a convolution of images, tensor_in: [batch_size, height, width, channels].

    n_filters: output channels; filter_shape: [height, width]; strides: of each axis of tensor_in. padding: "SAME" or
    "VALID". bias: whether one is added; activation: function after it. batch_norm: must be False, or ValueError.

    >>> tf.contrib.learn.ops.conv2d(tf.ones([1, 8, 8, 3]), 5, [3, 3]).shape
    TensorShape([Dimension(1), Dimension(8), Dimension(8), Dimension(5)])
    """
    if batch_norm:
        raise ValueError("batch_norm must be False: use tf.contrib.layers.conv2d with normalizer_fn")
    options = {} if bias else {"biases_initializer": None}
    return convolution2d(tensor_in, n_filters, list(filter_shape), stride=list(strides[1:3]) if strides else 1,
                         padding=padding, activation_fn=activation, **options)


def one_hot_matrix(tensor_in: Any, num_classes: int, on_value: float = 1.0, off_value: float = 0.0) -> Any:
    """Return integers as one-hot vectors of `num_classes`: on_value at their place, off_value elsewhere.

    tensor_in: the integers.

    >>> sess.run(tf.contrib.learn.ops.one_hot_matrix([1, 0], 2))
    array([[0., 1.],
           [1., 0.]], dtype=float32)
    """
    return one_hot(cast(tensor_in, dtypes.int64), num_classes, on_value=on_value, off_value=off_value)


def categorical_variable(tensor_in: Any, n_classes: int, embedding_size: int, name: str) -> Any:
    """Return trained vectors of `embedding_size` for integers below `n_classes`.

    tensor_in: the integers. name: the scope of the variable "<name>_embeddings".

    >>> tf.contrib.learn.ops.categorical_variable(tf.constant([[1, 0]]), 3, embedding_size=4, name="words").shape
    TensorShape([Dimension(1), Dimension(2), Dimension(4)])
    """
    with variable_scope(name):
        return embedding_lookup(get_variable(f"{name}_embeddings", [n_classes, embedding_size]), tensor_in)


class _Restored:
    """Model in a folder that `TensorFlowEstimator.save` wrote: what predicts and has the values of variables."""

    def __init__(self, path: str) -> None:
        self.model_dir, self._prefix = path, os.path.join(path, "model")

    def predict(self, x: Any, batch_size: int | None, as_iterable: bool) -> np.ndarray:
        """Return the predictions for the rows of `x`, `batch_size` at a time (None: all)."""
        rows, found = as_array(x), []
        count = batch_size or len(rows)
        with Graph().as_default() as graph, Session() as session:
            saver = import_meta_graph(f"{self._prefix}.meta")
            saver.restore(session, self._prefix)
            inputs, outputs = (graph.get_tensor_by_name(f"{name}:0") for name in (_INPUT, _OUTPUT))
            for start in range(0, len(rows), count):
                found.append(session.run(outputs, {inputs: rows[start:start + count]}))
        return np.concatenate(found)

    def get_variable_value(self, name: str) -> Any:
        """Return the value of a variable."""
        return load_variable(self._prefix, name)

    def get_variable_names(self) -> list[str]:
        """Return the names of the variables."""
        return [name for name, _ in list_variables(self._prefix)]


class TensorFlowEstimator:
    """Estimator of a function (X, y) -> (predictions, loss), the first form of tf.contrib.learn.

    model_fn: that function; y is one-hot where n_classes, the number of classes, is above 1 (0: a regression).
    batch_size, steps: of the training. optimizer, learning_rate, clip_gradients: as of tf.contrib.layers.optimize_loss.
    class_weight: must be None. continue_training: whether `fit` goes on from the last one. verbose: accepted, without
    effect.

    >>> model = tf.contrib.learn.TensorFlowEstimator(
    ...     tf.contrib.learn.models.logistic_regression, n_classes=2, steps=100, learning_rate=0.5)
    >>> x, y = np.array([[-1.0], [2.0]]), np.array([0, 1])
    >>> model.fit(x, y).predict(x)
    array([0, 1])
    >>> model.save("saved")
    >>> tf.contrib.learn.TensorFlowEstimator.restore("saved").predict(x)
    array([0, 1])
    """

    def __init__(self, model_fn: Callable[..., Any] | None, n_classes: int = 0, batch_size: int = 32, steps: int = 200,
                 optimizer: Any = "Adagrad", learning_rate: Any = 0.1, clip_gradients: float | None = 5.0,
                 class_weight: Any = None, continue_training: bool = False, config: Any = None,
                 verbose: int = 1) -> None:
        if class_weight is not None:
            raise ValueError(f"class_weight must be None: give it to logistic_regression, got {class_weight!r}")
        self.model_fn, self.n_classes, self.batch_size, self.steps = model_fn, n_classes, batch_size, steps
        self.optimizer, self.learning_rate, self.clip_gradients = optimizer, learning_rate, clip_gradients
        self.continue_training, self._config = continue_training, config
        self._inner: Any = None                    # an Estimator, or _Restored
        self._features: tuple[str, tuple[int, ...]] | None = None

    def _ops(self, features: Any, labels: Any, mode: str) -> ModelFnOps:
        features = features if features.dtype.is_integer else cast(features, dtypes.float32)
        sizes: Any = shape(features)
        if labels is None:                         # the function builds its loss in any case
            labels = zeros([sizes[0]], dtypes.int64 if self.n_classes > 1 else dtypes.float32)
        labels = one_hot(cast(labels, dtypes.int64), self.n_classes) if self.n_classes > 1 else \
            cast(labels, dtypes.float32)
        assert self.model_fn is not None
        predictions, loss = self.model_fn(features, labels)
        train_op = optimize_loss(loss, get_global_step(), self.learning_rate, self.optimizer,
                                 clip_gradients=self.clip_gradients) if mode == ModeKeys.TRAIN else None
        return ModelFnOps(mode, predictions, loss, train_op)

    def fit(self, X: Any, y: Any, steps: int | None = None,  # noqa: N803 (the public name)
            monitors: Sequence[Any] | None = None, logdir: Any = None) -> Self:
        """Train on arrays, and return itself. logdir: the folder of checkpoints and event files.

        Raises ValueError where the estimator was restored: files have no functions.
        """
        if self.model_fn is None:
            raise ValueError("a restored estimator predicts, and can't be trained: make one with model_fn, and give "
                             "fit the logdir of the first training to go on from there")
        X = as_array(X)  # noqa: N806 (the public name)
        self._features = X.dtype.name, X.shape[1:]
        if self._inner is None or not self.continue_training:
            self._inner = Estimator(self._ops, logdir, self._config)
        self._inner.fit(X, y, steps=steps or self.steps, batch_size=self.batch_size, monitors=monitors)
        return self

    partial_fit = fit

    def save(self, path: Any) -> None:
        """Write the trained model to a folder: its graph for predictions, its variables and its settings.

        Raises ValueError before `fit`.
        """
        trained, folder = self._fitted().model_dir, os.fsdecode(path)
        if self._features is None:
            raise ValueError(f"a restored estimator is saved already, in {trained}")
        MakeDirs(folder)
        dtype, sizes = self._features
        with Graph().as_default(), Session() as session:
            create_global_step()
            inputs = placeholder(dtype, [None, *sizes], name=_INPUT)
            identity(self._ops(inputs, None, ModeKeys.INFER).predictions, name=_OUTPUT)
            saver = Saver()
            saver.restore(session, latest_checkpoint(trained))
            saver.save(session, os.path.join(folder, "model"))
        with open(os.path.join(folder, _SETTINGS), "w", encoding="utf-8") as file:
            json.dump({"class_name": type(self).__name__, "n_classes": self.n_classes}, file)

    @classmethod
    def restore(cls, path: Any, config: Any = None) -> Self:
        """Return the estimator of a folder that `save` wrote: it predicts. Raises NotFoundError if there is none.

        config: a RunConfig, without effect.
        """
        folder = os.fsdecode(path)
        settings = json.loads(read_file_to_string(os.path.join(folder, _SETTINGS)))
        made = cls.__new__(cls)
        TensorFlowEstimator.__init__(made, None, settings["n_classes"], config=config)
        made._inner = _Restored(folder)
        return made

    def _fitted(self) -> Any:
        if self._inner is None:
            raise ValueError("the estimator is not fitted: call fit(X, y) before")
        return self._inner

    def predict(self, X: Any, axis: int = 1, batch_size: int | None = None) -> np.ndarray:  # noqa: N803 (public)
        """Return the class of each row of X, the largest along `axis`; of a regression the value."""
        found = self.predict_proba(X, batch_size)
        return found.argmax(axis) if self.n_classes > 1 else np.squeeze(found)

    def predict_proba(self, X: Any, batch_size: int | None = None) -> np.ndarray:  # noqa: N803 (the public name)
        """Return the probabilities of the classes for each row of X."""
        found: np.ndarray = self._fitted().predict(X, batch_size=batch_size, as_iterable=False)
        return found

    def get_variable_value(self, name: str) -> Any:
        """Return the value of a variable."""
        return self._fitted().get_variable_value(name)

    get_tensor_value = get_variable_value

    def get_variable_names(self) -> list[str]:
        """Return the names of the variables."""
        names: list[str] = self._fitted().get_variable_names()
        return names


describe(globals(), ESTIMATORS)
