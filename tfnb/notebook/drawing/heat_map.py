"""Tensors as pictures of numbers: matrices reduced to blocks, vectors as strips, filters of convolutions as tiles.

What the browser gets of a panel: {title, note, rows, cols, limit, data (base64 of float32, row by row; GAP: no cell),
form: "matrix" | "strip" | "tiles", shape, start: [row, column], block: [rows, columns] of a cell, tile: the same,
side: 1 where no value is below zero, -1 where none is above, else 0}
"""
from __future__ import annotations

import base64
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tfnb.core import indexing
from tfnb.core.text import counted
from tfnb.notebook.drawing.tensor_stats import as_reals

MOST_SIDE = 96          # rows and columns of a picture of a matrix
STRIP = 96              # columns of a picture of a vector
MOST_TILES = 16         # of the filters along each side
GAP = np.float32(3e38)  # what stands between tiles and behind the end of a strip
LARGEST = 1.9e38        # finite cells are drawn as no larger than this; the browser takes what is above 2e38 for gaps

Window = tuple[int, int, int, int]      # first row, row after the last, first column, column after the last


@dataclass(frozen=True)
class Picture:
    """The values of a picture's cells, and what each of them stands for.

    form: how the tensor was laid out; start: the first row and column of the matrix that are seen; block: how many
    rows and columns of it are one cell; limit: the largest finite absolute value of the whole tensor; side: 1 where no
    finite value is below zero, -1 where none is above, else 0.
    """

    values: np.ndarray
    form: str
    shape: tuple[int, ...]
    start: tuple[int, int]
    block: tuple[int, int]
    tile: tuple[int, int]
    limit: float
    note: str
    side: int = 0


def picture(array: np.ndarray, how: str = "max", window: Window | None = None) -> Picture:
    """Lay a tensor out. how: a cell of several elements shows the one of largest size ("max") or their mean ("mean").

    window: the part of the matrix to look at. Raises ValueError for a tensor that has no numbers.
    """
    numbers = as_reals(array)
    if numbers is None:
        raise ValueError(f"{array.dtype} tensors can't be drawn")
    limit, side = _range(numbers)
    return replace(_laid_out(numbers, array.shape, limit, how, window), side=side)


def _laid_out(numbers: np.ndarray, shape: tuple[int, ...], limit: float, how: str, window: Window | None) -> Picture:
    if not numbers.size:
        return Picture(np.zeros((0, 0), np.float32), "strip", shape, (0, 0), (1, 1), (1, 1), limit, "no elements")
    if numbers.ndim in (3, 4) and max(numbers.shape[:-2]) <= 16:
        return _tiles(numbers.reshape((1,) * (4 - numbers.ndim) + numbers.shape), shape, limit)
    if numbers.ndim < 2:
        return _strip(numbers.reshape(-1), shape, limit, how)
    return _matrix(numbers.reshape(-1, numbers.shape[-1]), shape, limit, how, window)


def _range(numbers: np.ndarray) -> tuple[float, int]:
    """The largest finite absolute value, and the only side of zero that has any; 0: both, or all are zero."""
    if not numbers.size:
        return 0.0, 0
    low, high = float(np.fmin.reduce(numbers, axis=None)), float(np.fmax.reduce(numbers, axis=None))
    if not (math.isfinite(low) and math.isfinite(high)):
        finite = numbers[np.isfinite(numbers)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    return max(abs(low), abs(high)), 0 if low == high == 0 or low < 0 < high else 1 if low >= 0 else -1


def common_side(sides: Iterable[int]) -> int:
    """The side of pictures in one scale: 0 where they don't agree."""
    found = set(sides)
    return found.pop() if len(found) == 1 else 0


def _matrix(matrix: np.ndarray, shape: tuple[int, ...], limit: float, how: str, window: Window | None) -> Picture:
    r0, r1, c0, c1 = window or (0, matrix.shape[0], 0, matrix.shape[1])
    part = matrix[r0:r1, c0:c1]
    block = max(1, -(-part.shape[0] // MOST_SIDE)), max(1, -(-part.shape[1] // MOST_SIDE))
    note = _blocks_note(block, how)
    if window is not None:
        note = f"rows {r0}:{r1}, columns {c0}:{c1}{'; ' if note else ''}{note}"
    if len(shape) > 2:
        note = f"drawn as {matrix.shape[0]}×{matrix.shape[1]}{'; ' if note else ''}{note}"
    return Picture(reduced(part, block, how), "matrix", shape, (r0, c0), block, (1, 1), limit, note)


def _blocks_note(block: tuple[int, int], how: str) -> str:
    if block == (1, 1):
        return ""
    return f"a cell is {'the largest' if how == 'max' else 'the mean'} of {block[0]}×{block[1]} elements"


@np.errstate(over="ignore", invalid="ignore")
def reduced(matrix: np.ndarray, block: tuple[int, int], how: str) -> np.ndarray:
    """A float32 matrix with a cell for each block: of largest absolute value (with its sign), or the mean.

    NaN in a block makes it NaN.
    """
    if block == (1, 1) or not matrix.size:
        return _cells(matrix)
    rows, columns = (np.arange(0, n, b) for n, b in zip(matrix.shape, block, strict=True))

    def fold(ufunc: Any, values: np.ndarray) -> np.ndarray:
        folded: np.ndarray = indexing.reduceat(ufunc, indexing.reduceat(ufunc, values, rows, axis=0), columns, axis=1)
        return folded
    if how == "mean":
        counts = np.outer(np.diff([*rows, matrix.shape[0]]), np.diff([*columns, matrix.shape[1]]))
        return _cells(fold(np.add, matrix.astype(np.float64)) / counts)
    high, low = fold(np.maximum, matrix), fold(np.minimum, matrix)
    return _cells(np.where(np.abs(high) >= np.abs(low), high, low))


def _cells(matrix: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(matrix), np.clip(matrix, -LARGEST, LARGEST), matrix).astype(np.float32)


def _strip(vector: np.ndarray, shape: tuple[int, ...], limit: float, how: str) -> Picture:
    block = max(1, -(-vector.size // (STRIP * 16)))
    cells = reduced(vector[None], (1, block), how)[0]
    columns = min(STRIP, max(1, cells.size))
    rows = max(1, -(-cells.size // columns))
    padded = np.full(rows * columns, GAP, np.float32)
    padded[:cells.size] = cells
    return Picture(padded.reshape(rows, columns), "strip", shape, (0, 0), (1, block), (1, 1), limit,
                   _blocks_note((1, block), how))


def _tiles(filters: np.ndarray, shape: tuple[int, ...], limit: float) -> Picture:
    """Filters [height, width, in, out]: a row of tiles for each input channel, a column for each output channel."""
    height, width, inputs, outputs = filters.shape
    ins, outs = min(inputs, MOST_TILES), min(outputs, 2 * MOST_TILES)
    values = np.full((ins, height + 1, outs, width + 1), GAP, np.float32)
    values[:, :height, :, :width] = _cells(filters[:, :, :ins, :outs].transpose(2, 0, 3, 1))
    flat = values.reshape(ins * (height + 1), outs * (width + 1))[:-1, :-1]
    note = f"down: {_channels(ins, inputs, 'input')}, across: {_channels(outs, outputs, 'output')}"
    return Picture(flat, "tiles", shape, (0, 0), (1, 1), (height, width), limit, note)


def _channels(shown: int, there: int, what: str) -> str:
    return counted(there, what) if shown == there else f"the first {shown} of {there} {what}s"


def panel_json(title: str, drawn: Picture) -> dict[str, Any]:
    """A picture as the browser gets it."""
    data = np.ascontiguousarray(drawn.values, "<f4")
    return {"title": title, "note": drawn.note, "rows": data.shape[0], "cols": data.shape[1], "form": drawn.form,
            "limit": drawn.limit, "shape": list(drawn.shape), "start": list(drawn.start), "block": list(drawn.block),
            "tile": list(drawn.tile), "side": drawn.side, "data": base64.b64encode(data.tobytes()).decode()}


def zoomed(drawn: Picture, row: int, column: int) -> Window | None:
    """The part to look at when a cell of a reduced matrix was clicked; None where there is nothing finer."""
    if drawn.form != "matrix" or drawn.block == (1, 1):
        return None
    rows, columns = math.prod(drawn.shape[:-1]), drawn.shape[-1]
    side = (max(drawn.block[0], min(rows, MOST_SIDE)), max(drawn.block[1], min(columns, MOST_SIDE)))
    middle = [s + (place + 0.5) * b for s, place, b in zip(drawn.start, (row, column), drawn.block, strict=True)]
    first = [int(min(max(0, m - n / 2), total - n)) for m, n, total in zip(middle, side, (rows, columns), strict=True)]
    return first[0], first[0] + side[0], first[1], first[1] + side[1]
