"""Scales of losses, so that gradients in half precision don't vanish (Micikevicius et al., 2018).

The loss is multiplied by a scale before gradients are computed, and these are divided by it. A dynamic scale falls when
a gradient is infinite or NaN, whose step is left out, and grows after many steps without one.
"""
from __future__ import annotations

import math
from typing import Any, Self

from tfnb.control_flow.cond import cond
from tfnb.core import dtypes
from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.control.group import group, no_op
from tfnb.ops.control.source import constant
from tfnb.ops.math.arithmetic import maximum
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import greater_equal, is_finite, logical_and, where
from tfnb.ops.reductions.reduce import reduce_all
from tfnb.ops.state.assign import assign
from tfnb.train.optimizers.optimizer import Optimizer
from tfnb.train.optimizers.wrapper import OptimizerWrapper
from tfnb.variables.variable import Variable


class LossScale:
    """Base class of scales: subclasses define `__call__`, `update` and `get_config`.

    >>> issubclass(tf.train.experimental.FixedLossScale, tf.train.experimental.LossScale)
    True
    """

    def __call__(self) -> Any:
        """Return the scale, a float32 scalar."""
        raise NotImplementedError(f"{type(self).__name__} must define __call__()")

    def update(self, grads: Any) -> tuple[Any, Any]:
        """Return (an op that updates the scale, a bool scalar: whether these gradients are to be applied)."""
        raise NotImplementedError(f"{type(self).__name__} must define update(grads)")

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        raise NotImplementedError(f"{type(self).__name__} must define get_config()")

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Return a scale of these arguments."""
        return cls(**config)


class FixedLossScale(LossScale):
    """Scale that does not change.

    loss_scale_value: the scale, at least 1; ValueError for others.

    >>> sess.run(tf.train.experimental.FixedLossScale(128)())
    128.0
    """

    def __init__(self, loss_scale_value: float) -> None:
        if not isinstance(loss_scale_value, (int, float)):
            raise ValueError(f"loss_scale_value must be a Python int or float, got {loss_scale_value!r}")
        if loss_scale_value < 1:
            raise ValueError(f"loss_scale_value must be at least one, got {loss_scale_value}")
        self._value = float(loss_scale_value)

    def __call__(self) -> Any:
        return constant(self._value, dtypes.float32)

    def update(self, grads: Any) -> tuple[Any, Any]:
        """Return (an op that does nothing, True)."""
        return no_op(), True

    def get_config(self) -> dict[str, Any]:
        """Return the scale."""
        return {"loss_scale_value": self._value}


class DynamicLossScale(LossScale):
    """Scale that is divided by `multiplier` when a gradient is not finite, and else multiplied after some steps.

    initial_loss_scale: at first; it never falls below 1. increment_period: number of steps in sequence, all with
    finite gradients, after which it grows. multiplier: the factor.

    >>> scale = tf.train.experimental.DynamicLossScale(initial_loss_scale=8.0, increment_period=2)
    >>> update, is_applied = scale.update([tf.constant(np.inf)])
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(is_applied), sess.run(update), sess.run(scale())
    (False, None, 4.0)
    """

    def __init__(self, initial_loss_scale: float = 2 ** 15, increment_period: int = 2000,
                 multiplier: float = 2.0) -> None:
        self._initial, self._period, self._multiplier = float(initial_loss_scale), int(increment_period), float(
            multiplier)
        self._scale = Variable(self._initial, trainable=False, dtype=dtypes.float32, name="current_loss_scale")
        self._good_steps = Variable(0, trainable=False, dtype=dtypes.int64, name="good_steps")

    @property
    def initial_loss_scale(self) -> float:
        """The scale at first."""
        return self._initial

    @property
    def increment_period(self) -> int:
        """The number of good steps after which the scale grows."""
        return self._period

    @property
    def multiplier(self) -> float:
        """The factor by which it changes."""
        return self._multiplier

    def __call__(self) -> Any:
        return convert_to_tensor(self._scale)

    def update(self, grads: Any) -> tuple[Any, Any]:
        """Return (an op that updates the scale, whether all gradients are finite)."""
        values = [grad.values if isinstance(grad, IndexedSlices) else grad for grad in grads if grad is not None]
        finite: Any = constant(True)
        for value in values:
            finite = logical_and(finite, reduce_all(is_finite(value)))

        def grown() -> Any:
            steps, scale = self._good_steps + 1, convert_to_tensor(self._scale)
            is_due = greater_equal(steps, self._period)
            larger = scale * self._multiplier
            new = where(logical_and(is_due, is_finite(larger)), larger, scale)
            return group(assign(self._scale, new), assign(self._good_steps, where(is_due, steps * 0, steps)))

        def fallen() -> Any:
            return group(assign(self._scale, maximum(self._scale / self._multiplier, 1.0)),
                         assign(self._good_steps, 0))
        return group(cond(finite, grown, fallen)), finite

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {"initial_loss_scale": self._initial, "increment_period": self._period, "multiplier": self._multiplier}


class MixedPrecisionLossScaleOptimizer(OptimizerWrapper):
    """Optimizer `opt` whose loss is scaled, and whose steps with gradients that are not finite are left out.

    loss_scale: a LossScale, a number of at least 1, or "dynamic". Raises ValueError for others.

    >>> v = tf.Variable(3.0)
    >>> optimizer = tf.train.experimental.MixedPrecisionLossScaleOptimizer(
    ...     tf.train.GradientDescentOptimizer(0.5), "dynamic")
    >>> step = optimizer.minimize(v * v)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.0
    """

    def __init__(self, opt: Optimizer, loss_scale: Any) -> None:
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        super().__init__(opt, False, "MixedPrecisionLossScaleOptimizer")
        self._loss_scale = _scale_of(loss_scale)

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """Compute the gradients of the scaled loss, divided by the scale. Arguments as of Optimizer."""
        scale = self._loss_scale()
        loss = convert_to_tensor(loss() if callable(loss) else loss)
        pairs = self._opt.compute_gradients(loss * cast(scale, loss.dtype), *args, **kwargs)
        return [(_unscaled(grad, 1 / scale), variable) for grad, variable in pairs]

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Operation:
        """Return an op that updates the scale, and applies the gradients if they are finite."""
        pairs = list(grads_and_vars)
        update, is_applied = self._loss_scale.update([grad for grad, _ in pairs])
        if is_applied is True:
            return group(self._opt.apply_gradients(pairs, global_step, name), update)
        self._opt._create_slots([variable for grad, variable in pairs if grad is not None])
        step = cond(is_applied, lambda: group(self._opt.apply_gradients(pairs, global_step, name)), no_op)
        return group(step, update, name=name)


def _scale_of(given: Any) -> LossScale:
    if isinstance(given, LossScale):
        return given
    if given == "dynamic":
        return DynamicLossScale()
    if isinstance(given, str) or not isinstance(given, (int, float)) or math.isnan(given):
        raise ValueError(f"loss_scale must be a LossScale, a number or 'dynamic', got {given!r}")
    return FixedLossScale(given)


def _unscaled(grad: Any, factor: Any) -> Any:
    if grad is None:
        return None
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(grad.values * cast(factor, grad.dtype), grad.indices, grad.dense_shape)
    return grad * cast(factor, grad.dtype)


describe(globals(), OPTIMIZERS)
