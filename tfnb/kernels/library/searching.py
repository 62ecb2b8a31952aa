"""Unique elements of a vector, in order of appearance; insertion points in sorted rows.

    unique(call)        Unique (x) -> y, idx and, one output more, how many there are: y has room for all of x
    unique_elements     NumPy form of the first, by the same machine code
    bucketize(call)     Bucketize (x) -> places among the attr `boundaries`
    search(after)(call) LowerBound, with `after` UpperBound (sorted rows, values) -> places
"""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tfnb.core.options import has_compiler
from tfnb.kernels.functions.kernel import kernel_function, type_name
from tfnb.kernels.functions.language import Array, MaybeOne, Static, Type, int32, int64, uint64, unrolled
from tfnb.kernels.launch import Call, Launch


@kernel_function
def number_unique(x: Array, y: Array, places: Array, total: Array, table: Array, n: int, mask: int, shift: int,
                  Index: Type, item: int) -> None:
    """Number the elements of x by a hash table with open addressing, and put the different ones in y.

    A slot holds the place in y plus one, or 0. Its size is a power of two, at least twice the number of elements; the
    high bits of a product choose the slot (Knuth's multiplicative hashing).
    """
    for i in range(mask + 1):
        table[i] = int32(0)
    count = 0
    for i in range(n):
        value = x[i]
        slot = int64((uint64(value) * uint64(0x9E3779B97F4A7C15)) >> uint64(shift))
        place = int64(table[slot]) - 1
        while place >= 0 and y[place] != value:
            slot = (slot + 1) & mask
            place = int64(table[slot]) - 1
        if place < 0:
            place = int64(count)
            table[slot] = int32(count + 1)
            y[count] = value
            count += 1
        places[i] = Index(place)
    total[0] = count


def unique(call: Call) -> list[Launch]:
    """Return one launch of one item: an element depends on all before it."""
    x, places = call.inputs[0], call.outputs[1]
    bits = max(4, (2 * max(1, x.size) - 1).bit_length())
    table = call.scratch(4 << bits).reach(4 << bits).of("int32")
    whole = x.size * x.itemsize
    return [number_unique.launch(call, 1, call.input(0).reach(whole), call.output(0).reach(whole),
                                 call.output(1).reach(x.size * places.itemsize),
                                 call.output(2).reach(8).of("int64"), table, x.size, (1 << bits) - 1, 64 - bits,
                                 Index=places.type, grain=0, label="unique")]


INTEGERS = frozenset(map(np.dtype, "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()))
BLOCK = 256                 # values of a row that are searched for at once
LEAST = 512                 # elements: a dictionary is as quick for fewer


def unique_elements(x: np.ndarray, index: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct elements of a vector of INTEGERS in order of appearance, and the place of each element."""
    if not has_compiler():
        return _unique_by_sorting(x, index)
    bits = max(4, (2 * max(1, x.size) - 1).bit_length())
    y, places = np.empty(x.shape, x.dtype), np.empty(x.size, index)
    total, table = np.zeros(1, np.int64), np.empty(1 << bits, np.int32)
    number_unique.run(1, x, y, places, total, table, x.size, (1 << bits) - 1, 64 - bits, Index=type_name(places.dtype))
    return y[:total[0]].copy(), places


def _unique_by_sorting(x: np.ndarray, index: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    _, first, inverse = np.unique(x, return_index=True, return_inverse=True)
    order = np.argsort(first)
    ranks = np.empty(len(first), index)
    ranks[order] = np.arange(len(first))
    return x[first[order]], ranks[inverse]


@kernel_function(independent=True)
def find_places(rows: Array, values: Array, places: Array, n: int, m: int, width: MaybeOne, blocks: int,
                after: Static, Index: Type, item: int) -> None:
    """Find the insertion points of up to `width` values in their sorted row by bisection; `after` equal elements.

    All take the same steps at once, in vectors: of the branches of one after the other half are predicted wrongly.
    """
    row = rows[item // blocks * n:]
    first = item % blocks * width
    count = min(width, m - first)
    value = values[item // blocks * m + first:]
    place = places[item // blocks * m + first:]
    for j in range(count):
        place[j] = Index(0)
    left = n
    while left > 0:
        half = (left + 1) // 2
        for j in range(count):
            low = int(place[j])
            other = row[low + half - 1]
            behind = (not value[j] < other) if after else other < value[j]
            place[j] = Index(low + half if behind else low)
        left = left - half


def search(after: bool) -> Callable[[Call], list[Launch]]:
    """Return the launch that finds the places of values in sorted rows."""
    def launch(call: Call) -> list[Launch]:
        """Return a launch of an item for each BLOCK of values, on a GPU for each value."""
        rows, values = call.inputs
        places = call.outputs[0]
        if not values.size:
            return []
        width = BLOCK if call.device == "cpu" else 1
        blocks = -(-values.shape[1] // width)
        return [find_places.launch(
            call, values.shape[0] * blocks, call.input(0).reach(rows.size * rows.itemsize),
            call.input(1).reach(values.size * values.itemsize), call.output().reach(places.size * places.itemsize),
            rows.shape[1], values.shape[1], width, blocks, after=after, Index=places.type, cost=16 * width,
            label="search sorted")]
    return launch


@kernel_function(independent=True)
def count_boundaries(values: Array, buckets: Array, boundaries: Static, T: Type, item: int) -> None:
    """Count the boundaries that are not larger than a value; NaN is larger than all."""
    value = T(values[item])
    count = 0
    for i in unrolled(len(boundaries)):
        count += 0 if value < T(boundaries[i]) else 1
    buckets[item] = int32(count)


def bucketize(call: Call) -> list[Launch]:
    """Return a launch of an item for each value. Integers are compared as float32, in which the boundaries are."""
    x = call.inputs[0]
    bounds = tuple(np.array(call.attrs["boundaries"], np.float32).tolist())
    return [count_boundaries.launch(call, x.size, call.input(0).reach(x.size * x.itemsize),
                                    call.output().reach(x.size * 4), boundaries=bounds,
                                    T="float64" if x.type == "float64" else "float32", cost=len(bounds),
                                    label="bucketize")]
