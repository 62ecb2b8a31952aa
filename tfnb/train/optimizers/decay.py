"""Learning rate decay schedules, as tensors of the graph."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tfnb.control_flow.cond import cond
from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.math.arithmetic import AddV2, Ceil, Floor, Minimum, Mul, Neg, Pow
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import Equal, LessEqual, Select, SelectV2
from tfnb.ops.math.division import RealDiv
from tfnb.ops.math.functions import Cos, Exp, Log, Sqrt
from tfnb.ops.random.random_ops import random_normal


def _checked(global_step: Any, what: str) -> None:
    if global_step is None:
        raise ValueError(f"global_step is required for {what}.")


def exponential_decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any,
                      staircase: bool = False, name: str | None = None) -> Tensor:
    """Compute exponential decay: learning_rate * decay_rate ^ (global_step / decay_steps).

    staircase: use the integer part of the quotient, so that the rate falls in steps. The result is a scalar of the
    dtype of `learning_rate`. Raises ValueError without global_step.

    >>> step = tf.placeholder(tf.int32, [])
    >>> rate = tf.train.exponential_decay(0.1, step, decay_steps=100, decay_rate=0.5)
    >>> [sess.run(rate, {step: n}) for n in (0, 100, 200)]
    [0.1, 0.05, 0.025]
    """
    _checked(global_step, "exponential_decay")
    with name_scope(name, "ExponentialDecay", [learning_rate, global_step, decay_steps, decay_rate]) as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        steps, base = cast(decay_steps, rate.dtype), cast(decay_rate, rate.dtype)
        passed = cast(global_step, rate.dtype) / steps
        if staircase:
            passed = Floor(passed)
        result: Tensor = Mul(rate, Pow(base, passed), name=scope)
        return result


def natural_exp_decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any,
                      staircase: bool = False, name: str | None = None) -> Tensor:
    """Compute learning_rate * e ^ (-decay_rate * global_step / decay_steps); arguments as of `exponential_decay`.

    >>> step = tf.placeholder(tf.int32, [])
    >>> rate = tf.train.natural_exp_decay(0.1, step, decay_steps=100, decay_rate=1.0)
    >>> [sess.run(rate, {step: n}) for n in (0, 100, 200)]
    [0.1, 0.0368, 0.0135]
    """
    _checked(global_step, "natural_exp_decay")
    base = Exp(Neg(decay_rate))
    return exponential_decay(learning_rate, global_step, decay_steps, base, staircase, name)


def inverse_time_decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any,
                       staircase: bool = False, name: str | None = None) -> Tensor:
    """Compute learning_rate / (1 + decay_rate * global_step / decay_steps); arguments as of `exponential_decay`.

    >>> step = tf.placeholder(tf.int32, [])
    >>> rate = tf.train.inverse_time_decay(0.1, step, decay_steps=100, decay_rate=1.0)
    >>> [sess.run(rate, {step: n}) for n in (0, 100, 300)]
    [0.1, 0.05, 0.025]
    """
    _checked(global_step, "inverse_time_decay")
    with name_scope(name, "InverseTimeDecay", [learning_rate, global_step, decay_steps, decay_rate]) as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        steps, factor = cast(decay_steps, rate.dtype), cast(decay_rate, rate.dtype)
        passed = cast(global_step, rate.dtype) / steps
        if staircase:
            passed = Floor(passed)
        one = cast(convert_to_tensor(1, name="Const"), rate.dtype)
        result: Tensor = RealDiv(rate, AddV2(one, Mul(factor, passed), name="Add"), name=scope)
        return result


def polynomial_decay(learning_rate: Any, global_step: Any, decay_steps: Any, end_learning_rate: Any = 0.0001,
                     power: Any = 1.0, cycle: bool = False, name: str | None = None) -> Tensor:
    """Compute polynomial decay from learning_rate to end_learning_rate, along (1 - step / decay_steps) ^ power.

    cycle: extend decay_steps to its least positive multiple not below the step, instead of stopping. Raises ValueError
    without global_step.

    >>> step = tf.placeholder(tf.int32, [])
    >>> rate = tf.train.polynomial_decay(0.1, step, decay_steps=100, end_learning_rate=0.02)
    >>> [sess.run(rate, {step: n}) for n in (0, 50, 200)]
    [0.1, 0.06, 0.02]
    """
    _checked(global_step, "polynomial_decay")
    values = [learning_rate, global_step, decay_steps, end_learning_rate, power]
    with name_scope(name, "PolynomialDecay", values) as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        end, power = cast(end_learning_rate, rate.dtype), cast(power, rate.dtype)
        step, steps = cast(global_step, rate.dtype), cast(decay_steps, rate.dtype)
        if cycle:
            turns = SelectV2(Equal(step, 0), 1.0, Ceil(step / decay_steps))
            steps = Mul(steps, turns)
        else:
            step = Minimum(step, steps)
        passed = step / steps
        result: Tensor = AddV2(Mul(rate - end, Pow(1 - passed, power)), end, name=scope)
        return result


def cosine_decay(learning_rate: Any, global_step: Any, decay_steps: Any, alpha: float = 0.0,
                 name: str | None = None) -> Tensor:
    """Compute cosine decay, from learning_rate to alpha * learning_rate in decay_steps. ValueError without step.

    >>> step = tf.placeholder(tf.int32, [])
    >>> rate = tf.train.cosine_decay(0.1, step, decay_steps=100)
    >>> [sess.run(rate, {step: n}) for n in (0, 50, 100)]
    [0.1, 0.05, 0.0]
    """
    _checked(global_step, "cosine_decay")
    with name_scope(name, "CosineDecay", [learning_rate, global_step, decay_steps]):
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        steps = cast(decay_steps, rate.dtype)
        passed = Minimum(cast(global_step, rate.dtype), steps) / steps
        half = convert_to_tensor(math.pi, dtype=rate.dtype, name="Const")
        share = 0.5 * (1.0 + Cos(half * passed))
        result: Tensor = Mul(rate, (1 - alpha) * share + alpha)
        return result


def cosine_decay_restarts(learning_rate: Any, global_step: Any, first_decay_steps: Any, t_mul: float = 2.0,
                          m_mul: float = 1.0, alpha: float = 0.0, name: str | None = None) -> Tensor:
    """Compute cosine decay with warm restarts: each period is t_mul times as long and m_mul times as high as the last.

    first_decay_steps: the length of the first period; alpha: the least part of learning_rate. ValueError without step.
    (Loshchilov and Hutter, 2016)

    >>> step = tf.placeholder(tf.int32, [])
    >>> rate = tf.train.cosine_decay_restarts(0.1, step, first_decay_steps=100)
    >>> [sess.run(rate, {step: n}) for n in (0, 50, 100, 200)]
    [0.1, 0.05, 0.1, 0.05]
    """
    _checked(global_step, "cosine decay restarts")
    with name_scope(name, "SGDRDecay", [learning_rate, global_step]) as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        longer, higher, least = (cast(number, rate.dtype) for number in (t_mul, m_mul, alpha))
        passed = cast(global_step, rate.dtype) / cast(first_decay_steps, rate.dtype)
        period, within = cond(Equal(longer, 1.0), lambda: _equal_periods(passed),
                              lambda: _growing_periods(passed, longer))
        half = convert_to_tensor(math.pi, dtype=rate.dtype, name="Const")
        share = 0.5 * higher ** period * (1.0 + Cos(half * within))
        result: Tensor = Mul(rate, (1 - least) * share + least, name=scope)
        return result


def _equal_periods(passed: Tensor) -> tuple[Tensor, Tensor]:
    """Return the index of the period, and the fraction of it that has passed."""
    period = Floor(passed)
    return period, passed - period


def _growing_periods(passed: Tensor, longer: Tensor) -> tuple[Tensor, Tensor]:
    """Return the same for periods that grow by the factor `longer`: a geometric series."""
    period = Floor(Log(1.0 - passed * (1.0 - longer)) / Log(longer))
    before = (1.0 - longer ** period) / (1.0 - longer)
    return period, (passed - before) / longer ** period


def linear_cosine_decay(learning_rate: Any, global_step: Any, decay_steps: Any, num_periods: float = 0.5,
                        alpha: float = 0.0, beta: float = 0.001, name: str | None = None) -> Tensor:
    """Compute linear cosine decay: learning_rate * ((alpha + line) * cosine + beta), line from 1 to 0 in decay_steps.

    ValueError without step. (Bello et al., 2017) num_periods: of the cosine in these steps.

    >>> step = tf.placeholder(tf.int32, [])
    >>> rate = tf.train.linear_cosine_decay(0.1, step, decay_steps=100)
    >>> [sess.run(rate, {step: n}) for n in (0, 50, 100)]
    [0.1001, 0.0251, 0.0001]
    """
    _checked(global_step, "linear cosine decay")
    with name_scope(name, "LinearCosineDecay", [learning_rate, global_step]) as scope:
        rate, left, cosine, _ = _line_and_cosine(learning_rate, global_step, decay_steps, num_periods)
        share = (cast(alpha, rate.dtype) + left) * cosine + cast(beta, rate.dtype)
        result: Tensor = Mul(rate, share, name=scope)
        return result


def noisy_linear_cosine_decay(learning_rate: Any, global_step: Any, decay_steps: Any, initial_variance: float = 1.0,
                              variance_decay: float = 0.55, num_periods: float = 0.5, alpha: float = 0.0,
                              beta: float = 0.001, name: str | None = None) -> Tensor:
    """Compute linear_cosine_decay with noise on the line, variance initial_variance / (1 + step) ^ variance_decay.

    decay_steps, num_periods, alpha, beta: as there.

    >>> rate = tf.train.noisy_linear_cosine_decay(0.1, 100, decay_steps=100)
    >>> sess.run(rate)
    0.0001
    """
    _checked(global_step, "noisy linear cosine decay")
    with name_scope(name, "NoisyLinearCosineDecay", [learning_rate, global_step]) as scope:
        rate, left, cosine, step = _line_and_cosine(learning_rate, global_step, decay_steps, num_periods)
        variance = cast(initial_variance, rate.dtype) / Pow(1.0 + step, cast(variance_decay, rate.dtype))
        noisy = left + random_normal(left.shape, stddev=Sqrt(variance), dtype=rate.dtype)
        share = (cast(alpha, rate.dtype) + noisy) * cosine + cast(beta, rate.dtype)
        result: Tensor = Mul(rate, share, name=scope)
        return result


def _line_and_cosine(learning_rate: Any, global_step: Any, decay_steps: Any,
                     num_periods: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the rate, the line from 1 to 0, the cosine from 1 on, and the step, clipped to decay_steps."""
    rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
    steps, periods = cast(decay_steps, rate.dtype), cast(num_periods, rate.dtype)
    step = Minimum(cast(global_step, rate.dtype), steps)
    left, passed = (steps - step) / steps, step / steps
    half = convert_to_tensor(math.pi, dtype=rate.dtype, name="Const")
    return rate, left, 0.5 * (1.0 + Cos(half * (2.0 * periods * passed))), step


def piecewise_constant(x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None) -> Tensor:
    """Return values[0] for x <= boundaries[0], values[1] for x <= boundaries[1], ..., else the last value.

    x: a scalar. Raises ValueError unless there is one value more than boundaries, and they have fitting dtypes.

    >>> step = tf.placeholder(tf.int32, [])
    >>> rate = tf.train.piecewise_constant(step, boundaries=[100, 200], values=[1.0, 0.5, 0.1])
    >>> [sess.run(rate, {step: n}) for n in (100, 101, 300)]
    [1.0, 0.5, 0.1]
    """
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    with name_scope(name, "PiecewiseConstant", [x, *boundaries, *values]):
        x = convert_to_tensor(x)
        limits = [_fitting(b, x) for b in boundaries]
        numbers = [convert_to_tensor(v) for v in values]
        if len({v.dtype.base_dtype for v in numbers}) > 1:
            raise ValueError(f"values must have elements all with the same dtype "
                             f"({', '.join(v.dtype.name for v in numbers)}).")
        result = numbers[-1]
        for limit, number in zip(reversed(limits), reversed(numbers[:-1]), strict=True):
            result = Select(LessEqual(x, limit), number, result)
        return result


piecewise_constant_decay = piecewise_constant


def _fitting(boundary: Any, x: Tensor) -> Tensor:
    """Cast a boundary to the dtype of x: Python constants become int32 or float32, x may be wider."""
    b = convert_to_tensor(boundary)
    if b.dtype.base_dtype == x.dtype.base_dtype:
        return b
    wider = b.dtype.base_dtype.name == "int32" and x.dtype.base_dtype.name == "int64"
    if not wider and not (b.dtype.is_floating and x.dtype.is_floating):
        raise ValueError(f"Boundaries ({b.dtype.name}) must have the same dtype as x ({x.dtype.name}).")
    fitting: Tensor = cast(b, x.dtype)
    return fitting


describe(globals(), OPTIMIZERS)
