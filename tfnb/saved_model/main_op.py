"""Ops that a SavedModel runs when it is loaded: `tf.saved_model.main_op`."""
from __future__ import annotations

from typing import Any

from tfnb.graph.parts.operation import Operation
from tfnb.graph.stack import control_dependencies
from tfnb.ops.control.group import group
from tfnb.variables.helpers import (
    global_variables_initializer,
    local_variables_initializer,
    tables_initializer,
)


def main_op() -> Operation:
    """Return an op that initializes all variables and tables.

    >>> v = tf.Variable(7.0)
    >>> sess.run(tf.saved_model.main_op.main_op())
    >>> sess.run(v)
    7.0
    """
    return group(global_variables_initializer(), local_variables_initializer(), tables_initializer())


def main_op_with_restore(restore_op_name: Any) -> Operation:
    """Return an op that initializes all variables and tables, and runs `restore_op_name`, an op.

    As in TensorFlow that op itself waits for no initializer: it is for variables in no collection.

    >>> v, w = tf.Variable(7.0), tf.Variable(0.0, collections=[])
    >>> both = tf.saved_model.main_op_with_restore(tf.assign(w, 8.0).op)
    >>> sess.run(both)
    >>> sess.run([v, w])
    [7.0, 8.0]
    """
    with control_dependencies([main_op()]):
        return group(restore_op_name)
