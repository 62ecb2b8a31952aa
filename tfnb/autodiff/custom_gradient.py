"""Functions that say what their gradient is: `tf.custom_gradient`."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from tfnb.autodiff.registry import RegisterGradient
from tfnb.core import nest
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.graph import Graph
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import get_default_graph
from tfnb.ops.array.reshape import identity, identity_n
from tfnb.variables.helpers import trainable_variables

_numbers = count()


def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """A decorator of `f(*x)` that returns (y, grad_fn): the gradient of y is what grad_fn says, not that of its ops.

    x: tensors, or structures of them; y: a tensor or a structure. grad_fn(*dy) gets a gradient for each tensor of y and
    returns one (or None) for each tensor of x. Where f uses trainable variables, grad_fn takes them as the keyword
    `variables` and returns two lists: the gradients of x, and of the variables in that order. Keyword arguments of f
    are passed on. Raises TypeError if f uses variables and grad_fn takes none, ValueError for another number of
    gradients.

    >>> @tf.custom_gradient
    ... def clipped(x):
    ...     def gradient(dy):
    ...         return tf.clip_by_value(dy, -1.0, 1.0)
    ...     return x * 10, gradient
    >>> x = tf.constant(3.0)
    >>> sess.run(tf.gradients(clipped(x), [x]))
    [1.0]
    """
    if f is None:
        return custom_gradient

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        return _with_gradient(f, args, kwargs)
    return decorated


def _with_gradient(f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call f, and pass what it returns through an IdentityN whose gradient is f's own."""
    graph = get_default_graph()
    inputs = [identity(convert_to_tensor(x)) for x in nest.flatten(list(args))]
    version = graph.version
    result, grad_fn = f(*nest.pack_sequence_as(list(args), inputs), **kwargs)
    outputs = [convert_to_tensor(y) for y in nest.flatten(result)]
    used = _used_variables(graph, version)
    if used and not _takes_variables(grad_fn):
        raise TypeError("If using @custom_gradient with a function that uses variables, then grad_fn must accept a "
                        f"'variables' keyword argument. It uses {', '.join(v.name for v in used)}")

    def gradient(op: Any, *dys: Any) -> list[Any]:
        """The gradients of the inputs, then those of the variables that `f` used."""
        given = dys[:len(outputs)]
        if used:
            of_inputs, of_variables = grad_fn(*given, variables=used)
            found = [*_listed(of_inputs), *_listed(of_variables)]
        else:
            found = _listed(grad_fn(*given))
        if len(found) != len(inputs) + len(used):
            raise ValueError(f"custom_gradient function expected to return {len(inputs) + len(used)} gradients, but "
                             f"returned {len(found)} instead.")
        return [None] * len(outputs) + found

    name = f"CustomGradient-{next(_numbers)}"
    RegisterGradient(name)(gradient)
    with graph.gradient_override_map({"IdentityN": name}):
        passed: list[Tensor] = identity_n([*outputs, *inputs, *(v.value() for v in used)])
    return nest.pack_sequence_as(result, passed[:len(outputs)])


def _used_variables(graph: Graph, version: int) -> list[Any]:
    """The trainable variables that ops made since `version` read, or that were made since."""
    made = graph.made_since(version)
    ops = {t.op for op in made for t in op.inputs} | set(made)
    return [v for v in trainable_variables() if v.graph is graph and not ops.isdisjoint((v.op, v.value().op))]


def _takes_variables(grad_fn: Callable[..., Any]) -> bool:
    parameters = inspect.signature(grad_fn).parameters
    return "variables" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _listed(gradients: Any) -> list[Any]:
    return nest.flatten(gradients) if isinstance(gradients, (list, tuple, dict)) else [gradients]


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that computes as `f` does, but whose gradient is that of the identity (`tf.grad_pass_through`).

    f takes and returns one tensor of the same shape.

    >>> x = tf.constant([0.4, 1.6])
    >>> y = tf.grad_pass_through(tf.round)(x)
    >>> sess.run(y), sess.run(tf.gradients(y, [x]))
    (array([0., 2.], dtype=float32), [array([1., 1.], dtype=float32)])
    """
    def passing(*args: Any, **kwargs: Any) -> Any:
        def grad(*dys: Any, variables: Any = None) -> Any:
            return (list(dys), [None] * len(variables)) if variables is not None else list(dys)
        return f(*args, **kwargs), grad
    made: Callable[..., Any] = custom_gradient(passing)
    return made
