"""NCHW by NHWC: kernels for images with channels last, transposed before and after for channels first."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from tfnb.kernels.arrays.window import channels_first
from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array
from tfnb.kernels.launch import Address, Call, Launch, Meta
from tfnb.kernels.library.copying import fill

GRAIN_BYTES = 1 << 17
TILE = 32                                              # rows whose elements of a column stay in the first cache


@kernel_function(independent=True)
def transpose_matrix(x: Array, y: Array, rows: int, columns: int, last: int, across: int, down: int, step: int,
                     item: int) -> None:
    """Transpose matrix `item`; or, where `last` is no None, the one at `item` of a grid read backwards from `last`.

    across: the grid's width; down, step: how many matrices further on the next row of the grid and the next one lie.
    """
    source = x[(item if last is None else last - item // across * down - item % across * step) * rows * columns:]
    target = y[item * rows * columns:]
    for first in range(0, rows, TILE):
        end = min(first + TILE, rows)
        for column in range(columns):
            for row in range(first, end):
                target[column * rows + row] = source[row * columns + column]


def transpose(call: Call, source: Address, target: Address, type: str, matrices: int, rows: int, columns: int,
              flip: tuple[int, int, int, int] | None = None) -> Launch:
    """Transpose each of `matrices` (rows x columns).

    flip: (last, across, down, step) of those to take, last first: `across` to a row, as `transpose_matrix` reads them.
    """
    each, unit = rows * columns * np.dtype(type).itemsize, "uint8" if type == "bool" else type
    last, *grid = flip or (None, 1, 1, 1)
    source = source.reach((matrices if last is None else last + 1) * each)
    return transpose_matrix.launch(call, matrices, source.of(unit), target.reach(matrices * each).of(unit), rows,
                                   columns, last, *grid, label="transpose",
                                   grain=max(1, GRAIN_BYTES // max(1, each)))


def around(call: Call, images: Sequence[int], made: Callable[[list[Address], Address], list[Launch]],
           turn_output: bool = True, zero: bool = True) -> list[Launch]:
    """Return launches made(addresses of the inputs `images`, address of the output), where all have channels last.

    On the CPU: with channels first they are transposed, the output where `turn_output`. zero: without input the output
    is 0.
    """
    sources, target, out = [call.input(i) for i in images], call.output(), call.outputs[0]
    before: list[Launch] = []
    after: list[Launch] = []
    if not out.size:
        return []
    if zero and not all(call.inputs[i].size for i in images):
        return fill(call, None, target, out)
    if channels_first(call.attrs) and call.device == "cpu":
        for place, i in enumerate(images):
            sources[place], launches = _channels_last(call, sources[place], call.inputs[i])
            before += launches
        if turn_output:
            target, after = _channels_back(call, target, out)
    return [*before, *made(sources, target), *after]


def _channels_last(call: Call, source: Address, meta: Meta) -> tuple[Address, list[Launch]]:
    """Return the address of the NHWC (NDHWC) form of an NCHW (NCDHW) image, and the launch that makes it."""
    n, c, *sizes = meta.shape
    target = call.scratch(meta.size * meta.itemsize)
    return target, [transpose(call, source, target, meta.type, n, c, prod(sizes))] if meta.size else []


def _channels_back(call: Call, target: Address, meta: Meta) -> tuple[Address, list[Launch]]:
    """Return the address for an output with channels last, and the launch that then transposes it to the output."""
    n, c, *sizes = meta.shape
    source = call.scratch(meta.size * meta.itemsize)
    return source, [transpose(call, source, target, meta.type, n, prod(sizes), c)]
