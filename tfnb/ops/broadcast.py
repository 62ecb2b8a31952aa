"""Broadcasting backwards: the gradient of a broadcast input is the sum over the places where it was repeated."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import errors
from tfnb.core.shape import Static
from tfnb.graph.operation import Operation, Tensor
from tfnb.ops.declare import kernel
from tfnb.ops.raw import raw

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext


def _unknown_vectors(ctx: ShapeContext) -> list[Static]:
    return [(None,)] * len(ctx.op.outputs)


def _reduced_axes(shape: Sequence[int], other: Sequence[int]) -> list[int]:
    """The axes of the broadcast result along which an input of `shape` was repeated (size 1 counts as repeated)."""
    rank = max(len(shape), len(other))
    sizes = [1] * (rank - len(shape)) + list(shape)
    others = [1] * (rank - len(other)) + list(other)
    lead = rank - len(shape)
    return [i for i in range(rank) if i < lead or (sizes[i] == 1 and (others[i] != 1 or i < rank - len(other)))]


def _gradient_args(ctx: Any, s0: np.ndarray, s1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    a, b = s0.tolist(), s1.tolist()
    for m, n in zip(reversed(a), reversed(b), strict=False):
        if m != n and 1 not in (m, n):
            raise errors.InvalidArgumentError(None, ctx.op, f"Incompatible shapes: {a} vs. {b}")
    if a == b:
        return np.empty(0, s0.dtype), np.empty(0, s0.dtype)
    return np.array(_reduced_axes(a, b), s0.dtype), np.array(_reduced_axes(b, a), s0.dtype)


@kernel("s0: T, s1: T -> r0: T, r1: T", shape=_unknown_vectors, numpy=_gradient_args, values=("s0", "s1"),
        T="indextype = DT_INT32")
def BroadcastGradientArgs() -> None:
    """The axes to sum a gradient over, for each of two inputs with shapes `s0` and `s1` that were broadcast."""


BroadcastGradientArgs.no_gradient("shapes have none")


def _broadcast_shapes(ctx: Any, s0: np.ndarray, s1: np.ndarray) -> np.ndarray:
    try:
        return np.array(np.broadcast_shapes(tuple(s0.tolist()), tuple(s1.tolist())), s0.dtype)
    except ValueError:
        raise errors.InvalidArgumentError(None, ctx.op, f"Incompatible shapes: {s0.tolist()} vs. {s1.tolist()}") \
            from None


@kernel("s0: T, s1: T -> r0: T", shape=_unknown_vectors, numpy=_broadcast_shapes, values=("s0", "s1"),
        T="indextype = DT_INT32")
def BroadcastArgs() -> None:
    """The shape that two shapes broadcast to."""


BroadcastArgs.no_gradient("shapes have none")


def _static_axes(target: Static, other: Static) -> list[int] | None:
    """The axes of the result to sum over for an input with shape `target`, or None if that can't be told yet."""
    if target is None or other is None:
        return None
    lead = max(len(other) - len(target), 0)
    axes = list(range(lead))
    padded = (1,) * (len(target) - len(other)) + other
    for axis, size in enumerate(target, lead):
        against = padded[axis]
        if size is None and against != 1:
            return None                        # it may be 1 at run time, against a larger size
        if size == 1 and against != 1:
            axes.append(axis)
    return axes


def _sum_to(gradient: Tensor, target: Tensor, axes: list[int], rank: int) -> Tensor:
    if not axes:
        return gradient
    lead = rank - len(target.static or ())
    if axes == list(range(lead)):
        return raw.Sum(gradient, axes)
    if not lead:
        return raw.Sum(gradient, axes, keep_dims=True)
    return raw.Reshape(raw.Sum(gradient, axes), shape_of(target))


def shape_of(x: Tensor) -> Any:
    """The shape of `x`: a list of ints where it is known, else a Shape op."""
    return raw.Shape(x) if x.static is None or None in x.static else list(x.static)


def unbroadcast(op: Operation, dx: Tensor, dy: Tensor) -> list[Tensor]:
    """The gradients of two broadcast inputs of `op`, from their values at each place of the result.

    Sums over static axes where the static shapes tell them; else BroadcastGradientArgs finds them at run time.
    """
    x, y = op.inputs[0], op.inputs[1]
    if x is y or (x.static is not None and None not in x.static and x.static == y.static):
        return [dx, dy]
    axes_x, axes_y = _static_axes(x.static, y.static), _static_axes(y.static, x.static)
    if axes_x is not None and axes_y is not None:
        rank = max(len(x.static or ()), len(y.static or ()))
        return [_sum_to(dx, x, axes_x, rank), _sum_to(dy, y, axes_y, rank)]
    shape_x, shape_y = raw.Shape(x), raw.Shape(y)
    run_x, run_y = BroadcastGradientArgs(shape_x, shape_y)
    return [raw.Reshape(raw.Sum(dx, run_x), shape_x), raw.Reshape(raw.Sum(dy, run_y), shape_y)]
