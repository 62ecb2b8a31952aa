"""Models that ignore their features and predict the mean: `tf.estimator.BaselineClassifier` and its like."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.core.nest import flatten
from tfnb.estimator.estimator import Estimator
from tfnb.estimator.heads.base import Head
from tfnb.estimator.models.optimizers import optimizer_of
from tfnb.estimator.models.parts import classification_head, regression_head
from tfnb.losses.losses import Reduction
from tfnb.ops.array.create import ones
from tfnb.ops.array.reshape import shape
from tfnb.ops.reductions.matmul import matmul
from tfnb.variables.initializers import zeros_initializer
from tfnb.variables.scope import get_variable, variable_scope

_LEARNING_RATE = 0.3


def _logits(features: Any, units: int) -> Any:
    """Return one trained row for each example, [batch_size, units]."""
    with variable_scope("baseline", values=flatten(features, expand_composites=True)):
        first = next(iter(features.values())) if isinstance(features, Mapping) else features
        sizes: Any = first.dense_shape if hasattr(first, "dense_shape") else shape(first)
        bias = get_variable("bias", [units], initializer=zeros_initializer())
        return matmul(ones([sizes[0], 1]), bias[None, :])


class BaselineEstimator(Estimator):
    """Model that predicts the same for each example, whatever its features, with a head.

    head: as of tf.contrib.estimator. optimizer: an Optimizer, a name ("Ftrl") or a function that returns one.

    >>> y = np.array([1.0, 3.0], np.float32)
    >>> input_fn = tf.estimator.inputs.numpy_input_fn({"x": y}, y, num_epochs=None, shuffle=False)
    >>> model = tf.estimator.BaselineEstimator(tf.estimator.RegressionHead(), "model", optimizer="SGD")
    >>> model.train(input_fn, steps=30).get_variable_value("baseline/bias")
    array([2.], dtype=float32)
    """

    def __init__(self, head: Head, model_dir: Any = None, optimizer: Any = "Ftrl", config: Any = None) -> None:
        def model_fn(features: Any, labels: Any, mode: str) -> Any:
            logits = _logits(features, head.logits_dimension)
            return head.create_estimator_spec(features, mode, logits, labels, optimizer_of(optimizer, _LEARNING_RATE))
        super().__init__(model_fn, model_dir, config)


class BaselineClassifier(BaselineEstimator):
    """Classifier that predicts how often each class occurs in its training data.

    optimizer: as of BaselineEstimator.

    >>> y = np.array([1, 1, 0, 1])
    >>> input_fn = tf.estimator.inputs.numpy_input_fn({"x": y}, y, num_epochs=None, shuffle=False)
    >>> model = tf.estimator.BaselineClassifier(model_dir="model").train(input_fn, steps=200)
    >>> next(model.predict(input_fn))["class_ids"]
    array([1])
    """

    def __init__(self, model_dir: Any = None, n_classes: int = 2, weight_column: Any = None,
                 label_vocabulary: Any = None, optimizer: Any = "Ftrl", config: Any = None,
                 loss_reduction: str = Reduction.SUM) -> None:
        head = classification_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, model_dir, optimizer, config)


class BaselineRegressor(BaselineEstimator):
    """Regressor that predicts the mean of the labels of its training data.

    optimizer: as of BaselineEstimator.

    >>> y = np.array([1.0, 3.0], np.float32)
    >>> input_fn = tf.estimator.inputs.numpy_input_fn({"x": y}, y, num_epochs=None, shuffle=False)
    >>> model = tf.estimator.BaselineRegressor(model_dir="model").train(input_fn, steps=200)
    >>> next(model.predict(input_fn))["predictions"]
    array([2.], dtype=float32)
    """

    def __init__(self, model_dir: Any = None, label_dimension: int = 1, weight_column: Any = None,
                 optimizer: Any = "Ftrl", config: Any = None, loss_reduction: str = Reduction.SUM) -> None:
        super().__init__(regression_head(label_dimension, weight_column, loss_reduction), model_dir, optimizer, config)


describe(globals(), ESTIMATORS)
