"""Indexing kernels for indices known only at run time: `x[i]`, `x[:, i, j]` and their gradients.

The indices are neighbours in a vector; before and behind their axes all is taken. Failure 9: an index outside of its
axis; status words: the axis, the index.
"""
from __future__ import annotations

from math import prod

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Ints, MaybeOne, Static, fail, unrolled
from tfnb.kernels.launch import Address, Call, Launch
from tfnb.kernels.library.checks import BAD_SLICE
from tfnb.kernels.library.copying import BYTES_PER_CHUNK, fill, units


@kernel_function(independent=True)
def copy_part(whole: Array, indices: Array, part: Array, first: int, limits: Ints, size: MaybeOne, width: MaybeOne,
              blocks: MaybeOne, back: Static, item: int) -> None:
    """Copy `width` elements of a row between the whole and the part that the indices select; back: to the whole."""
    place = item // blocks
    for k in unrolled(len(limits)):
        given = int(indices[first + k])
        index = given + limits[k] if given < 0 else given
        if index < 0 or index >= limits[k]:
            fail(BAD_SLICE, first + k, given)
            return
        place = place * limits[k] + index
    row = whole[place * size + item % blocks * width:]
    taken = part[item * width:]
    for j in range(width):
        if back:
            row[j] = taken[j]
        else:
            taken[j] = row[j]


def take(call: Call, first: int, count: int) -> list[Launch]:
    """Return launches of (x, indices, ...) -> the part of x where axes `first` to `first + count` have the indices."""
    return _moved(call, call.input(0), call.output(), call.inputs[0].shape, first, count, False)


def place(call: Call, part: int, first: int, count: int) -> list[Launch]:
    """Return launches of (_, indices, ...) -> zeros, with input `part` at the position that `take` would read."""
    out = call.outputs[0]
    if not out.size:
        return []
    return [*fill(call, None, call.output(), out),
            *_moved(call, call.output(), call.input(part), out.shape, first, count, True)]


def _moved(call: Call, whole: Address, part: Address, shape: tuple[int, ...], first: int, count: int,
           back: bool) -> list[Launch]:
    outer, row = prod(shape[:first]), prod(shape[first + count:]) * call.outputs[0].itemsize
    limits = shape[first:first + count]
    type, unit = units(call, call.outputs[0].type, row)
    width, blocks = call.columns(row // unit)
    return [copy_part.launch(call, outer * blocks, whole.reach(outer * prod(limits) * row).of(type),
                             call.input(1).reach((first + count) * call.inputs[1].itemsize),
                             part.reach(outer * row).of(type), first, limits, row // unit, width, blocks, back,
                             grain=max(1, BYTES_PER_CHUNK // (row + 64)), label="take")]
