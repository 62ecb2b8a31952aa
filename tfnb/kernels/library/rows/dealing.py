"""Rows dealt out by numbers and put together again: the NumPy forms of DynamicPartition and of the stitches.

    dealt(data, numbers, count)     rows of `data` by their number in [0, count), in order
    stitched(pieces, rows)          (places, data) pairs -> rows at their places; of duplicates the last stays

The sizes of results follow from values, so that these are host calls; their passes are machine code.
"""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfnb.core.options import has_compiler
from tfnb.kernels.functions.kernel import address, kernel_function
from tfnb.kernels.functions.language import Array, MaybeOne, Type, array_at, int32
from tfnb.kernels.scalar.number_types import name_of

LEAST = 2048                # elements: fewer are not worth a kernel
_UNITS = {8: np.uint64, 4: np.uint32, 2: np.uint16, 1: np.uint8}


@kernel_function(fastmath=())
def count_numbers(numbers: Array, counts: Array, limit: int, bad: Array, item: int) -> None:
    """Count an element by its number; `bad` gets 1 + the place of the first one outside of [0, limit)."""
    number = int(numbers[item])
    if number >= 0 and number < limit:
        counts[number] += 1
    elif bad[0] == 0:
        bad[0] = item + 1


@kernel_function(independent=True, fastmath=())
def deal_row(data: Array, numbers: Array, free: Array, nbytes: int, size: MaybeOne, T: Type, item: int) -> None:
    """Copy a row behind those that its number has. free: number -> the address of its next row; nbytes: of a row."""
    number = int(numbers[item])
    source = data[item * size:]
    line = array_at(free[number], T)
    free[number] += nbytes
    for j in range(size):
        line[j] = source[j]


@kernel_function(independent=True, fastmath=())
def place_rows(places: Array, pieces: Array, counts: Array, target: Array, given: Array, size: MaybeOne, T: Type,
               item: int) -> None:
    """Copy the rows of a piece to their places; its count becomes that of the places which had none before.

    places, pieces: the addresses of each piece's int32 places, and rows.
    """
    where = array_at(places[item], int32)
    rows = array_at(pieces[item], T)
    count = int(counts[item])
    for i in range(count):
        place = int(where[i])
        counts[item] -= given[place]
        given[place] = 1
        source = rows[i * size:]
        line = target[place * size:]
        for j in range(size):
            line[j] = source[j]


def are_worth_it(*arrays: np.ndarray) -> bool:
    """Return whether machine code should move these rows."""
    return has_compiler() and sum(a.size for a in arrays) >= LEAST and not any(a.dtype.hasobject for a in arrays)


def _in_units(rows: np.ndarray, count: int) -> np.ndarray:
    """Return rows as (count, width) integers of the widest type that divides them."""
    flat = np.ascontiguousarray(rows).reshape(count, -1).view(np.uint8) if count else rows.reshape(-1).view(np.uint8)
    width = flat.shape[-1]
    return flat.view(next(unit for nbytes, unit in _UNITS.items() if width % nbytes == 0))


def _address(array: np.ndarray) -> int:
    """Return the address of an array of any dtype: of bfloat16 `address` takes none."""
    return int(array.__array_interface__["data"][0])


def outside(numbers: np.ndarray, limit: int) -> tuple[np.ndarray, int]:
    """Return how often each number in [0, limit) is there, and the place of the first other one, or -1."""
    counts, bad = np.zeros(max(limit, 1), np.int64), np.zeros(1, np.int64)
    count_numbers.run(numbers.size, numbers, counts, limit, bad)
    return counts[:limit], int(bad[0]) - 1


def dealt(data: np.ndarray, numbers: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the rows of each number. counts: those of `outside`, which has found no other number."""
    rest = data.shape[numbers.ndim:]
    made = tuple(np.empty((count, *rest), data.dtype) for count in counts.tolist())
    source = _in_units(data, numbers.size)
    width = source.shape[1]
    free = np.array([_address(a) for a in made], np.int64)
    deal_row.run(numbers.size, source, numbers, free, width * source.itemsize, width, T=name_of(source.dtype))
    return made


def stitched(pieces: Sequence[tuple[np.ndarray, np.ndarray]], rows: int) -> np.ndarray:
    """Return the rows of (places, data) pairs at their places, int32; zeros where there is none."""
    places, data = pieces[0]
    rest = data.shape[places.ndim:]
    out, given = np.empty((rows, *rest), data.dtype), np.zeros(rows, np.uint8)
    if not out.size:
        return out
    target = _in_units(out, rows)
    width = target.shape[1]
    kept = [(np.ascontiguousarray(p), np.ascontiguousarray(d)) for p, d in pieces if d.size]
    words = np.array([[address(p) for p, _ in kept], [_address(d) for _, d in kept], [p.size for p, _ in kept]],
                     np.int64)
    place_rows.run(len(kept), *words, target, given, width, T=name_of(target.dtype))
    if sum(words[2].tolist()) < rows:
        out[given == 0] = 0
    return out
