"""Optimizers that users declare by the update of one number of a variable."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
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
from tfnb.graph.parts.operation import Tensor
from tfnb.kernels.scalar.definition import Scalar
from tfnb.ops.array.create import fill
from tfnb.ops.state.resource_variables import by_handle
from tfnb.ops.state.step import rows_step, whole_step
from tfnb.train.optimizers.declared import DeclaredOptimizer, Hyper, Rule, Slot

_TAKEN = {"var", "grad", "indices", "name", "use_locking"}
_TYPES = {"T": "{bfloat16, half, float, double}", "use_locking": "bool = false"}


class CustomOptimizer(DeclaredOptimizer):
    """Base class of the optimizers that `tf.custom.optimizer` makes."""

    _defaults: Mapping[str, Any] = {}

    def __init__(self, *args: Any, use_locking: bool = False, name: str = "", **given: Any) -> None:
        """Set the hyperparameters: numbers, scalar tensors, or functions that return one, in the order of the
        function's keyword-only parameters or by name. Raises TypeError for one that is missing or unknown."""
        title, known = type(self).__name__, list(self._defaults)
        super().__init__(use_locking, name or title)
        bound = dict(zip(known, args, strict=False))
        unknown = [each for each in given if each not in known or each in bound]
        bound = {**self._defaults, **bound, **given}
        missing = [each for each in known if bound[each] is None]
        if unknown or missing or len(args) > len(known):
            raise TypeError(f"{title}: expected the hyperparameters {', '.join(known) or '(none)'}; got "
                            f"{', '.join([*map(repr, args), *given]) or 'none'}")
        self._values = bound

    def _hyper_value(self, name: str) -> Any:
        return self._call_if_callable(self._values[name])

    def _slot_title(self, slot: Slot) -> str:
        return f"{self._name}/{slot.name}"


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
        slots = {slot: Slot(slot, _filled_with(given.defaults.get(slot, 0.0))) for slot in given.operands[2:]}
        if taken := {*slots, *given.attrs} & _TAKEN:
            raise error_at(fn, fn.__code__.co_firstlineno, "expected slots and hyperparameters that have other names "
                           f"than the arguments of optimizers and ops, got {', '.join(sorted(taken))}")
        whole, rows = _steps(fn, given, apply)
        rule = Rule(whole, slots, [Hyper(each) for each in given.attrs], rows=rows)
        return type(apply.removeprefix("Apply"), (CustomOptimizer,), {
            "__doc__": inspect.getdoc(fn) or f"Optimizer by the update rule `{fn.__name__}`.",
            "__module__": fn.__module__, "__wrapped__": fn, "_defaults": given.attrs, "_rule": rule})
    return declare if fn is None else declare(fn)


def _steps(fn: Any, given: Parameters, name: str) -> tuple[CustomOp, CustomOp]:
    """Declare the update of whole variables by this name, and that of some rows by the name that follows from it."""
    variable, grad, *slots = given.operands
    refs = [variable, *slots]
    order = [*refs, *given.attrs, grad]
    body = Scalar(_in_order(scalar_body(fn), name, order, given))
    try:
        results = len(read_body(fn, body, {}).results)
    except BeyondSubset as beyond:
        raise beyond.cause from None
    if results != len(refs):
        raise error_at(fn, fn.__code__.co_firstlineno, f"expected it to return {len(refs)} numbers (the variable and "
                                                       f"each slot), got {results}")
    inputs = ["var: Ref(T)", *(f"{each}: Ref(T)" for each in slots), *(f"{each}: T" for each in given.attrs), "grad: T"]
    whole = whole_step(fn, ", ".join(inputs), _TYPES, body, name=name)
    rows = rows_step(whole)
    for spec in (whole, rows):
        declared(by_handle(spec), fn)
    return declared(whole, fn), declared(rows, fn)


def _in_order(body: FunctionType, name: str, order: Sequence[str], given: Parameters) -> FunctionType:
    """Return the body as a function of its parameters in the order of the op's inputs."""
    passed = ", ".join([*given.operands, *(f"{each}={each}" for each in given.attrs)])
    scope: dict[str, Any] = {"__body": body}
    exec(f"def {name}({', '.join(order)}):\n    return __body({passed})\n", scope)
    found: FunctionType = scope[name]
    return found
