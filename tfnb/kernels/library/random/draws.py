"""Kernels of the random ops: TensorFlow's Philox streams, split over threads by blocks.

    random_uniform(call), random_uniform_int(call), random_standard_normal(call), truncated_normal(call),
    random_shuffle(call), multinomial(call) -> launches     float32, float64, int32, int64

The NumPy forms (and those of float16 and bfloat16) are in arrays/philox.py. Both work from the same state and give the
same bits: a program may go on where the interpreter stopped. On a GPU normal values agree as far as the logarithm, sine
and cosine of the two do. The last launch of each op advances the counter.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from tfnb.kernels.arrays.philox import BLOCKS_PER_ELEMENT
from tfnb.kernels.functions.kernel import KernelFunction, kernel_function
from tfnb.kernels.functions.language import (
    Array,
    Ints,
    MaybeOne,
    Static,
    Type,
    fail,
    float32,
    float64,
    int32,
    int64,
    libm,
    sqrt,
    uint64,
    unrolled,
)
from tfnb.kernels.launch import Address, Call, Launch
from tfnb.kernels.library.checks import NOT_BELOW
from tfnb.kernels.library.copying import copy_box, copy_rows

STATE = Address("state")
WIDTH, GRAIN = 256, 4096                                # blocks that an item of the CPU draws; that a thread draws
CHUNKS = 16                                             # of the rows of multinomial
BITS = 23                                                               # of a uniform float32
_FEW_BITS = {"float16": 10, "bfloat16": 7}
SIZES = {"float32": 4, "float64": 2, "int32": 4, "int64": 2}            # elements a block

HALF, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
FIRST_MULTIPLIER, SECOND_MULTIPLIER = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
FIRST_STEP, SECOND_STEP = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
MIXING_KEY = np.uint64(0x02461E293EC8F720)
MANTISSA32, MANTISSA64 = np.uint64(0x7FFFFF), np.uint64(0xFFFFF)
UNIT32, UNIT64 = np.float32(2.0**-23), 2.0**-52


def philox(key: int, low: int, high: int, block: int) -> Ints:
    """Return the four words of the block `block` after the counter (low, high): Philox4x32-10, a word in a uint64."""
    moved = low + block
    carried = high + uint64(moved < low)
    c0, c1, c2, c3 = moved & LOW, moved >> HALF, carried & LOW, carried >> HALF
    k0, k1 = key & LOW, key >> HALF
    for _ in range(10):
        p, q = FIRST_MULTIPLIER * c0, SECOND_MULTIPLIER * c2
        c0, c1, c2, c3 = (q >> HALF) ^ c1 ^ k0, q & LOW, (p >> HALF) ^ c3 ^ k1, p & LOW
        k0, k1 = (k0 + FIRST_STEP) & LOW, (k1 + SECOND_STEP) & LOW
    return c0, c1, c2, c3


@kernel_function
def fill_words(state: Array, words: Array, item: int) -> None:
    """Store the four words of block `item`."""
    made = philox(state[0], state[2], state[3], uint64(item))
    for k in unrolled(4):
        words[4 * item + k] = made[k]


def next_words(state: np.ndarray, count: int) -> list[int]:
    """Return the words of `count` blocks from a state on, which is left as it is (by NumPy: 60 us for 16 blocks)."""
    words = np.empty(4 * count, np.uint64)
    fill_words.run(count, state, words)
    found: list[int] = words.tolist()
    return found


def unit32(word: int) -> Any:
    """Return 23 bits of a word as a float32 in [0, 1)."""
    return float32(int32(word & MANTISSA32)) * UNIT32


def unit64(high: int, low: int) -> Any:
    """Return 52 bits of two words as a float64 in [0, 1)."""
    return float64((high & MANTISSA64) << HALF | low) * UNIT64


def uniform(words: Ints, T: Type) -> Ints:
    """Return the elements in [0, 1) of a block."""
    if T == float32:
        return unit32(words[0]), unit32(words[1]), unit32(words[2]), unit32(words[3])
    return unit64(words[0], words[1]), unit64(words[2], words[3])


def box_muller(u: float, v: float, T: Type) -> Ints:
    """Return two standard normal values of two uniform ones."""
    r = T(sqrt(T(-2) * libm.log(max(u, T(1e-7)))))
    angle = T(2 * math.pi * float64(v))
    return libm.sin(angle) * r, libm.cos(angle) * r


def normal(words: Ints, T: Type) -> Ints:
    """Return the standard normal elements of a block."""
    u = uniform(words, T)
    if T == float64:
        return box_muller(u[0], u[1], T)
    a, b = box_muller(u[0], u[1], T)
    c, d = box_muller(u[2], u[3], T)
    return a, b, c, d


def integers(words: Ints, start: int, span: int, T: Type) -> Ints:
    """Return the integers in [start, start + span) of a block."""
    if T == int32:
        return (T(start + int(words[0] % span)), T(start + int(words[1] % span)),
                T(start + int(words[2] % span)), T(start + int(words[3] % span)))
    return (T(start + int((words[0] | words[1] << HALF) % span)),
            T(start + int((words[2] | words[3] << HALF) % span)))


def few_bits(words: Ints, bits: Static) -> Ints:
    """Return the elements in [0, 1) of a block, float32 values of `bits` bits: those of a 16-bit float."""
    mask, unit = uint64((1 << bits) - 1), float32(1.0 / float(1 << bits))
    return (float32(int32(words[0] & mask)) * unit, float32(int32(words[1] & mask)) * unit,
            float32(int32(words[2] & mask)) * unit, float32(int32(words[3] & mask)) * unit)


def drawn_of(words: Ints, start: int, span: int, T: Type, form: Static) -> Ints:
    """Return the elements of a block: standard normal values, uniform ones of `form` bits, or integers."""
    if T == int32 or T == int64:
        return integers(words, start, span, T)
    if form == "normal":
        return normal(words, T)
    return uniform(words, T) if form == BITS else few_bits(words, form)


@kernel_function(fastmath=())
def draw(state: Array, target: Array, count: int, lowest: Array, limit: Array, width: MaybeOne, T: Type, size: Static,
         form: Static, item: int) -> None:
    """Draw `width` blocks of `size` elements. lowest, limit: bounds of integers; None for floats."""
    key, low, high = state[0], state[2], state[3]
    start, span = 0, uint64(0)
    if lowest is not None:
        start, above = int(lowest[0]), int(limit[0])
        if start >= above:
            fail(NOT_BELOW, start, above)
            return
        span = uint64(above) - uint64(start)
    first = item * width
    end = min(first + width, (count + size - 1) // size if width == 1 else count // size)
    for block in range(first, end):
        words = philox(key, low, high, uint64(block))
        drawn = drawn_of(words, start, span, T, form)
        for j in unrolled(size):
            if width != 1 or block * size + j < count:
                target[block * size + j] = drawn[j]
    if width != 1 and end < first + width and end * size < count:
        words = philox(key, low, high, uint64(end))
        drawn = drawn_of(words, start, span, T, form)
        for j in unrolled(size - 1):
            if end * size + j < count:
                target[end * size + j] = drawn[j]


@kernel_function(fastmath=())
def draw_truncated(state: Array, target: Array, count: int, T: Type, size: Static, item: int) -> None:
    """Draw the elements of a block: standard normal values, those from 2 on again."""
    key, low, high = state[0], state[2], state[3]
    have, block = 0, uint64(item) * uint64(64 * size)
    while have < size:
        words = philox(key, low, high, block)
        drawn = normal(words, T)
        for j in unrolled(size):
            if have < size and abs(drawn[j]) < T(2):
                if item * size + have < count:
                    target[item * size + have] = drawn[j]
                have += 1
        block += uint64(1)


@kernel_function
def advance(state: Array, blocks: int, item: int) -> None:
    """Advance the counter, one integer of 128 bits."""
    low = state[2]
    moved = low + uint64(blocks)
    state[2] = moved
    if moved < low:
        state[3] = state[3] + uint64(1)


@kernel_function
def permute(state: Array, order: Array, n: int, item: int) -> None:
    """Write a random permutation: word i chooses which of the n - i elements left comes to place i."""
    key, low, high = state[0], state[2], state[3]
    for i in range(n):
        order[i] = i
    for block in range((n + 2) // 4):
        words = philox(key, low, high, uint64(block))
        for lane in unrolled(4):
            i = 4 * block + lane
            if i < n - 1:
                j = i + int(words[lane] % uint64(n - i))
                order[i], order[j] = order[j], order[i]


@kernel_function(fastmath=())
def draw_classes(state: Array, logits: Array, target: Array, totals: Array, rows: int, classes: int, samples: int,
                 width: MaybeOne, item: int) -> None:
    """Draw `samples` classes for each of `width` rows, with the odds exp(logits); non-finite logits have none.

    totals: room for the cumulative sums of a row.
    """
    key, low, high = state[0], state[2], state[3]
    total = totals[item * classes:]
    for row in range(item * width, min(item * width + width, rows)):
        logit = logits[row * classes:]
        highest, sum_ = -math.inf, 0.0
        for c in range(classes):
            x = float64(logit[c])
            if x > highest and x < math.inf:
                highest = x
        for c in range(classes):
            x = float64(logit[c])
            if x > -math.inf and x < math.inf:
                sum_ += libm.exp(x - highest)
            total[c] = sum_
        for s in range(samples):
            place = row * samples + s
            words = philox(key, low, high, uint64(place // 2))
            drawn = unit64(words[0], words[1]) if place % 2 == 0 else unit64(words[2], words[3])
            wanted = drawn * sum_
            first, last = 0, classes
            while first < last:
                middle = (first + last) // 2
                if total[middle] > wanted:
                    last = middle
                else:
                    first = middle + 1
            target[place] = first


def _drawn(call: Call, bounds: Sequence[Address | None] = (None, None), form: Any = BITS,
           state: Address = STATE) -> list[Launch]:
    return _filled(call, draw, *bounds, state=state, width=call.columns(WIDTH)[0], form=form)


def _filled(call: Call, kernel: KernelFunction, *args: Address | None, state: Address = STATE,
            **named: Any) -> list[Launch]:
    """Return launches that fill the output, `width` blocks an item, and advance the counter."""
    out = call.outputs[0]
    if not out.size:
        return []
    size, width = SIZES[out.type], named.get("width", 1)
    return [kernel.launch(call, -(-out.size // (size * width)), state, call.output().reach(out.size * out.itemsize),
                          out.size, *args, **named, T=out.type, size=size, grain=GRAIN // width, label="random"),
            *step(call, out.size * BLOCKS_PER_ELEMENT, state)]


def step(call: Call, blocks: int, state: Address = STATE) -> list[Launch]:
    """Return what advances the counter of an op; a state in scratch, of a stateless op, serves once."""
    return [advance.launch(call, 1, state, blocks, grain=0)] if state is STATE else []


@kernel_function
def scramble(seed: Array, state: Array, item: int) -> None:
    """Make the key and the counter of a stateless op of its two seeds, by one block of Philox."""
    words = philox(uint64(MIXING_KEY), uint64(int(seed[0])), uint64(int(seed[1])), uint64(0))
    state[0] = words[0] | words[1] << HALF
    state[1] = uint64(0)
    state[2] = uint64(0)
    state[3] = words[2] | words[3] << HALF


def seeded(call: Call, index: int) -> tuple[Address, list[Launch]]:
    """Return a state in scratch, and what makes it of the two seeds that are input `index`."""
    state, seed = call.scratch(32).reach(32).of("uint64"), call.inputs[index]
    return state, [scramble.launch(call, 1, call.input(index).reach(2 * seed.itemsize), state, grain=0, label="seed")]


def stateless(call: Call, draw: Any) -> list[Launch]:
    """Return launches of an op with the inputs shape, seed. draw: fn(call, state=) -> launches."""
    state, first = seeded(call, 1)
    return [*first, *draw(call, state=state)]


random_standard_normal = partial(_drawn, form="normal")


def random_uniform(call: Call, state: Address = STATE) -> list[Launch]:
    """Return launches of RandomUniform. The output is float32 for 16-bit floats, whose values have their own bits."""
    kind = call.attrs.get("dtype")
    return _drawn(call, form=BITS if kind is None else _FEW_BITS.get(kind.name, BITS), state=state)


def truncated_normal(call: Call, state: Address = STATE) -> list[Launch]:
    """Return launches of TruncatedNormal: as RandomStandardNormal, values from 2 on drawn again."""
    return _filled(call, draw_truncated, state=state)


def random_uniform_int(call: Call, state: Address = STATE) -> list[Launch]:
    """Return launches of RandomUniformInt, whose last inputs are the bounds; failure 2: minval >= maxval."""
    last = len(call.inputs) - 1
    return _drawn(call, [call.input(i).reach(call.inputs[i].itemsize) for i in (last - 1, last)], state=state)


def random_shuffle(call: Call) -> list[Launch]:
    """Return launches of RandomShuffle: the rows of the input in random order."""
    value = call.inputs[0]
    rows = value.shape[0] if value.shape else 1
    if value.size <= 1 or rows <= 1:
        return copy_box(call, call.input(0), call.output(), value.type, [(value.size, 1, 1)])
    order = call.scratch(8 * rows).reach(8 * rows).of("int64")
    return [permute.launch(call, 1, STATE, order, rows, grain=0, label="permutation"),
            *step(call, -(-(rows - 1) // 4)),
            *copy_rows(call, call.input(0), call.output(), value, rows, order)]


def multinomial(call: Call, state: Address = STATE) -> list[Launch]:
    """Return launches of Multinomial: logits [rows, classes], num_samples -> [rows, samples], int32 or int64."""
    rows, classes = call.inputs[0].shape
    samples = call.outputs[0].shape[1]
    if not rows * samples:
        return []
    width = -(-rows // CHUNKS) if call.device == "cpu" else 1
    items = -(-rows // width)
    totals = call.scratch(8 * classes * items).reach(8 * classes * items).of("float64")
    return [draw_classes.launch(call, items, state, call.input(0).reach(rows * classes * call.inputs[0].itemsize),
                                call.output().reach(rows * samples * call.outputs[0].itemsize), totals, rows, classes,
                                samples, width, grain=1, label="multinomial"),
            *step(call, rows * (-(-samples // 4) * 8) * BLOCKS_PER_ELEMENT, state)]
