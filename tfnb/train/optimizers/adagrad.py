"""Adagrad optimizer: per-element learning rates from accumulated squared gradients (Duchi et al., 2011)."""
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
from tfnb.variables.initializers import constant_initializer
from tfnb.variables.variable import Variable


class AdagradOptimizer(Optimizer):
    """Adagrad: accumulator += gradient^2; var -= learning_rate * gradient / sqrt(accumulator).

    learning_rate: a number, a scalar tensor, or a function that returns one. initial_accumulator_value: the
    accumulators' initial value; raises ValueError if it is not positive. Slot: "accumulator".

    >>> v = tf.Variable(1.0)
    >>> step = tf.train.AdagradOptimizer(learning_rate=0.1).minimize(v ** 2)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.9012
    """

    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False,
                 name: str = "Adagrad") -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate, self._initial_accumulator_value = learning_rate, initial_accumulator_value
        self._learning_rate_tensor: Any = None

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        for v in var_list:
            dtype = v.dtype.base_dtype
            start = constant_initializer(self._initial_accumulator_value, dtype=dtype)
            self._get_or_make_slot_with_initializer(v, start, v.shape, dtype, "accumulator", self._name)

    def _prepare(self) -> None:
        rate = self._call_if_callable(self._learning_rate)
        self._learning_rate_tensor = convert_to_tensor(rate, name="learning_rate")

    def _apply_dense(self, grad: Tensor, var: Variable) -> Operation:
        rate = cast(self._learning_rate_tensor, var.dtype.base_dtype)
        op: Operation = state.ApplyAdagrad(var, self.get_slot(var, "accumulator"), rate, grad,
                                           use_locking=self._use_locking).op
        return op

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Operation:
        rate = cast(self._learning_rate_tensor, var.dtype.base_dtype)
        op: Operation = training.SparseApplyAdagrad(var, self.get_slot(var, "accumulator"), rate, grad.values,
                                                    grad.indices, use_locking=self._use_locking).op
        return op
