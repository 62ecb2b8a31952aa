"""Indexing kernels for indices known only at run time: `x[i]`, `x[:, i, j]` and their gradients.

The indices are neighbours in a vector; before and behind their axes all is taken. Failure 9: an index outside of its
axis; status words: the axis, the index.
"""
from __future__ import annotations

from math import prod

from tfnb.kernels.cpu.copying import BYTES_PER_CHUNK, by_unit, fill
from tfnb.kernels.launch import Address, Call, Launch, Word

# Item i: the part in outer row i, of `size` units; {source} and {target} are the whole and the part, or the other way.
_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):
    size, first, count = args[3], args[5], args[6]
    indices = {index}_array(args[1], first + count)
    place, rows = 0, 1
    for k in range(count):
        limit, index = args[7 + k], int64(indices[first + k])
        index = index + limit if index < 0 else index
        if index < 0 or index >= limit:
            store(args[4] + 8, first + k)
            store(args[4] + 16, int64(indices[first + k]))
            store(args[4], 9)
            return
        place = place * limit + index
        rows = rows * limit
    for i in range(begin, end):
        whole = {unit}_array(args[0] + {bytes} * size * (i * rows + place), size)
        part = {unit}_array(args[2] + {bytes} * size * i, size)
        for j in range(size):
            {move}
"""


def take(call: Call, first: int, count: int) -> list[Launch]:
    """Return launches of (x, indices, ...) -> the part of x where axes `first` to `first + count` have the indices."""
    return _moved(call, call.input(0), call.output(), call.inputs[0].shape, first, count, "part[j] = whole[j]")


def place(call: Call, part: int, first: int, count: int) -> list[Launch]:
    """Return launches of (_, indices, ...) -> zeros, with input `part` at the position that `take` would read."""
    out = call.outputs[0]
    if not out.size:
        return []
    moved = _moved(call, call.output(), call.input(part), out.shape, first, count, "whole[j] = part[j]")
    return [fill(0, call.output(), out), *moved]


def _moved(call: Call, whole: Address, part: Address, shape: tuple[int, ...], first: int, count: int,
           move: str) -> list[Launch]:
    outer, row = prod(shape[:first]), prod(shape[first + count:]) * call.outputs[0].itemsize
    text, size, _ = by_unit(_TEXT.replace("{move}", move), row, index=call.inputs[1].type)
    limits = shape[first:first + count]
    args: tuple[Word, ...] = (
        whole.reach(outer * prod(limits) * row), call.input(1).reach((first + count) * call.inputs[1].itemsize),
        part.reach(outer * row), size, Address("status"), first, count, *limits)
    return [Launch(text, args, outer, max(1, BYTES_PER_CHUNK // (row + 64)), "take")]
