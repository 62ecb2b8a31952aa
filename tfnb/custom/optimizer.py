"""Optimizers that users declare by the update of one number of a variable."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from tfnb.custom.definition import (
    BeyondSubset,
    CustomOp,
    Parameters,
    declared,
    error_at,
    op_name,
    parameters,
    read_body,
    scalar_body,
)
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.scalar.definition import Scalar
from tfnb.kernels.scatter import Form
from tfnb.opdef import kinds
from tfnb.ops.array.create import fill
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.declaration.declare import fields
from tfnb.ops.math.casting import cast
from tfnb.ops.state.assign import computes_type, merged_shape
from tfnb.ops.state.training import rows_shape
from tfnb.train.optimizers.optimizer import Optimizer
from tfnb.variables.variable import Variable

_TYPES = {"T": "{bfloat16, half, float, double}", "use_locking": "bool = false"}
_WRITES = "it writes to a variable"


class CustomOptimizer(Optimizer):
    """Base class of the optimizers that `tf.custom.optimizer` makes."""

    _slots_at_start: dict[str, float] = {}
    _hyperparameters: dict[str, Any] = {}
    _dense: Any = None
    _sparse: Any = None

    def __init__(self, *args: Any, use_locking: bool = False, name: str = "", **given: Any) -> None:
        """Set the hyperparameters: numbers, scalar tensors, or functions that return one, in the order of the
        function's keyword-only parameters or by name. Raises TypeError for one that is missing or unknown."""
        title = type(self).__name__
        super().__init__(use_locking, name or title)
        known = list(self._hyperparameters)
        bound = dict(zip(known, args, strict=False))
        unknown = [each for each in given if each not in known or each in bound]
        bound = {**self._hyperparameters, **bound, **given}
        missing = [each for each in known if bound[each] is None]
        if unknown or missing or len(args) > len(known):
            raise TypeError(f"{title}: expected the hyperparameters {', '.join(known) or '(none)'}; got "
                            f"{', '.join([*map(repr, args), *given]) or 'none'}")
        self._values, self._tensors = bound, list[Tensor]()

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        for v in var_list:
            for slot, start in self._slots_at_start.items():
                self._get_or_make_slot_with_initializer(v, _filled_with(start), v.shape, v.dtype.base_dtype, slot,
                                                        f"{self._name}/{slot}")

    def _prepare(self) -> None:
        self._tensors = [convert_to_tensor(self._call_if_callable(value), name=name)
                         for name, value in self._values.items()]

    def _inputs(self, var: Variable) -> list[Any]:
        slots = [self.get_slot(var, slot) for slot in self._slots_at_start]
        return [var, *slots, *(cast(t, var.dtype.base_dtype) for t in self._tensors)]

    def _apply_dense(self, grad: Tensor, var: Variable) -> Operation:
        op: Operation = self._dense(*self._inputs(var), grad, use_locking=self._use_locking).op
        return op

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Operation:
        op: Operation = self._sparse(*self._inputs(var), grad.values, grad.indices, use_locking=self._use_locking).op
        return op


def _filled_with(start: float) -> Callable[..., Tensor]:
    def initializer(shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        """Return a tensor filled with the initial value of a slot."""
        made: Tensor = fill(shape, np.asarray(start, dtype.as_numpy_dtype))
        return made
    return initializer


def optimizer(fn: Callable[..., Any] | None = None, *, name: str | None = None) -> Any:
    """Declare an optimizer by its update rule: fn(var, grad, *slots, *, hyperparameters) -> new var and slots.

    The function gets one number of a variable, of its gradient and of each slot, and returns the new ones: of the
    variable, then of each slot in order. A slot's default is its initial value (without one 0). Keyword-only parameters
    are the hyperparameters. The body is a scalar one: see `elementwise`.

    Returns a class of optimizers, as those of `tf.train`: `Signum(learning_rate=0.1).minimize(loss)`. Its two ops,
    Apply... for whole variables and SparseApply... for the rows of a gradient by `tf.gather`, are compiled, fused with
    the gradient where that is possible, on CPU and GPU; its slots are saved as those of other optimizers. Raises
    SyntaxError for a body that can't be compiled, with the line, or that returns another number of values.

    >>> @tf.custom.optimizer
    ... def signum(var, grad, momentum, *, learning_rate=0.01, beta=0.9):
    ...     momentum = beta * momentum + (1 - beta) * grad
    ...     return var - learning_rate * sign(momentum), momentum
    >>> v = tf.Variable(1.0)
    >>> step = signum(learning_rate=0.25).minimize(v ** 2)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.75
    """
    def declare(fn: Any) -> type[CustomOptimizer]:
        given, apply = parameters(fn), op_name(fn, name, "Apply")
        if len(given.operands) < 2 or {*given.operands[:2]} & given.defaults.keys():
            raise error_at(fn, fn.__code__.co_firstlineno, "expected the parameters (var, grad, slots...), then the "
                           f"hyperparameters behind `*`; got {', '.join(given.operands)}")
        slots = given.operands[2:]
        dense, sparse = _steps(fn, given, apply, op_name(fn, name, "SparseApply"))
        title = apply.removeprefix("Apply")
        return type(title, (CustomOptimizer,), {
            "__doc__": inspect.getdoc(fn) or f"Optimizer by the update rule `{fn.__name__}`.",
            "__module__": fn.__module__, "__wrapped__": fn, "_dense": staticmethod(dense),
            "_sparse": staticmethod(sparse), "_hyperparameters": given.attrs,
            "_slots_at_start": {slot: given.defaults.get(slot, 0.0) for slot in slots}})
    return declare if fn is None else declare(fn)


def _steps(fn: Any, given: Parameters, dense: str, sparse: str) -> tuple[CustomOp, CustomOp]:
    """Declare the update of whole variables and that of some rows, by these names."""
    variable, grad, *slots = given.operands
    order = [variable, *slots, *given.attrs, grad]
    refs = 1 + len(slots)
    body = Scalar(_in_order(scalar_body(fn), dense, order, given))
    try:
        results = len(read_body(fn, body, {}).results)
    except BeyondSubset as beyond:
        raise beyond.cause from None
    if results != refs:
        raise error_at(fn, fn.__code__.co_firstlineno, f"expected it to return {refs} numbers (the variable and each "
                                                       f"slot), got {results}")
    inputs = ", ".join([*(f"{each}: Ref(T)" for each in order[:refs]), *(f"{each}: T" for each in given.attrs),
                        "grad: T"])
    stated = fields(fn, f"{inputs} -> out: Ref(T)", dict(_TYPES), merged_shape(*order[:refs], "grad"),
                    validate=computes_type)
    whole = kinds.Update(**stated | {"name": dense}, body=body, role="optimizer", no_gradient=_WRITES)
    stated = fields(fn, f"{inputs}, indices: Tindices -> out: Ref(T)", {**_TYPES, "Tindices": "indextype"},
                    rows_shape, validate=computes_type)
    form = Form(body, tuple(range(refs)), len(order), frozenset({len(order) - 1}))
    rows = kinds.Scatter(**stated | {"name": sparse}, body=body, form=form, role="optimizer",
                         no_gradient=_WRITES)
    return declared(whole, fn), declared(rows, fn)


def _in_order(body: FunctionType, name: str, order: Sequence[str], given: Parameters) -> FunctionType:
    """Return the body as a function of its parameters in the order of the op's inputs."""
    passed = ", ".join([*given.operands, *(f"{each}={each}" for each in given.attrs)])
    scope: dict[str, Any] = {"__body": body}
    exec(f"def {name}({', '.join(order)}):\n    return __body({passed})\n", scope)
    found: FunctionType = scope[name]
    return found
