"""Kernels of the random ops: TensorFlow's Philox streams, split over threads by groups of values.

    random_uniform(call), random_uniform_int(call), random_standard_normal(call), truncated_normal(call),
    random_shuffle(call), multinomial(call) -> launches     `cpu=` of the ops; float32, float64, int32, int64
    new_state(seed, seed2) -> uint64[4]                     the state of an op at the start of a session

The NumPy forms (and those of float16 and bfloat16) are in philox.py. Both work from
the same state and give the same bits: a program may go on where the interpreter stopped. The last launch of each
advances the counter.
"""
from __future__ import annotations

import numpy as np

from tfnb.kernels.arrays.philox import BLOCKS_PER_ELEMENT, new_state
from tfnb.kernels.launch import Address, Call, Launch, Word
from tfnb.kernels.library.copying import copy_box, copy_rows

STATE = Address("state")
GRAIN = 4096                                            # groups (blocks) a thread takes at a time
CHUNKS = 16                                             # of multinomial's rows; each has its own scratch vector
_REALS = {"float32": 4, "float64": 2}                   # elements a block

# The state, and the words of one block of it; `block` (uint64) is how many after the counter.
_START = """
    half = uint64(32)
    key, base_low, base_high = uint64(load(args[0])), uint64(load(args[0] + 16)), uint64(load(args[0] + 24))
"""
_BLOCK = """
        c0, c1, c2, c3 = philox_block(key, base_low, base_high, block)
"""


def _indent(text: str) -> str:
    return "".join("    " + line if line.strip() else line for line in text.splitlines(keepends=True))


# Makers: the body that turns words c0..c3 into the elements r0, r1 (r2, r3) of a group.
_UNIFORM = {
    "float32": "".join(f"        r{i} = unit32(c{i})\n" for i in range(4)),
    "float64": "        r0 = unit64(c0, c1)\n        r1 = unit64(c2, c3)\n",
}
_INTEGERS = {
    "int32": "".join(f"        r{i} = int32(low_value + int64(c{i} % span))\n" for i in range(4)),
    "int64": "        r0 = low_value + int64((c0 | c1 << half) % span)\n"
             "        r1 = low_value + int64((c2 | c3 << half) % span)\n",
}
_PAIR32 = """
        u = unit32({0})
        u = u if u > float32(1e-7) else float32(1e-7)
        v = float32(6.283185307179586 * float64(unit32({1})))
        r = math.sqrt(float32(-2) * math.log(u))
        {2} = math.sin(v) * r
        {3} = math.cos(v) * r
"""
_PAIR64 = """
        u = unit64(c0, c1)
        u = u if u > 1e-7 else 1e-7
        v = 6.283185307179586 * unit64(c2, c3)
        r = math.sqrt(-2.0 * math.log(u))
        r0 = math.sin(v) * r
        r1 = math.cos(v) * r
"""
_PAIRS32 = _PAIR32.format("c0", "c1", "r0", "r1") + _PAIR32.format("c2", "c3", "r2", "r3")
_NORMAL = {"float32": _PAIRS32, "float64": _PAIR64}

ADVANCE_TEXT = """
def kernel(args, begin, end):
    low = uint64(load(args[0] + 16))
    moved = low + uint64(args[1])
    store(args[0] + 16, int64(moved))
    if moved < low:
        store(args[0] + 24, load(args[0] + 24) + 1)
"""


def fill_text(maker: str, type_: str, size: int, setup: str = "") -> str:
    """Return a kernel's source over groups [begin, end); args: state, output, its element count, space for a group.

    A last group that is to be cut is made in that space and copied in part.
    """
    stores = "".join(f"            place[{size} * i + {j}] = r{j}\n" for j in range(size))
    return f"""
FASTMATH = ()

def kernel(args, begin, end):
{_START}{setup}
    n = args[2] - {size} * begin
    out = {type_}_array(args[1] + {size} * {8 if "64" in type_ else 4} * begin, n)
    spare = {type_}_array(args[3], {size})
    whole = min(end - begin, n // {size})
    for part in range(2):
        first, count = (begin, whole) if part == 0 else (begin + whole, end - begin - whole)
        place = out if part == 0 else spare
        for i in range(count):
            block = uint64(first + i)
{_indent(_BLOCK + maker)}
{stores}
    if whole < end - begin:
        for j in range(n - {size} * whole):
            out[{size} * whole + j] = spare[j]
"""


def truncated_text(type_: str, size: int) -> str:
    """Return the source of groups of truncated normals: values are offered in turn until the group is full."""
    offers = "".join(f"""
            if have < {size} and abs(r{j}) < {type_}(2):
                if have < n - {size} * i:
                    out[{size} * i + have] = r{j}
                have += 1
""" for j in range(size))
    return f"""
FASTMATH = ()

def kernel(args, begin, end):
{_START}
    n = args[2] - {size} * begin
    out = {type_}_array(args[1] + {size} * {8 if size == 2 else 4} * begin, n)
    for i in range(end - begin):
        block = uint64(begin + i) * uint64({64 * size})
        have = 0
        while have < {size}:
{_indent(_BLOCK + _NORMAL[type_])}
            block += uint64(1)
{offers}
"""


PERMUTATION_TEXT = f"""
def kernel(args, begin, end):
{_START}
    n = args[2]
    order = int64_array(args[1], n)
    for i in range(n):
        order[i] = i
    for group in range((n + 2) // 4):
        block = uint64(group)
{_BLOCK}
        for lane in range(4):
            i = 4 * group + lane
            word = c0 if lane == 0 else (c1 if lane == 1 else (c2 if lane == 2 else c3))
            if i < n - 1:
                j = i + int64(word) % (n - i)
                swapped = order[i]
                order[i] = order[j]
                order[j] = swapped
"""


def multinomial_text(logits: str, output: str) -> str:
    """Return the source over rows [begin, end): state, logits, output, classes, samples, scratch, grain."""
    return f"""
FASTMATH = ()

def kernel(args, begin, end):
{_START}
    classes, samples = args[3], args[4]
    total = float64_array(args[5] + 8 * classes * (begin // args[6]), classes)
    for row in range(begin, end):
        logit = {logits}_array(args[1] + {np.dtype(logits).itemsize} * classes * row, classes)
        out = {output}_array(args[2] + {np.dtype(output).itemsize} * samples * row, samples)
        highest = -np.inf
        for c in range(classes):
            x = float64(logit[c])
            if x > highest and x < np.inf:
                highest = x
        sum_ = 0.0
        for c in range(classes):
            x = float64(logit[c])
            if x > -np.inf and x < np.inf:
                sum_ += math.exp(x - highest)
            total[c] = sum_
        for s in range(samples):
            place = row * samples + s
            block = uint64(place // 2)
{_indent(_BLOCK)}
            if place % 2 == 0:
                drawn = unit64(c0, c1)
            else:
                drawn = unit64(c2, c3)
            wanted = drawn * sum_
            first, last = 0, classes
            while first < last:
                middle = (first + last) // 2
                if total[middle] > wanted:
                    last = middle
                else:
                    first = middle + 1
            out[s] = first
"""


def random_uniform(call: Call) -> list[Launch]:
    """Return launches of RandomUniform: [0, 1)."""
    type_ = call.outputs[0].type
    return _fill(call, fill_text(_UNIFORM[type_], type_, _REALS[type_]), _REALS[type_])


def random_standard_normal(call: Call) -> list[Launch]:
    """Return launches of RandomStandardNormal: mean 0, deviation 1."""
    type_ = call.outputs[0].type
    return _fill(call, fill_text(_NORMAL[type_], type_, _REALS[type_]), _REALS[type_])


def truncated_normal(call: Call) -> list[Launch]:
    """Return launches of TruncatedNormal: as RandomStandardNormal, values from 2 on drawn again."""
    type_ = call.outputs[0].type
    return _fill(call, truncated_text(type_, _REALS[type_]), _REALS[type_])


def random_uniform_int(call: Call) -> list[Launch]:
    """Return launches of RandomUniformInt (shape, minval, maxval). Status code 2: minval >= maxval (words 1, 2)."""
    type_ = call.outputs[0].type
    size = 4 if type_ == "int32" else 2
    setup = f"""
    low_value = int64({type_}_array(args[4], 1)[0])
    high_value = int64({type_}_array(args[5], 1)[0])
    if low_value >= high_value:
        if begin == 0:
            store(args[6] + 8, low_value)
            store(args[6] + 16, high_value)
            store(args[6], 2)
        return
    span = uint64(high_value) - uint64(low_value)
"""
    text = fill_text(_INTEGERS[type_], type_, size, setup)
    return _fill(call, text, size, call.input(1), call.input(2), Address("status"))


def _fill(call: Call, text: str, size: int, *more: Address) -> list[Launch]:
    count = call.outputs[0].size
    if not count:
        return []
    scalars = [word.reach(call.inputs[word.index].itemsize) if word.kind == "input" else word for word in more]
    words: tuple[Word, ...] = (
        STATE, call.output().reach(count * call.outputs[0].itemsize), count, call.scratch(32).reach(32), *scalars)
    return [Launch(text, words, -(-count // size), GRAIN),
            _advance(count * BLOCKS_PER_ELEMENT)]


def _advance(blocks: int) -> Launch:
    return Launch(ADVANCE_TEXT, (STATE, blocks), 1, 0, "advance")


def random_shuffle(call: Call) -> list[Launch]:
    """Return launches of RandomShuffle: the rows of the input in random order."""
    value = call.inputs[0]
    rows = value.shape[0] if value.shape else 1
    if value.size <= 1 or rows <= 1:
        return copy_box(call, call.input(0), call.output(), value.type, [(value.size, 1, 1)])
    order = call.scratch(8 * rows).reach(8 * rows)
    return [Launch(PERMUTATION_TEXT, (STATE, order, rows), 1, 0, "permutation"),
            _advance(-(-(rows - 1) // 4)),
            *copy_rows(call, call.input(0), call.output(), value, rows, order)]


def multinomial(call: Call) -> list[Launch]:
    """Return launches of Multinomial: logits [rows, classes], num_samples -> [rows, samples], int32 or int64."""
    rows, classes = call.inputs[0].shape
    samples = call.outputs[0].shape[1]
    if not rows * samples:
        return []
    grain = -(-rows // CHUNKS)
    room = 8 * classes * -(-rows // grain)
    scratch = call.scratch(room).reach(room)
    logits = call.input(0).reach(rows * classes * call.inputs[0].itemsize)
    out = call.output().reach(rows * samples * call.outputs[0].itemsize)
    text = multinomial_text(call.inputs[0].type, call.outputs[0].type)
    args = (STATE, logits, out, classes, samples, scratch, grain)
    return [Launch(text, args, rows, grain), _advance(rows * (-(-samples // 4) * 8) * BLOCKS_PER_ELEMENT)]


__all__ = ["multinomial", "new_state", "random_shuffle", "random_standard_normal", "random_uniform",
           "random_uniform_int", "truncated_normal"]
