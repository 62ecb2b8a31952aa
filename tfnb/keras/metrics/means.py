"""Metrics of Keras that are means of a function of labels and predictions."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import KERAS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.keras.backend import ops
from tfnb.keras.losses import functions as losses
from tfnb.keras.losses.classes import squeezed
from tfnb.keras.metrics import functions
from tfnb.keras.metrics.base import Mean, MeanMetricWrapper, Metric, weighted


class Accuracy(MeanMetricWrapper):
    """The frequency with which predictions equal labels.

    >>> metric = tf.keras.metrics.Accuracy()
    >>> value = metric([1, 2, 3, 4], [0, 2, 3, 4])
    >>> tf.keras.backend.get_session().run(value)
    0.75
    """

    def __init__(self, name: str | None = "accuracy", dtype: Any = None) -> None:
        super().__init__(functions.accuracy, name, dtype)


class BinaryAccuracy(MeanMetricWrapper):
    """The frequency with which predictions are on the right side of a threshold.

    >>> metric = tf.keras.metrics.BinaryAccuracy()
    >>> value = metric([1, 1, 0, 0], [0.98, 1.0, 0.0, 0.6])
    >>> tf.keras.backend.get_session().run(value)
    0.75
    """

    def __init__(self, name: str | None = "binary_accuracy", dtype: Any = None, threshold: float = 0.5) -> None:
        super().__init__(functions.binary_accuracy, name, dtype, threshold=threshold)


class CategoricalAccuracy(MeanMetricWrapper):
    """The frequency with which the largest prediction is that of the true class, given one-hot.

    >>> metric = tf.keras.metrics.CategoricalAccuracy()
    >>> value = metric([[0, 0, 1], [0, 1, 0]], [[0.1, 0.9, 0.8], [0.05, 0.95, 0.0]])
    >>> tf.keras.backend.get_session().run(value)
    0.5
    """

    def __init__(self, name: str | None = "categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(functions.categorical_accuracy, name, dtype)


class SparseCategoricalAccuracy(MeanMetricWrapper):
    """The frequency with which the largest prediction is that of the true class, an integer.

    >>> metric = tf.keras.metrics.SparseCategoricalAccuracy()
    >>> value = metric([[2], [1]], [[0.1, 0.9, 0.8], [0.05, 0.95, 0.0]])
    >>> tf.keras.backend.get_session().run(value)
    0.5
    """

    def __init__(self, name: str | None = "sparse_categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(functions.sparse_categorical_accuracy, name, dtype)


class TopKCategoricalAccuracy(MeanMetricWrapper):
    """The frequency with which the true class, given one-hot, is among the `k` largest predictions.

    >>> metric = tf.keras.metrics.TopKCategoricalAccuracy(k=1)
    >>> value = metric([[0, 0, 1], [0, 1, 0]], [[0.1, 0.9, 0.8], [0.05, 0.95, 0.0]])
    >>> tf.keras.backend.get_session().run(value)
    0.5
    """

    def __init__(self, k: int = 5, name: str | None = "top_k_categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(functions.top_k_categorical_accuracy, name, dtype, k=k)


class SparseTopKCategoricalAccuracy(MeanMetricWrapper):
    """The frequency with which the true class, an integer, is among the `k` largest predictions.

    >>> metric = tf.keras.metrics.SparseTopKCategoricalAccuracy(k=1)
    >>> value = metric([2, 1], [[0.1, 0.9, 0.8], [0.05, 0.95, 0.0]])
    >>> tf.keras.backend.get_session().run(value)
    0.5
    """

    def __init__(self, k: int = 5, name: str | None = "sparse_top_k_categorical_accuracy",
                 dtype: Any = None) -> None:
        super().__init__(functions.sparse_top_k_categorical_accuracy, name, dtype, k=k)


class CosineSimilarity(MeanMetricWrapper):
    """The mean cosine of the angle between vectors along an axis.

    >>> metric = tf.keras.metrics.CosineSimilarity()
    >>> value = metric([[3.0, 4.0]], [[1.0, 0.0]])
    >>> tf.keras.backend.get_session().run(value)
    0.6
    """

    def __init__(self, name: str | None = "cosine_similarity", dtype: Any = None, axis: int = -1) -> None:
        super().__init__(functions.cosine_proximity, name, dtype, axis=axis)


class BinaryCrossentropy(MeanMetricWrapper):
    """The mean cross entropy of probabilities, or of logits.

    >>> metric = tf.keras.metrics.BinaryCrossentropy()
    >>> value = metric([[1.0, 0.0]], [[0.5, 0.5]])
    >>> tf.keras.backend.get_session().run(value)
    0.6931
    """

    def __init__(self, name: str | None = "binary_crossentropy", dtype: Any = None, from_logits: bool = False,
                 label_smoothing: float = 0) -> None:
        super().__init__(losses.binary_crossentropy, name, dtype, from_logits=from_logits,
                         label_smoothing=label_smoothing)


class CategoricalCrossentropy(MeanMetricWrapper):
    """The mean cross entropy of true (one-hot) probabilities of the classes and predicted ones, or logits.

    >>> metric = tf.keras.metrics.CategoricalCrossentropy()
    >>> value = metric([[0.0, 1.0]], [[0.5, 0.5]])
    >>> tf.keras.backend.get_session().run(value)
    0.6931
    """

    def __init__(self, name: str | None = "categorical_crossentropy", dtype: Any = None, from_logits: bool = False,
                 label_smoothing: float = 0) -> None:
        super().__init__(losses.categorical_crossentropy, name, dtype, from_logits=from_logits,
                         label_smoothing=label_smoothing)


class SparseCategoricalCrossentropy(MeanMetricWrapper):
    """The mean cross entropy of true classes, integers, and predicted probabilities along an axis, or logits.

    >>> metric = tf.keras.metrics.SparseCategoricalCrossentropy()
    >>> value = metric([1], [[0.5, 0.5]])
    >>> tf.keras.backend.get_session().run(value)
    0.6931
    """

    def __init__(self, name: str | None = "sparse_categorical_crossentropy", dtype: Any = None,
                 from_logits: bool = False, axis: int = -1) -> None:
        super().__init__(losses.sparse_categorical_crossentropy, name, dtype, from_logits=from_logits, axis=axis)


def _of_function(name: str, function: Any, doc: str, example: str) -> type[MeanMetricWrapper]:
    """Return the class of a metric whose only arguments are name and dtype."""
    snake = function.__name__ if name != "LogCoshError" else "logcosh"

    class Made(MeanMetricWrapper):
        def __init__(self, name: str | None = snake, dtype: Any = None) -> None:
            super().__init__(function, name, dtype)
    Made.__name__ = Made.__qualname__ = name
    Made.__module__ = __name__
    arguments, result = example.split(" -> ")
    Made.__doc__ = (f"{doc}\n\n    >>> metric = tf.keras.metrics.{name}()\n    >>> value = metric({arguments})\n"
                    f"    >>> tf.keras.backend.get_session().run(value)\n    {result}\n    ")
    return Made


MeanSquaredError = _of_function("MeanSquaredError", losses.mean_squared_error, "The mean of (y_true - y_pred) ** 2.",
                                "[[1.0, 2.0]], [[1.0, 4.0]] -> 2.0")
MeanAbsoluteError = _of_function("MeanAbsoluteError", losses.mean_absolute_error, "The mean of |y_true - y_pred|.",
                                 "[[1.0, 2.0]], [[1.0, 4.0]] -> 1.0")
MeanAbsolutePercentageError = _of_function(
    "MeanAbsolutePercentageError", losses.mean_absolute_percentage_error,
    "100 times the mean of |y_true - y_pred| / |y_true|.", "[[1.0, 2.0]], [[1.0, 4.0]] -> 50.0")
MeanSquaredLogarithmicError = _of_function(
    "MeanSquaredLogarithmicError", losses.mean_squared_logarithmic_error,
    "The mean of (log(y_true + 1) - log(y_pred + 1)) ** 2.", "[[0.0]], [[np.e - 1]] -> 1.0")
Hinge = _of_function("Hinge", losses.hinge, "The mean of max(1 - y_true * y_pred, 0).",
                     "[[-1.0, 1.0]], [[0.5, 0.5]] -> 1.0")
SquaredHinge = _of_function("SquaredHinge", losses.squared_hinge, "The mean of max(1 - y_true * y_pred, 0) ** 2.",
                            "[[-1.0, 1.0]], [[0.5, 0.5]] -> 1.25")
CategoricalHinge = _of_function("CategoricalHinge", losses.categorical_hinge,
                                "The mean of max(1 + largest prediction of a wrong class - that of the true class, 0).",
                                "[[0.0, 1.0]], [[0.4, 0.6]] -> 0.8")
KLDivergence = _of_function("KLDivergence", losses.kullback_leibler_divergence,
                            "The mean divergence sum(y_true * log(y_true / y_pred)).",
                            "[[0.0, 1.0]], [[0.5, 0.5]] -> 0.6931")
Poisson = _of_function("Poisson", losses.poisson, "The mean of y_pred - y_true * log(y_pred).",
                       "[[1.0]], [[1.0]] -> 1.0")
LogCoshError = _of_function("LogCoshError", losses.logcosh, "The mean of log(cosh(y_pred - y_true)).",
                            "[[0.0]], [[1.0]] -> 0.4338")


class RootMeanSquaredError(Mean):
    """The root of the mean of (y_true - y_pred) ** 2.

    >>> metric = tf.keras.metrics.RootMeanSquaredError()
    >>> value = metric([2.0, 4.0, 6.0], [1.0, 3.0, 2.0])
    >>> tf.keras.backend.get_session().run(value)
    2.4495
    """

    def __init__(self, name: str | None = "root_mean_squared_error", dtype: Any = None) -> None:
        super().__init__(name, dtype)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:     # type: ignore[override]
        """Add a batch."""
        y_true, y_pred = squeezed(ops.cast(y_true, self.dtype), ops.cast(y_pred, self.dtype))
        return super().update_state(ops.squared_difference(y_pred, y_true), sample_weight)

    def result(self) -> Any:
        """Return the root of the mean."""
        return ops.sqrt(ops.div_no_nan(self.total, self.count))


class MeanRelativeError(Mean):
    """The mean of |y_true - y_pred| / normalizer, 0 where that is 0. normalizer: of the shape of the labels.

    >>> metric = tf.keras.metrics.MeanRelativeError(normalizer=[1.0, 3.0, 2.0, 3.0])
    >>> value = metric([1.0, 3.0, 2.0, 3.0], [2.0, 4.0, 6.0, 8.0])
    >>> tf.keras.backend.get_session().run(value)
    1.25
    """

    def __init__(self, normalizer: Any, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.normalizer = ops.cast(convert_to_tensor(normalizer), self.dtype)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:     # type: ignore[override]
        """Add a batch."""
        y_true, y_pred = squeezed(ops.cast(y_true, self.dtype), ops.cast(y_pred, self.dtype))
        y_pred, normalizer = squeezed(y_pred, self.normalizer)
        y_pred.shape.assert_is_compatible_with(y_true.shape)
        return super().update_state(ops.div_no_nan(ops.abs(y_true - y_pred), normalizer), sample_weight)


class MeanTensor(Metric):
    """The mean of each element of values over the batches, weighted.

    >>> metric = tf.keras.metrics.MeanTensor()
    >>> value = metric([0.0, 1.0, 2.0])
    >>> tf.keras.backend.get_session().run(value)
    array([0., 1., 2.], dtype=float32)
    """

    def __init__(self, name: str | None = "mean_tensor", dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self._shape: Any = None
        self.built = False

    @property
    def total(self) -> Any:
        """The sums."""
        return self._total if self.built else None

    @property
    def count(self) -> Any:
        """The sums of the weights."""
        return self._count if self.built else None

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        """Add values. Raises ValueError for another shape than that of the first ones."""
        values = ops.cast(values, self.dtype)
        if not self.built:
            self._shape, self.built = values.shape, True
            self._total = self.add_weight("total", shape=values.shape, initializer="zeros")
            self._count = self.add_weight("count", shape=values.shape, initializer="zeros")
        elif values.shape != self._shape:
            raise ValueError(f"MeanTensor input values must always have the same shape. Expected shape (set during "
                             f"the first call): {self._shape}, got: {values.shape}")
        number = ops.ones_like(values)
        if sample_weight is not None:
            values, number = weighted(values, sample_weight)
        update = ops.assign_add(self._total, values)
        with ops.control_dependencies([update]):
            return ops.assign_add(self._count, number)

    def result(self) -> Any:
        """Return the means. Raises ValueError before the first values."""
        if not self.built:
            raise ValueError("MeanTensor does not have any result yet. Please call the MeanTensor instance or use "
                             "`.update_state(value)` before retrieving the result.")
        return ops.div_no_nan(self._total, self._count)


describe(globals(), KERAS)
