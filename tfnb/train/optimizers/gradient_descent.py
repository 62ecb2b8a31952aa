"""Gradient descent optimizer."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.state.step import Ref, T, step
from tfnb.train.optimizers.declared import DeclaredOptimizer, Hyper, Rule, keep_arguments
from tfnb.variables.resource_variable import ResourceVariable
from tfnb.variables.variable import Variable


@step(rows=False)
def ApplyGradientDescent(var: Ref, alpha: T, delta: T) -> Any:
    """Apply a gradient descent step: var -= alpha * delta."""
    return var - alpha * delta


class GradientDescentOptimizer(DeclaredOptimizer):
    """Gradient descent: var -= learning_rate * gradient.

    learning_rate: a number, a scalar tensor, or a function that returns one.

    >>> v = tf.Variable(1.0)
    >>> step = tf.train.GradientDescentOptimizer(learning_rate=0.1).minimize(v ** 2)
    >>> sess.run(v.initializer)
    >>> sess.run(step)
    >>> sess.run(v)
    0.8
    """

    _rule = Rule(ApplyGradientDescent, hyperparameters=[Hyper("alpha", "learning_rate")])

    @keep_arguments
    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None: ...

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Variable) -> Operation:
        return self._step_rows(grad, var)

    def _resource_apply_sparse_duplicate_indices(self, grad: Tensor, handle: ResourceVariable,
                                                 indices: Tensor) -> Operation:
        return self._step_rows(IndexedSlices(grad, indices), handle)

    def _step_rows(self, grad: IndexedSlices, var: Variable) -> Operation:
        """Subtract the rows of a gradient; a duplicate index is subtracted each time."""
        move = grad.values * self._step_input("alpha", var)
        return var.scatter_sub(IndexedSlices(move, grad.indices, grad.dense_shape), use_locking=self._use_locking).op


describe(globals(), OPTIMIZERS)
