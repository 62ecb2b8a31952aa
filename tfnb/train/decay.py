"""Learning rates that fall with the number of steps, as tensors of the graph."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.compare import Equal, LessEqual, Select, SelectV2
from tfnb.ops.functions import Cos, Exp
from tfnb.ops.math import AddV2, Ceil, Floor, Minimum, Mul, Neg, Pow, RealDiv, cast


def _checked(global_step: Any, what: str) -> None:
    if global_step is None:
        raise ValueError(f"global_step is required for {what}.")


def exponential_decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any,
                      staircase: bool = False, name: str | None = None) -> Tensor:
    """learning_rate * decay_rate ^ (global_step / decay_steps).

    staircase: use the integer part of the quotient, so that the rate falls in steps. The result is a scalar of the
    dtype of `learning_rate`. Raises ValueError without global_step.
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
    """learning_rate * e ^ (-decay_rate * global_step / decay_steps); arguments as of `exponential_decay`."""
    _checked(global_step, "natural_exp_decay")
    base = Exp(Neg(decay_rate))
    return exponential_decay(learning_rate, global_step, decay_steps, base, staircase, name)


def inverse_time_decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any,
                       staircase: bool = False, name: str | None = None) -> Tensor:
    """learning_rate / (1 + decay_rate * global_step / decay_steps); arguments as of `exponential_decay`."""
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
    """From learning_rate down to end_learning_rate in decay_steps, along (1 - step / decay_steps) ^ power.

    cycle: once it is there, start again with so many times decay_steps that the step lies within. Raises ValueError
    without global_step.
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
    """From learning_rate down to alpha * learning_rate in decay_steps, along half a cosine. ValueError without step."""
    _checked(global_step, "cosine_decay")
    with name_scope(name, "CosineDecay", [learning_rate, global_step, decay_steps]):
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        steps = cast(decay_steps, rate.dtype)
        passed = Minimum(cast(global_step, rate.dtype), steps) / steps
        half = convert_to_tensor(math.pi, dtype=rate.dtype, name="Const")
        share = 0.5 * (1.0 + Cos(half * passed))
        result: Tensor = Mul(rate, (1 - alpha) * share + alpha)
        return result


def piecewise_constant(x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None) -> Tensor:
    """values[0] while x <= boundaries[0], values[1] until boundaries[1], ..., and the last value after all of them.

    x: a scalar. Raises ValueError unless there is one value more than boundaries, and they have fitting dtypes.
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
    """A boundary as the dtype of x: numbers in a program are int32 or float32, x may be wider."""
    b = convert_to_tensor(boundary)
    if b.dtype.base_dtype == x.dtype.base_dtype:
        return b
    wider = b.dtype.base_dtype.name == "int32" and x.dtype.base_dtype.name == "int64"
    if not wider and not (b.dtype.is_floating and x.dtype.is_floating):
        raise ValueError(f"Boundaries ({b.dtype.name}) must have the same dtype as x ({x.dtype.name}).")
    return cast(b, x.dtype)
