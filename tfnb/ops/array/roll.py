"""Rolling tensors along axes: `tf.roll`."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core.shape import Static, is_known
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.library.roll import roll as launch_roll
from tfnb.ops.declaration.declare import kernel

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext


def _rolled_shape(ctx: ShapeContext) -> list[Static]:
    x, shift, axis = (ctx.shape(i) for i in range(3))
    if x == ():
        raise ValueError("input must be 1-D or higher, got a scalar")
    for name, shape in (("shift", shift), ("axis", axis)):
        if shape is not None and len(shape) > 1:
            raise ValueError(f"{name} must be a scalar or a vector, got shape {list(shape)}")
    if shift is not None and axis is not None and (len(shift) != len(axis) or is_known(shift) and is_known(axis)
                                                   and shift != axis):
        raise ValueError(f"shift and axis must have the same size, got shapes {list(shift)} and {list(axis)}")
    return [x]


def _axes_in_range(ctx: Any) -> None:
    rank = len(ctx.shape(0))
    for axis in np.reshape(ctx.value(2), -1):
        if not -rank <= axis < rank:
            raise ValueError(f"axis {axis} is out of range: expected one in [{-rank}, {rank})")


def _roll(ctx: Any, x: np.ndarray, shift: np.ndarray, axis: np.ndarray) -> np.ndarray:
    return np.roll(x, tuple(shift.reshape(-1).tolist()), tuple(axis.reshape(-1).tolist()))


@kernel("input: T, shift: Tshift, axis: Taxis -> output: T", shape=_rolled_shape, validate=_axes_in_range, numpy=_roll,
        launch=launch_roll, values=("axis",), T="type", Tshift="{int32, int64}", Taxis="{int32, int64}", halves="moved")
def Roll() -> None:
    """Move the elements of `input` by `shift` places along `axis`; those that leave at one end enter at the other."""


@Roll.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [Roll(dy, -op.inputs[1], op.inputs[2]), None, None]


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """Roll a tensor along axes: element i of `axis` moves to (i + shift) modulo its size.

    shift, axis: integers, or vectors of equal size; an axis that is named several times moves by the sum. Returns a
    tensor of the shape and dtype of `input`. Raises ValueError for a scalar `input`, and for other shapes of the two;
    in the run InvalidArgumentError for an axis outside [-rank, rank).

    >>> tf.Session().run(tf.roll([0, 1, 2, 3, 4], shift=2, axis=0))
    array([3, 4, 0, 1, 2], dtype=int32)
    """
    return Roll(input, shift, axis, name=name)
