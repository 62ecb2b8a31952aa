"""Blocks of space moved to channels (SpaceToDepth) or to the batch (SpaceToBatchND), and back."""
from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core.arguments import NN, describe
from tfnb.core.shape import Static
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.launch import Call, Launch, known_value
from tfnb.kernels.library import blocks
from tfnb.ops.declaration.arguments import renamed
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.public import public
from tfnb.ops.nn.conv import rank4

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext


def _axes(attrs: Any) -> tuple[int, int, int]:
    """Return the axes of height, width and channels. Raises ValueError for a layout without kernels."""
    if attrs["data_format"] == b"NCHW_VECT_C":
        raise ValueError("data_format must be 'NHWC' or 'NCHW', got 'NCHW_VECT_C' (int8 on a GPU only)")
    return (2, 3, 1) if attrs["data_format"] == b"NCHW" else (1, 2, 3)


def _quotient(n: int | None, by: int, what: str) -> int | None:
    if n is not None and n % by:
        raise ValueError(f"{what} must be divisible by {by}, got {n}")
    return None if n is None else n // by


def _to_depth_shape(ctx: ShapeContext) -> list[Static]:
    shape, block = list(rank4(ctx.shape(0))), ctx.attrs["block_size"]
    *space, depth = _axes(ctx.attrs)
    for axis, name in zip(space, ("height", "width"), strict=True):
        shape[axis] = _quotient(shape[axis], block, f"the {name} of input")
    shape[depth] = None if shape[depth] is None else shape[depth] * block * block
    return [tuple(shape)]


def _to_space_shape(ctx: ShapeContext) -> list[Static]:
    shape, block = list(rank4(ctx.shape(0))), ctx.attrs["block_size"]
    *space, depth = _axes(ctx.attrs)
    shape[depth] = _quotient(shape[depth], block * block, "the depth of input")
    for axis in space:
        shape[axis] = None if shape[axis] is None else shape[axis] * block
    return [tuple(shape)]


def _to_depth(ctx: Any, x: np.ndarray) -> np.ndarray:
    b, axes = ctx.attrs["block_size"], _axes(ctx.attrs)
    n, (h, w, c) = x.shape[0], (x.shape[axis] for axis in axes)
    if axes[2] == 1:
        cut = x.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4)
        return np.ascontiguousarray(cut).reshape(n, b * b * c, h // b, w // b)
    cut = x.reshape(n, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5)
    return np.ascontiguousarray(cut).reshape(n, h // b, w // b, b * b * c)


def _to_space(ctx: Any, x: np.ndarray) -> np.ndarray:
    b, axes = ctx.attrs["block_size"], _axes(ctx.attrs)
    n, (h, w, c) = x.shape[0], (x.shape[axis] for axis in axes)
    if axes[2] == 1:
        cut = x.reshape(n, b, b, c // b**2, h, w).transpose(0, 3, 4, 1, 5, 2)
        return np.ascontiguousarray(cut).reshape(n, c // b**2, h * b, w * b)
    cut = x.reshape(n, h, w, b, b, c // b**2).transpose(0, 1, 3, 2, 4, 5)
    return np.ascontiguousarray(cut).reshape(n, h * b, w * b, c // b**2)


_LAYOUT = "{'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'"


@kernel("input: T -> output: T", shape=_to_depth_shape, numpy=_to_depth, launch=blocks.space_to_depth, T="type",
        block_size="int >= 2", data_format=_LAYOUT, halves="moved")
def SpaceToDepth() -> None:
    """Move each block of `block_size` x `block_size` places of images (rank 4) into the channels of one place."""


@kernel("input: T -> output: T", shape=_to_space_shape, numpy=_to_space, launch=blocks.depth_to_space, T="type",
        block_size="int >= 2", data_format=_LAYOUT, halves="moved")
def DepthToSpace() -> None:
    """Spread the channels of images (rank 4) over blocks of `block_size` x `block_size` places."""


@SpaceToDepth.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return DepthToSpace(dy, **_block_attrs(op))


@DepthToSpace.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return SpaceToDepth(dy, **_block_attrs(op))


def _block_attrs(op: Operation) -> dict[str, Any]:
    return {name: op.attrs[name] for name in ("block_size", "data_format")}


# Space and batch. A form is the block and the padding (or cropping) of each axis of space, or None where unknown.

def _form(ctx: Any) -> tuple[Any, Any]:
    """Return (block, padding) of SpaceToBatchND and BatchToSpaceND. Raises ValueError for sizes that don't fit."""
    block, pads = ctx.value(1), ctx.value(2)
    shape, block_shape, pads_shape = (ctx.shape(i) for i in range(3))
    if pads_shape is not None and pads_shape[1] not in (2, None):
        raise ValueError(f"{_PADS[ctx.op.type]} must have shape [M, 2], got {list(pads_shape)}")
    counts = {s[0] for s in (block_shape, pads_shape) if s is not None and s[0] is not None}
    if len(counts) > 1:
        raise ValueError(f"block_shape and {_PADS[ctx.op.type]} must be of as many axes, got shapes "
                         f"{list(block_shape)} and {list(pads_shape)}")
    if shape is not None and counts and len(shape) < 1 + min(counts):
        raise ValueError(f"input must have rank {1 + min(counts)} or more for {min(counts)} blocks, got {len(shape)}")
    return _checked(ctx, None if block is None else np.reshape(block, -1), pads)


# The input that pads or crops.
_PADS = {"SpaceToBatchND": "paddings", "SpaceToBatch": "paddings", "BatchToSpaceND": "crops", "BatchToSpace": "crops"}


def _checked(ctx: Any, block: Any, pads: Any) -> tuple[Any, Any]:
    if block is not None and np.any(block < 1):
        raise ValueError(f"block_shape must be positive, got {block.tolist()}")
    if pads is not None and np.any(pads < 0):
        raise ValueError(f"{_PADS[ctx.op.type]} must not be negative, got {pads.tolist()}")
    return block, pads


def _form_of_images(ctx: Any) -> tuple[Any, Any]:
    """Return (block, padding) of SpaceToBatch and BatchToSpace: a square block over images."""
    shape, pads = ctx.shape(1), ctx.value(1)
    rank4(ctx.shape(0))
    if shape is not None and any(a not in (2, None) for a in shape):
        raise ValueError(f"{_PADS[ctx.op.type]} must have shape [2, 2], got {list(shape)}")
    return _checked(ctx, np.array([ctx.attrs["block_size"]] * 2), pads)


def _shape(form: Any, to_batch: bool) -> Any:
    """Return the shape function of an op whose block and padding `form` returns."""
    def shape_of(ctx: ShapeContext) -> list[Static]:
        (block, pads), shape = form(ctx), ctx.shape(0)
        if shape is None or block is None:
            return [shape and (None,) * len(shape)]
        cut, m = _padded if to_batch else _cropped, len(block)
        whole, batch = prod(block.tolist()), shape[0]
        space = [None if n is None or pads is None else cut(axis, n, int(b), pads[axis - 1].tolist())
                 for axis, (n, b) in enumerate(zip(shape[1:1 + m], block, strict=True), 1)]
        if to_batch:
            images = None if batch is None else batch * whole
        else:
            images = _quotient(batch, whole, "the batch of input")
        return [(images, *space, *shape[1 + m:])]
    return shape_of


def _padded(axis: int, n: int, block: int, pads: list[int]) -> int | None:
    return _quotient(n + sum(pads), block, f"the padded size of axis {axis}")


def _cropped(axis: int, n: int, block: int, crops: list[int]) -> int:
    if n * block < sum(crops):
        raise ValueError(f"crops of axis {axis} must be {n * block} elements at most, got {crops}")
    return n * block - sum(crops)


def _to_batch(x: np.ndarray, block: Any, pads: Any) -> np.ndarray:
    """Return SpaceToBatchND in NumPy."""
    m = len(block)
    x = np.pad(x, [(0, 0), *pads.tolist(), *[(0, 0)] * (x.ndim - 1 - m)]) if m else x
    grid = [n // b for n, b in zip(x.shape[1:], block, strict=False)]
    cut = x.reshape(x.shape[0], *(n for pair in zip(grid, block, strict=True) for n in pair), *x.shape[1 + m:])
    order = [*range(2, 2 * m + 1, 2), 0, *range(1, 2 * m, 2), *range(2 * m + 1, cut.ndim)]
    return np.ascontiguousarray(cut.transpose(order)).reshape(x.shape[0] * int(prod(block)), *grid, *x.shape[1 + m:])


def _from_batch(x: np.ndarray, block: Any, crops: Any) -> np.ndarray:
    """Return BatchToSpaceND in NumPy."""
    m, batch = len(block), x.shape[0] // int(prod(block))
    cut = x.reshape(*block, batch, *x.shape[1:])
    order = [m, *(axis for k in range(m) for axis in (m + 1 + k, k)), *range(2 * m + 1, cut.ndim)]
    sizes = [n * b for n, b in zip(x.shape[1:], block, strict=False)]
    whole = cut.transpose(order).reshape(batch, *sizes, *x.shape[1 + m:])
    return np.ascontiguousarray(whole[(slice(None), *(
        slice(before, size - after) for size, (before, after) in zip(sizes, crops.tolist(), strict=True)))])


def _values(call: Call) -> tuple[list[int], list[int]]:
    """Return (block, padding before) of a call."""
    if "block_size" in call.attrs:
        block, pads = [call.attrs["block_size"]] * 2, known_value(call.inputs[1])
    else:
        block, pads = known_value(call.inputs[1]).reshape(-1).tolist(), known_value(call.inputs[2])
    return block, pads[:, 0].tolist()


def _launch_to_batch(call: Call) -> list[Launch]:
    return blocks.space_to_batch(call, *_values(call))


def _launch_to_space(call: Call) -> list[Launch]:
    return blocks.batch_to_space(call, *_values(call))


@public("space_to_batch_nd", "manip.space_to_batch_nd")
@kernel("input: T, block_shape: Tblock_shape, paddings: Tpaddings -> output: T", shape=_shape(_form, True),
        ranks={"block_shape": 1, "paddings": 2}, numpy=lambda ctx, x, block, pads: _to_batch(x, block.tolist(), pads),
        launch=_launch_to_batch, values=("block_shape", "paddings"), T="type",
        Tblock_shape="{int32, int64} = DT_INT32", Tpaddings="{int32, int64} = DT_INT32", halves="moved")
def SpaceToBatchND() -> None:
    """Pad axes 1 to M of `input` with zeros, and move the places of each block of them into the batch.

    block_shape: (M,), positive. paddings: (M, 2), before and after. Result: (batch * prod(block_shape), padded sizes /
    block_shape, the other axes). ValueError, or InvalidArgumentError in the run, where a padded size is not divisible.

    >>> sess.run(tf.space_to_batch_nd([[1, 2, 3]], [2], [[0, 1]]))
    array([[1, 3],
           [2, 0]], dtype=int32)
    """


@public("batch_to_space_nd", "manip.batch_to_space_nd")
@kernel("input: T, block_shape: Tblock_shape, crops: Tcrops -> output: T", shape=_shape(_form, False),
        ranks={"block_shape": 1, "crops": 2}, numpy=lambda ctx, x, block, crops: _from_batch(x, block.tolist(), crops),
        launch=_launch_to_space, values=("block_shape", "crops"), T="type",
        Tblock_shape="{int32, int64} = DT_INT32", Tcrops="{int32, int64} = DT_INT32", halves="moved")
def BatchToSpaceND() -> None:
    """Move images of a batch back into the blocks of axes 1 to M, and crop these: undo SpaceToBatchND.

    block_shape: (M,), positive. crops: (M, 2), at the beginning and the end. ValueError, or InvalidArgumentError in the
    run, where the batch is not divisible by the block, or an axis is cropped by more than it has.

    >>> sess.run(tf.batch_to_space_nd([[1, 3], [2, 0]], [2], [[0, 1]]))
    array([[1, 2, 3]], dtype=int32)
    """


@kernel("input: T, paddings: Tpaddings -> output: T", shape=_shape(_form_of_images, True), ranks={"paddings": 2},
        numpy=lambda ctx, x, pads: _to_batch(x, [ctx.attrs["block_size"]] * 2, pads), launch=_launch_to_batch,
        values=("paddings",), T="type", Tpaddings="{int32, int64} = DT_INT32", block_size="int >= 2", halves="moved")
def SpaceToBatch() -> None:
    """Compute SpaceToBatchND of images (rank 4) with a square block.

    >>> image = [[[[1], [2]], [[3], [4]]]]
    >>> sess.run(tf.raw_ops.SpaceToBatch(input=image, paddings=[[0, 0], [0, 0]], block_size=2))[:, 0]
    array([[[1]],
           [[2]],
           [[3]],
           [[4]]], dtype=int32)
    """


@kernel("input: T, crops: Tidx -> output: T", shape=_shape(_form_of_images, False), ranks={"crops": 2},
        numpy=lambda ctx, x, crops: _from_batch(x, [ctx.attrs["block_size"]] * 2, crops), launch=_launch_to_space,
        values=("crops",), T="type", block_size="int >= 2", Tidx="{int32, int64} = DT_INT32", halves="moved")
def BatchToSpace() -> None:
    """Compute BatchToSpaceND of images (rank 4) with a square block.

    >>> batch = [[[[1]]], [[[2]]], [[[3]]], [[[4]]]]
    >>> sess.run(tf.raw_ops.BatchToSpace(input=batch, crops=[[0, 0], [0, 0]], block_size=2))[0, :, :, 0]
    array([[1, 2],
           [3, 4]], dtype=int32)
    """


@SpaceToBatchND.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [BatchToSpaceND(dy, *op.inputs[1:]), None, None]


@BatchToSpaceND.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [SpaceToBatchND(dy, *op.inputs[1:]), None, None]


@SpaceToBatch.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [BatchToSpace(dy, op.inputs[1], block_size=op.attrs["block_size"]), None]


@BatchToSpace.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [SpaceToBatch(dy, op.inputs[1], block_size=op.attrs["block_size"]), None]


@public("space_to_depth", "nn.space_to_depth")
def space_to_depth(input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Tensor:
    """Move each block of `block_size` x `block_size` places of images (rank 4) into the channels of one place.

    data_format: "NHWC" or "NCHW". Height and width must be divisible by `block_size` (else ValueError, in the run
    InvalidArgumentError).

    >>> x = tf.reshape(tf.range(16), [1, 2, 4, 2])
    >>> sess.run(tf.space_to_depth(x, 2))
    array([[[[ 0,  1,  2,  3,  8,  9, 10, 11],
             [ 4,  5,  6,  7, 12, 13, 14, 15]]]], dtype=int32)
    """
    return SpaceToDepth(input, block_size, data_format, name=name)


@public("depth_to_space", "nn.depth_to_space")
def depth_to_space(input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Tensor:
    """Spread the channels of images (rank 4) over blocks of `block_size` x `block_size` places.

    data_format: "NHWC" or "NCHW". The depth must be divisible by the square of `block_size` (else ValueError, in the
    run InvalidArgumentError).

    >>> sess.run(tf.depth_to_space([[[[1, 2, 3, 4, 5, 6, 7, 8]]]], 2))
    array([[[[1, 2],
             [3, 4]],
            [[5, 6],
             [7, 8]]]], dtype=int32)
    """
    return DepthToSpace(input, block_size, data_format, name=name)


def _square(block_size: int | None, block_shape: int | None) -> np.ndarray:
    """Return the block shape of a square of that size, given by either name."""
    return np.array([renamed("block_shape", block_shape, "block_size", block_size)] * 2, np.int64)


@public("space_to_batch", "nn.space_to_batch")
def space_to_batch(input: Any, paddings: Any, block_size: int | None = None, name: str | None = None,
                   block_shape: int | None = None) -> Tensor:
    """Compute `space_to_batch_nd` of images (rank 4, else ValueError) with square blocks.

    paddings: (2, 2), of height and width. block_shape: a later name of `block_size`.

    >>> sess.run(tf.space_to_batch([[[[1], [2]], [[3], [4]]]], [[0, 0], [0, 0]], 2)).shape
    (4, 1, 1, 1)
    """
    made = SpaceToBatchND(input, _square(block_size, block_shape), paddings, name=name)
    made.set_shape(made.shape.with_rank(4))
    return made


@public("batch_to_space")
def batch_to_space(input: Any, crops: Any, block_size: int | None, name: str | None = None,
                   block_shape: int | None = None) -> Tensor:
    """Compute `batch_to_space_nd` of images (rank 4, else ValueError) with square blocks.

    crops: (2, 2), of height and width. block_shape: a later name of `block_size`.

    >>> sess.run(tf.batch_to_space([[[[1]]], [[[2]]], [[[3]]], [[[4]]]], [[0, 0], [0, 0]], 2))[0, :, :, 0]
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    made = BatchToSpaceND(input, _square(block_size, block_shape), crops, name=name)
    made.set_shape(made.shape.with_rank(4))
    return made


describe(globals(), NN)
