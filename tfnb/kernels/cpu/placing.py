"""Gradient kernel of a strided slice: puts a tensor in its place among zeros.

    place(source, target, out, start, axes)     -> launches
"""
from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tfnb.kernels.cpu.copying import BYTES_PER_CHUNK, UNITS, fill
from tfnb.kernels.launch import Address, Launch, Meta, Word

# Item i: one row (last axis) of the source; args: source, target, its size, its step in the target, where the first
# element goes, then for each other axis its size and its step in the target.
PLACE_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):
    size, step = args[2], args[3]
    for i in range(begin, end):
        rest, place = i, args[4]
{steps}
        source = {unit}_array(args[0] + {bytes} * size * i, size)
        target = {unit}_array(args[1], 0)
        for j in range(size):
            target[place + j * step] = source[j]
"""


def place(source: Address, target: Address, out: Meta, start: int, axes: Sequence[tuple[int, int]]) -> list[Launch]:
    """Fill `out` with zeros, then put a row-major source in it: element (i, j, ...) at start + i * step0 + j * step1...

    axes: (size, step) of each axis of the source; steps and `start` are counted in elements and may be negative.
    """
    if not out.size:
        return []
    launches = [fill(0, target, out)]
    count = prod(size for size, _ in axes)
    if not count:
        return launches
    outer, (size, step) = axes[:-1], axes[-1] if axes else (1, 1)
    text = PLACE_TEXT.format(unit=UNITS[out.itemsize], bytes=out.itemsize,
                             steps="".join(_step(i) for i in reversed(range(len(outer)))))
    last = start + sum(max(0, (n - 1) * by) for n, by in axes)
    assert start + sum(min(0, (n - 1) * by) for n, by in axes) >= 0
    words: list[Word] = [source.reach(count * out.itemsize), target.reach((last + 1) * out.itemsize), size, step,
                         start, *(word for axis in outer for word in axis)]
    grain = max(1, BYTES_PER_CHUNK // (size * out.itemsize))
    return [*launches, Launch(text, tuple(words), count // size, grain, "place")]


def _step(axis: int) -> str:
    return (f"        place += rest % args[{5 + 2 * axis}] * args[{6 + 2 * axis}]\n"
            f"        rest = rest // args[{5 + 2 * axis}]\n")
