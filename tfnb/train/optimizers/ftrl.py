"""FTRL-Proximal optimizer: L1 and L2 regularization with sparse weights (McMahan et al., 2013)."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.core import dtypes
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.ops.array.create import ones
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.math.arithmetic import maximum
from tfnb.ops.math.casting import cast
from tfnb.ops.state import training
from tfnb.train.optimizers.optimizer import Optimizer
from tfnb.variables.variable import Variable


class FtrlOptimizer(Optimizer):
    """FTRL-Proximal: the variable is a function of the sum of gradients; it is 0 where that is within l1.

    The effective rate of an element is `learning_rate * (accum + gradient^2) ^ learning_rate_power`.
    learning_rate: a number, a scalar tensor, or a function that returns one. learning_rate_power: at most 0 (0: a
    constant rate). initial_accumulator_value: the initial value of accum. l1_regularization_strength,
    l2_regularization_strength: not negative. accum_name, linear_name: of the slots (by default `name`).
    l2_shrinkage_regularization_strength: pulls towards zero by the size of the weights. beta: added to the root of
    accum, as in the paper. Raises ValueError for a number out of its range. Slots: "accum" and "linear".

    >>> v = tf.Variable(1.0)
    >>> step = tf.train.FtrlOptimizer(learning_rate=0.1).minimize(v ** 2)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.7451
    """

    def __init__(self, learning_rate: Any, learning_rate_power: float = -0.5, initial_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = "Ftrl", accum_name: str | None = None,
                 linear_name: str | None = None, l2_shrinkage_regularization_strength: float = 0.0,
                 beta: float | None = None) -> None:
        super().__init__(use_locking, name)
        for what, number in (("initial_accumulator_value", initial_accumulator_value),
                             ("l1_regularization_strength", l1_regularization_strength),
                             ("l2_regularization_strength", l2_regularization_strength),
                             ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength)):
            if number < 0.0:
                raise ValueError(f"{what} {number} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power {learning_rate_power} needs to be negative or zero")
        self._learning_rate, self._learning_rate_power = learning_rate, learning_rate_power
        self._start, self._beta = initial_accumulator_value, 0.0 if beta is None else beta
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._shrinkage = l2_shrinkage_regularization_strength
        self._slot_names = accum_name or name, linear_name or name
        self._tensors: list[Tensor] = []

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        def initializer(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Tensor:
            made: Tensor = ones(shape=shape, dtype=dtype) * self._start
            return made

        for v in var_list:
            self._get_or_make_slot_with_initializer(v, initializer, v.shape, v.dtype.base_dtype, "accum",
                                                    self._slot_names[0])
            self._zeros_slot(v, "linear", self._slot_names[1])

    def _prepare(self) -> None:
        """Make the tensors of the rate, l1, l2 (including beta), the shrinkage if there is any, and the power."""
        rate = self._call_if_callable(self._learning_rate)
        rate_tensor = convert_to_tensor(rate, name="learning_rate")
        l1 = convert_to_tensor(self._l1, name="l1_regularization_strength")
        l2 = convert_to_tensor(self._l2 + self._beta / (2.0 * maximum(rate, 1e-36)),
                               name="adjusted_l2_regularization_strength")
        convert_to_tensor(self._beta, name="beta")
        shrinkage = convert_to_tensor(self._shrinkage, name="l2_shrinkage_regularization_strength")
        power = convert_to_tensor(self._learning_rate_power, name="learning_rate_power")
        self._tensors = [rate_tensor, l1, l2, *([shrinkage] if self._shrinkage > 0.0 else []), power]

    def _apply(self, ops: tuple[Any, Any], var: Variable, *grad: Tensor) -> Operation:
        slots = [self.get_slot(var, name) for name in ("accum", "linear")]
        numbers = [cast(t, var.dtype.base_dtype) for t in self._tensors]
        op: Operation = ops[self._shrinkage > 0.0](var, *slots, *grad, *numbers, use_locking=self._use_locking).op
        return op

    def _apply_dense(self, grad: Tensor, var: Variable) -> Operation:
        return self._apply((training.ApplyFtrl, training.ApplyFtrlV2), var, grad)

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Operation:
        return self._apply((training.SparseApplyFtrl, training.SparseApplyFtrlV2), var, grad.values, grad.indices)
