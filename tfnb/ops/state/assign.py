"""Reference variables and assignments to them.

The definition of an update gives the new values of its Ref inputs, in order. The steps of optimizers: `step.py`.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core import errors
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, merge
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.parts.references import ref_variable
from tfnb.opdef import kinds
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host, structural, update

_LOCK = "bool = false"


def _declared(ctx: Any) -> list[Static]:
    return [ctx.attrs["shape"]]


@structural("-> ref: Ref(dtype)", kinds.Variable, shape=_declared, stateful=True, shape_="shape", dtype="type",
            container="string = ''", shared_name="string = ''")
def VariableV2() -> None:
    """Create a variable, which keeps its value between runs. It has none until something is assigned to it."""


@structural("-> ref: Ref(dtype)", kinds.Variable, shape=_declared, stateful=True, shape_="shape", dtype="type",
            container="string = ''", shared_name="string = ''")
def Variable() -> None:
    """As VariableV2: its name in graphs of TensorFlow 0.x."""


def _assigned(ctx: Any) -> list[Static]:
    if not ctx.attrs["validate_shape"]:
        return [ctx.shape(1)]
    return [merge(ctx.shape(0), ctx.shape(1))]


@update("ref: Ref(T), value: T -> output_ref: Ref(T)", shape=_assigned, role="initializer", T="type",
        validate_shape="bool = true", use_locking="bool = true")
def Assign(ref: Any, value: Any) -> Any:
    """Assign `value` to a variable. With validate_shape=False its shape may change."""
    return value


@update("ref: Ref(T), value: T -> output_ref: Ref(T)", role="", shape=shapes.same_inputs, T="numbertype",
        use_locking=_LOCK)
def AssignAdd(ref: Any, value: Any) -> Any:
    """Add `value` to a variable."""
    return ref + value


@update("ref: Ref(T), value: T -> output_ref: Ref(T)", role="", shape=shapes.same_inputs, T="numbertype",
        use_locking=_LOCK)
def AssignSub(ref: Any, value: Any) -> Any:
    """Subtract `value` from a variable."""
    return ref - value


@host("ref: Ref(dtype) -> is_initialized: bool", shape=shapes.scalar, uninitialized=True, dtype="type")
def IsVariableInitialized(ref: Any, *, ctx: Any) -> Any:
    """Return whether the variable has a value."""
    return np.bool_(ctx.store.array(ref_variable(ctx.op.inputs[0])) is not None)


@host("ref: Ref(T) -> output: T", shape=shapes.like_first, writes=True, limit="int", T="{int32, int64}")
def CountUpTo(ref: Any, *, limit: int, ctx: Any) -> Any:
    """Add one to a scalar variable and return its value before that. OutOfRangeError once it is `limit`."""
    if ref >= limit:
        raise errors.OutOfRangeError(None, ctx.op, f"Reached limit of {limit} in CountUpTo {ctx.op.name!r}")
    before = ref.copy()
    ctx.store.assign(ref_variable(ctx.op.inputs[0]), before + before.dtype.type(1))
    return before


for _op in (VariableV2, Variable):
    _op.no_gradient("it has no inputs")
IsVariableInitialized.no_gradient("its result is a truth value")
CountUpTo.no_gradient("it counts")


# What users call. A variable behind a handle (variables/resource_variable.py) has ops of its own, in its methods.

def assign(ref: Any, value: Any, validate_shape: bool | None = None, use_locking: bool | None = None,
           name: str | None = None) -> Tensor:
    """Assign `value` to the variable `ref`; the result is the variable after that, as a reference.

    ref: a variable, or a slice of one, `v[1:]`: then that is set. With validate_shape=False the value may have another
    shape than the variable. Raises TypeError if `ref` is not a variable or a reference, ValueError for a value of
    another shape.

    >>> v = tf.Variable(1.0)
    >>> sess.run(v.initializer)
    >>> sess.run(tf.assign(v, 5.0))
    5.0
    """
    if hasattr(ref, "handle") or isinstance(ref, Tensor) and not ref.dtype._is_ref_dtype and hasattr(ref, "assign"):
        return ref.assign(value, name=name)              # of a slice of a variable too
    result: Tensor = Assign(ref, value, validate_shape=validate_shape, use_locking=use_locking, name=name)
    return result


def assign_add(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Tensor:
    """Add `value` to the variable `ref`; the result is the variable after that. Raises as `assign`.

    >>> v = tf.Variable(1.0)
    >>> sess.run(v.initializer)
    >>> sess.run(tf.assign_add(v, 5.0))
    6.0
    """
    if hasattr(ref, "handle"):
        return ref.assign_add(value, name=name)
    result: Tensor = AssignAdd(ref, value, use_locking=use_locking, name=name)
    return result


def assign_sub(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Tensor:
    """Subtract `value` from the variable `ref`; the result is the variable after that. Raises as `assign`.

    >>> v = tf.Variable(1.0)
    >>> sess.run(v.initializer)
    >>> sess.run(tf.assign_sub(v, 5.0))
    -4.0
    """
    if hasattr(ref, "handle"):
        return ref.assign_sub(value, name=name)
    result: Tensor = AssignSub(ref, value, use_locking=use_locking, name=name)
    return result


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Tensor:
    """Add one to the scalar variable `ref` and return its value before that.

    Once the variable is `limit`, running the result raises OutOfRangeError. ref: int32 or int64.

    >>> v = tf.Variable(0)
    >>> sess.run(v.initializer)
    >>> count = tf.count_up_to(v, 2)
    >>> sess.run(count), sess.run(count)
    (0, 1)
    >>> sess.run(count)
    Traceback (most recent call last):
        ...
    OutOfRangeError: Reached limit of 2 in CountUpTo 'CountUpTo'
    """
    if hasattr(ref, "handle"):
        return ref.count_up_to(limit)
    result: Tensor = CountUpTo(ref, limit=limit, name=name)
    return result


def is_variable_initialized(variable: Any, name: str | None = None) -> Tensor:
    """Return a bool scalar: whether `variable` has a value. Raises TypeError if it is not a variable or a reference.

    >>> v = tf.Variable(1.0)
    >>> before = sess.run(tf.is_variable_initialized(v))
    >>> sess.run(v.initializer)
    >>> before, sess.run(tf.is_variable_initialized(v))
    (False, True)
    """
    if hasattr(variable, "handle"):
        return variable.is_initialized(name)
    result: Tensor = IsVariableInitialized(variable, name=name)
    return result


describe(globals(), TENSORS)
