"""Reversal of sequences of different lengths in one tensor: `tf.reverse_sequence`."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core.shape import Static, merge
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.library.checks import BAD_LENGTH, Check
from tfnb.kernels.library.rows import places as kernels
from tfnb.ops.declaration.arguments import renamed
from tfnb.ops.declaration.declare import kernel

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext


def _axis(ctx: Any, name: str, rank: int) -> int:
    axis = int(ctx.attrs[name])
    if not 0 <= axis < rank:
        raise ValueError(f"{name} must be in [0, {rank}), not {axis}")
    return axis


def _shape(ctx: ShapeContext) -> list[Static]:
    x, lengths = ctx.shape(0), ctx.shape(1)
    if lengths is not None and len(lengths) != 1:
        raise ValueError(f"seq_lengths must be a vector, not of shape {lengths}")
    if x is None:
        return [None]
    batch, along = _axis(ctx, "batch_dim", len(x)), _axis(ctx, "seq_dim", len(x))
    if batch == along:
        raise ValueError(f"batch_dim and seq_dim must differ, but both are {batch}")
    if lengths is not None:
        found = merge((x[batch],), lengths)
        x = (*x[:batch], *(found or ()), *x[batch + 1:])
    return [x]


def _numpy(ctx: Any, x: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    batch, along = int(ctx.attrs["batch_dim"]), int(ctx.attrs["seq_dim"])
    most = x.shape[along]
    place = np.arange(most)
    order = np.where(place < lengths[:, None], lengths[:, None] - 1 - place, place)      # (batch, time)
    order = order if batch < along else order.T
    sizes = [n if axis in (batch, along) else 1 for axis, n in enumerate(x.shape)]
    return np.take_along_axis(x, order.reshape(sizes), along)


@kernel("input: T, seq_lengths: Tlen -> output: T", shape=_shape, numpy=_numpy, launch=kernels.reverse_sequence,
        seq_dim="int", batch_dim="int = 0", T="type", Tlen="{int32, int64} = DT_INT64", halves="moved")
def ReverseSequence() -> None:
    """Reverse the first seq_lengths[i] elements along `seq_dim` of each example i of `batch_dim` of `input`."""


@ReverseSequence.checked
def _(ctx: Any) -> list[Check]:
    return [Check(1, BAD_LENGTH, ctx.shape(0)[int(ctx.attrs["seq_dim"])] + 1)]


@ReverseSequence.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [ReverseSequence(dy, op.inputs[1], seq_dim=op.attrs["seq_dim"], batch_dim=op.attrs["batch_dim"]), None]


def reverse_sequence(input: Any, seq_lengths: Any, seq_axis: int | None = None, batch_axis: int | None = None,
                     name: str | None = None, seq_dim: int | None = None, batch_dim: int | None = None) -> Tensor:
    """Reverse the first seq_lengths[i] elements along `seq_axis` of each example i of `batch_axis` of `input`.

    seq_dim, batch_dim: older names of the axes.

    >>> sess.run(tf.reverse_sequence([[1, 2, 3, 0], [4, 5, 6, 7]], [3, 2], seq_axis=1, batch_axis=0))
    array([[3, 2, 1, 0],
           [5, 4, 6, 7]], dtype=int32)
    """
    along = renamed("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch = renamed("batch_axis", batch_axis, "batch_dim", batch_dim, default=0)
    return ReverseSequence(input, seq_lengths, seq_dim=along, batch_dim=batch, name=name)
