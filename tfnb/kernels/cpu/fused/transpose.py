"""Copies to row-major order where source and target are contiguous along different axes.

Walking over the target in order reads the source in strides: 23 ms for 2048 x 2048 floats, a cache line for each
element. Here a tile of 16 x 16 floats (8 x 8 doubles) is read by rows and written by rows: 2 ms. A target that is
larger than the caches is written past them where its rows start at cache lines (streaming.py).
"""
from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tfnb.kernels.launch import Address, Launch, Word
from tfnb.kernels.llvm import streaming
from tfnb.kernels.llvm.tiles import SIZES
from tfnb.kernels.sizes import highest
from tfnb.kernels.view import row_major

LEAST = 4096             # elements: a smaller copy is not worth a launch of its own
BYTES_PER_CHUNK = 1 << 17

# Words: source, target, items of a batch entry (blocks of rows), A, B, source step of B, target step of A (elements),
# whether the target is larger than the caches, number of batch axes, then (size, source step, target step) of each,
# innermost first.
SOURCE = """
INDEPENDENT = True

def kernel(args, begin, end):
    blocks, na, nb, sb, ta = args[2], args[3], args[4], args[5], args[6]
    past = args[7] != 0 and (args[1] | {unit} * ta) % {line} == 0
    for item in range(begin, end):
        rest = uint64(item) // uint64(blocks)
        first = {n} * int64(uint64(item) % uint64(blocks))
        source = args[0] + {unit} * first
        target = args[1] + {unit} * first * ta
        for axis in range(args[8]):
            size = uint64(args[9 + 3 * axis])
            at = int64(rest % size)
            rest = rest // size
            source += {unit} * at * args[10 + 3 * axis]
            target += {unit} * at * args[11 + 3 * axis]
        rows = min({n}, na - first)
        full = nb - nb % {n} if rows == {n} else 0
        for b in range(0, full, {n}):
            if past and target % {line} == 0:
                stream_tile_{bits}(source + {unit} * b * sb, {unit} * sb, target + {unit} * b, {unit} * ta)
            else:
                transpose_tile_{bits}(source + {unit} * b * sb, {unit} * sb, target + {unit} * b, {unit} * ta)
        for a in range(rows):
            row = uint{bits}_array(target + {unit} * (a * ta + full), nb - full)
            column = uint{bits}_array(source + {unit} * (full * sb + a), 0)
            for b in range(nb - full):
                row[b] = column[uint64(b) * uint64(sb)]
    if past:
        stream_end()
"""


def axes(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, int] | None:
    """Return (axis along which the source is contiguous, last axis), if tiles pay for this view; else None."""
    big = [i for i, n in enumerate(shape) if n > 1]
    if len(big) < 2 or prod(shape) < LEAST or 0 in (strides[i] for i in big):
        return None
    last = big[-1]
    lined = [i for i in big if strides[i] == 1]
    if strides[last] == 1 or not lined or shape[lined[0]] < 4 or shape[last] < 4:
        return None
    return lined[0], last


def transpose(source: Address, target: Address, unit: int, shape: Sequence[int],
              strides: Sequence[int]) -> list[Launch]:
    """Copy a strided view to row-major order. unit: bytes an element, 4 or 8; `axes` must have found a pair."""
    found = axes(shape, strides)
    assert found is not None and unit in SIZES
    a, b = found
    out = row_major(shape)
    n = SIZES[unit]
    blocks = -(-shape[a] // n)
    batch = [i for i in reversed(range(len(shape))) if i not in (a, b) and shape[i] > 1]
    words = [word for i in batch for word in (shape[i], strides[i], out[i])]
    text = SOURCE.format(n=n, unit=unit, bits=8 * unit, line=streaming.LINE)
    past = int(unit * prod(shape) >= streaming.LEAST)
    items = blocks * prod(shape[i] for i in batch)
    grain = highest(1, BYTES_PER_CHUNK // (n * unit * shape[b]))
    moved = (a, b, *batch)
    args: tuple[Word, ...] = (
        source.reach(_extent(shape, strides, moved) * unit), target.reach(_extent(shape, out, moved) * unit),
        blocks, shape[a], shape[b], strides[b], out[a], past, len(batch), *words)
    return [Launch(text, args, items, grain, "transpose")]


def _extent(shape: Sequence[int], strides: Sequence[int], axes: Sequence[int]) -> int:
    """Return the element count up to the last one that is met along some axes."""
    return 1 + sum((shape[i] - 1) * strides[i] for i in axes)
