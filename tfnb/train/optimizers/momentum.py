"""Momentum optimizer: gradient descent with momentum, optionally Nesterov's."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.math.casting import cast
from tfnb.ops.state import assign as state
from tfnb.ops.state import training
from tfnb.train.optimizers.optimizer import Optimizer
from tfnb.variables.variable import Variable


class MomentumOptimizer(Optimizer):
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

    def __init__(self, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = "Momentum",
                 use_nesterov: bool = False) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum = learning_rate, momentum
        self._use_nesterov = use_nesterov
        self._learning_rate_tensor: Any = None
        self._momentum_tensor: Any = None

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self) -> None:
        rate, momentum = self._call_if_callable(self._learning_rate), self._call_if_callable(self._momentum)
        self._learning_rate_tensor = convert_to_tensor(rate, name="learning_rate")
        self._momentum_tensor = convert_to_tensor(momentum, name="momentum")

    def _apply_dense(self, grad: Tensor, var: Variable) -> Operation:
        dtype = var.dtype.base_dtype
        op: Operation = state.ApplyMomentum(
            var, self.get_slot(var, "momentum"), cast(self._learning_rate_tensor, dtype), grad,
            cast(self._momentum_tensor, dtype), use_locking=self._use_locking, use_nesterov=self._use_nesterov).op
        return op

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Operation:
        dtype = var.dtype.base_dtype
        op: Operation = training.SparseApplyMomentum(
            var, self.get_slot(var, "momentum"), cast(self._learning_rate_tensor, dtype), grad.values, grad.indices,
            cast(self._momentum_tensor, dtype), use_locking=self._use_locking, use_nesterov=self._use_nesterov).op
        return op
