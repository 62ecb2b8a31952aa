"""Kernels that move blocks of space: to depth and back by copies of boxes, to the batch and back.

    space_to_depth(call), depth_to_space(call)      SpaceToDepth, DepthToSpace (input), attrs block_size, data_format
    space_to_batch(call, block, before)             SpaceToBatchND, SpaceToBatch
    batch_to_space(call, block, before)             BatchToSpaceND, BatchToSpace

block, before: of each axis of space, the size of a block, and what is padded or cropped before the first element.
"""
from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tfnb.kernels.functions.kernel import KernelFunction, kernel_function
from tfnb.kernels.functions.language import Array, Ints, MaybeOne, Type, unrolled
from tfnb.kernels.launch import Call, Launch
from tfnb.kernels.library.copying import copy_box


@kernel_function(independent=True)
def space_to_batch_line(x: Array, y: Array, batch: int, lines: int, sizes: Ints, grid: Ints, block: Ints, before: Ints,
                        span: MaybeOne, spans: MaybeOne, width: MaybeOne, blocks: MaybeOne, T: Type, item: int) -> None:
    """Write `width` elements of `span` pixels in a line of the batch; zeros where they are from the padding.

    batch, sizes: of x. grid: axes of space of y; lines: those of an image. Axes innermost first.
    """
    row, lane, wide = item // blocks, item % blocks * width, width * blocks
    line, first = row // spans, row % spans * span
    place, image = line % lines, line // lines
    offset, at, stride, outside = image // batch, 0, sizes[0], 0
    start = offset % block[0] - before[0]
    offset = offset // block[0]
    for k in unrolled(len(sizes) - 1):
        s = place % grid[k + 1] * block[k + 1] + offset % block[k + 1] - before[k + 1]
        if s < 0 or s >= sizes[k + 1]:
            outside = 1
        at += s * stride
        stride = stride * sizes[k + 1]
        place, offset = place // grid[k + 1], offset // block[k + 1]
    at += image % batch * stride
    for column in range(first, first + span):
        s, to = start + column * block[0], (line * grid[0] + column) * wide + lane
        if outside == 1 or s < 0 or s >= sizes[0]:
            for j in range(width):
                y[to + j] = T(0)
        else:
            for j in range(width):
                y[to + j] = x[(at + s) * wide + lane + j]


@kernel_function(independent=True)
def batch_to_space_line(x: Array, y: Array, batch: int, lines: int, sizes: Ints, grid: Ints, block: Ints, before: Ints,
                        span: MaybeOne, spans: MaybeOne, width: MaybeOne, blocks: MaybeOne, item: int) -> None:
    """Write `width` elements of `span` pixels in a line of space. batch, sizes, lines: of y; grid: of x."""
    row, lane, wide = item // blocks, item % blocks * width, width * blocks
    line, first = row // spans, row % spans * span
    place, image = line % lines, line // lines
    offset, turns, at, stride = 0, block[0], 0, grid[0]
    for k in unrolled(len(sizes) - 1):
        s = place % sizes[k + 1] + before[k + 1]
        at += s // block[k + 1] * stride
        offset += s % block[k + 1] * turns
        stride, turns = stride * grid[k + 1], turns * block[k + 1]
        place = place // sizes[k + 1]
    cell, inside = (first + before[0]) // block[0], (first + before[0]) % block[0]
    for column in range(first, first + span):
        source = (((offset + inside) * batch + image) * stride + at + cell) * wide + lane
        to = (line * sizes[0] + column) * wide + lane
        for j in range(width):
            y[to + j] = x[source + j]
        inside += 1
        if inside == block[0]:
            inside, cell = 0, cell + 1


def space_to_batch(call: Call, block: Sequence[int], before: Sequence[int]) -> list[Launch]:
    """Return the launch that writes the images of a batch for each offset in a block."""
    x, y = call.inputs[0], call.outputs[0]
    if _is_whole(x.shape, y.shape, block, before):
        return _cut(call, x.shape, block, False)
    return _moved(call, space_to_batch_line, x.shape[0], x.shape, y.shape, y.shape, block, before, T=y.type)


def batch_to_space(call: Call, block: Sequence[int], before: Sequence[int]) -> list[Launch]:
    """Return the launch that joins the images of a batch."""
    x, y = call.inputs[0], call.outputs[0]
    if _is_whole(y.shape, x.shape, block, before):
        return _cut(call, y.shape, block, True)
    return _moved(call, batch_to_space_line, y.shape[0], y.shape, x.shape, y.shape, block, before)


def _is_whole(space: Sequence[int], cells: Sequence[int], block: Sequence[int], before: Sequence[int]) -> bool:
    """Return whether nothing is padded or cropped."""
    return all(first == 0 and n == size * m
               for n, m, size, first in zip(space[1:], cells[1:], block, before, strict=False))


def _cut(call: Call, space: Sequence[int], block: Sequence[int], back: bool) -> list[Launch]:
    """Copy the box (each offset in a block, image, each cell, rest) between images and those of a block's cells."""
    m, rest = len(block), prod(space[1 + len(block):])
    cells = [n // size for n, size in zip(space[1:], block, strict=False)]
    steps = [prod(space[2 + k:1 + m]) * rest for k in range(m)]
    sizes = [*block, space[0], *cells, rest]
    there = [*steps, prod(space[1:1 + m]) * rest, *(size * step for size, step in zip(block, steps, strict=True)), 1]
    here = [prod(sizes[k + 1:]) for k in range(len(sizes))]
    return copy_box(call, call.input(0), call.output(), call.inputs[0].type,
                    [*zip(sizes, here, there, strict=True)] if back else [*zip(sizes, there, here, strict=True)])


def _moved(call: Call, function: KernelFunction, batch: int, space: Sequence[int], cells: Sequence[int],
           lines: Sequence[int], block: Sequence[int], before: Sequence[int], **types: Any) -> list[Launch]:
    """space, cells, lines: the shapes of the images, of those with a block's cells, and of what is written by lines."""
    x, y, m = call.inputs[0], call.outputs[0], len(block)
    axes = [[*sizes[1:1 + m]][::-1] or [1] for sizes in (space, cells, lines)]
    width, blocks = call.columns(prod(x.shape[1 + m:]))
    span, spans = (axes[2][0], 1) if call.device == "cpu" else (1, axes[2][0])
    above = prod(axes[2][1:])
    return [function.launch(
        call, lines[0] * above * spans * blocks, call.input(0).reach(x.size * x.itemsize),
        call.output().reach(y.size * y.itemsize), batch, above, *axes[:2], [*block][::-1] or [1],
        [*before][::-1] or [0], span, spans, width, blocks, cost=width * span, **types)]


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
