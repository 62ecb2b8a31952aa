"""Frames of signals, and signals of frames."""
from __future__ import annotations

from typing import Any

from tfnb.core.dtypes import int32
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.create import range_
from tfnb.ops.array.gather import gather
from tfnb.ops.array.joining import concat, pad
from tfnb.ops.array.reshape import expand_dims, reshape, shape, transpose
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.reductions.reduce import reduce_sum


def int_scalar(value: Any, name: str) -> Tensor:
    """Return a length or a step as an int32 tensor. Raises ValueError for one that is no scalar."""
    made = convert_to_tensor(value, dtype=int32, name=name)
    made.shape.assert_has_rank(0)
    return made


@public("signal.frame")
def frame(signal: Any, frame_length: Any, frame_step: Any, pad_end: bool = False, pad_value: Any = 0, axis: int = -1,
          name: str | None = None) -> Tensor:
    """Cut a signal into frames that may overlap: [..., frames, frame_length, ...].

    signal: [..., samples, ...]. frame_length: samples of a frame, an int32 scalar. frame_step: samples from the start
    of a frame to that of the next, an int32 scalar. pad_end: make frames that reach beyond the end of the signal, too.
    pad_value: what those have there. axis: the axis of the samples, an int. There are 1 + floor((samples -
    frame_length) / frame_step) frames, with `pad_end` ceil(samples / frame_step). Raises ValueError for lengths that
    are no scalars and for an axis that is none.

    >>> sess.run(tf.signal.frame([1, 2, 3, 4, 5], 3, 2))
    array([[1, 2, 3],
           [3, 4, 5]], dtype=int32)
    """
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        signal = convert_to_tensor(signal, name="signal")
        length, step = int_scalar(frame_length, "frame_length"), int_scalar(frame_step, "step")
        rank = signal.shape.ndims
        if rank is None:
            if axis != -1:
                raise ValueError("axis must be -1 where the rank of the signal is not known")
        elif not -rank <= axis < rank:
            raise ValueError(f"axis {axis} is out of range for a signal of rank {rank}")
        at = axis % rank if rank is not None else -1
        samples = shape(signal)[at]
        if pad_end:
            frames = raw.Neg(raw.FloorDiv(raw.Neg(samples), step))
            missing = raw.Maximum(0, length + step * (frames - 1) - samples)
            signal = _continued(signal, missing, convert_to_tensor(pad_value, dtype=signal.dtype), at)
        else:
            frames = raw.Maximum(0, 1 + raw.FloorDiv(samples - length, step))
        places = expand_dims(range_(frames) * step, 1) + expand_dims(range_(length), 0)
        made = gather(signal, places, axis=at if rank is not None else raw.Rank(signal) - 1)
        if rank is not None:
            made.set_shape(_framed(signal, at, length, frames))
        return made


def _framed(signal: Tensor, at: int, length: Tensor, frames: Tensor) -> TensorShape:
    many, each = (None if known is None else int(known) for known in map(constant_value, (frames, length)))
    sizes = signal.shape.as_list()
    return TensorShape([*sizes[:at], many, each, *sizes[at + 1:]])


def _continued(signal: Tensor, missing: Any, value: Tensor, at: int) -> Tensor:
    """Return the signal with `missing` samples of `value` behind it."""
    sizes = shape(signal)
    if at == -1:
        more = concat([sizes[:-1], [missing]], 0)
    else:
        more = concat([sizes[:at], [missing], sizes[at + 1:]], 0)
    return concat([signal, raw.Fill(more, value)], at)


@public("signal.overlap_and_add")
def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Tensor:
    """Make a signal of frames; where they overlap, their samples are added: [..., (frames - 1) step + frame_length].

    signal: [..., frames, frame_length]. frame_step: samples from the start of a frame to that of the next, an int32
    scalar of 1 or more. Raises ValueError for a signal of rank 0 or 1 and a step that is no scalar of integers.

    >>> sess.run(tf.signal.overlap_and_add([[1, 1, 1], [2, 2, 2]], 1))
    array([1, 3, 3, 2], dtype=int32)
    """
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = convert_to_tensor(signal, name="signal")
        signal.shape.with_rank_at_least(2)
        step = convert_to_tensor(frame_step, name="frame_step")
        step.shape.assert_has_rank(0)
        if not step.dtype.is_integer:
            raise ValueError(f"frame_step must be an integer. Got {step.dtype!r}")
        step = raw.Cast(step, DstT=int32)
        sizes = shape(signal)
        outer, frames, length = sizes[:-2], sizes[-2], sizes[-1]
        result = length + step * (frames - 1)
        parts = raw.Neg(raw.FloorDiv(raw.Neg(length), step))
        # Each frame is `parts` pieces of `step` samples. Piece p of frame f belongs to place f + p: rows of pieces that
        # are one place longer than the next row starts, written one behind the other, are such a shift.
        ahead = raw.Fill(raw.Pack([raw.Sub(raw.Rank(signal), 2), 2]), 0)
        signal = pad(signal, concat([ahead, [[0, parts], [0, parts * step - length]]], 0))
        signal = reshape(signal, concat([outer, [frames + parts, parts, step]], 0))
        rank = raw.Rank(signal)
        signal = transpose(signal, concat([range_(rank - 3), [rank - 2, rank - 3, rank - 1]], 0))
        signal = reshape(signal, concat([outer, [(frames + parts) * parts, step]], 0))
        signal = signal[..., :(frames + parts - 1) * parts, :]
        signal = reshape(signal, concat([outer, [parts, frames + parts - 1, step]], 0))
        flat = reshape(reduce_sum(signal, -3), concat([outer, [(frames + parts - 1) * step]], 0))
        return flat[..., :result]
