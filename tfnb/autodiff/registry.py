"""Gradient functions: those that ops state, and those registered by `tf.RegisterGradient` under any name."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tfnb.graph.parts.operation import Operation
from tfnb.graph.stack import get_default_graph
from tfnb.opdef import registry

Fn = TypeVar("Fn", bound=Callable[..., Any])
_registered: dict[str, Callable[..., Any] | None] = {}       # None: not differentiable
_owners: dict[str, Any] = {}


class RegisterGradient:
    """A decorator that makes a function the gradient of an op type, or of a name for `Graph.gradient_override_map`.

    The function takes the operation and a tensor for each of its outputs, and returns a tensor or None for each of
    its inputs (for a single input it need not be a list). Raises TypeError if `op_type` is no string, KeyError if it
    is registered already. A notebook cell that is run again replaces what it registered itself.

    >>> @tf.RegisterGradient("ExampleIdentity")
    ... def gradient(op, dy):
    ...     return 10 * dy
    >>> x = tf.constant(3.0)
    >>> with sess.graph.gradient_override_map({"Identity": "ExampleIdentity"}):
    ...     y = tf.identity(x)
    >>> sess.run(tf.gradients(y, [x]))
    [10.0]
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Fn) -> Fn:
        _claim(self._op_type)
        _registered[self._op_type] = f
        return f


def NotDifferentiable(op_type: str) -> None:
    """State that ops of a type have no gradient: what lies behind them gets none. Raises as RegisterGradient.

    op_type: the name of the type.

    >>> tf.NoGradient("ExampleNoGradient")
    """
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _claim(op_type)
    _registered[op_type] = None


NoGradient = NotDifferentiable            # its name in TensorFlow 0.x


def _claim(name: str) -> None:
    """Let the cell that runs register a gradient under this name. Raises KeyError if another one did, or the op."""
    owner = get_default_graph().owner
    stated = registry.find(name)
    if stated is not None and (stated.gradient is not None or stated.no_gradient):
        raise KeyError(f"Registering two gradient with name '{name}'!")
    if name in _registered and (owner is None or _owners.get(name) != owner):
        raise KeyError(f"Registering two gradient with name '{name}'!")
    _owners[name] = owner


def gradient_function(op: Operation) -> Callable[..., Any] | None:
    """Return the function for the gradient of `op`, or None if it has none (it is registered so, or has no inputs).

    Raises LookupError if its type (or the type that a gradient override names) is not registered at all.
    """
    if not op.inputs:
        return None
    override = op.attrs.get("_gradient_op_type")
    name = override.decode() if isinstance(override, bytes) else override or op.type
    if name in _registered:
        return _registered[name]
    spec = registry.find(name) if override else op.spec
    if spec is not None and spec.no_gradient:
        return None
    if spec is None or spec.gradient is None:
        asked = f", whose gradient is overridden by {name!r}" if override else ""
        raise LookupError(f"No gradient defined for operation '{op.name}' (op type: {op.type}{asked}). Register one "
                          "with `@tf.RegisterGradient`, or put `tf.stop_gradient` behind this operation to treat its "
                          "result as a constant.")
    return spec.gradient
