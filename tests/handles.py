"""Variables for tests: reference variables, or variables behind handles, as graphs of TensorFlow have them."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import tfnb as tf
from tfnb.ops.state import resource_variables as ops


class Held(NamedTuple):
    """A variable: what ops take for it, its initializer and a read of its value."""

    taken: Any
    start: Any
    read: Any


def hold(value: Any, by_handle: bool = True, name: str = "held") -> Held:
    """Return a variable of this initial value."""
    value = np.asarray(value)
    if not by_handle:
        made = tf.Variable(value, name=name)
        return Held(made, made.initializer, made)
    with tf.name_scope(None, name) as scope:
        handle = ops.VarHandleOp(dtype=value.dtype, shape=value.shape, shared_name=scope, name=scope)
        return Held(handle, ops.AssignVariableOp(handle, value), ops.ReadVariableOp(handle, dtype=value.dtype))


def applied(op: Any, values: dict[str, Any], attrs: dict[str, Any], by_handle: bool) -> list[Any]:
    """Run an op that writes to variables, which start as the arrays in `values`; return their values after that."""
    tf.reset_default_graph()
    held = {arg.name: hold(values[arg.name], by_handle, arg.name) for arg in op.spec.inputs if arg.is_variable}
    change = op(**values | {name: v.taken for name, v in held.items()}, **attrs)
    with tf.Session() as sess:
        sess.run([v.start for v in held.values()])
        sess.run(change)
        return sess.run([v.read for v in held.values()])
