"""Proximal gradient descent and proximal Adagrad, with L1 and L2 regularization (Duchi and Singer, 2009)."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import colocate_with
from tfnb.kernels.functions.language import maximum, sign, sqrt
from tfnb.ops.state.step import Ref, T, step
from tfnb.train.optimizers import slots
from tfnb.train.optimizers.declared import DeclaredOptimizer, Hyper, Rule, Slot, keep_arguments
from tfnb.variables.variable import Variable


@step()
def ApplyProximalGradientDescent(var: Ref, alpha: T, l1: T, l2: T, delta: T) -> Any:
    """Apply a proximal gradient step: var -= alpha * delta, then shrink by `alpha * l1` and `1 + alpha * l2`."""
    ahead = var - delta * alpha
    return sign(ahead) * maximum(abs(ahead) - alpha * l1, 0) / (1 + l2 * alpha)


@step()
def ApplyProximalAdagrad(var: Ref, accum: Ref, lr: T, l1: T, l2: T, grad: T) -> Any:
    """As ApplyProximalGradientDescent, with the rate `lr / sqrt(accum)`, after accum += grad * grad."""
    total = accum + grad * grad
    rate = lr / sqrt(total)
    ahead = var - grad * rate
    return sign(ahead) * maximum(abs(ahead) - rate * l1, 0) / (1 + l2 * rate), total


STRENGTHS = (Hyper("l1", "l1_regularization_strength"), Hyper("l2", "l2_regularization_strength"))


class ProximalGradientDescentOptimizer(DeclaredOptimizer):
    """Proximal gradient descent: after a step, shrink by `learning_rate * l1`, then divide by `1 + learning_rate * l2`.

    All three may be numbers, scalar tensors, or functions that return one.

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.train.ProximalGradientDescentOptimizer(learning_rate=0.1, l1_regularization_strength=0.5)
    >>> step = optimizer.minimize(v ** 2)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.75
    """

    _rule = Rule(ApplyProximalGradientDescent, hyperparameters=[Hyper("alpha", "learning_rate"), *STRENGTHS])

    @keep_arguments
    def __init__(self, learning_rate: Any, l1_regularization_strength: Any = 0.0, l2_regularization_strength: Any = 0.0,
                 use_locking: bool = False, name: str = "ProximalGradientDescent") -> None: ...


class ProximalAdagradOptimizer(DeclaredOptimizer):
    """Proximal Adagrad: as ProximalGradientDescentOptimizer, at the rate `learning_rate / sqrt(accumulator)`.

    initial_accumulator_value: the initial value of the accumulators; raises ValueError if it is not positive. Slot:
    "accumulator".

    >>> v = tf.Variable(1.0)
    >>> step = tf.train.ProximalAdagradOptimizer(learning_rate=0.1, l1_regularization_strength=0.5).minimize(v ** 2)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.8765
    """

    _rule = Rule(ApplyProximalAdagrad, {"accum": Slot("accumulator")}, [Hyper("lr", "learning_rate"), *STRENGTHS])

    @keep_arguments
    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1,
                 l1_regularization_strength: Any = 0.0, l2_regularization_strength: Any = 0.0,
                 use_locking: bool = False, name: str = "ProximalAdagrad") -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")

    def _slot_start(self, var: Variable, slot: Slot) -> Tensor:
        with colocate_with(var.op):
            return slots.constant_like(var, self._initial_accumulator_value)


describe(globals(), OPTIMIZERS)
