"""Diagonals of matrices by copies: the kernels of MatrixDiag, MatrixDiagPart and MatrixSetDiag, of one or of a band.

    made(call)          (diagonals[, k, rows, columns, padding]) -> matrices with these diagonals
    part(call)          (matrices[, k, padding]) -> their diagonals
    replaced(call)      (matrices, diagonals[, k]) -> matrices with these diagonals instead
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from tfnb.kernels.launch import Address, Call, Launch, known_value
from tfnb.kernels.library.copying import copy_box, fill


def longest_of(low: int, high: int, rows: int, columns: int) -> int:
    """Return the length of the longest of the diagonals from `low` to `high`."""
    return min(rows + min(high, 0), columns - max(low, 0))


def places(low: int, high: int, rows: int, columns: int, align: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield, for each diagonal, the highest first: its row among the diagonals, its first column there, its first place
    in the flat matrix (the others are columns + 1 apart), its length."""
    most = longest_of(low, high, rows, columns)
    above, below = (side == "LEFT" for side in align.decode().split("_"))
    for d in range(high, low - 1, -1):
        count = max(min(rows + min(d, 0), columns - max(d, 0)), 0)
        left = d >= 0 and above or d <= 0 and below
        yield high - d, 0 if left else most - count, max(-d, 0) * columns + max(d, 0), count


def _band(call: Call, k: int) -> tuple[int, int]:
    """Return the lowest and the highest diagonal that input `k` names; the main one where there is no such input."""
    if len(call.inputs) <= k:
        return 0, 0
    bounds = known_value(call.inputs[k]).reshape(-1)
    return int(bounds[0]), int(bounds[-1])


def _copied(call: Call, matrix: Address, shape: Sequence[int], band: Address, bounds: tuple[int, int], type: str,
            back: bool) -> list[Launch]:
    """Return launches that copy diagonals of matrices of a shape to a band; back: from the band to the matrices."""
    *lead, rows, columns = shape
    low, high = bounds
    count, most, size = prod(lead), longest_of(low, high, rows, columns), np.dtype(type).itemsize
    found: list[Launch] = []
    for number, at, first, length in places(low, high, rows, columns, call.attrs.get("align", b"LEFT_LEFT")):
        ways = [(count, rows * columns, (high - low + 1) * most), (length, columns + 1, 1)]
        to, source = number * most + at, matrix.at(first * size)
        if back:
            ways, to, source = [(n, b, a) for n, a, b in ways], first, band.at(to * size)
        found += copy_box(call, source, matrix if back else band, type, ways, to)
    return found


def made(call: Call) -> list[Launch]:
    """Return launches of MatrixDiag."""
    out = call.outputs[0]
    padding = call.input(4) if len(call.inputs) == 5 else None
    return [*fill(call, padding, call.output(), out),
            *_copied(call, call.output(), out.shape, call.input(0), _band(call, 1), out.type, True)]


def part(call: Call) -> list[Launch]:
    """Return launches of MatrixDiagPart."""
    low, high = _band(call, 1)
    padded = fill(call, call.input(2), call.output(), call.outputs[0]) if low != high else []
    return [*padded, *_copied(call, call.input(0), call.inputs[0].shape, call.output(), (low, high),
                              call.outputs[0].type, False)]


def replaced(call: Call) -> list[Launch]:
    """Return launches of MatrixSetDiag."""
    out = call.outputs[0]
    return [*copy_box(call, call.input(0), call.output(), out.type, [(out.size, 1, 1)]),
            *_copied(call, call.output(), out.shape, call.input(1), _band(call, 2), out.type, True)]
