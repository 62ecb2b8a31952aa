"""Global step: the variable that counts training steps, found through the collection GLOBAL_STEP."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import SESSIONS, describe
from tfnb.graph.graph import Graph
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import control_dependencies, get_default_graph, name_scope
from tfnb.variables.initializers import zeros_initializer
from tfnb.variables.scope import get_variable
from tfnb.variables.variable import Variable


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """Return the value of the global step, which has one element, in a session, as an int.

    >>> step = tf.train.create_global_step()
    >>> sess.run(step.initializer)
    >>> tf.train.global_step(sess, step)
    0
    """
    return int(np.asarray(sess.run(global_step_tensor)).item())


def get_global_step(graph: Graph | None = None) -> Any:
    """Return the global step of `graph` (default: the default graph), or None.

    It is the single element of the collection GLOBAL_STEP, or else the tensor "global_step:0". Raises TypeError if it
    is not an integer scalar, RuntimeError if there are several.

    >>> tf.train.get_global_step() is None
    True
    >>> step = tf.train.create_global_step()
    >>> tf.train.get_global_step() is step
    True
    """
    graph = graph or get_default_graph()
    collected = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(collected) > 1:
        raise RuntimeError(f"Multiple items found in collection {GraphKeys.GLOBAL_STEP!r}: {collected}")
    found = collected[0] if collected else None
    if found is None:
        try:
            found = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    assert_global_step(found)
    return found


def create_global_step(graph: Graph | None = None) -> Variable:
    """Create a global step (int64, not trainable). Raises ValueError if the graph has one already.

    >>> step = tf.train.create_global_step()
    >>> step.name, step.dtype.base_dtype, step.trainable
    ('global_step:0', tf.int64, False)
    """
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default(), name_scope(None):
        made: Variable = get_variable(
            GraphKeys.GLOBAL_STEP, shape=[], dtype=dtypes.int64, initializer=zeros_initializer(), trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP])
        return made


def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """Return the global step of `graph` (default: the default graph), created if there is none.

    >>> step = tf.train.get_or_create_global_step()
    >>> step.name, tf.train.get_or_create_global_step() is step
    ('global_step:0', True)
    """
    graph = graph or get_default_graph()
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def assert_global_step(global_step_tensor: Any) -> None:
    """Raise TypeError unless the argument is a valid global step: a scalar integer variable or tensor.

    >>> tf.train.assert_global_step(tf.Variable([1, 2]))
    Traceback (most recent call last):
        ...
    TypeError: Existing "global_step" is not scalar: (2,)
    """
    if not isinstance(global_step_tensor, (Variable, Tensor)):
        raise TypeError(f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}.')
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {global_step_tensor.dtype!r}')
    if global_step_tensor.shape.ndims not in (None, 0):
        raise TypeError(f'Existing "global_step" is not scalar: {global_step_tensor.shape}')


_READ = "global_step_read_op_cache"        # the collection, with TensorFlow's key


def global_step_before_run(graph: Graph | None = None) -> Tensor | None:
    """Return a tensor of the global step's value before the updates of a run; None without a global step.

    It can be fetched beside a training op.
    """
    graph = graph or get_default_graph()
    found: list[Tensor] = graph.get_collection_ref(_READ)
    if found:
        return found[0]
    step = get_global_step(graph)
    if step is None:
        return None
    # No cond on whether it has a value, as TensorFlow makes: a branch may be computed after the updates of its run.
    with graph.as_default(), name_scope(None), name_scope(f"{step.op.name}/"), control_dependencies(None):
        made: Tensor = step + 0
    graph.add_to_collection(_READ, made)
    return made


def required_global_step(user: str) -> Tensor:
    """Return `global_step_before_run` of the default graph. Raises RuntimeError, naming `user`, if there is none."""
    made = global_step_before_run()
    if made is None:
        raise RuntimeError(f"Global step should be created to use {user}.")
    return made


describe(globals(), SESSIONS)
