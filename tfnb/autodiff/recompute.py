"""Gradients that compute a function again instead of keeping its values: `tf.recompute_grad`."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfnb.autodiff.custom_gradient import custom_gradient
from tfnb.autodiff.gradients import gradients
from tfnb.graph.stack import control_dependencies
from tfnb.ops.array.reshape import identity
from tfnb.variables.scope import get_variable_scope, variable_scope


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return `f(*x)` with a gradient that calls f again, after the gradient of its outputs is there.

    f: takes tensors, and returns a tensor or a list of them. What it computes in between needs not be kept until then.
    It may use variables of `tf.get_variable`, which the second call finds again. Keyword arguments are passed on.

    >>> layer = tf.recompute_grad(lambda x: tf.sin(x) * 2.0)
    >>> x = tf.constant(0.0)
    >>> sess.run(tf.gradients(layer(x), x))
    [2.0]
    """
    @functools.wraps(f)
    def recomputed(*args: Any, **kwargs: Any) -> Any:
        scope = get_variable_scope()

        @custom_gradient
        def inner(*inputs: Any) -> Any:
            def gradient(*dys: Any, variables: Any = None) -> Any:
                with control_dependencies(dys), variable_scope(scope, reuse=True):
                    again = [identity(x) for x in inputs]
                    result = f(*again, **kwargs)
                used = list(variables or ())
                found = gradients(result, again + used, list(dys) if isinstance(result, (list, tuple)) else dys[0])
                of_inputs = found[:len(again)]
                return (of_inputs, found[len(again):]) if variables is not None else of_inputs
            return f(*inputs, **kwargs), gradient
        return inner(*args)
    return recomputed
