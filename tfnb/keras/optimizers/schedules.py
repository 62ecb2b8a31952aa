"""Learning rates as functions of the step, which optimizers of Keras take: `tf.keras.optimizers.schedules`."""
from __future__ import annotations

from typing import Any

from tfnb.core.absent import explain as _explain
from tfnb.graph.convert import convert_to_tensor
from tfnb.keras.utils.registry import deserialize_keras_object, serialize_keras_object
from tfnb.ops.array.reshape import identity
from tfnb.train.optimizers import decay


class LearningRateSchedule:
    """Base of schedules: `schedule(step)` is the learning rate of a step.

    >>> isinstance(tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5),
    ...            tf.keras.optimizers.schedules.LearningRateSchedule)
    True
    """

    def __call__(self, step: Any) -> Any:
        """Return the learning rate, a scalar tensor."""
        raise NotImplementedError("a learning rate schedule must override __call__")

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return dict(vars(self))

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Return a schedule with these arguments."""
        return cls(**config)


class ExponentialDecay(LearningRateSchedule):
    """initial_learning_rate * decay_rate ^ (step / decay_steps); staircase: of the integer quotient.

    >>> sess.run(tf.keras.optimizers.schedules.ExponentialDecay(0.8, decay_steps=10, decay_rate=0.5)(tf.constant(10)))
    0.4
    """

    def __init__(self, initial_learning_rate: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
                 name: str | None = None) -> None:
        self.initial_learning_rate, self.decay_steps, self.decay_rate = initial_learning_rate, decay_steps, decay_rate
        self.staircase, self.name = staircase, name

    def __call__(self, step: Any) -> Any:
        """Return the learning rate, a scalar tensor."""
        return decay.exponential_decay(self.initial_learning_rate, identity(step), self.decay_steps, self.decay_rate,
                                       self.staircase, self.name or "ExponentialDecay")


class InverseTimeDecay(ExponentialDecay):
    """initial_learning_rate / (1 + decay_rate * step / decay_steps); staircase: of the integer quotient.

    >>> sess.run(tf.keras.optimizers.schedules.InverseTimeDecay(0.8, decay_steps=10, decay_rate=1.0)(tf.constant(10)))
    0.4
    """

    def __call__(self, step: Any) -> Any:
        """Return the learning rate, a scalar tensor."""
        return decay.inverse_time_decay(self.initial_learning_rate, identity(step), self.decay_steps, self.decay_rate,
                                        self.staircase, self.name or "InverseTimeDecay")


class PolynomialDecay(LearningRateSchedule):
    """From initial_learning_rate to end_learning_rate along (1 - step / decay_steps) ^ power.

    cycle: begin anew instead of stopping.

    >>> sess.run(tf.keras.optimizers.schedules.PolynomialDecay(0.8, 10, 0.0)(tf.constant(5)))
    0.4
    """

    def __init__(self, initial_learning_rate: Any, decay_steps: Any, end_learning_rate: Any = 0.0001,
                 power: Any = 1.0, cycle: bool = False, name: str | None = None) -> None:
        self.initial_learning_rate, self.decay_steps = initial_learning_rate, decay_steps
        self.end_learning_rate, self.power, self.cycle, self.name = end_learning_rate, power, cycle, name

    def __call__(self, step: Any) -> Any:
        """Return the learning rate, a scalar tensor."""
        return decay.polynomial_decay(self.initial_learning_rate, identity(step), self.decay_steps,
                                      self.end_learning_rate, self.power, self.cycle, self.name or "PolynomialDecay")


class PiecewiseConstantDecay(LearningRateSchedule):
    """values[0] up to step boundaries[0], then values[1] up to boundaries[1]...

    Raises ValueError unless there is one value more than boundaries.

    >>> rate = tf.keras.optimizers.schedules.PiecewiseConstantDecay([10], [1.0, 0.1])
    >>> sess.run([rate(tf.constant(10)), rate(tf.constant(11))])
    [1.0, 0.1]
    """

    def __init__(self, boundaries: Any, values: Any, name: str | None = None) -> None:
        if len(boundaries) != len(values) - 1:
            raise ValueError(f"expected one value more than boundaries, got {len(values)} and {len(boundaries)}")
        self.boundaries, self.values, self.name = boundaries, values, name

    def __call__(self, step: Any) -> Any:
        """Return the learning rate, a scalar tensor."""
        step = convert_to_tensor(identity(step))
        return decay.piecewise_constant(step, self.boundaries, self.values, self.name or "PiecewiseConstant")


class CosineDecay(LearningRateSchedule):
    """From initial_learning_rate to alpha times it, along half of a cosine over decay_steps.

    >>> sess.run(tf.keras.experimental.CosineDecay(0.8, decay_steps=10)(tf.constant(5)))
    0.4
    """

    def __init__(self, initial_learning_rate: Any, decay_steps: Any, alpha: Any = 0.0, name: str | None = None) -> None:
        self.initial_learning_rate, self.decay_steps, self.alpha = initial_learning_rate, decay_steps, alpha
        self.name = name

    def __call__(self, step: Any) -> Any:
        """Return the learning rate, a scalar tensor."""
        return decay.cosine_decay(self.initial_learning_rate, identity(step), self.decay_steps, self.alpha,
                                  self.name or "CosineDecay")


class CosineDecayRestarts(LearningRateSchedule):
    """Half a cosine over first_decay_steps, then again: each period is t_mul times as long and m_mul times as high.

    alpha: the least part of initial_learning_rate.

    >>> rate = tf.keras.experimental.CosineDecayRestarts(0.8, first_decay_steps=10)
    >>> sess.run([rate(tf.constant(n)) for n in (0, 5, 10, 20)])
    [0.8, 0.4, 0.8, 0.4]
    """

    def __init__(self, initial_learning_rate: Any, first_decay_steps: Any, t_mul: Any = 2.0, m_mul: Any = 1.0,
                 alpha: Any = 0.0, name: str | None = None) -> None:
        self.initial_learning_rate, self.first_decay_steps = initial_learning_rate, first_decay_steps
        self._t_mul, self._m_mul, self.alpha, self.name = t_mul, m_mul, alpha, name

    def __call__(self, step: Any) -> Any:
        """Return the learning rate, a scalar tensor."""
        return decay.cosine_decay_restarts(self.initial_learning_rate, identity(step), self.first_decay_steps,
                                           self._t_mul, self._m_mul, self.alpha, self.name or "SGDRDecay")

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {name.lstrip("_"): value for name, value in vars(self).items()}


class LinearCosineDecay(LearningRateSchedule):
    """initial_learning_rate * ((alpha + line) * cosine + beta), the line from 1 to 0 in decay_steps.

    num_periods: of the cosine in these steps. (Bello et al., 2017)

    >>> sess.run(tf.keras.experimental.LinearCosineDecay(1.0, decay_steps=100)(tf.constant(50)))
    0.251
    """

    def __init__(self, initial_learning_rate: Any, decay_steps: Any, num_periods: Any = 0.5, alpha: Any = 0.0,
                 beta: Any = 0.001, name: str | None = None) -> None:
        self.initial_learning_rate, self.decay_steps, self.num_periods = initial_learning_rate, decay_steps, num_periods
        self.alpha, self.beta, self.name = alpha, beta, name

    def __call__(self, step: Any) -> Any:
        """Return the learning rate, a scalar tensor."""
        return decay.linear_cosine_decay(self.initial_learning_rate, identity(step), self.decay_steps,
                                         self.num_periods, self.alpha, self.beta, self.name or "LinearCosineDecay")


class NoisyLinearCosineDecay(LearningRateSchedule):
    """LinearCosineDecay with noise on the line, of variance initial_variance / (1 + step) ^ variance_decay.

    initial_learning_rate, decay_steps, num_periods, alpha, beta: as there.

    >>> sess.run(tf.keras.experimental.NoisyLinearCosineDecay(0.1, decay_steps=100)(tf.constant(100)))
    0.0001
    """

    def __init__(self, initial_learning_rate: Any, decay_steps: Any, initial_variance: Any = 1.0,
                 variance_decay: Any = 0.55, num_periods: Any = 0.5, alpha: Any = 0.0, beta: Any = 0.001,
                 name: str | None = None) -> None:
        self.initial_learning_rate, self.decay_steps = initial_learning_rate, decay_steps
        self.initial_variance, self.variance_decay = initial_variance, variance_decay
        self.num_periods, self.alpha, self.beta, self.name = num_periods, alpha, beta, name

    def __call__(self, step: Any) -> Any:
        """Return the learning rate, a scalar tensor."""
        return decay.noisy_linear_cosine_decay(
            self.initial_learning_rate, identity(step), self.decay_steps, self.initial_variance, self.variance_decay,
            self.num_periods, self.alpha, self.beta, self.name or "NoisyLinearCosineDecay")


_KNOWN = {cls.__name__: cls for cls in (
    ExponentialDecay, InverseTimeDecay, PolynomialDecay, PiecewiseConstantDecay, CosineDecay, CosineDecayRestarts,
    LinearCosineDecay, NoisyLinearCosineDecay)}


def serialize(learning_rate_schedule: Any) -> Any:
    """Return `{"class_name": ..., "config": ...}` of a schedule.

    learning_rate_schedule: it.

    >>> tf.keras.optimizers.schedules.serialize(
    ...     tf.keras.optimizers.schedules.PiecewiseConstantDecay([10], [1.0, 0.5]))["config"]
    {'boundaries': [10], 'values': [1.0, 0.5], 'name': None}
    """
    return serialize_keras_object(learning_rate_schedule)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """Return the schedule that `{"class_name": ..., "config": ...}` describes.

    config: the dict. custom_objects: dict of name to class.

    >>> config = {"class_name": "PolynomialDecay", "config": {"initial_learning_rate": 1.0, "decay_steps": 2}}
    >>> sess.run(tf.keras.optimizers.schedules.deserialize(config)(tf.constant(1)))
    0.5
    """
    return deserialize_keras_object(config, _KNOWN, custom_objects, "decay")


_explain(__name__)
