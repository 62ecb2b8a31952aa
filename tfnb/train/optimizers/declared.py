"""Optimizers as declarations: the step of a variable, slots, hyperparameters, non-slot variables.

A class names its `Rule` and writes its constructor, whose arguments `keep_arguments` stores; the rest follows. What a
rule cannot say is a method that the class overrides, as the classes of users do.
"""
from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec

from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.graph import Graph
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import colocate_with, control_dependencies
from tfnb.ops.array.gather import gather
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.control.group import group
from tfnb.ops.declaration.construct import Constructor
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast
from tfnb.ops.state import assign as state
from tfnb.ops.state.scatter import scatter_add, scatter_update
from tfnb.ops.state.step import GRADIENTS
from tfnb.train.optimizers.optimizer import Optimizer
from tfnb.variables.initializers import constant_initializer
from tfnb.variables.resource_variable import ResourceVariable
from tfnb.variables.variable import Variable

P = ParamSpec("P")


class Slot(NamedTuple):
    """A slot. start: the initial value: None (zeros), an initializer, or the parameter of the constructor that has it.
    title: the parameter that names its variables, after which they are called if it is not None."""

    name: str
    start: Any = None
    title: str = ""


class Hyper(NamedTuple):
    """A hyperparameter: an input of the step, and the parameter of the constructor (by default of the same name).

    node: the name of its tensor in the graph (default: of the parameter). shared: one tensor serves all updates; else
    each update converts the value.
    """

    input: str
    parameter: str = ""
    node: str = ""
    shared: bool = True


@dataclass(frozen=True)
class Rule:
    """The declaration of an optimizer.

    step: the op on whole variables. rows: the op on rows (default: SparseApplyX for ApplyX). slots: {input of the
    step: slot}, in the order in which they are made. hyperparameters: in the order in which their tensors are made.
    powers: {input: the hyperparameter b}, variables of the whole optimizer that hold b^t in step t.

    Public programs read hyperparameters and tensors as attributes, which have TensorFlow's names: `_momentum` and
    `_momentum_tensor`; with short_names those of the inputs of the step, `_lr` and `_lr_t`.
    """

    step: Constructor
    slots: Mapping[str, Slot] = field(default_factory=dict)
    hyperparameters: Sequence[Hyper] = ()
    powers: Mapping[str, str] = field(default_factory=dict)
    short_names: bool = False
    rows: Constructor | None = None

    def attribute(self, parameter: str) -> str:
        """Return the attribute that a parameter of the constructor is kept in."""
        short = (h.input for h in self.hyperparameters if self.short_names and h.parameter == parameter)
        return f"_{next(short, parameter)}"

    def tensor(self, parameter: str) -> str:
        """Return the attribute that the tensor of a hyperparameter is kept in."""
        return self.attribute(parameter) + ("_t" if self.short_names else "_tensor")


def keep_arguments(init: Callable[P, None]) -> Callable[P, None]:
    """Decorate a constructor: `use_locking` and `name` go to Optimizer, other arguments to attributes of their names.

    Its body runs afterwards, for instance to check what it was given.
    """
    signature = inspect.signature(init)

    @wraps(init)
    def keep(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            init(*args, **kwargs)               # raises Python's own error, which names the class
            raise
        bound.apply_defaults()
        optimizer, *values = bound.arguments.items()
        self: Any = optimizer[1]
        given = dict(values)
        super(DeclaredOptimizer, self).__init__(given.pop("use_locking", False), given.pop("name"),
                                                given.pop("use_own_namescope_for_non_slot_vars", False))
        for parameter, value in given.items():
            setattr(self, self._rule.attribute(parameter), value)
        init(*args, **kwargs)
    return keep


class DeclaredOptimizer(Optimizer):
    """Base class of optimizers that are declared by a `Rule`."""

    _rule: Rule

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:
            """Type the attributes that `keep_arguments` and `_prepare` make."""

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        first = min(var_list, key=lambda v: v.name)
        for power, of in self._rule.powers.items():
            self._create_non_slot_variable(self._hyper_value(of), power, first)
        inputs = {arg.name for arg in self._rule.step.spec.inputs}
        slots = [slot for name, slot in self._rule.slots.items() if name in inputs]
        for v in var_list:
            starts = [self._slot_start(v, slot) for slot in slots]
            for slot, start in zip(slots, starts, strict=True):
                self._make_slot(v, slot, start, self._slot_title(slot))

    def _make_slot(self, var: Variable, slot: Slot, start: Any, title: str) -> Variable:
        if start is None:
            return self._zeros_slot(var, slot.name, title)
        if isinstance(start, Tensor):
            return self._get_or_make_slot(var, start, slot.name, title)
        return self._get_or_make_slot_with_initializer(var, start, var.shape, var.dtype.base_dtype, slot.name, title)

    def _slot_start(self, var: Variable, slot: Slot) -> Any:
        """Return the initial value of a slot: None (zeros), an initializer or a tensor."""
        if isinstance(slot.start, str):
            return constant_initializer(getattr(self, self._rule.attribute(slot.start)), dtype=var.dtype.base_dtype)
        return slot.start

    def _slot_title(self, slot: Slot) -> str:
        """Return what the variables of a slot are called after that which they are of."""
        return getattr(self, f"_{slot.title}", None) or self._name

    def _prepare(self) -> None:
        for hyper in self._rule.hyperparameters:
            if hyper.shared:
                name = hyper.parameter or hyper.input
                made = convert_to_tensor(self._hyper_value(name), name=hyper.node or name)
                setattr(self, self._rule.tensor(name), made)

    def _hyper_value(self, name: str) -> Any:
        """Return the value of a hyperparameter, as it was given or as the function that was given returns it."""
        return self._call_if_callable(getattr(self, self._rule.attribute(name)))

    # Overridden by users, so that none of these calls another: each override may add something to what it calls.

    def _apply_dense(self, grad: Tensor, var: Variable) -> Any:
        return self._step_dense(grad, var)

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Any:
        return self._step_rows(grad, var)

    def _resource_apply_dense(self, grad: Tensor, handle: ResourceVariable) -> Any:
        return self._step_dense(grad, handle)

    def _resource_apply_sparse(self, grad: Tensor, handle: ResourceVariable, indices: Tensor) -> Any:
        return self._step_rows(IndexedSlices(grad, indices), handle)

    def _step_dense(self, grad: Tensor, var: Variable) -> Operation:
        return self._apply_step(self._rule.step, var, **dict.fromkeys(GRADIENTS, grad))

    def _step_rows(self, grad: IndexedSlices, var: Variable) -> Operation:
        rows = self._rule.rows or getattr(raw, f"Sparse{self._rule.step.spec.name}")
        return self._apply_step(rows, var, grad=grad.values, indices=grad.indices)

    def _apply_step(self, step: Constructor, var: Variable, **given: Any) -> Operation:
        """Return the op of a step, or of its twin by handles. given: inputs that the rule does not say."""
        given["var"] = var
        inputs = [given[arg.name] if arg.name in given else self._step_input(arg.name, var) for arg in step.spec.inputs]
        names = (attr.name for attr in step.spec.attrs if hasattr(self, f"_{attr.name}"))
        flags = {name: getattr(self, f"_{name}") for name in names}
        if isinstance(var, ResourceVariable):
            handles = [x.handle if isinstance(x, ResourceVariable) else x for x in inputs]
            op: Operation = getattr(raw, f"Resource{step.spec.name}")(*handles, **flags)
            return op
        made: Tensor = step(*inputs, **flags)
        return made.op

    def _step_input(self, name: str, var: Variable) -> Any:
        """Return a slot, or the tensor of a power or hyperparameter in the variable's dtype, by the input's name."""
        rule = self._rule
        if name in rule.slots:
            return self.get_slot(var, rule.slots[name].name)
        if name in rule.powers:
            return cast(self._power_variable(name, var.graph).value(), var.dtype.base_dtype)
        hyper = next(h for h in rule.hyperparameters if h.input == name)
        parameter = hyper.parameter or name
        held = getattr(self, rule.tensor(parameter)) if hyper.shared else self._hyper_value(parameter)
        return cast(held, var.dtype.base_dtype)

    def _decayed(self, var: Variable, slot: str, indices: Tensor, values: Tensor, decay: Tensor) -> Tensor:
        """Decay all of a slot, add rows `values` at `indices`, and return its new value."""
        kept = self._slot_of(var, slot)
        decayed = state.assign(kept, kept.value() * decay, use_locking=self._use_locking)
        with control_dependencies([decayed]):
            return scatter_add(kept, indices, values, use_locking=self._use_locking)

    def _rows_replaced(self, var: Variable, slot: str, indices: Tensor,
                       change: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
        """Replace rows of a slot by change(rows); return the op and the new rows."""
        kept = self._slot_of(var, slot)
        rows = change(gather(kept, indices))
        return scatter_update(kept, indices, rows, use_locking=self._use_locking), rows

    def _slot_of(self, var: Variable, slot: str) -> Variable:
        found = self.get_slot(var, slot)
        assert found is not None
        return found

    def _power_variable(self, name: str, graph: Graph) -> Variable:
        found = self._get_non_slot_variable(name, graph)
        assert found is not None
        return found

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Operation:
        """Update the powers after all variables were updated with the old ones."""
        rule = self._rule
        if not rule.powers:
            return super()._finish(update_ops, name_scope)
        tensors = [getattr(self, rule.tensor(of)) for of in rule.powers.values()]
        powers = [self._power_variable(name, tensors[0].graph) for name in rule.powers]
        with control_dependencies(update_ops), colocate_with(powers[0].op):
            grown = [power.assign(power.value() * tensor, use_locking=self._use_locking)
                     for power, tensor in zip(powers, tensors, strict=True)]
        return group(*update_ops, *grown, name=name_scope)
