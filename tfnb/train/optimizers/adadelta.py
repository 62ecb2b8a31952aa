"""Adadelta optimizer: steps scaled by the RMS of recent updates over that of recent gradients (Zeiler, 2012)."""
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


class AdadeltaOptimizer(Optimizer):
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

    def __init__(self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: Any = 1e-8, use_locking: bool = False,
                 name: str = "Adadelta") -> None:
        super().__init__(use_locking, name)
        self._numbers = {"lr": learning_rate, "rho": rho, "epsilon": epsilon}
        self._tensors: dict[str, Tensor] = {}

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        for v in var_list:
            self._zeros_slot(v, "accum", self._name)
            self._zeros_slot(v, "accum_update", self._name)

    def _prepare(self) -> None:
        self._tensors = {name: convert_to_tensor(self._call_if_callable(number), name=name)
                         for name, number in self._numbers.items()}

    def _arguments(self, var: Variable) -> list[Any]:
        slots = [self.get_slot(var, name) for name in ("accum", "accum_update")]
        return [var, *slots, *(cast(t, var.dtype.base_dtype) for t in self._tensors.values())]

    def _apply_dense(self, grad: Tensor, var: Variable) -> Operation:
        op: Operation = state.ApplyAdadelta(*self._arguments(var), grad, use_locking=self._use_locking).op
        return op

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Operation:
        op: Operation = training.SparseApplyAdadelta(*self._arguments(var), grad.values, grad.indices,
                                                     use_locking=self._use_locking).op
        return op
