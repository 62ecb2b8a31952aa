"""Momentum optimizer: gradient descent with momentum, optionally Nesterov's."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.kernels.functions.language import where
from tfnb.ops.state.step import Ref, T, step
from tfnb.train.optimizers.declared import DeclaredOptimizer, Hyper, Rule, Slot, keep_arguments


@step()
def ApplyMomentum(var: Ref, accum: Ref, lr: T, grad: T, momentum: T, *, use_nesterov: bool = False) -> Any:
    """Apply momentum: accum = accum * momentum + grad; var -= lr * accum (Nesterov: lr * (grad + momentum * accum))."""
    speed = accum * momentum + grad
    change = where(use_nesterov, grad * lr + speed * momentum * lr, speed * lr)
    return var - change, speed


@step(references=False)
def ApplyKerasMomentum(var: Ref, accum: Ref, lr: T, grad: T, momentum: T, *, use_nesterov: bool = False) -> Any:
    """Apply momentum as Keras does: accum = accum * momentum - lr * grad; var += accum (Nesterov: accum * momentum - lr
    * grad)."""
    speed = accum * momentum - grad * lr
    return var + where(use_nesterov, speed * momentum - grad * lr, speed), speed


class MomentumOptimizer(DeclaredOptimizer):
    """Momentum: accumulation = momentum * accumulation + gradient; var -= learning_rate * accumulation.

    learning_rate, momentum: a number, a scalar tensor, or a function that returns one. use_nesterov: take the
    gradient as if the momentum had been followed already (Sutskever et al., 2013). Slot: "momentum".

    >>> v = tf.Variable(1.0)
    >>> step = tf.train.MomentumOptimizer(learning_rate=0.1, momentum=0.9).minimize(v ** 2)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step), sess.run(step)
    (None, None)
    >>> sess.run(v)
    0.46
    """

    _rule = Rule(ApplyMomentum, {"accum": Slot("momentum")}, [Hyper("lr", "learning_rate"), Hyper("momentum")])

    @keep_arguments
    def __init__(self, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = "Momentum",
                 use_nesterov: bool = False) -> None: ...


describe(globals(), OPTIMIZERS)
