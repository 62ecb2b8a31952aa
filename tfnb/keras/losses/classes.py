"""Losses of Keras as objects: a function of (y_true, y_pred), weights of examples, and how they are summed."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import KERAS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.keras.backend import ops
from tfnb.keras.functions.lookup import getter
from tfnb.keras.losses import functions
from tfnb.keras.utils.registry import deserialize_keras_object, serialize_keras_object
from tfnb.losses.weights import remove_squeezable_dimensions, squeeze_weights


class Reduction:
    """The ways to sum the losses of the examples.

    AUTO: as SUM_OVER_BATCH_SIZE. NONE: not at all. SUM. SUM_OVER_BATCH_SIZE: the mean over all elements.

    >>> tf.keras.losses.Reduction.SUM
    'sum'
    """

    AUTO, NONE, SUM, SUM_OVER_BATCH_SIZE = "auto", "none", "sum", "sum_over_batch_size"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Return all of them."""
        return cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE

    @classmethod
    def validate(cls, key: str) -> None:
        """Raise ValueError if `key` is none of them."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key!r}: expected one of {', '.join(cls.all())}")


def compute_weighted_loss(losses: Any, sample_weight: Any = None, reduction: str = Reduction.AUTO) -> Any:
    """Return losses times weights, reduced. sample_weight: a scalar, one for each example or for each element."""
    Reduction.validate(reduction)
    losses = convert_to_tensor(losses)
    kind = losses.dtype.base_dtype
    losses = losses if kind.is_floating else ops.cast(losses, "float32")
    if sample_weight is not None:
        weights = ops.cast(sample_weight, losses.dtype.base_dtype)
        losses = losses * fitted_weights(weights, losses)
    if reduction == Reduction.NONE:
        return losses
    total = ops.reduce_sum(losses)
    if reduction == Reduction.SUM:
        return total
    return ops.div_no_nan(total, ops.cast(ops.size(losses), total.dtype))


def fitted_weights(weights: Any, values: Any) -> Any:
    """Return weights with an axis of size 1 more, or less, at the end, where their rank is one off from the values'."""
    ranks = weights.shape.ndims, values.shape.ndims
    if None not in ranks and ranks[0] > 0 and ranks[1] - ranks[0] == 1:
        return ops.expand_dims(weights, -1)
    return squeeze_weights(weights, values)


def squeezed(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Return both as tensors, without a last axis of size 1 that only one of them has."""
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    ranks, last = (y_true.shape.ndims, y_pred.shape.ndims), y_pred.shape[-1:]
    if None not in ranks and (ranks[1] - ranks[0] != 1 or last.as_list() == [1]):
        y_true, y_pred = remove_squeezable_dimensions(y_true, y_pred)
    return y_true, y_pred


class Loss:
    """Base of losses: subclasses define `call(y_true, y_pred)`, which returns a value for each example.

    >>> class Cubic(tf.keras.losses.Loss):
    ...     def call(self, y_true, y_pred):
    ...         return tf.abs(y_true - y_pred) ** 3
    >>> sess.run(Cubic()(tf.constant([1.0, 2.0]), tf.constant([1.0, 4.0])))
    4.0
    """

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = None) -> None:
        Reduction.validate(reduction)
        self.reduction, self.name = reduction, name

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Return the loss, reduced: a scalar, with Reduction.NONE one for each example."""
        with ops.name_scope("lambda" if self.name == "<lambda>" else self.name, type(self).__name__):
            return compute_weighted_loss(self.call(y_true, y_pred), sample_weight, self.reduction)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Return the loss of each example."""
        raise NotImplementedError(f"{type(self).__name__} must define call(y_true, y_pred)")

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {"reduction": self.reduction, "name": self.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Return the loss with these arguments."""
        return cls(**config)


class LossFunctionWrapper(Loss):
    """A loss by a function of (y_true, y_pred) and further arguments."""

    def __init__(self, fn: Any, reduction: str = Reduction.AUTO, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(reduction, name)
        self.fn, self._fn_kwargs = fn, kwargs

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Return the loss of each example."""
        return self.fn(*squeezed(y_true, y_pred), **self._fn_kwargs)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {**super().get_config(), **self._fn_kwargs}


class MeanSquaredError(LossFunctionWrapper):
    """The mean of (y_true - y_pred) ** 2.

    >>> sess.run(tf.keras.losses.MeanSquaredError()(tf.constant([[1.0, 2.0]]), tf.constant([[1.0, 4.0]])))
    2.0
    """

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = "mean_squared_error") -> None:
        super().__init__(functions.mean_squared_error, reduction, name)


class MeanAbsoluteError(LossFunctionWrapper):
    """The mean of |y_true - y_pred|.

    >>> sess.run(tf.keras.losses.MeanAbsoluteError()(tf.constant([[1.0, 2.0]]), tf.constant([[1.0, 4.0]])))
    1.0
    """

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = "mean_absolute_error") -> None:
        super().__init__(functions.mean_absolute_error, reduction, name)


class MeanAbsolutePercentageError(LossFunctionWrapper):
    """100 times the mean of |y_true - y_pred| / |y_true|.

    >>> sess.run(tf.keras.losses.MeanAbsolutePercentageError()(tf.constant([[1.0, 2.0]]), tf.constant([[1.0, 4.0]])))
    50.0
    """

    def __init__(self, reduction: str = Reduction.AUTO,
                 name: str | None = "mean_absolute_percentage_error") -> None:
        super().__init__(functions.mean_absolute_percentage_error, reduction, name)


class MeanSquaredLogarithmicError(LossFunctionWrapper):
    """The mean of (log(y_true + 1) - log(y_pred + 1)) ** 2.

    >>> sess.run(tf.keras.losses.MeanSquaredLogarithmicError()(tf.constant([[0.0]]), tf.constant([[np.e - 1]])))
    1.0
    """

    def __init__(self, reduction: str = Reduction.AUTO,
                 name: str | None = "mean_squared_logarithmic_error") -> None:
        super().__init__(functions.mean_squared_logarithmic_error, reduction, name)


class BinaryCrossentropy(LossFunctionWrapper):
    """The mean cross entropy of probabilities, or of logits.

    >>> sess.run(tf.keras.losses.BinaryCrossentropy()(tf.constant([[1.0, 0.0]]), tf.constant([[0.5, 0.5]])))
    0.6931
    """

    def __init__(self, from_logits: bool = False, label_smoothing: float = 0, reduction: str = Reduction.AUTO,
                 name: str | None = "binary_crossentropy") -> None:
        super().__init__(functions.binary_crossentropy, reduction, name, from_logits=from_logits,
                         label_smoothing=label_smoothing)
        self.from_logits = from_logits


class CategoricalCrossentropy(LossFunctionWrapper):
    """The cross entropy of true (one-hot) probabilities of the classes and predicted ones, or logits.

    >>> sess.run(tf.keras.losses.CategoricalCrossentropy()(tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])))
    0.6931
    """

    def __init__(self, from_logits: bool = False, label_smoothing: float = 0, reduction: str = Reduction.AUTO,
                 name: str | None = "categorical_crossentropy") -> None:
        super().__init__(functions.categorical_crossentropy, reduction, name, from_logits=from_logits,
                         label_smoothing=label_smoothing)


class SparseCategoricalCrossentropy(LossFunctionWrapper):
    """The cross entropy of true classes, integers, and predicted probabilities, or logits.

    >>> sess.run(tf.keras.losses.SparseCategoricalCrossentropy()(tf.constant([1]), tf.constant([[0.5, 0.5]])))
    0.6931
    """

    def __init__(self, from_logits: bool = False, reduction: str = Reduction.AUTO,
                 name: str | None = "sparse_categorical_crossentropy") -> None:
        super().__init__(functions.sparse_categorical_crossentropy, reduction, name, from_logits=from_logits)


class Hinge(LossFunctionWrapper):
    """The mean of max(1 - y_true * y_pred, 0).

    >>> sess.run(tf.keras.losses.Hinge()(tf.constant([[-1.0, 1.0]]), tf.constant([[0.5, 0.5]])))
    1.0
    """

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = "hinge") -> None:
        super().__init__(functions.hinge, reduction, name)


class SquaredHinge(LossFunctionWrapper):
    """The mean of max(1 - y_true * y_pred, 0) ** 2.

    >>> sess.run(tf.keras.losses.SquaredHinge()(tf.constant([[-1.0, 1.0]]), tf.constant([[0.5, 0.5]])))
    1.25
    """

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = "squared_hinge") -> None:
        super().__init__(functions.squared_hinge, reduction, name)


class CategoricalHinge(LossFunctionWrapper):
    """max(1 + largest prediction of a wrong class - that of the true class, 0).

    >>> sess.run(tf.keras.losses.CategoricalHinge()(tf.constant([[0.0, 1.0]]), tf.constant([[0.4, 0.6]])))
    0.8
    """

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = "categorical_hinge") -> None:
        super().__init__(functions.categorical_hinge, reduction, name)


class Poisson(LossFunctionWrapper):
    """The mean of y_pred - y_true * log(y_pred).

    >>> sess.run(tf.keras.losses.Poisson()(tf.constant([[1.0]]), tf.constant([[1.0]])))
    1.0
    """

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = "poisson") -> None:
        super().__init__(functions.poisson, reduction, name)


class LogCosh(LossFunctionWrapper):
    """The mean of log(cosh(y_pred - y_true)).

    >>> sess.run(tf.keras.losses.LogCosh()(tf.constant([[0.0]]), tf.constant([[1.0]])))
    0.4338
    """

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = "logcosh") -> None:
        super().__init__(functions.logcosh, reduction, name)


class KLDivergence(LossFunctionWrapper):
    """The divergence sum(y_true * log(y_true / y_pred)).

    >>> sess.run(tf.keras.losses.KLDivergence()(tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])))
    0.6931
    """

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = "kullback_leibler_divergence") -> None:
        super().__init__(functions.kullback_leibler_divergence, reduction, name)


class Huber(LossFunctionWrapper):
    """Half the squares of errors up to `delta`, delta * (|error| - delta / 2) beyond.

    >>> sess.run(tf.keras.losses.Huber()(tf.constant([[0.0, 0.0]]), tf.constant([[1.0, 3.0]])))
    1.5
    """

    def __init__(self, delta: float = 1.0, reduction: str = Reduction.AUTO, name: str | None = "huber_loss") -> None:
        super().__init__(functions.huber_loss, reduction, name, delta=delta)


class CosineSimilarity(LossFunctionWrapper):
    """Minus the cosine of the angle between vectors along an axis.

    >>> sess.run(tf.keras.losses.CosineSimilarity()(tf.constant([[3.0, 4.0]]), tf.constant([[1.0, 0.0]])))
    -0.6
    """

    def __init__(self, axis: int = -1, reduction: str = Reduction.AUTO,
                 name: str | None = "cosine_similarity") -> None:
        super().__init__(functions.cosine_similarity, reduction, name, axis=axis)


_KNOWN: dict[str, Any] = {
    name: value for name, value in {**vars(functions), **globals()}.items() if not name.startswith("_")
    and str(getattr(value, "__module__", "")).startswith("tfnb.keras.losses")
    and name not in ("squeezed", "floats", "fitted_weights", "Reduction")}
_KNOWN["huber"] = functions.huber_loss
_find = getter(_KNOWN, "loss function")


def serialize(loss: Any) -> Any:
    """Return the name of a loss function, or class name and config of a loss.

    >>> tf.keras.losses.serialize(tf.keras.losses.mse)
    'mean_squared_error'
    """
    return serialize_keras_object(loss)


def deserialize(name: Any, custom_objects: Any = None) -> Any:
    """Return the loss that `serialize` described. Raises ValueError for an unknown name.

    >>> tf.keras.losses.deserialize("mse").__name__
    'mean_squared_error'
    """
    return deserialize_keras_object(name, _KNOWN, custom_objects, "loss function")


def get(identifier: Any) -> Any:
    """Return the loss of a name or config, None for None, a callable itself. Raises ValueError otherwise.

    >>> tf.keras.losses.get("mse").__name__
    'mean_squared_error'
    """
    return _find(identifier)


describe(globals(), KERAS)
