"""Gradient descent optimizer."""
from __future__ import annotations

from typing import Any

from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.math.casting import cast
from tfnb.ops.state import assign as state
from tfnb.train.optimizers.optimizer import Optimizer
from tfnb.variables.variable import Variable


class GradientDescentOptimizer(Optimizer):
    """Gradient descent: var -= learning_rate * gradient.

    learning_rate: a number, a scalar tensor, or a function that returns one.

    >>> v = tf.Variable(1.0)
    >>> step = tf.train.GradientDescentOptimizer(learning_rate=0.1).minimize(v ** 2)
    >>> sess.run(v.initializer)
    >>> sess.run(step)
    >>> sess.run(v)
    0.8
    """

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor: Any = None

    def _prepare(self) -> None:
        rate = self._call_if_callable(self._learning_rate)
        self._learning_rate_tensor = convert_to_tensor(rate, name="learning_rate")

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Variable) -> Operation:
        """Subtract the rows of a gradient; a duplicate index is subtracted each time."""
        step = grad.values * cast(self._learning_rate_tensor, var.dtype.base_dtype)
        return var.scatter_sub(IndexedSlices(step, grad.indices, grad.dense_shape), use_locking=self._use_locking).op

    def _apply_dense(self, grad: Tensor, var: Variable) -> Operation:
        rate = cast(self._learning_rate_tensor, var.dtype.base_dtype)
        op: Operation = state.ApplyGradientDescent(var, rate, grad, use_locking=self._use_locking).op
        return op
