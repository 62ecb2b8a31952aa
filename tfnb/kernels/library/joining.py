"""Concat, pack, pad, tile kernels, and the gradient of a strided slice.

    concat(call)    ConcatV2 (values..., axis), Concat (axis, values...)
    pack(call)      Pack (values...; attr axis)
    concat_parts(call), pack_parts(call)    where their inputs lie in the output; joined(call, parts): copies some
    pad(call)       Pad, PadV2 (input, paddings[, constant])
    tile(call)      Tile (input, multiples)
    place(call, source, start, axes)        a tensor among zeros

The value of axis, paddings and multiples must be known (Meta.value).
"""
from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Ints, MaybeOne, unrolled
from tfnb.kernels.launch import Address, Call, Launch, known_axis, known_value
from tfnb.kernels.library.copying import BYTES_PER_CHUNK, copy_box, fill, units
from tfnb.kernels.view import View, row_major


@kernel_function(independent=True)
def tile_row(source: Array, target: Array, size: MaybeOne, sizes: Ints, wide: Ints, width: MaybeOne, blocks: MaybeOne,
             copies: int, item: int) -> None:
    """Write `width` elements of a row of the output: `copies` times the row of the source, of `size` elements.

    sizes, wide: of the other axes of source and output, innermost first.
    """
    row, place, step = item // blocks, 0, 1
    for axis in unrolled(len(sizes)):
        place += row % wide[axis] % sizes[axis] * step
        row = row // wide[axis]
        step = step * sizes[axis]
    if width == 1:
        target[item] = source[place * size + item % blocks % size]
    else:
        for k in range(copies):
            for j in range(size):
                target[item * width + k * size + j] = source[place * size + j]


class Part(NamedTuple):
    """An input that is copied into the output, and its place there."""

    input: int
    place: View


def concat(call: Call) -> list[Launch]:
    """Copy each input to its place along the axis, which is the input that is known to be a scalar."""
    return joined(call, concat_parts(call))


def pack(call: Call) -> list[Launch]:
    """Concatenate along a new axis, of size 1 in each input."""
    return joined(call, pack_parts(call))


def concat_parts(call: Call) -> list[Part]:
    """Return the parts of a concatenation."""
    first = 1 if not call.inputs[0].shape and len(call.outputs[0].shape) else 0
    axis = known_axis(call.inputs[0] if first else call.inputs[-1], len(call.outputs[0].shape))
    numbers = range(first, len(call.inputs) - (not first))
    return _parts(call, numbers, axis, [call.inputs[i].shape[axis] for i in numbers])


def pack_parts(call: Call) -> list[Part]:
    """Return the parts of a stack of tensors; their places have the new axis, of size 1."""
    axis = int(call.attrs["axis"]) % len(call.outputs[0].shape)
    return _parts(call, range(len(call.inputs)), axis, [1] * len(call.inputs))


def _parts(call: Call, numbers: Sequence[int], axis: int, sizes: Sequence[int]) -> list[Part]:
    """Return inputs side by side along an axis of the output, on which they have these sizes."""
    whole, begin = View.whole(call.outputs[0].shape), 0
    parts = []
    for i, size in zip(numbers, sizes, strict=True):
        parts.append(Part(i, whole.slice(axis, begin, size)))
        begin += size
    return parts


def joined(call: Call, parts: Sequence[Part]) -> list[Launch]:
    """Copy inputs to their places in the output."""
    launches: list[Launch] = []
    for i, place in parts:
        axes = list(zip(place.shape, row_major(place.shape), place.strides, strict=True))
        launches += copy_box(call, call.input(i), call.output(), call.outputs[0].type, axes, place.offset)
    return launches


def pad(call: Call) -> list[Launch]:
    """Fill with the constant (0 without one), then copy the input to its position."""
    shape, out = call.inputs[0].shape, call.outputs[0]
    before = [int(pair[0]) for pair in known_value(call.inputs[1]).reshape(-1, 2)]
    strides = row_major(out.shape)
    start = sum(n * stride for n, stride in zip(before, strides, strict=True))
    return [*fill(call, call.input(2) if len(call.inputs) > 2 else None, call.output(), out),
            *copy_box(call, call.input(0), call.output(), out.type,
                      list(zip(shape, row_major(shape), strides, strict=True)), start)]


def tile(call: Call) -> list[Launch]:
    """Copy the input side by side, as many times along each axis as `multiples` says."""
    source, out = call.inputs[0], call.outputs[0]
    if not out.size:
        return []
    *sizes, last = source.shape or (1,)
    *wide, out_last = out.shape or (1,)
    type, unit = units(call, source.type, last * source.itemsize)
    size, count = last * source.itemsize // unit, out_last // last
    width, blocks = call.columns(size * count)
    return [tile_row.launch(call, prod(wide) * blocks, call.input(0).reach(source.size * source.itemsize).of(type),
                            call.output().reach(out.size * out.itemsize).of(type), size, sizes[::-1], wide[::-1], width,
                            blocks, count, grain=max(1, BYTES_PER_CHUNK // (out_last * source.itemsize)))]


def place(call: Call, source: Address, start: int, axes: Sequence[tuple[int, int]]) -> list[Launch]:
    """Fill with zeros, then put a row-major source there: element (i, j, ...) at start + i * step0 + j * step1...

    axes: (size, step) of each axis of the source; steps and `start` are counted in elements and may be negative.
    """
    out = call.outputs[0]
    strides = row_major([size for size, _ in axes])
    box = [(size, stride, step) for (size, step), stride in zip(axes, strides, strict=True)]
    return [*fill(call, None, call.output(), out), *copy_box(call, source, call.output(), out.type, box, start)]
