"""Adam optimizer: steps from moving averages of the gradient's first two moments (Kingma and Ba, 2014)."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import colocate_with, control_dependencies
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.control.group import group
from tfnb.ops.math.casting import cast
from tfnb.ops.math.functions import Sqrt
from tfnb.ops.state import assign as state
from tfnb.ops.state.scatter import scatter_add
from tfnb.train.optimizers.optimizer import Optimizer
from tfnb.variables.variable import Variable


class AdamOptimizer(Optimizer):
    """Adam: var -= lr_t * m / (sqrt(v) + epsilon), with lr_t = learning_rate * sqrt(1 - beta2^t) / (1 - beta1^t).

    m and v are moving averages of the gradient and of its square, with the decays beta1 and beta2. All four numbers
    may be scalar tensors, or functions that return one. epsilon is outside of the bias correction (it is the
    "epsilon hat" of the paper). Slots: "m" and "v"; the powers beta1^t and beta2^t are variables too.

    >>> v = tf.Variable(1.0)
    >>> step = tf.train.AdamOptimizer(learning_rate=0.1).minimize(v ** 2)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.9
    """

    def __init__(self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
                 use_locking: bool = False, name: str = "Adam",
                 use_own_namescope_for_non_slot_vars: bool = False) -> None:
        super().__init__(use_locking, name, use_own_namescope_for_non_slot_vars)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon
        self._tensors: dict[str, Tensor] = {}

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._call_if_callable(self._beta1), "beta1_power", first)
        self._create_non_slot_variable(self._call_if_callable(self._beta2), "beta2_power", first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self) -> None:
        numbers = {"learning_rate": self._lr, "beta1": self._beta1, "beta2": self._beta2, "epsilon": self._epsilon}
        self._tensors = {name: convert_to_tensor(self._call_if_callable(number), name=name)
                         for name, number in numbers.items()}

    def _powers(self, graph: Any) -> tuple[Variable, Variable]:
        first, second = (self._get_non_slot_variable(f"{name}_power", graph) for name in ("beta1", "beta2"))
        assert first is not None and second is not None
        return first, second

    def _apply_dense(self, grad: Tensor, var: Variable) -> Operation:
        dtype = var.dtype.base_dtype
        powers = [cast(power.value(), dtype) for power in self._powers(var.graph)]
        numbers = [cast(t, dtype) for t in self._tensors.values()]
        op: Operation = state.ApplyAdam(var, self.get_slot(var, "m"), self.get_slot(var, "v"), *powers, *numbers, grad,
                                        use_locking=self._use_locking).op
        return op

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Operation:
        """Apply a sparse gradient: all of m and v decay, and every element of the variable is updated."""
        dtype = var.dtype.base_dtype
        first, second = (cast(power.value(), dtype) for power in self._powers(var.graph))
        rate, beta1, beta2, epsilon = (cast(t, dtype) for t in self._tensors.values())
        rate = rate * Sqrt(1 - second) / (1 - first)
        mean = self._moved(var, "m", grad.indices, grad.values * (1 - beta1), beta1)
        square = self._moved(var, "v", grad.indices, (grad.values * grad.values) * (1 - beta2), beta2)
        root = Sqrt(square)
        update = state.assign_sub(var, rate * mean / (root + epsilon), use_locking=self._use_locking)
        return group(update, mean, square)

    def _moved(self, var: Variable, slot: str, indices: Tensor, values: Tensor, decay: Tensor) -> Tensor:
        """Decay a slot, add `values` at `indices`, and return its new value."""
        kept = self.get_slot(var, slot)
        assert kept is not None
        decayed = state.assign(kept, kept.value() * decay, use_locking=self._use_locking)
        with control_dependencies([decayed]):
            return scatter_add(kept, indices, values, use_locking=self._use_locking)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Operation:
        """Update the powers of beta1 and beta2 after all variables were updated with the old ones."""
        first, second = self._powers(self._tensors["beta1"].graph)
        with control_dependencies(update_ops), colocate_with(first.op):
            grown = [power.assign(power.value() * self._tensors[name], use_locking=self._use_locking)
                     for name, power in (("beta1", first), ("beta2", second))]
        return group(*update_ops, *grown, name=name_scope)
