"""Adagrad dual averaging: the variable is a function of the sums of all gradients (Duchi et al., 2011)."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import colocate_with, device
from tfnb.kernels.functions.language import maximum, sign, sqrt, where
from tfnb.ops.array.reshape import Identity
from tfnb.ops.declaration.construct import Constructor
from tfnb.ops.state.step import Int64, Ref, T, cast, step
from tfnb.train.optimizers import slots
from tfnb.train.optimizers.declared import DeclaredOptimizer, Hyper, Rule, Slot, keep_arguments
from tfnb.variables.variable import Variable


@step()
def ApplyAdagradDA(var: Ref, gradient_accumulator: Ref, gradient_squared_accumulator: Ref, grad: T, lr: T, l1: T, l2: T,
                   global_step: Int64) -> Any:
    """Apply Adagrad with dual averaging (Duchi et al., 2011): the variable follows from the sums of all gradients."""
    count = cast(global_step)
    total = gradient_accumulator + grad
    squares = gradient_squared_accumulator + grad * grad
    rest = where(l1 > 0, sign(total) * maximum(abs(total) - l1 * count, 0), total)
    return -lr * rest / (l2 * count * lr + sqrt(squares)), total, squares


SQUARED = "gradient_squared_accumulator"


class AdagradDAOptimizer(DeclaredOptimizer):
    """var = -learning_rate * g / (l2 * step * learning_rate + sqrt(g2)), g and g2 the sums of gradients and squares.

    Within `l1 * step` g counts as 0, so that weights without much gradient become exactly 0. learning_rate: a number,
    a scalar tensor, or a function that returns one. global_step: an int64 variable, which someone else counts up.
    initial_gradient_squared_accumulator_value: the initial value of g2; raises ValueError if it is not positive. Slots:
    "gradient_accumulator" and "gradient_squared_accumulator".

    >>> v, count = tf.Variable(1.0), tf.train.create_global_step()
    >>> step = tf.train.AdagradDAOptimizer(learning_rate=0.1, global_step=count).minimize(v ** 2, global_step=count)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    -0.0988
    """

    _rule = Rule(ApplyAdagradDA, {each: Slot(each) for each in ("gradient_accumulator", SQUARED)},
                 [Hyper("lr", "learning_rate"), Hyper("l1", "l1_regularization_strength", shared=False),
                  Hyper("l2", "l2_regularization_strength", shared=False)])

    @keep_arguments
    def __init__(self, learning_rate: Any, global_step: Any, initial_gradient_squared_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = "AdagradDA") -> None:
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError("initial_gradient_squared_accumulator_value must be positive: "
                             f"{initial_gradient_squared_accumulator_value}")

    def _slot_start(self, var: Variable, slot: Slot) -> Tensor:
        squared = slot.name == SQUARED
        with colocate_with(var.op):
            return slots.constant_like(var, self._initial_gradient_squared_accumulator_value if squared else 0.0)

    def _prepare(self) -> None:
        super()._prepare()
        with colocate_with(self._learning_rate_tensor):
            self._global_step_on_worker = Identity(self._global_step) + 1

    def _apply_step(self, step: Constructor, var: Variable, **given: Any) -> Operation:
        with device(var.device):
            count = Identity(self._global_step_on_worker)
        return super()._apply_step(step, var, **given, global_step=count)


describe(globals(), OPTIMIZERS)
