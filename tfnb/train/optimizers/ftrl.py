"""FTRL-Proximal optimizer: L1 and L2 regularization with sparse weights (McMahan et al., 2013)."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.graph.parts.operation import Tensor
from tfnb.kernels.functions.language import maximum, minimum, sqrt, where
from tfnb.ops.array.create import ones
from tfnb.ops.math import arithmetic
from tfnb.ops.state.step import Ref, T, step
from tfnb.train.optimizers.declared import DeclaredOptimizer, Hyper, Rule, Slot, keep_arguments
from tfnb.variables.variable import Variable


@step()
def ApplyFtrl(var: Ref, accum: Ref, linear: Ref, grad: T, lr: T, l1: T, l2: T, lr_power: T, *,
              multiply_linear_by_lr: bool = False) -> Any:
    """Apply FTRL-Proximal (McMahan et al., 2013): the variable follows from `linear`, 0 where that is within l1."""
    total = accum + grad * grad
    root = where(lr_power == -0.5, sqrt(total), total ** -lr_power)
    grown = root - where(lr_power == -0.5, sqrt(accum), accum ** -lr_power)
    scale = where(multiply_linear_by_lr, lr, 1.0)
    over = where(multiply_linear_by_lr, 1.0, lr)
    line = linear + grad * scale - grown / over * var
    within = maximum(minimum(line, l1 * scale), -l1 * scale)
    return (within - line) / (root / over + 2 * l2 * scale), total, line


@step()
def ApplyFtrlV2(var: Ref, accum: Ref, linear: Ref, grad: T, lr: T, l1: T, l2: T, l2_shrinkage: T, lr_power: T, *,
                multiply_linear_by_lr: bool = False) -> Any:
    """As ApplyFtrl, with `2 * l2_shrinkage * var` added to the gradient, but not to its square."""
    total = accum + grad * grad
    root = where(lr_power == -0.5, sqrt(total), total ** -lr_power)
    grown = root - where(lr_power == -0.5, sqrt(accum), accum ** -lr_power)
    scale = where(multiply_linear_by_lr, lr, 1.0)
    over = where(multiply_linear_by_lr, 1.0, lr)
    line = linear + (grad + 2 * l2_shrinkage * var) * scale - grown / over * var
    within = maximum(minimum(line, l1 * scale), -l1 * scale)
    return (within - line) / (root / over + 2 * l2 * scale), total, line


class FtrlOptimizer(DeclaredOptimizer):
    """FTRL-Proximal: the variable is a function of the sum of gradients; it is 0 where that is within l1.

    The effective rate of an element is `learning_rate * (accum + gradient^2) ^ learning_rate_power`.
    learning_rate: a number, a scalar tensor, or a function that returns one. learning_rate_power: at most 0 (0: a
    constant rate). initial_accumulator_value: the initial value of accum. l1_regularization_strength,
    l2_regularization_strength: not negative. accum_name, linear_name: of the slots (by default `name`).
    l2_shrinkage_regularization_strength: pulls towards zero by the size of the weights. beta: added to the root of
    accum, as in the paper. Raises ValueError for a number out of its range. Slots: "accum" and "linear".

    >>> v = tf.Variable(1.0)
    >>> step = tf.train.FtrlOptimizer(learning_rate=0.1).minimize(v ** 2)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.7451
    """

    _rule = Rule(ApplyFtrl, {"accum": Slot("accum", title="accum_name"), "linear": Slot("linear", title="linear_name")},
                 [Hyper("lr", "learning_rate"), Hyper("l1", "l1_regularization_strength"),
                  Hyper("l2", "adjusted_l2_regularization_strength"), Hyper("beta"),
                  Hyper("l2_shrinkage", "l2_shrinkage_regularization_strength"),
                  Hyper("lr_power", "learning_rate_power")])

    _learning_rate: Any

    @keep_arguments
    def __init__(self, learning_rate: Any, learning_rate_power: float = -0.5, initial_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = "Ftrl", accum_name: str | None = None,
                 linear_name: str | None = None, l2_shrinkage_regularization_strength: float = 0.0,
                 beta: float | None = None) -> None:
        for what in ("initial_accumulator_value", "l1_regularization_strength", "l2_regularization_strength",
                     "l2_shrinkage_regularization_strength"):
            if (number := getattr(self, f"_{what}")) < 0.0:
                raise ValueError(f"{what} {number} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power {learning_rate_power} needs to be negative or zero")
        self._beta = beta or 0.0
        if l2_shrinkage_regularization_strength > 0.0:
            self._rule = replace(self._rule, step=ApplyFtrlV2)

    def _slot_start(self, var: Variable, slot: Slot) -> Any:
        def initializer(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Tensor:
            made: Tensor = ones(shape=shape, dtype=dtype) * self._initial_accumulator_value
            return made
        return initializer if slot.name == "accum" else None

    def _prepare(self) -> None:
        given = self._learning_rate
        rate = self._learning_rate = self._call_if_callable(given)              # once
        self._adjusted_l2_regularization_strength = lambda: (
            self._l2_regularization_strength + self._beta / (2.0 * arithmetic.maximum(rate, 1e-36)))
        super()._prepare()
        self._learning_rate = given


describe(globals(), OPTIMIZERS)
