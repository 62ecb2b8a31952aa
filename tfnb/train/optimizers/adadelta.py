"""Adadelta optimizer: steps scaled by the RMS of recent updates over that of recent gradients (Zeiler, 2012)."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.kernels.functions.language import sqrt
from tfnb.ops.state.step import Ref, T, step
from tfnb.train.optimizers.declared import DeclaredOptimizer, Hyper, Rule, Slot, keep_arguments


@step()
def ApplyAdadelta(var: Ref, accum: Ref, accum_update: Ref, lr: T, rho: T, epsilon: T, grad: T) -> Any:
    """Apply a step of Adadelta (Zeiler, 2012): steps have the size of recent steps over that of recent gradients."""
    square = accum * rho + grad * grad * (1 - rho)
    change = sqrt(accum_update + epsilon) / sqrt(square + epsilon) * grad
    return var - change * lr, square, accum_update * rho + change * change * (1 - rho)


class AdadeltaOptimizer(DeclaredOptimizer):
    """Adadelta: var -= learning_rate * sqrt(accum_update + epsilon) / sqrt(accum + epsilon) * gradient.

    accum and accum_update are moving means, with the decay rho, of the squares of gradients and of steps. All three
    may be numbers, scalar tensors, or functions that return one. Slots: "accum" and "accum_update".

    >>> v = tf.Variable(1.0)
    >>> step = tf.train.AdadeltaOptimizer(learning_rate=1.0, rho=0.95).minimize(v ** 2)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.9996
    """

    _rule = Rule(ApplyAdadelta, {"accum": Slot("accum"), "accum_update": Slot("accum_update")},
                 [Hyper("lr", "learning_rate", node="lr"), Hyper("rho"), Hyper("epsilon")], short_names=True)

    @keep_arguments
    def __init__(self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: Any = 1e-8, use_locking: bool = False,
                 name: str = "Adadelta") -> None: ...


describe(globals(), OPTIMIZERS)
