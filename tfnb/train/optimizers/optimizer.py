"""Base class of optimizers: gradients of a loss, their application to variables, and the variables' slots."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

from tfnb.autodiff.gradients import gradients
from tfnb.core import dtypes
from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.core.dtypes import DType
from tfnb.core.nest import children, is_nested, listed
from tfnb.core.stale import check_fresh
from tfnb.graph.graph import Graph
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import colocate_with, control_dependencies, get_default_graph, graph_of, name_scope
from tfnb.ops.array.gather import unique
from tfnb.ops.array.reshape import shape as array_shape
from tfnb.ops.composite.indexed_slices import IndexedSlices, convert_to_tensor_or_indexed_slices
from tfnb.ops.control.group import group, tuple_
from tfnb.ops.reductions.segments import UnsortedSegmentSum
from tfnb.ops.state import assign as state
from tfnb.train.checkpoints.trackable import register
from tfnb.train.optimizers import slots
from tfnb.variables.helpers import trainable_variables
from tfnb.variables.partitioned import PartitionedVariable
from tfnb.variables.resource_variable import ResourceVariable
from tfnb.variables.scope import variable
from tfnb.variables.variable import Variable


class Optimizer:
    """Base class of optimizers, which add training ops. Instantiate a subclass, such as GradientDescentOptimizer.

    `minimize` is `compute_gradients` and then `apply_gradients`; call these two to change gradients in between.
    A subclass defines the update of a variable (`_apply_dense`) or of some rows (`_apply_sparse`), which slots it
    keeps (`_create_slots`) and what it prepares (`_prepare`) and finishes (`_finish`) around all updates.

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.1)
    >>> pairs = optimizer.compute_gradients(v ** 2)
    >>> step = optimizer.apply_gradients([(tf.clip_by_value(g, -1.0, 1.0), v) for g, v in pairs])
    >>> sess.run(v.initializer)
    >>> sess.run(step)
    >>> sess.run(v)
    0.9
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking: bool, name: str, use_own_namescope_for_non_slot_vars: bool = False) -> None:
        """Set the name of the slots and of the training op. Raises ValueError if it is empty."""
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._own_scope = use_own_namescope_for_non_slot_vars
        self._slots: dict[str, dict[Any, Variable]] = {}
        self._non_slots: dict[Any, Variable] = {}

    def get_name(self) -> str:
        """Return the name given to the constructor."""
        return self._name

    def minimize(self, loss: Any, global_step: Any = None, var_list: Any = None, gate_gradients: int = GATE_OP,
                 aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False,
                 name: str | None = None, grad_loss: Any = None) -> Operation:
        """Return an op that takes one step to minimize `loss` by updating the variables.

        loss: a real tensor. global_step: a variable to add one to after the step. var_list: the variables (of any
        iterables and dicts), by default those of GraphKeys.TRAINABLE_VARIABLES. gate_gradients: GATE_NONE, GATE_OP or
        GATE_GRAPH: whether nothing, the gradients of one op, or all gradients are complete before any of them is used.
        name: of the operation.
        grad_loss: the derivative of what is minimized by `loss` (None: ones). Raises ValueError if no variable has a
        gradient, and else as `compute_gradients`.
        """
        pairs = self.compute_gradients(     # by keyword: subclasses take **kwargs
            loss, var_list=var_list, gate_gradients=gate_gradients, aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss)
        if all(grad is None for grad, _ in pairs):
            raise ValueError("No gradients provided for any variable, check your graph for ops that do not support "
                             f"gradients, between variables {[str(v) for _, v in pairs]} and loss {loss}.")
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(self, loss: Any, var_list: Any = None, gate_gradients: int = GATE_OP,
                          aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False,
                          grad_loss: Any = None) -> list[tuple[Any, Any]]:
        """Return the pairs (gradient of `loss` by a variable, that variable); a gradient may be IndexedSlices or None.

        Arguments as of `minimize`. Raises TypeError if var_list holds something that is neither variable nor tensor,
        ValueError for an invalid gate_gradients, without variables, or where a dtype is not real.
        """
        loss = loss() if callable(loss) else loss
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError("gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                             f"Optimizer.GATE_GRAPH.  Not {gate_gradients}")
        if isinstance(loss, Tensor):
            check_fresh(loss.op)                # before there are "No variables", which left the graph with it
        self._assert_valid_dtypes([loss])
        variables = trainable_variables() if var_list is None else flat_variables(var_list)
        for v in variables:
            if not isinstance(v, (Variable, Tensor)):
                raise TypeError(f"Argument is not a tf.Variable: {v}")
        if not variables:
            raise ValueError("No variables to optimize.")
        grads = gradients(loss, [_target(v) for v in variables], grad_ys=grad_loss,
                          gate_gradients=gate_gradients == self.GATE_OP, aggregation_method=aggregation_method,
                          colocate_gradients_with_ops=colocate_gradients_with_ops)
        if gate_gradients == self.GATE_GRAPH and any(grad is not None for grad in grads):
            grads = tuple_(grads)
        pairs = list(zip(grads, variables, strict=True))
        self._assert_valid_dtypes([v for grad, v in pairs if grad is not None])
        return pairs

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Operation:
        """Return an op that applies the gradients of `compute_gradients` to the variables.

        Pairs without a gradient are left out. Arguments as of `minimize`. Raises TypeError for a gradient that can't
        be made a tensor, ValueError without any gradient.
        """
        pairs = [(_as_gradient(grad), v) for grad, v in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        trained = [v for grad, v in pairs if grad is not None]
        if not trained:
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        for v in trained:
            if not isinstance(v, Variable):
                raise NotImplementedError(f"Trying to update a Tensor: {v}")
        with trained[0].graph.as_default():
            with control_dependencies(None):
                self._create_slots(trained)
            with name_scope(name, self._name) as scope:
                self._prepare()
                updates = [self._update(grad, v) for grad, v in pairs if grad is not None]
                train_op = self._finished(updates, global_step, scope)
        collected = graph_of(train_op).get_collection_ref(GraphKeys.TRAIN_OP)
        if train_op not in collected:
            graph_of(train_op).add_to_collection(GraphKeys.TRAIN_OP, train_op)
        return train_op

    def _update(self, grad: Any, v: Variable) -> Any:
        handle = v if isinstance(v, ResourceVariable) else None
        with name_scope(f"update_{v.op.name}"), colocate_with(v.op) if handle is None else nullcontext():
            if isinstance(grad, IndexedSlices):
                if v.constraint is not None:
                    raise RuntimeError("Cannot use a constraint function on a sparse variable.")
                if handle is not None:
                    return self._resource_apply_sparse_duplicate_indices(grad.values, handle, grad.indices)
                return self._apply_sparse_duplicate_indices(grad, v)
            update = self._apply_dense(grad, v) if handle is None else self._resource_apply_dense(grad, handle)
            if v.constraint is None:
                return update
            with control_dependencies([update]):
                return v.assign(v.constraint(v.value()))

    def _finished(self, updates: Sequence[Any], global_step: Any, scope: str) -> Operation:
        if global_step is None:
            return self._finish(updates, scope)
        with control_dependencies([self._finish(updates, "update")]), colocate_with(global_step.op):
            if isinstance(global_step, ResourceVariable):
                step: Operation = global_step.assign_add(1, name=scope, read_value=False)
                return step
            return state.assign_add(global_step, 1, name=scope).op

    def get_slot(self, var: Any, name: str) -> Variable | Any:
        """Return the slot `name` of `var`, or None."""
        found = self._slots.get(name, {}).get(_key(var))
        return found if found is not None and slots.is_alive(found) else None

    def get_slot_names(self) -> list[str]:
        """Return the sorted names of this optimizer's slots."""
        return sorted(self._slots)

    def variables(self) -> list[Variable]:
        """Return all variables that this optimizer created in the default graph, sorted by name."""
        made = [*self._non_slots.values(), *(v for by_var in self._slots.values() for v in by_var.values())]
        graph = get_default_graph()
        return sorted((v for v in made if v.graph is graph and slots.is_alive(v)), key=lambda v: v.name)

    # Overridden by subclasses

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        """Make the slots of the variables."""

    def _prepare(self) -> None:
        """Make the tensors that all updates share."""

    def _apply_dense(self, grad: Tensor, var: Variable) -> Any:
        """Return the op that updates `var`."""
        raise NotImplementedError(f"{type(self).__name__} does not say how a variable is updated")

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Any:
        """Return the op that updates the rows of `var` that `grad` holds; its indices are unique."""
        raise NotImplementedError(f"{type(self).__name__} does not say how rows of a variable are updated")

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Variable) -> Any:
        """Apply a sparse gradient with duplicate indices: by default their rows are summed first."""
        return self._apply_sparse(IndexedSlices(*_summed(grad.values, grad.indices), grad.dense_shape), var)

    def _resource_apply_dense(self, grad: Tensor, handle: ResourceVariable) -> Any:
        """Return the op that updates a variable behind a handle."""
        raise NotImplementedError(f"{type(self).__name__} does not say how a resource variable is updated")

    def _resource_apply_sparse(self, grad: Tensor, handle: ResourceVariable, indices: Tensor) -> Any:
        """Return the op that updates the rows at `indices`, which are unique, of a variable behind a handle."""
        raise NotImplementedError(f"{type(self).__name__} does not say how rows of a resource variable are updated")

    def _resource_apply_sparse_duplicate_indices(self, grad: Tensor, handle: ResourceVariable, indices: Tensor) -> Any:
        """As `_apply_sparse_duplicate_indices`, of a variable behind a handle."""
        values, rows = _summed(grad, indices)
        return self._resource_apply_sparse(values, handle, rows)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Operation:
        """Return the op that is done when all updates are."""
        return group(*update_ops, name=name_scope)

    def _valid_dtypes(self) -> set[DType]:
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    def _assert_valid_dtypes(self, tensors: Sequence[Any]) -> None:
        valid = self._valid_dtypes()
        for t in tensors:
            if t.dtype.base_dtype not in valid:
                raise ValueError(f"Invalid type {t.dtype.base_dtype!r} for {t.name}, expected: "
                                 f"{sorted(d.name for d in valid)}.")

    # For subclasses

    def _slot_dict(self, slot_name: str) -> dict[Any, Variable]:
        return self._slots.setdefault(slot_name, {})

    def _slot(self, var: Variable, slot_name: str, make: Callable[[], Variable]) -> Variable:
        found = self.get_slot(var, slot_name)
        if found is None:
            found = self._slot_dict(slot_name)[_key(var)] = make()
        return found

    def _get_or_make_slot(self, var: Variable, val: Tensor, slot_name: str, op_name: str) -> Variable:
        return self._slot(var, slot_name, lambda: slots.create_slot(var, val, op_name))

    def _get_or_make_slot_with_initializer(self, var: Variable, initializer: Any, shape: Any, dtype: DType,
                                           slot_name: str, op_name: str) -> Variable:
        return self._slot(var, slot_name,
                          lambda: slots.create_slot_with_initializer(var, initializer, shape, dtype, op_name))

    def _zeros_slot(self, var: Variable, slot_name: str, op_name: str) -> Variable:
        return self._slot(var, slot_name, lambda: slots.create_zeros_slot(var, op_name))

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Variable) -> Variable:
        """Return a variable that the whole optimizer shares, one per graph."""
        found = self._get_non_slot_variable(name, colocate_with.graph)
        if found is None:
            found = self._non_slots[name, colocate_with.graph] = self._make_non_slot(initial_value, name, colocate_with)
        return found

    def _make_non_slot(self, initial_value: Any, name: str, beside: Variable) -> Variable:
        with name_scope(self._name) if self._own_scope else nullcontext(), colocate_with(beside.op):
            return variable(initial_value, name=name, trainable=False)

    def _get_non_slot_variable(self, name: str, graph: Graph) -> Variable | None:
        found = self._non_slots.get((name, graph))
        return found if found is not None and slots.is_alive(found) else None

    def _call_if_callable(self, param: Any) -> Any:
        return param() if callable(param) else param


def _summed(values: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    """Return the sums of the rows that have one index, and the unique indices."""
    rows, places = unique(indices)
    sizes: Any = array_shape(rows)
    return UnsortedSegmentSum(values, places, sizes[0]), rows


def flat_variables(var_list: Any) -> list[Any]:
    """Flatten variables nested in lists, dicts (in the order of their keys), views of dicts and iterators."""
    var_list = listed(var_list)
    if isinstance(var_list, PartitionedVariable):
        return list(var_list)
    if not is_nested(var_list):
        return [var_list]
    return [v for item in children(var_list) for v in flat_variables(item)]


def _target(v: Any) -> Tensor:
    target: Tensor = v._ref() if isinstance(v, Variable) else v
    return target


def _key(v: Any) -> tuple[Graph, str]:
    return v.op.graph, v.op.name


def _as_gradient(grad: Any) -> Any:
    if grad is None:
        return None
    try:
        return convert_to_tensor_or_indexed_slices(grad)
    except TypeError:
        raise TypeError(f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {grad}") from None


describe(globals(), OPTIMIZERS)


def _children(optimizer: Optimizer) -> Iterator[tuple[str, Any]]:
    """(name, variable) of what all slots share; slots have keys of their own."""
    yield from sorted(((name, v) for (name, _), v in optimizer._non_slots.items() if slots.is_alive(v)),
                      key=lambda pair: pair[0])


register(Optimizer, _children)
