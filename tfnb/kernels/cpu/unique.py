"""Unique elements of a vector, in order of appearance.

    unique(call)    Unique (x) -> y, idx and, one output more, how many there are: y has room for all of x
"""
from __future__ import annotations

from tfnb.kernels.launch import Call, Launch

# A hash table with open addressing; a slot holds the place in y plus one, or 0. Its size is a power of two, at least
# twice the number of elements; the high bits of a product choose the slot (Knuth's multiplicative hashing).
TEXT = """
def kernel(args, begin, end):
    n, mask, shift = args[4], args[5], args[6]
    x = {type}_array(args[0], n)
    y = {type}_array(args[1], n)
    places = {index}_array(args[2], n)
    table = int32_array(args[7], mask + 1)
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
            place = count
            table[slot] = int32(count + 1)
            y[count] = value
            count += 1
        places[i] = {index}(place)
    store(args[3], count)
"""


def unique(call: Call) -> list[Launch]:
    """Return one launch on one thread: an element depends on all before it."""
    x, places = call.inputs[0], call.outputs[1]
    bits = max(4, (2 * max(1, x.size) - 1).bit_length())
    table = call.scratch(4 << bits).reach(4 << bits)
    whole = x.size * x.itemsize
    args = (call.input(0).reach(whole), call.output(0).reach(whole), call.output(1).reach(x.size * places.itemsize),
            call.output(2).reach(8), x.size, (1 << bits) - 1, 64 - bits, table)
    return [Launch(TEXT.format(type=x.type, index=places.type), args, 1, 0, "unique")]
