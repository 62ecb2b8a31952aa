"""Proximal gradient descent and proximal Adagrad, with L1 and L2 regularization (Duchi and Singer, 2009)."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import colocate_with
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.math.casting import cast
from tfnb.ops.state import training
from tfnb.train.optimizers import slots
from tfnb.train.optimizers.optimizer import Optimizer
from tfnb.variables.variable import Variable


class _Proximal(Optimizer):
    """Base class of both: the learning rate and the two regularization strengths, and their tensors."""

    def __init__(self, learning_rate: Any, l1: Any, l2: Any, use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        self._numbers = {"learning_rate": learning_rate, "l1_regularization_strength": l1,
                         "l2_regularization_strength": l2}
        self._tensors: list[Tensor] = []

    def _prepare(self) -> None:
        self._tensors = [convert_to_tensor(self._call_if_callable(number), name=name)
                         for name, number in self._numbers.items()]

    def _cast(self, var: Variable) -> list[Any]:
        return [cast(t, var.dtype.base_dtype) for t in self._tensors]


class ProximalGradientDescentOptimizer(_Proximal):
    """Proximal gradient descent: after a step, shrink by `learning_rate * l1`, then divide by `1 + learning_rate * l2`.

    All three may be numbers, scalar tensors, or functions that return one.

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.train.ProximalGradientDescentOptimizer(learning_rate=0.1, l1_regularization_strength=0.5)
    >>> step = optimizer.minimize(v ** 2)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.75
    """

    def __init__(self, learning_rate: Any, l1_regularization_strength: Any = 0.0, l2_regularization_strength: Any = 0.0,
                 use_locking: bool = False, name: str = "ProximalGradientDescent") -> None:
        super().__init__(learning_rate, l1_regularization_strength, l2_regularization_strength, use_locking, name)

    def _apply_dense(self, grad: Tensor, var: Variable) -> Operation:
        op: Operation = training.ApplyProximalGradientDescent(var, *self._cast(var), grad,
                                                              use_locking=self._use_locking).op
        return op

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Operation:
        op: Operation = training.SparseApplyProximalGradientDescent(
            var, *self._cast(var), grad.values, grad.indices, use_locking=self._use_locking).op
        return op


class ProximalAdagradOptimizer(_Proximal):
    """Proximal Adagrad: as ProximalGradientDescentOptimizer, at the rate `learning_rate / sqrt(accumulator)`.

    initial_accumulator_value: the initial value of the accumulators; raises ValueError if it is not positive. Slot:
    "accumulator".

    >>> v = tf.Variable(1.0)
    >>> step = tf.train.ProximalAdagradOptimizer(learning_rate=0.1, l1_regularization_strength=0.5).minimize(v ** 2)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.8765
    """

    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1,
                 l1_regularization_strength: Any = 0.0, l2_regularization_strength: Any = 0.0,
                 use_locking: bool = False, name: str = "ProximalAdagrad") -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(learning_rate, l1_regularization_strength, l2_regularization_strength, use_locking, name)
        self._start = initial_accumulator_value

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        for v in var_list:
            with colocate_with(v.op):
                start = slots.constant_like(v, self._start)
            self._get_or_make_slot(v, start, "accumulator", self._name)

    def _apply_dense(self, grad: Tensor, var: Variable) -> Operation:
        op: Operation = training.ApplyProximalAdagrad(var, self.get_slot(var, "accumulator"), *self._cast(var), grad,
                                                      use_locking=self._use_locking).op
        return op

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Operation:
        op: Operation = training.SparseApplyProximalAdagrad(
            var, self.get_slot(var, "accumulator"), *self._cast(var), grad.values, grad.indices,
            use_locking=self._use_locking).op
        return op
