"""Kernels that move blocks of space: to depth and back by copies of boxes, to the batch and back.

    space_to_depth(call), depth_to_space(call)      SpaceToDepth, DepthToSpace (input), attrs block_size, data_format
    space_to_batch(call, block, before)             SpaceToBatchND, SpaceToBatch
    batch_to_space(call, block, before)             BatchToSpaceND, BatchToSpace

block, before: of each axis of space, the size of a block, and what is padded or cropped before the first element.
"""
from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Ints, MaybeOne, Type, unrolled
from tfnb.kernels.launch import Call, Launch
from tfnb.kernels.library.copying import copy_box


@kernel_function(independent=True)
def space_to_batch_row(x: Array, y: Array, batch: int, cells: int, sizes: Ints, grid: Ints, block: Ints, before: Ints,
                       width: MaybeOne, blocks: MaybeOne, T: Type, item: int) -> None:
    """Write `width` elements of a row of the batch; zeros where it is from the padding.

    batch, sizes: of x. grid: axes of space of y, `cells` in all. Axes innermost first.
    """
    row, first = item // blocks, item % blocks * width
    place, image = row % cells, row // cells
    offset, at, stride, outside = image // batch, 0, 1, 0
    for k in unrolled(len(sizes)):
        s = place % grid[k] * block[k] + offset % block[k] - before[k]
        if s < 0 or s >= sizes[k]:
            outside = 1
        at += s * stride
        stride = stride * sizes[k]
        place, offset = place // grid[k], offset // block[k]
    at = ((image % batch) * stride + at) * (width * blocks) + first
    start = row * (width * blocks) + first
    if outside == 1:
        for j in range(width):
            y[start + j] = T(0)
    else:
        for j in range(width):
            y[start + j] = x[at + j]


@kernel_function(independent=True)
def batch_to_space_row(x: Array, y: Array, batch: int, cells: int, sizes: Ints, grid: Ints, block: Ints, before: Ints,
                       width: MaybeOne, blocks: MaybeOne, item: int) -> None:
    """Write `width` elements of a row of space. batch, sizes, cells: of y. grid: axes of space of x."""
    row, first = item // blocks, item % blocks * width
    place, image = row % cells, row // cells
    offset, turns, at, stride = 0, 1, 0, 1
    for k in unrolled(len(sizes)):
        s = place % sizes[k] + before[k]
        at += s // block[k] * stride
        offset += s % block[k] * turns
        stride, turns = stride * grid[k], turns * block[k]
        place = place // sizes[k]
    at = ((offset * batch + image) * stride + at) * (width * blocks) + first
    start = row * (width * blocks) + first
    for j in range(width):
        y[start + j] = x[at + j]


def space_to_batch(call: Call, block: Sequence[int], before: Sequence[int]) -> list[Launch]:
    """Return the launch that writes the images of a batch for each offset in a block."""
    x, y, m = call.inputs[0], call.outputs[0], len(block)
    sizes, grid = x.shape[1:1 + m], y.shape[1:1 + m]
    width, blocks = call.columns(prod(x.shape[1 + m:]))
    return [space_to_batch_row.launch(
        call, prod(y.shape[:1 + m]) * blocks, call.input(0).reach(x.size * x.itemsize),
        call.output().reach(y.size * y.itemsize), x.shape[0], prod(grid), sizes[::-1], grid[::-1], block[::-1],
        before[::-1], width, blocks, T=y.type, cost=width)]


def batch_to_space(call: Call, block: Sequence[int], before: Sequence[int]) -> list[Launch]:
    """Return the launch that joins the images of a batch."""
    x, y, m = call.inputs[0], call.outputs[0], len(block)
    sizes, grid = y.shape[1:1 + m], x.shape[1:1 + m]
    width, blocks = call.columns(prod(x.shape[1 + m:]))
    return [batch_to_space_row.launch(
        call, prod(y.shape[:1 + m]) * blocks, call.input(0).reach(x.size * x.itemsize),
        call.output().reach(y.size * y.itemsize), y.shape[0], prod(sizes), sizes[::-1], grid[::-1], block[::-1],
        before[::-1], width, blocks, cost=width)]


def space_to_depth(call: Call) -> list[Launch]:
    """Return the launch that moves each block of space into the channels."""
    return _between(call, call.inputs[0].shape, call.outputs[0].shape, False)


def depth_to_space(call: Call) -> list[Launch]:
    """Return the launch that moves channels into blocks of space."""
    return _between(call, call.outputs[0].shape, call.inputs[0].shape, True)


def _between(call: Call, space: Sequence[int], depth: Sequence[int], back: bool) -> list[Launch]:
    """Copy the box (n, y, y in block, x, x in block, channel) between an array of large images and one of deep ones."""
    block, first = call.attrs["block_size"], call.attrs["data_format"] == b"NCHW"
    (n, c, h, w), many = ((space[i] for i in (0, 1, 2, 3)), depth[1]) if first else (
        (space[i] for i in (0, 3, 1, 2)), depth[3])
    at, to = ((w, 1, h * w), (w // block, 1, h * w // block**2)) if first else (
        (w * c, c, 1), (w // block * many, many, 1))
    axes = [(n, c * h * w, c * h * w), (h // block, block * at[0], to[0]), (block, at[0], block * c * to[2]),
            (w // block, block * at[1], to[1]), (block, at[1], c * to[2]), (c, at[2], to[2])]
    given = [(size, t, s) for size, s, t in axes] if back else axes
    return copy_box(call, call.input(0), call.output(), call.inputs[0].type, given)
