"""Control dependencies: NoOp, group, tuple and with_dependencies."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import colocate_with, control_dependencies, device, name_scope
from tfnb.opdef import kinds
from tfnb.ops.array.reshape import Identity
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.declaration.declare import structural
from tfnb.ops.declaration.public import named


@structural("->", kinds.Control, shape=lambda ctx: [])
def NoOp() -> None:
    """Do nothing: a node for control inputs."""


NoOp.no_gradient("it has no inputs")


def no_op(name: str | None = None) -> Operation:
    """Return an operation that does nothing, called `name`.

    >>> tf.no_op().name, sess.run(tf.no_op())
    ('NoOp', None)
    """
    op: Operation = NoOp(name=name)
    return op


def group(*inputs: Any, **kwargs: Any) -> Operation:
    """Return an operation that is done when all of `inputs` are: operations, tensors, variables, or nested lists.

    The only keyword argument is `name`. Without inputs it is a NoOp. Inputs on several devices are first gathered on
    each. Raises ValueError for another keyword, TypeError for an input that is none of these.

    >>> a, b = tf.Variable(1), tf.Variable(2)
    >>> sess.run(tf.group(a.initializer, b.initializer))
    >>> sess.run([a, b])
    [1, 2]
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")
    flat = list(_flatten(inputs))
    for item in flat:
        if not hasattr(item, "device"):
            raise TypeError(f"Expected tf.group() inputs to be (nested) operations, tensors or variables, but got "
                            f"{item!r} of type {type(item).__name__!r}")
    with name_scope(name, "group_deps", flat) as scope:
        devices: dict[str, list[Any]] = {}
        for item in flat:
            devices.setdefault(item.device or "", []).append(item)
        if len(devices) < 2:
            return _no_op_after(*(*devices.items(), ("", []))[0], scope)
        with control_dependencies([_no_op_after(where, devices[where], None) for where in sorted(devices)]):
            return no_op(scope)


def _no_op_after(where: str, inputs: Sequence[Any], name: str | None) -> Operation:
    with ExitStack() as stack:
        if where:
            stack.enter_context(device(where))
        if inputs:
            stack.enter_context(control_dependencies(inputs))
        return no_op(name)


def _flatten(value: Any) -> Iterator[Any]:
    """The leaves of nested lists, tuples and dicts (these in the order of their sorted keys)."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _flatten(item)
    elif isinstance(value, dict):
        for key in sorted(value):
            yield from _flatten(value[key])
    else:
        yield value


@named("tuple")
def tuple_(tensors: Sequence[Any], name: str | None = None, control_inputs: Sequence[Any] | None = None) -> list[Any]:
    """`tf.tuple`: return tensors with the values of `tensors`, each available only when all of them are.

    None and operations may stand among the tensors: None stays, an operation gives one that waits for all.
    control_inputs: operations or tensors to wait for too. Raises ValueError without any tensor, TypeError for a
    control input that is neither an operation nor a tensor.

    >>> a, b = tf.tuple([tf.constant(1), tf.constant(2)])
    >>> sess.run([a, b])
    [1, 2]
    """
    with name_scope(name, "tuple", tensors):
        items = [t if t is None or hasattr(t, "op") or isinstance(t, Operation) else convert_to_tensor(t)
                 for t in tensors]
        gates = [t if isinstance(t, Operation) else t.op for t in items if t is not None]
        for control in control_inputs or ():
            if not isinstance(control, (Operation, Tensor)) and not hasattr(control, "op"):
                raise TypeError("'control_inputs' must only contain Operation or Tensor. "
                                f"Received: {type(control)}")
            gates.append(control if isinstance(control, Operation) else control.op)
        if not gates:
            raise ValueError(f"'tensors' must have at least one Tensor. Received: {list(tensors)}.")
        gate = group(*sorted(set(gates), key=lambda op: op._id))
        return [None if t is None else group(gate, t) if isinstance(t, Operation) else with_dependencies([gate], t)
                for t in items]


def with_dependencies(dependencies: Sequence[Any], output_tensor: Any, name: str | None = None) -> Any:
    """`output_tensor`, there only when all of `dependencies` are done: a tensor, variable, IndexedSlices, SparseTensor.

    The new node is on the device of `output_tensor`. Raises TypeError if it can't be made a tensor.

    >>> v = tf.Variable(1.0)
    >>> sess.run(v.initializer)
    >>> y = tf.contrib.framework.with_dependencies([v.assign_add(1.0)], tf.constant(5.0))
    >>> sess.run(y), sess.run(v)
    (5.0, 2.0)
    """
    values = [*dependencies, output_tensor]
    with name_scope(name, "control_dependency", values) as scope:
        composite = isinstance(output_tensor, (IndexedSlices, SparseTensor))
        tensor = output_tensor if composite else convert_to_tensor(output_tensor)
        with colocate_with(tensor.op), control_dependencies(dependencies):
            if isinstance(tensor, SparseTensor):
                return SparseTensor(*map(Identity, tensor.parts))
            if isinstance(tensor, Tensor):
                return Identity(tensor, name=scope)
            return IndexedSlices(Identity(tensor.values, name=scope), tensor.indices, tensor.dense_shape)
