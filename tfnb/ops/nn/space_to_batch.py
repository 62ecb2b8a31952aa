"""Operations over blocks of space: paddings for SpaceToBatchND, dilation of any operation by it."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.reshape import shape
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw


def _constant(value: Any) -> np.ndarray | None:
    return constant_value(value) if isinstance(value, Tensor) else np.asarray(value)


@public("required_space_to_batch_paddings")
def required_space_to_batch_paddings(input_shape: Any, block_shape: Any, base_paddings: Any = None,
                                     name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return the paddings [M, 2] of `tf.space_to_batch_nd` that make sizes divide by a block, and the crops to undo it.

    input_shape, block_shape: int32 [M]. base_paddings: int32 [M, 2], paddings that are there anyhow and are not
    cropped; by default 0. Raises ValueError for a block of another rank.

    >>> paddings, crops = tf.required_space_to_batch_paddings([5, 6], [2, 4])
    >>> sess.run([paddings, crops])
    [array([[0, 1],
           [0, 2]], dtype=int32), array([[0, 1],
           [0, 2]], dtype=int32)]
    """
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        block = convert_to_tensor(block_shape, dtype=dtypes.int32, name="block_shape")
        count = block.shape.with_rank(1)[0].value
        base = np.zeros((count or 0, 2), np.int32) if base_paddings is None else base_paddings
        known = [_constant(each) for each in (input_shape, block, base)]
        if any(each is None for each in known):
            return _paddings(convert_to_tensor(input_shape, dtype=dtypes.int32), block,
                             convert_to_tensor(base, dtype=dtypes.int32))
        sizes, blocks, around = (np.asarray(each, np.int32) for each in known)
        if sizes.shape != blocks.shape or around.shape != (len(blocks), 2):
            raise ValueError(f"expected sizes and paddings for a block of shape {list(blocks.shape)}, got shapes "
                             f"{list(sizes.shape)} and {list(around.shape)}")
        extra = -(sizes + around.sum(1)) % blocks
        return (convert_to_tensor(np.stack([around[:, 0], around[:, 1] + extra], 1).astype(np.int32), name="paddings"),
                convert_to_tensor(np.stack([0 * extra, extra], 1).astype(np.int32), name="crops"))


def _paddings(sizes: Tensor, block: Tensor, base: Tensor) -> tuple[Tensor, Tensor]:
    before, after = raw.Unpack(base, num=2, axis=1)
    extra = raw.FloorMod(raw.Neg(raw.AddV2(sizes, raw.AddV2(before, after))), block)
    return (raw.Pack([before, raw.AddV2(after, extra)], axis=1, name="paddings"),
            raw.Pack([raw.ZerosLike(extra), extra], axis=1, name="crops"))


def _spatial(rank: int | None, count: int, given: Sequence[int] | None, data_format: str | None) -> list[int]:
    """Return the sorted spatial axes. Raises ValueError for others than positive ones."""
    first = 2 if (data_format or "").startswith("NC") else 1
    found = sorted(range(first, first + count) if given is None else given)
    if len(set(found)) < len(found) or any(axis < 1 for axis in found) or (rank is not None and found[-1] >= rank):
        raise ValueError(f"expected different positive spatial_dims below the rank {rank}, got {found}")
    return found


def _around(filter_shape: Any, rates: np.ndarray, padding: str) -> np.ndarray:
    """Return the paddings that an operation with taps of `filter_shape` needs. Raises ValueError for a padding."""
    if padding == "VALID":
        return np.zeros((len(rates), 2), np.int32)
    if padding != "SAME":
        raise ValueError(f"expected padding SAME or VALID, got {padding!r}")
    taps = _constant(filter_shape)
    if filter_shape is None or taps is None:
        raise ValueError("expected a known filter_shape for padding SAME, got none")
    extra = (taps[:len(rates)] - 1) * rates
    return np.stack([extra // 2, extra - extra // 2], 1)


@public("nn.with_space_to_batch")
def with_space_to_batch(input: Any, dilation_rate: Any, padding: str, op: Callable[..., Any],
                        filter_shape: Any = None, spatial_dims: Sequence[int] | None = None,
                        data_format: str | None = None) -> Any:
    """Apply `op` to every dilation_rate-th element of space, by moving blocks of space into the batch and back.

    input: [batch, ...]. dilation_rate: known positive integers, one for each spatial axis. padding: "SAME" or "VALID",
    of the whole. op: fn(input, number of spatial axes, padding) -> output. filter_shape: the taps of op along these
    axes, for "SAME". spatial_dims: the axes, by default those from 1 (or 2 if data_format begins with "NC"). Raises
    ValueError for other arguments.

    >>> x = tf.reshape(tf.range(6.0), [1, 6, 1])
    >>> y = tf.nn.with_space_to_batch(x, [2], "VALID", lambda x, rank, padding: tf.nn.pool(x, [2], "MAX", padding))
    >>> sess.run(y).ravel()
    array([2., 3., 4., 5.], dtype=float32)
    """
    x = convert_to_tensor(input, name="input")
    rates = _constant(dilation_rate)
    if rates is None or rates.ndim != 1 or (rates < 1).any():
        raise ValueError(f"expected a vector of known positive dilation rates, got {dilation_rate}")
    axes = _spatial(x.shape.ndims, len(rates), spatial_dims, data_format)
    if (rates == 1).all():
        return op(x, len(rates), padding)
    around = _around(filter_shape, rates, padding)
    block, wide = np.ones(axes[-1], np.int32), np.zeros((axes[-1], 2), np.int32)
    for axis, rate, pads in zip(axes, rates, around, strict=True):
        block[axis - 1], wide[axis - 1] = rate, pads
    sizes = x.shape.as_list()[1:axes[-1] + 1] if x.shape.ndims is not None else [None]
    whole = shape(x)[1:axes[-1] + 1] if None in sizes else sizes
    paddings, crops = required_space_to_batch_paddings(whole, block, wide)
    made = op(raw.SpaceToBatchND(x, block, paddings), len(rates), "VALID")
    return raw.BatchToSpaceND(made, block, crops)


describe(globals(), TENSORS)
