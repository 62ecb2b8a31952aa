"""AdaMax optimizer: Adam with the infinity norm of past gradients (Kingma and Ba, 2014, section 7.1)."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.graph.parts.operation import Operation
from tfnb.kernels.functions.language import maximum
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.control.group import group
from tfnb.ops.math.arithmetic import Abs, Maximum
from tfnb.ops.state.scatter import scatter_sub
from tfnb.ops.state.step import Ref, T, step
from tfnb.train.optimizers.adam import AdamOptimizer
from tfnb.train.optimizers.declared import keep_arguments
from tfnb.variables.variable import Variable


@step(rows=False)
def ApplyAdaMax(var: Ref, m: Ref, v: Ref, beta1_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T) -> Any:
    """Apply a step of AdaMax: m moves towards grad by 1 - beta1; v = max(beta2 * v, |grad|);
    var -= lr / (1 - beta1_power) * m / (v + epsilon)."""
    mean = m + (grad - m) * (1 - beta1)
    norm = maximum(beta2 * v, abs(grad))
    return var - lr / (1 - beta1_power) * (mean / (norm + epsilon)), mean, norm


class AdaMaxOptimizer(AdamOptimizer):
    """AdaMax: var -= learning_rate / (1 - beta1^t) * m / (v + epsilon), with v = max(beta2 * v, |gradient|).

    m is a moving average of the gradient with the decay beta1. Arguments and slots as of tf.train.AdamOptimizer. Of a
    sparse gradient only the rows that it has are updated, in m and v, too.

    >>> v = tf.Variable(1.0)
    >>> step = tf.contrib.opt.AdaMaxOptimizer(learning_rate=0.25).minimize(v ** 2)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.75
    """

    _rule = replace(AdamOptimizer._rule, step=ApplyAdaMax, powers={"beta1_power": "beta1"})

    @keep_arguments
    def __init__(self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
                 use_locking: bool = False, name: str = "AdaMax") -> None: ...

    def _step_rows(self, grad: IndexedSlices, var: Variable) -> Operation:
        names = "beta1_power", "lr", "beta1", "beta2", "epsilon"
        first, rate, beta1, beta2, epsilon = (self._step_input(name, var) for name in names)
        mean, new_mean = self._rows_replaced(var, "m", grad.indices, lambda m: beta1 * m + (1 - beta1) * grad.values)
        norm, new_norm = self._rows_replaced(var, "v", grad.indices, lambda v: Maximum(beta2 * v, Abs(grad.values)))
        change = rate / (1 - first) * (new_mean / (new_norm + epsilon))
        return group(scatter_sub(var, grad.indices, change, use_locking=self._use_locking), mean, norm)


describe(globals(), OPTIMIZERS)
