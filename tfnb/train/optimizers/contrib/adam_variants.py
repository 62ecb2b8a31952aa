"""Variants of the Adam optimizer: lazy updates of rows, and Nesterov momentum (Dozat, 2016)."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.graph.parts.operation import Operation
from tfnb.ops.array.gather import gather
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.control.group import group
from tfnb.ops.math.arithmetic import Square
from tfnb.ops.math.functions import Sqrt
from tfnb.ops.state.scatter import scatter_sub
from tfnb.train.optimizers.adam import AdamOptimizer
from tfnb.train.optimizers.declared import keep_arguments
from tfnb.variables.variable import Variable


class LazyAdamOptimizer(AdamOptimizer):
    """Adam that updates of a sparse gradient only the rows that it has, in the slots m and v, too.

    tf.train.AdamOptimizer moves all rows at each step, since their m is not zero. Arguments and slots as there.

    >>> v = tf.Variable([1.0, 2.0])
    >>> step = tf.contrib.opt.LazyAdamOptimizer(learning_rate=0.25).minimize(tf.gather(v, [1]))
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    array([1.  , 1.75], dtype=float32)
    """

    def _step_rows(self, grad: IndexedSlices, var: Variable) -> Operation:
        first, second, rate, beta1, beta2, epsilon = self._numbers(var)
        mean, new_mean = self._rows_replaced(var, "m", grad.indices, lambda m: beta1 * m + (1 - beta1) * grad.values)
        square, new_square = self._rows_replaced(var, "v", grad.indices,
                                                 lambda v: beta2 * v + (1 - beta2) * Square(grad.values))
        change = rate * Sqrt(1 - second) / (1 - first) * new_mean / (Sqrt(new_square) + epsilon)
        return group(scatter_sub(var, grad.indices, change, use_locking=self._use_locking), mean, square)


class NadamOptimizer(AdamOptimizer):
    """Adam with Nesterov momentum (Dozat, 2016): the step is along beta1 * m + (1 - beta1) * gradient, not along m.

    Arguments and slots as of tf.train.AdamOptimizer. Of a sparse gradient the rows that it has are updated.

    >>> v = tf.Variable(1.0)
    >>> step = tf.contrib.opt.NadamOptimizer(learning_rate=0.1).minimize(v ** 2)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.81
    """

    _use_nesterov = True

    @keep_arguments
    def __init__(self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
                 use_locking: bool = False, name: str = "Adam") -> None: ...

    def _step_rows(self, grad: IndexedSlices, var: Variable) -> Operation:
        first, second, rate, beta1, beta2, epsilon = self._numbers(var)
        added = grad.values * (1 - beta1)
        mean = self._decayed(var, "m", grad.indices, added, beta1)
        square = self._decayed(var, "v", grad.indices, Square(grad.values) * (1 - beta2), beta2)
        ahead = added + beta1 * gather(mean, grad.indices)
        root = Sqrt(gather(square, grad.indices))
        change = rate * Sqrt(1 - second) / (1 - first) * ahead / (root + epsilon)
        return group(scatter_sub(var, grad.indices, change, use_locking=self._use_locking), mean, square)


describe(globals(), OPTIMIZERS)
