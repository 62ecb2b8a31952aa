"""Placeholders and constants."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.shape import Static, TensorShape, merge
from tfnb.graph.constant import make_constant, to_array
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.view import View
from tfnb.opdef import kinds
from tfnb.ops.declaration.declare import movement, structural

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext


def _attr_shape(ctx: ShapeContext) -> list[Static]:
    return [ctx.attrs["shape"]]


@structural("-> output: dtype", kinds.Placeholder, shape=_attr_shape, dtype="type", shape_="shape = {}")
def Placeholder() -> None:
    """Create a tensor whose value must be fed when it is needed."""


@structural("-> output: dtype", kinds.Placeholder, shape=_attr_shape, dtype="type", shape_="shape")
def PlaceholderV2() -> None:
    """As Placeholder (an op of a few early releases)."""


@structural("-> output: dtype", kinds.Const, shape=lambda ctx: [np.shape(ctx.attrs["value"])], value="tensor",
            dtype="type")
def Const() -> None:
    """Create a constant: its value is an attr."""


def _default_shape(ctx: ShapeContext) -> list[Static]:
    merge(ctx.shape(0), ctx.attrs["shape"])
    return [ctx.attrs["shape"]]


@movement("input: dtype -> output: dtype", shape=_default_shape, in_order=True, fed=True, dtype="type",
          shape_="shape")
def PlaceholderWithDefault(view: View) -> View:
    """Return the fed value, by default `input`."""
    return view


@PlaceholderWithDefault.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return dy


for _op in (Placeholder, PlaceholderV2, Const):
    _op.no_gradient("it has no inputs")


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """Return a tensor whose value must be fed when it is needed. shape: None where anything may be fed.

    A run that needs it and is not fed raises InvalidArgumentError; a fed value of another shape, or that is no value of
    `dtype`, raises ValueError or TypeError.

    >>> x = tf.placeholder(tf.float32, [None, 2])
    >>> sess.run(tf.reduce_sum(x, axis=1), feed_dict={x: [[1, 2], [3, 4]]})
    array([3., 7.], dtype=float32)
    """
    return Placeholder(dtype=dtypes.as_dtype(dtype).base_dtype, shape=TensorShape(shape), name=name)


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """Return a tensor with the value of `input` where none is fed. shape: what may be fed.

    >>> x = tf.placeholder_with_default(0.5, shape=[])
    >>> sess.run(2 * x), sess.run(2 * x, {x: 0.9})
    (1.0, 1.8)
    """
    return PlaceholderWithDefault(input, shape=TensorShape(shape), name=name)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const",
             verify_shape: bool = False) -> Tensor:
    """Return a constant tensor. With `shape`, its last element fills the missing ones.

    Raises TypeError if `value` is not of `dtype`, or, with `verify_shape`, not of `shape`; ValueError if it has too
    many elements.

    >>> sess.run(tf.constant([1, 2, 3]))
    array([1, 2, 3], dtype=int32)
    >>> sess.run(tf.constant(7, shape=[2, 2]))
    array([[7, 7],
           [7, 7]], dtype=int32)
    """
    if verify_shape and shape is not None:
        value = to_array(value, dtype, shape, verify_shape=True)
    return make_constant(value, dtype=dtype, shape=shape, name=name.decode() if isinstance(name, bytes) else name)
