"""Gradients of broadcasting: the gradient of a broadcast input is summed over the axes along which it was repeated."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import dtypes, errors
from tfnb.core.dtypes import DType
from tfnb.core.shape import Static
from tfnb.graph.constant import make_constant
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.raw import raw

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
        ranks={"s0": 1, "s1": 1}, T="indextype = DT_INT32")
def BroadcastGradientArgs() -> None:
    """Compute the axes to sum a gradient over, for each of two inputs with shapes `s0` and `s1` that were broadcast."""


BroadcastGradientArgs.no_gradient("shapes have none")


def _broadcast_shapes(ctx: Any, s0: np.ndarray, s1: np.ndarray) -> np.ndarray:
    try:
        return np.array(np.broadcast_shapes(tuple(s0.tolist()), tuple(s1.tolist())), s0.dtype)
    except ValueError:
        raise errors.InvalidArgumentError(None, ctx.op, f"Incompatible shapes: {s0.tolist()} vs. {s1.tolist()}") \
            from None


@kernel("s0: T, s1: T -> r0: T", shape=_unknown_vectors, numpy=_broadcast_shapes, values=("s0", "s1"),
        ranks={"s0": 1, "s1": 1}, T="indextype = DT_INT32")
def BroadcastArgs() -> None:
    """Compute the shape that two shapes broadcast to."""


BroadcastArgs.no_gradient("shapes have none")


def _static_axes(x: Static, y: Static) -> tuple[list[int], list[int]] | None:
    """The axes of the result along which x, and those along which y was repeated; None if that is not known yet."""
    if x is None or y is None:
        return None
    rank = max(len(x), len(y))
    axes_x, axes_y = [], []
    for axis in range(rank):
        m = 1 if axis < rank - len(x) else x[axis - rank + len(x)]
        n = 1 if axis < rank - len(y) else y[axis - rank + len(y)]
        if m == 1 and n != 1:
            axes_x.append(axis)
        elif n == 1 and m != 1:
            axes_y.append(axis)
        elif m is None or n is None:
            return None
    return axes_x, axes_y


def shape_node(x: Tensor, dtype: DType = dtypes.int32) -> Tensor:
    """Return the shape of `x` as a node called "Shape": a constant where it is known."""
    if x.static is None or None in x.static:
        found: Tensor = raw.Shape(x, out_type=dtype)
        return found
    return convert_to_tensor(np.array(x.static, dtype.as_numpy_dtype), name="Shape")


def ones_node(x: Tensor) -> Tensor:
    """Return ones like `x`, as nodes called "ones_like"."""
    with name_scope("ones_like") as scope:
        known = x.static is not None and None not in x.static
        size = convert_to_tensor(np.array(x.static, np.int32), name="Shape/shape_as_tensor") if known else raw.Shape(x)
        found: Tensor = raw.Fill(size, make_constant(1, dtype=x.dtype.base_dtype), name=scope)
        return found


def zeros_node(x: Tensor) -> Tensor:
    """Return zeros like `x`, as a node called "zeros_like": a constant where the shape is known."""
    if x.static is None or None in x.static:
        found: Tensor = raw.ZerosLike(x, name="zeros_like")
        return found
    return make_constant(0, dtype=x.dtype.base_dtype, shape=x.static, name="zeros_like")


def shape_of(x: Tensor) -> Any:
    """Return the shape of `x`: a list of ints where it is known, else a Shape op."""
    return raw.Shape(x) if x.static is None or None in x.static else list(x.static)


def same_shapes(*tensors: Any) -> bool:
    """Return whether all are tensors (no IndexedSlices) of the same known shape: then nothing was broadcast."""
    first = tensors[0].static
    return first is not None and None not in first and all(isinstance(t, Tensor) and t.static == first for t in tensors)


def unbroadcast(op: Operation, dx: Tensor, dy: Tensor) -> list[Tensor]:
    """Return the gradients of two broadcast inputs of `op`, from their values at each element of the result.

    Sums over static axes where the static shapes tell them; else BroadcastGradientArgs finds them at run time.
    """
    x, y = op.inputs[0], op.inputs[1]
    sizes = shape_node(x), shape_node(y)
    axes: Sequence[Any] | None = _static_axes(x.static, y.static)
    if axes is None:
        axes = BroadcastGradientArgs(*sizes)
    return [_sum_to(d, a, size) for d, a, size in zip((dx, dy), axes, sizes, strict=True)]


def _sum_to(gradient: Tensor, axes: Any, size: Tensor) -> Tensor:
    if isinstance(axes, list) and not axes:
        static = gradient.static if isinstance(gradient, Tensor) else None
        if static is None or size.static == (len(static),):
            return gradient
        axes = np.empty(0, np.int32)               # sizes of 1 stand before it
    found: Tensor = raw.Reshape(raw.Sum(gradient, axes, keep_dims=True), size)
    return found
