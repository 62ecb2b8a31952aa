"""RMSProp optimizer: steps divided by the RMS of recent gradients (Tieleman and Hinton, 2012)."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.kernels.functions.language import sqrt
from tfnb.ops.state.step import Ref, T, step
from tfnb.train.optimizers.declared import DeclaredOptimizer, Hyper, Rule, Slot, keep_arguments
from tfnb.variables.initializers import ones_initializer


@step()
def ApplyRMSProp(var: Ref, ms: Ref, mom: Ref, lr: T, rho: T, momentum: T, epsilon: T, grad: T) -> Any:
    """ms moves towards grad * grad by 1 - rho; mom = mom * momentum + lr * grad / sqrt(ms + epsilon); var -= mom."""
    square = ms + (grad * grad - ms) * (1 - rho)
    change = mom * momentum + grad * lr / sqrt(square + epsilon)
    return var - change, square, change


@step()
def ApplyCenteredRMSProp(var: Ref, mg: Ref, ms: Ref, mom: Ref, lr: T, rho: T, momentum: T, epsilon: T, grad: T) -> Any:
    """Apply RMSProp with the estimated deviation: mg is a moving mean of grad, the variance ms - mg * mg."""
    mean = mg + (grad - mg) * (1 - rho)
    square = ms + (grad * grad - ms) * (1 - rho)
    change = mom * momentum + grad * lr / sqrt(square - mean * mean + epsilon)
    return var - change, mean, square, change


class RMSPropOptimizer(DeclaredOptimizer):
    """RMSProp: mom = momentum * mom + learning_rate * gradient / sqrt(rms + epsilon); var -= mom.

    rms is a moving average of gradient^2. learning_rate, decay (of rms), momentum, epsilon: numbers, scalar tensors,
    or functions that return one. centered: divide by the estimated variance, not by the second moment. Slots: "rms",
    "momentum" and, if centered, "mg" (the mean gradient).

    >>> v = tf.Variable(1.0)
    >>> step = tf.train.RMSPropOptimizer(learning_rate=0.1, decay=0.9).minimize(v ** 2)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.8246
    """

    _rule = Rule(ApplyRMSProp, {"ms": Slot("rms", ones_initializer()), "mg": Slot("mg"), "mom": Slot("momentum")},
                 [Hyper("lr", "learning_rate"), Hyper("rho", "decay"), Hyper("momentum"), Hyper("epsilon")])

    @keep_arguments
    def __init__(self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10,
                 use_locking: bool = False, centered: bool = False, name: str = "RMSProp") -> None:
        if centered:
            self._rule = replace(self._rule, step=ApplyCenteredRMSProp)


describe(globals(), OPTIMIZERS)
