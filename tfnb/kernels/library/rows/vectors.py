"""Vectors in one pass of machine code, where only a run knows how long they are: counts, ranges, differences.

    count_bins(places, weights, bins)       sums of the weights of each integer, in order
    fixed_bins(values, low, step, bins)     counts of values in bins of equal width
    sequence(first, step, count)            an arithmetic sequence
    ranges(first, last, step)               concatenated arithmetic sequences and their row splits
    difference(x, y)                        indices of the elements of x that y has not
    inverse(x)                              the inverse permutation

Each is None where there is no compiler or no kernel of the dtype: the ops have a form of NumPy.
"""
from __future__ import annotations

import numpy as np

from tfnb.core.options import has_compiler
from tfnb.kernels.functions.kernel import kernel_function, type_name
from tfnb.kernels.functions.language import TYPES, Array, MaybeOne, Static, Type, ceil, int32, int64, uint64


@kernel_function(fastmath=())
def add_weights(places: Array, weights: Array, sums: Array, found: Array, count: int, bins: int, weighted: Static,
                T: Type, item: int) -> None:
    """Add a weight (1, if not `weighted`) to each sum whose place is below `bins`; found: whether one is negative."""
    negative = 0
    for i in range(count):
        place = int(places[i])
        if place < 0:
            negative = 1
        elif place < bins:
            sums[place] = T(sums[place] + (weights[i] if weighted else T(1)))
    found[0] = negative


def count_bins(places: np.ndarray, weights: np.ndarray, bins: int) -> np.ndarray | None:
    """Return the sum of the weights of each integer below `bins`, their counts for none: [bins], of their dtype.

    None also where an integer is negative.
    """
    if not has_compiler():
        return None
    sums, found = np.zeros(bins, weights.dtype), np.empty(1, np.int64)
    add_weights.run(1, places, weights, sums, found, places.size, bins, weighted=weights.size > 0,
                    T=type_name(sums.dtype))
    return None if found.item() else sums


@kernel_function(fastmath=())
def count_in_bins(values: Array, limits: Array, counts: Array, count: int, bins: int, item: int) -> None:
    """Count values by floor((x - limits[0]) / limits[1]), at most bins - 1 and at least 0."""
    low, step, last = limits[0], limits[1], float(bins - 1)
    for i in range(count):
        place = (float(values[i]) - low) / step
        bin = 0
        if place >= last:
            bin = bins - 1
        elif place > 0.0:
            bin = int(place)
        counts[bin] += 1


def fixed_bins(values: np.ndarray, low: float, step: float, bins: int) -> np.ndarray | None:
    """Return how many values are in each of `bins` bins: int64; those outside are in the first or the last."""
    if not has_compiler():
        return None
    counts = np.zeros(bins, np.int64)
    count_in_bins.run(1, values, np.array([low, step]), counts, values.size, bins)
    return counts


@kernel_function(fastmath=())
def count_ranges(first: Array, last: Array, step: Array, splits: Array, found: Array, count: int, one_first: MaybeOne,
                 one_last: MaybeOne, one_step: MaybeOne, Wide: Type, item: int) -> None:
    """Store the row splits of ranges [first, last) by step. found: if a step is 0; one_...: 0 if one serves all."""
    at, zero = 0, 0
    splits[0] = at
    for i in range(count):
        begin, end, by = Wide(first[i * one_first]), Wide(last[i * one_last]), Wide(step[i * one_step])
        size = 0
        if by == Wide(0):
            zero = 1
        elif Wide == int64:
            if by > Wide(0) and end > begin:
                size = int((end - begin - Wide(1)) // by) + 1
            elif by < Wide(0) and end < begin:
                size = int((begin - end - Wide(1)) // -by) + 1
        else:
            size = max(int(ceil((end - begin) / by)), 0)
        at += size
        splits[i + 1] = at
    found[0] = zero


@kernel_function(fastmath=(), independent=True)
def fill_ranges(first: Array, step: Array, splits: Array, values: Array, one_first: MaybeOne, one_step: MaybeOne,
                T: Type, Wide: Type, item: int) -> None:
    """Fill row `item` with first + place * step."""
    start, by, begin = Wide(first[item * one_first]), Wide(step[item * one_step]), int(splits[item])
    row = values[begin:]
    for j in range(int(splits[item + 1]) - begin):
        row[j] = T(start + Wide(j) * by)


def sequence(first: np.ndarray, step: np.ndarray, count: int) -> np.ndarray | None:
    """Return first + place * step for `count` places, computed in their dtype; both have one element."""
    kind = type_name(first.dtype)
    if not has_compiler() or kind not in TYPES:
        return None
    values = np.empty(count, first.dtype)
    fill_ranges.run(1, first, step, np.array([0, count]), values, 1, 1, T=kind, Wide=kind)
    return values


def ranges(first: np.ndarray, last: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the row splits (int64) and the values of ranges [first, last), computed in int64 or float64.

    Each is a scalar, or a vector as long as the others. None also where a step is 0.
    """
    kind = type_name(first.dtype)
    if not has_compiler() or kind not in TYPES:
        return None
    wide, count = "int64" if first.dtype.kind == "i" else "float64", max(a.size for a in (first, last, step))
    if any(a.ndim and a.size != count for a in (first, last, step)):
        return None
    splits, found = np.empty(count + 1, np.int64), np.empty(1, np.int64)
    moves = [int(a.ndim > 0) for a in (first, last, step)]
    count_ranges.run(1, first, last, step, splits, found, count, *moves, Wide=wide)
    if found[0]:
        return None
    values = np.empty(int(splits[-1]), first.dtype)
    fill_ranges.run(count, first, step, splits, values, moves[0], moves[2], T=kind, Wide=wide)
    return splits, values


@kernel_function
def keep_absent(x: Array, y: Array, table: Array, kept: Array, found: Array, x_count: int, y_count: int, mask: int,
                shift: int, item: int) -> None:
    """Find the elements of x that y has not, by a hash table of y's (see searching.number_unique); its slots are 0."""
    for j in range(y_count):
        slot = int64((uint64(y[j]) * uint64(0x9E3779B97F4A7C15)) >> uint64(shift))
        while table[slot] != 0 and y[int(table[slot]) - 1] != y[j]:
            slot = (slot + 1) & mask
        table[slot] = int32(j + 1)
    made = 0
    for i in range(x_count):
        slot = int64((uint64(x[i]) * uint64(0x9E3779B97F4A7C15)) >> uint64(shift))
        while table[slot] != 0 and y[int(table[slot]) - 1] != x[i]:
            slot = (slot + 1) & mask
        if table[slot] == 0:
            kept[made] = i
            made += 1
    found[0] = made


def difference(x: np.ndarray, y: np.ndarray) -> np.ndarray | None:
    """Return the indices of the elements of a vector, of integers or floats, that another has not: int64."""
    if not has_compiler() or x.dtype.kind not in "iuf" or len(y) >= 1 << 31:
        return None
    if x.dtype.kind == "f":                        # by their bits: one zero, and no NaN is another's equal
        y = y[y == y]
        x, y = ((each + 0).view(f"i{each.itemsize}") for each in (x, y))
    bits = max(4, (2 * max(1, y.size) - 1).bit_length())
    kept, found = np.empty(x.size, np.int64), np.empty(1, np.int64)
    keep_absent.run(1, x, y, np.zeros(1 << bits, np.int32), kept, found, x.size, y.size, (1 << bits) - 1, 64 - bits)
    return kept[:found.item()]


@kernel_function
def invert(x: Array, y: Array, found: Array, count: int, T: Type, item: int) -> None:
    """Store the place of each element at the element; y is -1 everywhere. found: whether x is a permutation."""
    i = 0
    while i < count and x[i] >= 0 and x[i] < count and y[int(x[i])] == -1:
        y[int(x[i])] = T(i)
        i += 1
    found[0] = 1 if i == count else 0


def inverse(x: np.ndarray) -> np.ndarray | None:
    """Return the inverse of a permutation; None also where x is none."""
    if not has_compiler():
        return None
    y, found = np.full(x.size, -1, x.dtype), np.empty(1, np.int64)
    invert.run(1, x, y, found, x.size, T=type_name(x.dtype))
    return y if found.item() else None
