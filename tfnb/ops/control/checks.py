"""Run-time checks and printing of values: CheckNumerics, Print, Assert."""
from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import errors
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import colocate_with, name_scope
from tfnb.ops.control.group import with_dependencies
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.arguments import renamed
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.declaration.public import named

if TYPE_CHECKING:
    pass


@host("tensor: T -> output: T", shape=shapes.like_first, stateful=True, T="{bfloat16, half, float, double}",
      message="string")
def CheckNumerics(tensor: np.ndarray, *, message: bytes, ctx: Any) -> np.ndarray:
    """Return `tensor` itself; raise InvalidArgumentError if it has a NaN or an infinity."""
    found = [what for what, bad in (("NaN", np.isnan(tensor).any()), ("Inf", np.isinf(tensor).any())) if bad]
    if found:
        raise errors.InvalidArgumentError(None, ctx.op, f"{message.decode()} : Tensor had {' and '.join(found)} values")
    return tensor


@CheckNumerics.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    message = op.attrs["message"].decode()
    return CheckNumerics(dy, message=f"Not a number (NaN) or infinity (Inf) values detected in gradient. {message}")


def _summary(value: np.ndarray, most: int) -> str:
    """Return the first `most` elements, as TensorFlow prints them ("[1 2 3...]")."""
    flat = value.reshape(-1)
    shown = flat if most < 0 else flat[:most]
    words = " ".join(x.decode(errors="replace") if isinstance(x, bytes) else str(x) if isinstance(x, np.bool_)
                     else f"{x:g}" if isinstance(x, np.floating) else str(x) for x in shown)
    dots = "..." if len(shown) < len(flat) else ""
    return f"{words}" if value.ndim == 0 else f"[{words}{dots}]"


@host("input: T, data: U -> output: T", shape=shapes.like_first, stateful=True, T="type", U="list(type) >= 0",
      message="string = ''", first_n="int = -1", summarize="int = 3")
def Print(input: np.ndarray, data: Sequence[np.ndarray], *, message: bytes, first_n: int, summarize: int,
          ctx: Any) -> np.ndarray:
    """Return `input` itself; write `message` and the first elements of each of `data` to the error stream."""
    shown = getattr(ctx.op, "_shown", 0)
    if first_n < 0 or shown < first_n:
        ctx.op._shown = shown + 1
        sys.stderr.write(message.decode() + "".join(_summary(value, summarize) for value in data) + "\n")
    return input


@Print.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [dy] + [None] * (len(op.inputs) - 1)


@host("condition: bool, data: T ->", shape=shapes.unknown, transient=True, T="list(type) >= 1", summarize="int = 3")
def Assert(condition: np.ndarray, data: Sequence[np.ndarray], *, summarize: int, ctx: Any) -> tuple[()]:
    """Raise InvalidArgumentError with the first elements of each of `data`, unless `condition` holds."""
    if not condition.all():
        raise errors.InvalidArgumentError(None, ctx.op, "assertion failed: " + " ".join(
            _summary(value.reshape(-1), summarize) for value in data))
    return ()


Assert.no_gradient("it has no output")


# What users call

@dispatched
def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """Return `tensor` itself; running it raises InvalidArgumentError with `message` if it has a NaN or an infinity.

    >>> sess.run(tf.check_numerics([1.0, 2.0], "x is not finite"))
    array([1., 2.], dtype=float32)
    """
    return CheckNumerics(tensor, message=message, name=name)


def verify_tensor_all_finite(t: Any = None, msg: str | None = None, name: str | None = None, x: Any = None,
                             message: str | None = None) -> Tensor:
    """Return `t` (or `x`); running it raises InvalidArgumentError with `msg` (or `message`) unless all is finite.

    >>> sess.run(tf.verify_tensor_all_finite([1.0, 2.0], "x is not finite"))
    array([1., 2.], dtype=float32)
    """
    value, text = renamed("x", x, "t", t), renamed("message", message, "msg", msg)
    with name_scope(name, "VerifyFinite", [value]):
        value = convert_to_tensor(value, name="x")
        with colocate_with(value):
            return with_dependencies([CheckNumerics(value, message=text)], value)


@named("Print")
def print_(input_: Any, data: Sequence[Any], message: str | None = None, first_n: int | None = None,
           summarize: int | None = None, name: str | None = None) -> Tensor:
    """`tf.Print`: return `input_` itself; write `message` and the first `summarize` elements of each of `data`.

    first_n: how many times it writes; all by default.

    >>> x = tf.Print(tf.constant([1, 2]), ["value"], message="checking: ")
    >>> sess.run(x)
    array([1, 2], dtype=int32)
    """
    return Print(input_, data, message=message, first_n=first_n, summarize=summarize, name=name)
