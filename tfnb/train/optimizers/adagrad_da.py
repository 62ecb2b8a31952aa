"""Adagrad dual averaging: the variable is a function of the sums of all gradients (Duchi et al., 2011)."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import colocate_with, device
from tfnb.ops.array.reshape import Identity
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.math.casting import cast
from tfnb.ops.state import training
from tfnb.train.optimizers import slots
from tfnb.train.optimizers.optimizer import Optimizer
from tfnb.variables.variable import Variable


class AdagradDAOptimizer(Optimizer):
    """var = -learning_rate * g / (l2 * step * learning_rate + sqrt(g2)), g and g2 the sums of gradients and squares.

    Within `l1 * step` g counts as 0, so that weights without much gradient become exactly 0. learning_rate: a number,
    a scalar tensor, or a function that returns one. global_step: an int64 variable, which someone else counts up.
    initial_gradient_squared_accumulator_value: the initial value of g2; raises ValueError if it is not positive. Slots:
    "gradient_accumulator" and "gradient_squared_accumulator".

    >>> v, count = tf.Variable(1.0), tf.train.create_global_step()
    >>> step = tf.train.AdagradDAOptimizer(learning_rate=0.1, global_step=count).minimize(v ** 2, global_step=count)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    -0.0988
    """

    def __init__(self, learning_rate: Any, global_step: Any, initial_gradient_squared_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = "AdagradDA") -> None:
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError("initial_gradient_squared_accumulator_value must be positive: "
                             f"{initial_gradient_squared_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate, self._global_step = learning_rate, global_step
        self._start = initial_gradient_squared_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._learning_rate_tensor: Any = None
        self._next_step: Any = None

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        for v in var_list:
            with colocate_with(v.op):
                zeros, start = slots.constant_like(v, 0.0), slots.constant_like(v, self._start)
            self._get_or_make_slot(v, zeros, "gradient_accumulator", self._name)
            self._get_or_make_slot(v, start, "gradient_squared_accumulator", self._name)

    def _prepare(self) -> None:
        rate = self._call_if_callable(self._learning_rate)
        self._learning_rate_tensor = convert_to_tensor(rate, name="learning_rate")
        with colocate_with(self._learning_rate_tensor):
            self._next_step = Identity(self._global_step) + 1

    def _apply(self, op: Any, var: Variable, *grad: Tensor) -> Operation:
        slots = [self.get_slot(var, f"gradient_{name}") for name in ("accumulator", "squared_accumulator")]
        dtype = var.dtype.base_dtype
        with device(var.device):
            step = Identity(self._next_step)
        numbers = [cast(number, dtype) for number in (self._learning_rate_tensor, self._l1, self._l2)]
        made: Operation = op(var, *slots, *grad, *numbers, step, use_locking=self._use_locking).op
        return made

    def _apply_dense(self, grad: Tensor, var: Variable) -> Operation:
        return self._apply(training.ApplyAdagradDA, var, grad)

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Operation:
        return self._apply(training.SparseApplyAdagradDA, var, grad.values, grad.indices)
