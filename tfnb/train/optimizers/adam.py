"""Adam optimizer: steps from moving averages of the gradient's first two moments (Kingma and Ba, 2014)."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import get_default_graph
from tfnb.kernels.functions.language import maximum, sqrt, where
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.control.group import group
from tfnb.ops.math.functions import Sqrt
from tfnb.ops.state import assign as state
from tfnb.ops.state.step import Ref, T, step
from tfnb.train.optimizers.declared import DeclaredOptimizer, Hyper, Rule, Slot, keep_arguments
from tfnb.variables.variable import Variable


@step(rows=False)
def ApplyAdam(var: Ref, m: Ref, v: Ref, beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T,
              *, use_nesterov: bool = False) -> Any:
    """Apply a step of Adam (Kingma and Ba, 2014), in the form of the end of section 2 of the paper.

    lr_t = lr * sqrt(1 - beta2_power) / (1 - beta1_power); m and v move towards grad and its square by 1 - beta1 and
    1 - beta2; var -= lr_t * m / (sqrt(v) + epsilon).
    """
    alpha = lr * sqrt(1 - beta2_power) / (1 - beta1_power)
    mean = m + (grad - m) * (1 - beta1)
    square = v + (grad * grad - v) * (1 - beta2)
    ahead = where(use_nesterov, mean * beta1 + (1 - beta1) * grad, mean)
    return var - ahead * alpha / (sqrt(square) + epsilon), mean, square


@step(rows=False, references=False)
def ApplyAdamWithAmsgrad(var: Ref, m: Ref, v: Ref, vhat: Ref, beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T,
                         epsilon: T, grad: T) -> Any:
    """Apply a step of AMSGrad (Reddi et al., 2018): Adam, with the largest v so far, vhat, in the place of v."""
    alpha = lr * sqrt(1 - beta2_power) / (1 - beta1_power)
    mean = m + (grad - m) * (1 - beta1)
    square = v + (grad * grad - v) * (1 - beta2)
    largest = maximum(vhat, square)
    return var - mean * alpha / (sqrt(largest) + epsilon), mean, square, largest


class AdamOptimizer(DeclaredOptimizer):
    """Adam: var -= lr_t * m / (sqrt(v) + epsilon), with lr_t = learning_rate * sqrt(1 - beta2^t) / (1 - beta1^t).

    m and v are moving averages of the gradient and of its square, with the decays beta1 and beta2. All four numbers
    may be scalar tensors, or functions that return one. epsilon is outside of the bias correction (it is the
    "epsilon hat" of the paper). Slots: "m" and "v"; the powers beta1^t and beta2^t are variables too.

    >>> v = tf.Variable(1.0)
    >>> step = tf.train.AdamOptimizer(learning_rate=0.1).minimize(v ** 2)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.9
    """

    _rule = Rule(ApplyAdam, {"m": Slot("m"), "v": Slot("v")},
                 [Hyper("lr", "learning_rate"), Hyper("beta1"), Hyper("beta2"), Hyper("epsilon")],
                 powers={"beta1_power": "beta1", "beta2_power": "beta2"}, short_names=True)

    @keep_arguments
    def __init__(self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
                 use_locking: bool = False, name: str = "Adam",
                 use_own_namescope_for_non_slot_vars: bool = False) -> None: ...

    def _get_beta_accumulators(self) -> tuple[Variable, Variable]:
        """Return the variables beta1^t and beta2^t of the default graph, for subclasses."""
        graph = get_default_graph()
        return self._power_variable("beta1_power", graph), self._power_variable("beta2_power", graph)

    def _numbers(self, var: Variable) -> list[Tensor]:
        """Return beta1^t, beta2^t, the learning rate, beta1, beta2 and epsilon in the variable's dtype."""
        names = "beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon"
        return [self._step_input(name, var) for name in names]

    def _step_rows(self, grad: IndexedSlices, var: Variable) -> Operation:
        """Apply a sparse gradient: all of m and v decay, and every element of the variable is updated."""
        first, second, rate, beta1, beta2, epsilon = self._numbers(var)
        rate = rate * Sqrt(1 - second) / (1 - first)
        mean = self._decayed(var, "m", grad.indices, grad.values * (1 - beta1), beta1)
        square = self._decayed(var, "v", grad.indices, (grad.values * grad.values) * (1 - beta2), beta2)
        root = Sqrt(square)
        update = state.assign_sub(var, rate * mean / (root + epsilon), use_locking=self._use_locking)
        return group(update, mean, square)


describe(globals(), OPTIMIZERS)
