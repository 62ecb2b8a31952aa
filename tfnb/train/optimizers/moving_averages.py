"""Exponential moving averages of variables, kept in shadow variables."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.core import dtypes
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.graph import Graph
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import control_dependencies, get_default_graph, name_scope
from tfnb.opdef import kinds
from tfnb.ops.control.group import group
from tfnb.ops.math.arithmetic import Minimum, Pow
from tfnb.ops.math.casting import cast
from tfnb.ops.math.division import RealDiv
from tfnb.ops.state import assign as state
from tfnb.train.optimizers import slots
from tfnb.variables.helpers import moving_average_variables, trainable_variables
from tfnb.variables.initializers import zeros_initializer
from tfnb.variables.variable import Variable


def assign_moving_average(variable: Variable, value: Any, decay: Any, zero_debias: bool = True,
                          name: str | None = None) -> Tensor:
    """Update an exponential moving average: variable -= (1 - decay) * (variable - value).

    zero_debias: the variable started at zero, which the result corrects: see Adam's paper, section 3. Two more
    variables beside it, "biased" and "local_step", are made for that. Returns the variable after the step.
    """
    with name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        share = cast(convert_to_tensor(1.0 - decay, name="decay"), variable.dtype.base_dtype)
        if zero_debias:
            return state.assign(variable, _debiased(variable, value, share), use_locking=False, name=scope)
        return state.assign_sub(variable, (variable.value() - value) * share, name=scope)


def _debiased(variable: Variable, value: Any, share: Tensor) -> Tensor:
    """Return the bias-corrected moving average of one that started at zero."""
    with control_dependencies(None):
        biased = slots.create_zeros_slot(variable, "biased")
        steps = slots.create_slot_with_initializer(variable, zeros_initializer(), [], variable.dtype.base_dtype,
                                                   "local_step")
    average = state.assign_sub(biased, (biased.value() - value) * share)
    count = state.assign_add(steps, 1)
    result: Tensor = RealDiv(average, 1 - Pow(1.0 - share, count), name="truediv")
    return result


class ExponentialMovingAverage:
    """Exponential moving averages: shadow = decay * shadow + (1 - decay) * variable for variables, or for tensors.

    num_updates: a count of updates (the global step): decay is then min(decay, (1 + num_updates) / (10 +
    num_updates)), so that averages move faster at first. zero_debias: correct the start at zero of averages of
    tensors. name: of the operations, and the last part of the names of shadow variables.

    >>> v = tf.Variable(10.0)
    >>> average = tf.train.ExponentialMovingAverage(decay=0.9)
    >>> update = average.apply([v])
    >>> sess.run(tf.global_variables_initializer())
    >>> assigned = sess.run(v.assign(20.0))
    >>> sess.run(update)
    >>> sess.run(average.average(v))
    11.0
    """

    def __init__(self, decay: Any, num_updates: Any = None, zero_debias: bool = False,
                 name: str = "ExponentialMovingAverage") -> None:
        self._decay, self._num_updates, self._zero_debias, self._name = decay, num_updates, zero_debias, name
        self._averages: dict[tuple[Graph, str], Variable] = {}

    @property
    def name(self) -> str:
        """Name given to the constructor."""
        return self._name

    def apply(self, var_list: Sequence[Any] | None = None) -> Operation:
        """Create the shadow variables and return the op that updates them.

        var_list: variables, whose shadows start from their initial values, or tensors, whose shadows start from
        zero; by default the trainable variables. May be called several times with different ones. Raises TypeError
        for dtypes other than float16, float32 and float64, ValueError for what has a moving average already.
        """
        chosen = trainable_variables() if var_list is None else list(var_list)
        for v in chosen:
            if v.dtype.base_dtype not in (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64):
                raise TypeError(f"The variables must be half, float, or double: {v.name}")
            if self.average(v) is not None:
                raise ValueError(f"Moving average already computed for: {v.name}")
            with control_dependencies(None):
                self._averages[_key(v)] = self._shadow(v)
        with name_scope(self._name) as scope:
            decay = self._current_decay()
            moves = []
            for v in chosen:
                value = v.value() if isinstance(v, Variable) else v
                debias = self._zero_debias and not isinstance(v, Variable)
                moves.append(assign_moving_average(self._averages[_key(v)], value, decay, debias))
            return group(*moves, name=scope)

    def _shadow(self, v: Any) -> Variable:
        if not isinstance(v, Variable):
            return slots.create_zeros_slot(v, self._name, colocate_with_primary=isinstance(v.op.spec, kinds.Variable))
        made = slots.create_slot(v, v.initialized_value(), self._name)
        v.graph.add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, v)
        return made

    def _current_decay(self) -> Tensor:
        decay = convert_to_tensor(self._decay, name="decay")
        if self._num_updates is None:
            return decay
        count = cast(self._num_updates, dtypes.float32, name="num_updates")
        lower: Tensor = Minimum(decay, (1.0 + count) / (10.0 + count))
        return lower

    def average(self, var: Any) -> Variable | Any:
        """Return the shadow variable of `var`, or None if there is none."""
        found = self._averages.get(_key(var))
        return found if found is not None and slots.is_alive(found) else None

    def average_name(self, var: Any) -> str:
        """Return the name that the shadow variable of `var` has, or would have, for a Saver to restore it."""
        found = self.average(var)
        return found.op.name if found is not None else get_default_graph().unique_name(
            f"{var.op.name}/{self._name}", mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables: Sequence[Any] | None = None) -> dict[str, Any]:
        """Return a var_list for a Saver that restores averaged variables from their averages, others from their values.

        moving_avg_variables: those that have averages; by default the trainable ones and MOVING_AVERAGE_VARIABLES.
        """
        averaged = list(dict.fromkeys([*trainable_variables(), *moving_average_variables()]
                                      if moving_avg_variables is None else moving_avg_variables))
        names = {self.average_name(v): v for v in averaged}
        shadows = set(names)
        for v in get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES):
            if v not in averaged and v.op.name not in shadows:
                names[v.op.name] = v
        return names


def _key(v: Any) -> tuple[Graph, str]:
    return v.op.graph, v.op.name
