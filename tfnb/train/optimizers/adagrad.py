"""Adagrad optimizer: per-element learning rates from accumulated squared gradients (Duchi et al., 2011)."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.kernels.functions.language import sqrt, where
from tfnb.ops.state.step import Ref, T, step
from tfnb.train.optimizers.declared import DeclaredOptimizer, Hyper, Rule, Slot, keep_arguments


@step()
def ApplyAdagrad(var: Ref, accum: Ref, lr: T, grad: T, *, update_slots: bool = True) -> Any:
    """Apply a step of Adagrad: accum += grad * grad; var -= lr * grad / sqrt(accum)."""
    total = where(update_slots, accum + grad * grad, accum)
    return var - grad * lr / sqrt(total), total


@step()
def ApplyAdagradV2(var: Ref, accum: Ref, lr: T, epsilon: T, grad: T, *, update_slots: bool = True) -> Any:
    """Apply a step of Adagrad: accum += grad * grad; var -= lr * grad / (sqrt(accum) + epsilon)."""
    total = where(update_slots, accum + grad * grad, accum)
    return var - grad * lr / (sqrt(total) + epsilon), total


class AdagradOptimizer(DeclaredOptimizer):
    """Adagrad: accumulator += gradient^2; var -= learning_rate * gradient / sqrt(accumulator).

    learning_rate: a number, a scalar tensor, or a function that returns one. initial_accumulator_value: the
    accumulators' initial value; raises ValueError if it is not positive. Slot: "accumulator".

    >>> v = tf.Variable(1.0)
    >>> step = tf.train.AdagradOptimizer(learning_rate=0.1).minimize(v ** 2)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.9012
    """

    _rule = Rule(ApplyAdagrad, {"accum": Slot("accumulator", "initial_accumulator_value")},
                 [Hyper("lr", "learning_rate")])

    @keep_arguments
    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False,
                 name: str = "Adagrad") -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")


describe(globals(), OPTIMIZERS)
