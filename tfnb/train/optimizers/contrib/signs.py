"""AddSign and PowerSign: gradients scaled by their agreement in sign with their mean (Bello et al., 2017)."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.functions.language import exp, sign
from tfnb.ops.array.gather import gather
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.control.group import group
from tfnb.ops.math.arithmetic import Sign
from tfnb.ops.math.functions import Exp
from tfnb.ops.state.scatter import scatter_sub
from tfnb.ops.state.step import Ref, T, step
from tfnb.train.optimizers.declared import DeclaredOptimizer, Hyper, Rule, Slot, keep_arguments
from tfnb.variables.variable import Variable


@step(rows=False)
def ApplyAddSign(var: Ref, m: Ref, lr: T, alpha: T, sign_decay: T, beta: T, grad: T) -> Any:
    """Apply AddSign: var -= lr * (alpha + sign_decay * sign(grad) * sign(m)) * grad; m moves to grad by 1 - beta."""
    mean = m + (grad - m) * (1 - beta)
    return var - lr * (alpha + sign_decay * sign(grad) * sign(mean)) * grad, mean


@step(rows=False)
def ApplyPowerSign(var: Ref, m: Ref, lr: T, logbase: T, sign_decay: T, beta: T, grad: T) -> Any:
    """Apply PowerSign: as ApplyAddSign, with the factor exp(logbase * sign_decay * sign(grad) * sign(m))."""
    mean = m + (grad - m) * (1 - beta)
    return var - lr * exp(logbase * sign_decay * sign(grad) * sign(mean)) * grad, mean


class SignOptimizer(DeclaredOptimizer):
    """Base class of both. Of a sparse gradient the rows that it has are updated, and all of m."""

    _sign_decay_fn: Callable[[Any], Any] | None
    _sign_decay: Any = 1.0

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Operation:
        """Apply the gradients as tf.train.Optimizer does, with sign_decay_fn(global_step) as the decay of the signs."""
        self._sign_decay = 1.0 if self._sign_decay_fn is None else self._sign_decay_fn(global_step)
        return super().apply_gradients(grads_and_vars, global_step, name)

    def _step_rows(self, grad: IndexedSlices, var: Variable) -> Operation:
        beta = self._step_input("beta", var)
        mean = self._decayed(var, "m", grad.indices, grad.values * (1 - beta), beta)
        signs = self._step_input("sign_decay", var) * Sign(grad.values) * Sign(gather(mean, grad.indices))
        change = self._step_input("lr", var) * self._factor(var, signs) * grad.values
        return group(scatter_sub(var, grad.indices, change, use_locking=self._use_locking), mean)

    def _factor(self, var: Variable, signs: Tensor) -> Any:
        """Return the factor of the gradient. signs: sign(grad) * sign(m), decayed."""
        raise NotImplementedError


class AddSignOptimizer(SignOptimizer):
    """AddSign: var -= learning_rate * (alpha + sign_decay * sign(gradient) * sign(m)) * gradient.

    m is a moving average of the gradient with the decay beta. sign_decay_fn: a function of the global step that
    returns sign_decay (None: 1). learning_rate, alpha, beta: numbers, scalar tensors, or functions that return one.
    Slot: "m".

    >>> v = tf.Variable(1.0)
    >>> step = tf.contrib.opt.AddSignOptimizer(learning_rate=0.1).minimize(v ** 2)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.6
    """

    _rule = Rule(ApplyAddSign, {"m": Slot("m")},
                 [Hyper("lr", "learning_rate"), Hyper("beta"), Hyper("alpha"), Hyper("sign_decay")], short_names=True)

    @keep_arguments
    def __init__(self, learning_rate: Any = 0.1, alpha: Any = 1.0, beta: Any = 0.9,
                 sign_decay_fn: Callable[[Any], Any] | None = None, use_locking: bool = False,
                 name: str = "AddSignOptimizer") -> None: ...

    def _factor(self, var: Variable, signs: Tensor) -> Any:
        return self._step_input("alpha", var) + signs


class PowerSignOptimizer(SignOptimizer):
    """PowerSign: var -= learning_rate * base ^ (sign_decay * sign(gradient) * sign(m)) * gradient.

    base: a positive number. Other arguments and the slot: see AddSignOptimizer.

    >>> v = tf.Variable(1.0)
    >>> step = tf.contrib.opt.PowerSignOptimizer(learning_rate=0.1, base=2.0).minimize(v ** 2)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.6
    """

    _rule = Rule(ApplyPowerSign, {"m": Slot("m")},
                 [Hyper("lr", "learning_rate"), Hyper("beta"), Hyper("logbase"), Hyper("sign_decay")], short_names=True)

    @keep_arguments
    def __init__(self, learning_rate: Any = 0.1, base: float = math.e, beta: Any = 0.9,
                 sign_decay_fn: Callable[[Any], Any] | None = None, use_locking: bool = False,
                 name: str = "PowerSignOptimizer") -> None:
        self._logbase = math.log(base)

    def _factor(self, var: Variable, signs: Tensor) -> Any:
        return Exp(self._step_input("logbase", var) * signs)


describe(globals(), OPTIMIZERS)
