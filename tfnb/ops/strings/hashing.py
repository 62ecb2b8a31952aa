"""Strings to numbers of buckets, by the hash functions of TensorFlow, so that features keep their numbers.

Fast: Fingerprint64 of FarmHash (Pike, 2014). Strong: SipHash-2-4 (Aumasson and Bernstein, 2012), which nobody without
the key can foresee. The oldest: MurmurHash64A (Appleby, 2008).
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from tfnb.core.arguments import TENSORS, describe
from tfnb.core.options import has_compiler
from tfnb.graph.parts.operation import Tensor
from tfnb.kernels.library.text import hashes as kernels
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.arguments import renamed
from tfnb.ops.declaration.declare import host, one_by_one
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.declaration.public import functions, public

MASK = (1 << 64) - 1
K0, K1, K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F         # primes of FarmHash
PAIR = 0x9DDFEA08EB382D69        # multiplier of CityHash
MURMUR, SEED = 0xC6A4A7935BD1E995, 0xDECAFCAFFE
MANY = 16                       # strings for which machine code is quicker
KEPT = 1 << 16                  # hashes that are remembered: features repeat


def _word(text: bytes, at: int, size: int = 8) -> int:
    return int.from_bytes(text[at:at + size], "little")


def _rotated(x: int, right: int) -> int:
    return (x >> right | x << 64 - right) & MASK


def _folded(x: int) -> int:
    return x ^ x >> 47


def _two(u: int, v: int, mul: int) -> int:
    """Return a hash of 16 bytes: two words."""
    a = _folded((u ^ v) * mul & MASK)
    return _folded((v ^ a) * mul & MASK) * mul & MASK


def _four(text: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """Return two words from 32 bytes and two seeds."""
    w, x, y, z = (_word(text, at + i) for i in (0, 8, 16, 24))
    a = a + w & MASK
    b = _rotated(b + a + z & MASK, 21)
    c = a
    a = a + x + y & MASK
    return a + z & MASK, b + _rotated(a, 44) + c & MASK


def _short(text: bytes) -> int:
    """Return the fingerprint of up to 16 bytes."""
    n = len(text)
    if n >= 8:
        mul, a, b = K2 + n * 2 & MASK, _word(text, 0) + K2 & MASK, _word(text, n - 8)
        return _two(_rotated(b, 37) * mul + a & MASK, (_rotated(a, 25) + b) * mul & MASK, mul)
    if n >= 4:
        return _two(n + (_word(text, 0, 4) << 3) & MASK, _word(text, n - 4, 4), K2 + n * 2 & MASK)
    if not n:
        return K2
    y, z = text[0] + (text[n >> 1] << 8), n + (text[-1] << 2)
    return _folded((y * K2 ^ z * K0) & MASK) * K2 & MASK


def _middling(text: bytes) -> int:
    """Return the fingerprint of 17 to 64 bytes."""
    n = len(text)
    mul = K2 + n * 2 & MASK
    first, c, d = K1 if n <= 32 else K2, _word(text, n - 8) * mul, _word(text, n - 16) * K2
    a, b = _word(text, 0) * first & MASK, _word(text, 8)
    y = _rotated(a + b & MASK, 43) + _rotated(c & MASK, 30) + d & MASK
    z = _two(y, a + _rotated(b + K2 & MASK, 18) + c & MASK, mul)
    if n <= 32:
        return z
    e, f = _word(text, 16) * mul & MASK, _word(text, 24)
    g, h = (y + _word(text, n - 32)) * mul & MASK, (z + _word(text, n - 24)) * mul & MASK
    return _two(_rotated(e + f & MASK, 43) + _rotated(g, 30) + h & MASK, e + _rotated(f + a & MASK, 18) + g & MASK, mul)


@lru_cache(KEPT)
def fingerprint(text: bytes) -> int:
    """Return FarmHash's Fingerprint64 of bytes.

    >>> fingerprint(b"")
    11160318154034397263
    """
    n = len(text)
    if n <= 64:
        return _short(text) if n <= 16 else _middling(text)
    x, y = 81 * K2 & MASK, 81 * K1 + 113 & MASK
    x, z, v, w = x + _word(text, 0) & MASK, _folded(y * K2 + 113 & MASK) * K2 & MASK, (0, 0), (0, 0)
    for at in range(0, (n - 1) // 64 * 64, 64):
        x, y, z, v, w = _mixed(text, at, x, y, z, v, w, K1)
    mul, at = K1 + ((z & 0xFF) << 1) & MASK, n - 64
    w = w[0] + (n - 1 & 63) & MASK, w[1]
    v = v[0] + w[0] & MASK, v[1]
    w = w[0] + v[0] & MASK, w[1]
    x, y, z, v, w = _mixed(text, at, x, y, z, v, w, mul, 9)
    return _two(_two(v[0], w[0], mul) + _folded(y) * K0 + z & MASK, _two(v[1], w[1], mul) + x & MASK, mul)


def _mixed(text: bytes, at: int, x: int, y: int, z: int, v: tuple[int, int], w: tuple[int, int], mul: int,
           last: int = 1) -> tuple[int, int, int, tuple[int, int], tuple[int, int]]:
    """Mix 64 bytes into the state. last: 9 for the final ones, which have a multiplier of their own."""
    x = _rotated(x + y + v[0] + _word(text, at + 8) & MASK, 37) * mul & MASK
    y = _rotated(y + v[1] + _word(text, at + 48) & MASK, 42) * mul & MASK
    x ^= w[1] * last & MASK
    y = y + v[0] * last + _word(text, at + 40) & MASK
    z = _rotated(z + w[0] & MASK, 33) * mul & MASK
    v = _four(text, at, v[1] * mul & MASK, x + w[0] & MASK)
    w = _four(text, at + 32, z + w[1] & MASK, y + _word(text, at + 16) & MASK)
    return z, y, x, v, w


@lru_cache(KEPT)
def fingerprint128(text: bytes) -> tuple[int, int]:
    """Return FarmHash's Fingerprint128 of bytes: two words.

    >>> fingerprint128(b"")
    (4463240938071824939, 4374473821787594281)
    """
    if len(text) < 16:
        return _of_128(text, K0, K1)
    return _of_128(text[16:], _word(text, 0), _word(text, 8) + K0 & MASK)


def _of_128(text: bytes, a: int, b: int) -> tuple[int, int]:
    """Return the fingerprint of bytes, with a seed of two words."""
    if len(text) >= 128:
        return _long_of_128(text, a, b)
    n = len(text)
    if n <= 16:
        a = _folded(a * K1 & MASK) * K1 & MASK
        c = b * K1 + _short(text) & MASK
        d = _folded(a + (_word(text, 0) if n >= 8 else c) & MASK)
    else:
        c = _two(_word(text, n - 8) + K1 & MASK, a, PAIR)
        d = _two(b + n & MASK, c + _word(text, n - 16) & MASK, PAIR)
        a = a + d & MASK
        for at in range(0, n - 16, 16):
            a = (a ^ _folded(_word(text, at) * K1 & MASK) * K1 & MASK) * K1 & MASK
            b ^= a
            c = (c ^ _folded(_word(text, at + 8) * K1 & MASK) * K1 & MASK) * K1 & MASK
            d ^= c
    a, b = _two(a, c, PAIR), _two(d, b, PAIR)
    return a ^ b, _two(b, a, PAIR)


def _long_of_128(text: bytes, x: int, y: int) -> tuple[int, int]:
    """Return the fingerprint of 128 bytes and more, with a seed of two words."""
    n, z = len(text), len(text) * K1 & MASK
    first = _rotated(y ^ K1, 49) * K1 + _word(text, 0) & MASK
    v = first, _rotated(first, 42) * K1 + _word(text, 8) & MASK
    w = _rotated(y + z & MASK, 35) * K1 + x & MASK, _rotated(x + _word(text, 88) & MASK, 53) * K1 & MASK
    whole = n & ~127
    for at in range(0, whole, 64):
        x, y, z, v, w = _mixed(text, at, x, y, z, v, w, K1)
    x = x + _rotated(v[0] + z & MASK, 49) * K0 & MASK
    y = y * K0 + _rotated(w[1], 37) & MASK
    z = z * K0 + _rotated(w[0], 27) & MASK
    w, v = (w[0] * 9 & MASK, w[1]), (v[0] * K0 & MASK, v[1])
    for at in range(n - 32, whole - 32, -32):                     # from the end; the last one may begin before `whole`
        y = _rotated(x + y & MASK, 42) * K0 + v[1] & MASK
        w = w[0] + _word(text, at + 16) & MASK, w[1]
        x = x * K0 + w[0] & MASK
        z = z + w[1] + _word(text, at) & MASK
        w = w[0], w[1] + v[0] & MASK
        v = _four(text, at, v[0] + z & MASK, v[1])
        v = v[0] * K0 & MASK, v[1]
    x, y = _two(x, v[0], PAIR), _two(y + z & MASK, w[0], PAIR)
    return _two(x + v[1] & MASK, w[1], PAIR) + y & MASK, _two(x + w[1] & MASK, y + v[1] & MASK, PAIR)


def concatenated(first: Any, second: Any) -> Any:
    """Return TensorFlow's hash of two 64-bit hashes, in that order (FingerprintCat64): integers, or arrays of uint64.
    """
    found = (first ^ MURMUR ^ _folded((second * MURMUR) & MASK) * MURMUR) * MURMUR & MASK
    return _folded(_folded(found) * MURMUR & MASK)


@lru_cache(KEPT)
def murmur(text: bytes) -> int:
    """Return MurmurHash64A of bytes, with the seed of TensorFlow."""
    found = SEED ^ len(text) * MURMUR & MASK
    whole = len(text) & ~7
    for at in range(0, whole, 8):
        k = _word(text, at) * MURMUR & MASK
        found = (found ^ (k ^ k >> 47) * MURMUR & MASK) * MURMUR & MASK
    if whole < len(text):
        found = (found ^ _word(text, whole)) * MURMUR & MASK
    return _folded(_folded(found) * MURMUR & MASK)


@lru_cache(KEPT)
def siphash(key: tuple[int, int], text: bytes) -> int:
    """Return SipHash-2-4 of bytes with a key of two 64-bit words."""
    v = [key[0] ^ 0x736F6D6570736575, key[1] ^ 0x646F72616E646F6D, key[0] ^ 0x6C7967656E657261,
         key[1] ^ 0x7465646279746573]
    padded = text + b"\0" * (7 - len(text) % 8) + bytes([len(text) & 0xFF])
    for at in range(0, len(padded), 8):
        m = _word(padded, at)
        v[3] ^= m
        _rounds(v, 2)
        v[0] ^= m
    v[2] ^= 0xFF
    _rounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _rounds(v: list[int], count: int) -> None:
    """Mix the four words of SipHash's state `count` times."""
    for _ in range(count):
        for a, b, turn, swap in ((0, 1, 13, True), (2, 3, 16, False), (0, 3, 21, False), (2, 1, 17, True)):
            v[a] = v[a] + v[b] & MASK
            v[b] = _rotated(v[b], 64 - turn) ^ v[a]
            v[a] = _rotated(v[a], 32) if swap else v[a]


def hashed(fn: Callable[[bytes], int], of_many: Callable[[np.ndarray], np.ndarray], texts: np.ndarray) -> np.ndarray:
    """Return the hash of each string, by machine code where there are many: uint64, flat."""
    if texts.size >= MANY and has_compiler():
        return of_many(texts)
    flat = texts.reshape(-1).tolist()
    return np.fromiter(map(fn, flat), np.uint64, len(flat))


def _buckets(hashes: np.ndarray, count: int, shape: tuple[int, ...]) -> np.ndarray:
    return (hashes % np.uint64(count)).astype(np.int64).reshape(shape)


@host("input: string -> output: int64", shape=lambda ctx: [(ctx.shape(0)[0] if ctx.shape(0) else None, 2)],
      ranks={"input": 1})
def SdcaFprint(input: Any) -> Any:
    """Return 128 bits that identify each string, FarmHash's Fingerprint128: [n, 2] integers.

    >>> sess.run(tf.train.sdca_fprint(["abc", ""]))
    array([[ 4143508125394299908, -6879828354153669051],
           [ 4463240938071824939,  4374473821787594281]])
    """
    words = [fingerprint128(text) for text in input.tolist()]
    return np.array(words, np.uint64).reshape(-1, 2).view(np.int64)


@host("string_tensor: string -> output: int64", shape=shapes.like_first, num_buckets="int >= 1")
def StringToHashBucket(texts: Any, *, num_buckets: int) -> Any:
    """Number strings by MurmurHash64A modulo `num_buckets`."""
    return _buckets(hashed(murmur, lambda flat: kernels.murmurs(flat, SEED), texts), num_buckets, texts.shape)


@host("input: string -> output: int64", shape=shapes.like_first, num_buckets="int >= 1", lifts=one_by_one)
def StringToHashBucketFast(texts: Any, *, num_buckets: int) -> Any:
    """Number strings by FarmHash's Fingerprint64 modulo `num_buckets`."""
    return _buckets(hashed(fingerprint, kernels.fingerprints, texts), num_buckets, texts.shape)


@host("input: string -> output: int64", shape=shapes.like_first, num_buckets="int >= 1", key="list(int)")
def StringToHashBucketStrong(texts: Any, *, num_buckets: int, key: Sequence[int]) -> Any:
    """Number strings by SipHash-2-4 modulo `num_buckets`; `key` is two integers."""
    if len(key) != 2:
        raise ValueError(f"Key must have 2 elements, got {len(key)}")
    words = key[0] & MASK, key[1] & MASK
    found = hashed(partial(siphash, words), lambda flat: kernels.siphashes(flat, words), texts)
    return _buckets(found, num_buckets, texts.shape)


for _op in (SdcaFprint, StringToHashBucket, StringToHashBucketFast, StringToHashBucketStrong):
    _op.no_gradient("its input is a string")


@public("string_to_hash_bucket", "strings.to_hash_bucket")
@dispatched
def string_to_hash_bucket(string_tensor: Any = None, num_buckets: int | None = None, name: str | None = None,
                          input: Any = None) -> Tensor:
    """Number strings from 0 to num_buckets - 1 by a hash: int64 of their shape. `string_to_hash_bucket_fast` is better.

    string_tensor (also `input`): strings of any shape. num_buckets: 1 or more.

    >>> sess.run(tf.string_to_hash_bucket(["a", "b", "a"], 10))
    array([8, 0, 8])
    """
    texts = renamed("input", input, "string_tensor", string_tensor)
    numbers: Tensor = StringToHashBucket(texts, num_buckets=num_buckets, name=name)
    return numbers


@public("string_to_hash_bucket_fast", "strings.to_hash_bucket_fast")
@dispatched
def string_to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """Number strings from 0 to num_buckets - 1 by FarmHash: int64 of their shape, the same on every machine.

    num_buckets: 1 or more. Someone who knows the hash can make strings that fall into one bucket.

    >>> sess.run(tf.strings.to_hash_bucket_fast(["a", "b", "a"], 10))
    array([9, 2, 9])
    """
    numbers: Tensor = StringToHashBucketFast(input, num_buckets=num_buckets, name=name)
    return numbers


@public("string_to_hash_bucket_strong", "strings.to_hash_bucket_strong")
@dispatched
def string_to_hash_bucket_strong(input: Any, num_buckets: int, key: Sequence[int], name: str | None = None) -> Tensor:
    """Number strings from 0 to num_buckets - 1 by SipHash: nobody who does not know `key` can foresee the bucket.

    num_buckets: 1 or more. key: two integers. Running it raises InvalidArgumentError for another number of them.

    >>> sess.run(tf.strings.to_hash_bucket_strong(["a", "b", "a"], 10, key=[1, 2]))
    array([6, 4, 6])
    """
    numbers: Tensor = StringToHashBucketStrong(input, num_buckets=num_buckets, key=key, name=name)
    return numbers


(sdca_fprint,) = functions(SdcaFprint, module="tfnb.train")

describe(globals(), TENSORS)
