"""TensorFlow's random numbers in NumPy: Philox4x32-10 and the distributions of its CPU ops.

State of a random op: uint64[4] = key, 0, low and high half of the 128-bit block counter. Each function here fills an
array of the given shape from the present counter and advances it in the state, as the op does: by 256 blocks for each
element (random_permutation and multinomial differ). Same seeds, same numbers as TensorFlow on the CPU.

Group j of a fill (4 elements, or 2 of 64 bits) is made of block counter + j; the last group is cut. Normal numbers
need the C library's logf, sinf, cosf (log, sin, cos), as TensorFlow and our kernels use, to agree in every bit.
"""
from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import prod
from typing import Any

import ml_dtypes
import numpy as np

from tfnb.core.lazy import lazy_module
from tfnb.core.options import IN_BROWSER, has_compiler

c_library = lazy_module("tfnb.kernels.c_library")
draws = lazy_module("tfnb.kernels.library.random.draws")
jit, tape = lazy_module("tfnb.kernels.llvm.jit"), lazy_module("tfnb.kernels.llvm.tape")

BLOCKS_PER_ELEMENT = 256
_MOST_DRAWN = 1024                                      # blocks at a time: 0.1 us a word; 64 would take 1.5 us
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_WORD = (1 << 64) - 1
_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL = 0x9E3779B9, 0xBB67AE85
LARGE = 1 << 15                                         # that many calls of libm take longer than compiling a kernel
LIBRARY_SOURCE = """
def kernel(args, begin, end):
    x = {type}_array(args[0], end)
    y = {type}_array(args[1], end)
    for i in range(begin, end):
        y[i] = math.{function}(x[i])
"""
_GROUP = {"float64": 2, "int64": 2, "uint64": 2}        # elements a block; others: 4


def entropy() -> int:
    """Return 64 bits that differ from call to call, for whatever draws without a seed."""
    return int.from_bytes(os.urandom(8), sys.byteorder)


def new_state(seed: int, seed2: int) -> np.ndarray:
    """Return the generator state of an op with these seed attrs; both 0 mean a nondeterministic start."""
    if seed == 0 and seed2 == 0:
        seed, seed2 = entropy(), entropy()
    return np.array([seed & _WORD, 0, 0, seed2 & _WORD], np.uint64)


def advance(state: np.ndarray, blocks: int) -> None:
    """Advance the counter by `blocks`."""
    counter = ((int(state[3]) << 64 | int(state[2])) + blocks) & ((1 << 128) - 1)
    state[2], state[3] = counter & _WORD, counter >> 64


def blocks(state: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the words (n, 4) uint32 of the blocks at counter + offsets (uint64)."""
    low = state[2] + offsets
    high = state[3] + (low < state[2])
    c0, c1, c2, c3 = low & _LOW, low >> _HALF, high & _LOW, high >> _HALF
    k0, k1 = int(state[0]) & 0xFFFFFFFF, int(state[0]) >> 32
    for _ in range(10):
        p, q = _MULTIPLIERS[0] * c0, _MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (q >> _HALF) ^ c1 ^ np.uint64(k0), q & _LOW, (p >> _HALF) ^ c3 ^ np.uint64(k1), p & _LOW
        k0, k1 = (k0 + _WEYL[0]) & 0xFFFFFFFF, (k1 + _WEYL[1]) & 0xFFFFFFFF
    return np.stack([c0, c1, c2, c3], 1).astype(np.uint32)


def words(seed: int, seed2: int) -> Iterator[int]:
    """Yield the words of the stream of two seeds, one after another, without end."""
    return words_from(new_state(seed, seed2))


def words_from(state: np.ndarray) -> Iterator[int]:
    """Yield the words of the stream from a state on, which is left as it is, without end."""
    state, count = state.copy(), 16
    while True:
        yield from draws.next_words(state, count) if has_compiler() else (
            blocks(state, np.arange(count, dtype=np.uint64)).reshape(-1).tolist())
        advance(state, count)
        count = min(2 * count, _MOST_DRAWN)


def below(limit: int, words: Iterator[int]) -> int:
    """Draw an integer uniformly from [0, limit), by rejection: draws in an incomplete last interval are not taken."""
    if limit & (limit - 1) == 0:
        return next(words) & (limit - 1)
    rest = 0xFFFFFFFF % limit + 1
    word = next(words)
    while word < rest:
        word = next(words)
    return word % limit


def below_wide(limit: int, words: Iterator[int]) -> int:
    """Draw an integer uniformly from [0, limit) as `below`, of 64 bits: two words, the low one first."""
    rest = 0 if limit & (limit - 1) == 0 else 0xFFFFFFFFFFFFFFFF % limit + 1
    drawn = -1
    while drawn < rest:
        low = next(words)
        drawn = next(words) << 32 | low
    return drawn % limit


def unit_float(word: int) -> float:
    """Return the value in [0, 1) with 23 bits of a word."""
    return (word & 0x7FFFFF) / 2.0 ** 23


def unit_double(high: int, low: int) -> float:
    """Return the value in [0, 1) with 52 bits of two words."""
    return ((high & 0xFFFFF) << 32 | low) / 2.0 ** 52


def uniform(state: np.ndarray, shape: Sequence[int], dtype: Any) -> np.ndarray:
    """Draw values in [0, 1) of dtype float16, bfloat16, float32 or float64."""
    dtype = np.dtype(dtype)
    count, words = _fill(state, shape, dtype)
    return np.asarray(_UNIFORM[dtype.name](words).reshape(-1)[:count].reshape(shape))


def uniform_int(state: np.ndarray, shape: Sequence[int], low: int, high: int, dtype: Any) -> np.ndarray:
    """Draw integers in [low, high) of dtype int32 or int64. Raises ValueError when there is none."""
    low, high, dtype = int(low), int(high), np.dtype(dtype)
    if low >= high and 0 not in shape:
        raise ValueError(f"Need minval < maxval, got {low} >= {high}")
    count, words = _fill(state, shape, dtype)
    unsigned = np.uint32 if dtype.itemsize == 4 else np.uint64
    values = words.reshape(-1) if dtype.itemsize == 4 else _pairs(words)
    mask = (1 << 8 * dtype.itemsize) - 1
    values = values[:count] % unsigned((high - low) & mask) + unsigned(low & mask)
    return np.asarray(values.view(dtype).reshape(shape))


def full_int(state: np.ndarray, shape: Sequence[int], dtype: Any) -> np.ndarray:
    """Draw integers of dtype int32, uint32, int64 or uint64, all of them alike."""
    dtype = np.dtype(dtype)
    count, words = _fill(state, shape, dtype)
    values = words.reshape(-1) if dtype.itemsize == 4 else _pairs(words)
    return np.asarray(values[:count].view(dtype).reshape(shape))


def normal(state: np.ndarray, shape: Sequence[int], dtype: Any) -> np.ndarray:
    """Draw standard normal values of dtype float16, bfloat16, float32 or float64."""
    dtype = np.dtype(dtype)
    count, words = _fill(state, shape, dtype)
    if dtype.itemsize == 8:
        return np.stack(normal_pairs(words), 1).reshape(-1)[:count].reshape(shape)
    pairs = [*_box_muller32(words[:, 0], words[:, 1]), *_box_muller32(words[:, 2], words[:, 3])]
    return np.stack(pairs, 1).reshape(-1)[:count].astype(dtype).reshape(shape)


def truncated_normal(state: np.ndarray, shape: Sequence[int], dtype: Any) -> np.ndarray:
    """Draw standard normal values, those from 2 on again: a group has 64 * (its size) blocks of its own for that."""
    dtype = np.dtype(dtype)
    count, size = prod(shape), _GROUP.get(dtype.name, 4)
    groups = -(-count // size)
    out = np.empty((groups, size), np.float64 if dtype.itemsize == 8 else np.float32)
    have = np.zeros(groups, np.int64)
    live, step = np.arange(groups), 0
    while live.size:
        words = blocks(state, live.astype(np.uint64) * np.uint64(64 * size) + np.uint64(step))
        offers = normal_pairs(words) if size == 2 else (
            *_box_muller32(words[:, 0], words[:, 1]), *_box_muller32(words[:, 2], words[:, 3]))
        for offer in offers:
            kept = (np.abs(offer) < 2) & (have[live] < size)
            out[live[kept], have[live[kept]]] = offer[kept]
            have[live[kept]] += 1
        live, step = live[have[live] < size], step + 1
    advance(state, count * BLOCKS_PER_ELEMENT)
    return out.reshape(-1)[:count].astype(dtype).reshape(shape)


def random_permutation(state: np.ndarray, size: int) -> np.ndarray:
    """Draw int64[size]: row i of the shuffled tensor is row permutation[i]. Advances by one block per 4 swaps."""
    order = list(range(size))
    if size > 1:
        count = -(-(size - 1) // 4)
        words = blocks(state, np.arange(count, dtype=np.uint64)).reshape(-1).tolist()
        for i in range(size - 1):
            j = i + words[i] % (size - i)
            order[i], order[j] = order[j], order[i]
        advance(state, count)
    return np.array(order, np.int64)


def random_shuffle(state: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Return `value` with its rows in random order; nothing is drawn for at most one row or element."""
    if value.size <= 1 or value.shape[0] <= 1:
        return value.copy()
    return np.asarray(value[random_permutation(state, value.shape[0])])


def multinomial(state: np.ndarray, logits: np.ndarray, samples: int, dtype: Any = np.int64) -> np.ndarray:
    """Draw (rows, samples): classes with the odds exp(logits); non-finite logits have none.

    Agrees with TensorFlow where its thread pool does not split the rows (few rows, or one thread).
    """
    rows, classes = logits.shape
    out = np.empty((rows, samples), dtype)
    words = blocks(state, np.arange(-(-rows * samples // 2), dtype=np.uint64)).reshape(-1, 2)
    drawn = _mantissa64(words[:, 0], words[:, 1])[:rows * samples].reshape(rows, samples)
    for row in range(rows):
        wide = logits[row].astype(np.float64)          # (integers have no -inf to begin with)
        finite = np.isfinite(wide)
        highest = np.max(wide, where=finite, initial=-np.inf)
        odds = np.exp(np.where(finite, wide - highest, -np.inf))
        total = np.cumsum(odds)
        out[row] = np.searchsorted(total, drawn[row] * total[-1], side="right") if classes else 0
    advance(state, rows * (-(-samples // 4) * 8) * BLOCKS_PER_ELEMENT)
    return out


def _fill(state: np.ndarray, shape: Sequence[int], dtype: np.dtype) -> tuple[int, np.ndarray]:
    """Return the element count and the words of their blocks; advance the state."""
    count = prod(int(size) for size in shape)
    words = blocks(state, np.arange(-(-count // _GROUP.get(dtype.name, 4)), dtype=np.uint64))
    advance(state, count * BLOCKS_PER_ELEMENT)
    return count, words


def _pairs(words: np.ndarray) -> np.ndarray:
    wide = words.astype(np.uint64)
    return np.asarray(wide[:, 0::2] | wide[:, 1::2] << _HALF).reshape(-1)


def _uniform16(words: np.ndarray) -> np.ndarray:
    low = (words & np.uint32(0x3FF) | np.uint32(0x3C00)).astype(np.uint16)
    return np.asarray(low.view(np.float16) - np.float16(1))


def _uniform_brain(words: np.ndarray) -> np.ndarray:
    low = (words & np.uint32(0x7F) | np.uint32(0x3F80)).astype(np.uint16)
    return np.asarray(low.view(ml_dtypes.bfloat16) - ml_dtypes.bfloat16(1))


def _uniform32(words: np.ndarray) -> np.ndarray:
    return np.asarray((words & np.uint32(0x7FFFFF) | np.uint32(0x3F800000)).view(np.float32) - np.float32(1))


def _mantissa64(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    bits = (high & np.uint32(0xFFFFF)).astype(np.uint64) << _HALF | low | np.uint64(0x3FF << 52)
    return np.asarray(bits.view(np.float64) - 1.0)


def _uniform64(words: np.ndarray) -> np.ndarray:
    return _mantissa64(words[:, 0::2].reshape(-1), words[:, 1::2].reshape(-1))


_UNIFORM: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "float16": _uniform16, "bfloat16": _uniform_brain, "float32": _uniform32, "float64": _uniform64}


def _box_muller32(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    u = np.maximum(_uniform32(first), np.float32(1e-7))
    v = (2 * np.pi * _uniform32(second).astype(np.float64)).astype(np.float32)
    r = np.sqrt(np.float32(-2) * _library("logf", u))
    return _library("sinf", v) * r, _library("cosf", v) * r


def uniform_pairs(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the two doubles in [0, 1) of each block."""
    return _mantissa64(words[:, 0], words[:, 1]), _mantissa64(words[:, 2], words[:, 3])


def normal_pairs(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the two standard normal doubles of each block."""
    u = np.maximum(_mantissa64(words[:, 0], words[:, 1]), 1e-7)
    v = 2 * np.pi * _mantissa64(words[:, 2], words[:, 3])
    r = np.sqrt(-2.0 * _library("log", u))
    return _library("sin", v) * r, _library("cos", v) * r


def _library(name: str, x: np.ndarray) -> np.ndarray:
    """Apply a function of the C library's libm, element by element (0.15 us each; many are left to a kernel)."""
    if x.size > LARGE and has_compiler():
        return _by_kernel(name, x)
    function = _libm(name)
    if function is None:                                # NumPy in double: off by one unit in 1.5% of all numbers
        rounded: np.ndarray = getattr(np, name.removesuffix("f"))(x.astype(np.float64)).astype(x.dtype)
        return rounded
    return np.fromiter(map(function, x.tolist()), x.dtype, x.size)


def _by_kernel(name: str, x: np.ndarray) -> np.ndarray:
    x, y = np.ascontiguousarray(x), np.empty_like(x)
    text = LIBRARY_SOURCE.format(type=x.dtype.name, function=name.removesuffix("f") if x.dtype.itemsize == 4 else name)
    block = np.array([x.ctypes.data, y.ctypes.data], np.int64)
    tape.Tape([(jit.address(text), block.ctypes.data, x.size, 1 << 14)], keep=block).play()
    return y


@cache
def _libm(name: str) -> Callable[[float], float] | None:
    if IN_BROWSER:                  # each call would pass through JavaScript
        return None
    real = ctypes.c_float if name.endswith("f") else ctypes.c_double
    try:
        return ctypes.CFUNCTYPE(real, real)((name, c_library.library()))
    except (AttributeError, TypeError):
        return None
