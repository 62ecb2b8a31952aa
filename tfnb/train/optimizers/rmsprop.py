"""RMSProp optimizer: steps divided by the RMS of recent gradients (Tieleman and Hinton, 2012)."""
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
from tfnb.variables.initializers import ones_initializer
from tfnb.variables.variable import Variable


class RMSPropOptimizer(Optimizer):
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

    def __init__(self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10,
                 use_locking: bool = False, centered: bool = False, name: str = "RMSProp") -> None:
        super().__init__(use_locking, name)
        self._numbers = {"learning_rate": learning_rate, "decay": decay, "momentum": momentum, "epsilon": epsilon}
        self._centered = centered
        self._tensors: dict[str, Tensor] = {}

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        for v in var_list:
            self._get_or_make_slot_with_initializer(v, ones_initializer(), v.shape, v.dtype.base_dtype, "rms",
                                                    self._name)
            if self._centered:
                self._zeros_slot(v, "mg", self._name)
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self) -> None:
        self._tensors = {name: convert_to_tensor(self._call_if_callable(number), name=name)
                         for name, number in self._numbers.items()}

    def _apply_dense(self, grad: Tensor, var: Variable) -> Operation:
        numbers = [cast(t, var.dtype.base_dtype) for t in self._tensors.values()]
        names = ["mg", "rms", "momentum"] if self._centered else ["rms", "momentum"]
        apply = state.ApplyCenteredRMSProp if self._centered else state.ApplyRMSProp
        op: Operation = apply(var, *(self.get_slot(var, name) for name in names), *numbers, grad,
                              use_locking=self._use_locking).op
        return op

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Operation:
        numbers = [cast(t, var.dtype.base_dtype) for t in self._tensors.values()]
        names = ["mg", "rms", "momentum"] if self._centered else ["rms", "momentum"]
        apply = training.SparseApplyCenteredRMSProp if self._centered else training.SparseApplyRMSProp
        op: Operation = apply(var, *(self.get_slot(var, name) for name in names), *numbers, grad.values, grad.indices,
                              use_locking=self._use_locking).op
        return op
