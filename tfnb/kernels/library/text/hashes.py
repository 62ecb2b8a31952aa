"""Hashes of many strings by machine code, over one buffer (spans.py): 64 bits each.

    fingerprints(texts)         Fingerprint64 of FarmHash (Pike, 2014)
    murmurs(texts, seed)        MurmurHash64A (Appleby, 2008)
    siphashes(texts, key)       SipHash-2-4 (Aumasson and Bernstein, 2012)
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfnb.kernels.functions.kernel import KernelFunction, kernel_function
from tfnb.kernels.functions.language import Array, uint64, unrolled
from tfnb.kernels.library.text.spans import joined

K0, K1, K2 = np.uint64(0xC3A5C85C97CB3127), np.uint64(0xB492B66FBE98F273), np.uint64(0x9AE16A3B2F90404F)
MURMUR = np.uint64(0xC6A4A7935BD1E995)
FIRST_X, FIRST_Y = np.uint64(81 * int(K2) & (1 << 64) - 1), np.uint64(81 * int(K1) + 113 & (1 << 64) - 1)
SIP0, SIP1 = np.uint64(0x736F6D6570736575), np.uint64(0x646F72616E646F6D)
SIP2, SIP3 = np.uint64(0x6C7967656E657261), np.uint64(0x7465646279746573)
LAST_BYTES = np.uint64(0xFF)


def word(text: Array, at: int) -> Any:
    """Return the 8 bytes from `at` on, the low one first."""
    found = uint64(0)
    for k in unrolled(8):
        found = found | uint64(text[at + k]) << uint64(8 * k)
    return found


def rest(text: Array, at: int, count: int) -> Any:
    """Return fewer than 8 bytes."""
    found = uint64(0)
    for k in range(count):
        found = found | uint64(text[at + k]) << uint64(8 * k)
    return found


def rotated(x: int, right: int) -> Any:
    """Rotate 64 bits."""
    return x >> uint64(right) | x << uint64(64 - right)


def folded(x: int) -> Any:
    """Mix the high bits of a product into the low ones."""
    return x ^ x >> uint64(47)


def two(u: int, v: int, mul: int) -> Any:
    """Return a hash of two words."""
    a = folded((u ^ v) * mul)
    return folded((v ^ a) * mul) * mul


def four(text: Array, at: int, first: int, second: int) -> Any:
    """Return two words from 32 bytes and two seeds."""
    a = first + word(text, at)
    b = rotated(second + a + word(text, at + 24), 21)
    c = a + word(text, at + 8) + word(text, at + 16)
    return c + word(text, at + 24), b + rotated(c, 44) + a


def short(text: Array, at: int, n: int) -> Any:
    """Return the fingerprint of up to 16 bytes."""
    found, size = K2, uint64(n)
    mul = K2 + size + size
    if n >= 8:
        a, b = word(text, at) + K2, word(text, at + n - 8)
        found = two(rotated(b, 37) * mul + a, (rotated(a, 25) + b) * mul, mul)
    elif n >= 4:
        found = two(size + (rest(text, at, 4) << uint64(3)), rest(text, at + n - 4, 4), mul)
    elif n > 0:
        y = uint64(text[at]) + (uint64(text[at + n // 2]) << uint64(8))
        z = size + (uint64(text[at + n - 1]) << uint64(2))
        found = folded(y * K2 ^ z * K0) * K2
    return found


def middling(text: Array, at: int, n: int) -> Any:
    """Return the fingerprint of 17 to 64 bytes."""
    mul = K2 + uint64(n) + uint64(n)
    a = word(text, at) * (K1 if n <= 32 else K2)
    b = word(text, at + 8)
    c, d = word(text, at + n - 8) * mul, word(text, at + n - 16) * K2
    y = rotated(a + b, 43) + rotated(c, 30) + d
    z = two(y, a + rotated(b + K2, 18) + c, mul)
    found = z
    if n > 32:
        e, f = word(text, at + 16) * mul, word(text, at + 24)
        g, h = (y + word(text, at + n - 32)) * mul, (z + word(text, at + n - 24)) * mul
        found = two(rotated(e + f, 43) + rotated(g, 30) + h, e + rotated(f + a, 18) + g, mul)
    return found


def mixed(text: Array, at: int, x: int, y: int, z: int, v0: int, v1: int, w0: int, w1: int, mul: int, last: int) -> Any:
    """Mix 64 bytes into the state."""
    nx = rotated(x + y + v0 + word(text, at + 8), 37) * mul
    ny = rotated(y + v1 + word(text, at + 48), 42) * mul
    nx = nx ^ w1 * last
    ny = ny + v0 * last + word(text, at + 40)
    nz = rotated(z + w0, 33) * mul
    a0, a1 = four(text, at, v1 * mul, nx + w0)
    b0, b1 = four(text, at + 32, nz + w1, ny + word(text, at + 16))
    return nz, ny, nx, a0, a1, b0, b1


def long(text: Array, at: int, n: int) -> Any:
    """Return the fingerprint of more than 64 bytes."""
    x, y = FIRST_X + word(text, at), uint64(FIRST_Y)
    z = folded(y * K2 + uint64(113)) * K2
    v0, v1, w0, w1 = uint64(0), uint64(0), uint64(0), uint64(0)
    for block in range((n - 1) // 64):
        x, y, z, v0, v1, w0, w1 = mixed(text, at + 64 * block, x, y, z, v0, v1, w0, w1, uint64(K1), uint64(1))
    mul = K1 + ((z & LAST_BYTES) << uint64(1))
    w0 = w0 + uint64((n - 1) % 64)
    v0 = v0 + w0
    w0 = w0 + v0
    x, y, z, v0, v1, w0, w1 = mixed(text, at + n - 64, x, y, z, v0, v1, w0, w1, mul, uint64(9))
    return two(two(v0, w0, mul) + folded(y) * K0 + z, two(v1, w1, mul) + x, mul)


@kernel_function
def hash_by_farm(text: Array, begins: Array, key: Array, hashes: Array, item: int) -> None:
    """Compute the fingerprint of one string."""
    at, n = int(begins[item]), int(begins[item + 1]) - int(begins[item])
    if n <= 16:
        hashes[item] = short(text, at, n)
    elif n <= 64:
        hashes[item] = middling(text, at, n)
    else:
        hashes[item] = long(text, at, n)


@kernel_function
def hash_by_murmur(text: Array, begins: Array, key: Array, hashes: Array, item: int) -> None:
    """Compute MurmurHash64A of one string, with the seed key[0]."""
    at, n = int(begins[item]), int(begins[item + 1]) - int(begins[item])
    found = key[0] ^ uint64(n) * MURMUR
    for i in range(n // 8):
        found = (found ^ folded(word(text, at + 8 * i) * MURMUR) * MURMUR) * MURMUR
    if n % 8 > 0:
        found = (found ^ rest(text, at + n - n % 8, n % 8)) * MURMUR
    hashes[item] = folded(folded(found) * MURMUR)


def sip_round(a: int, b: int, c: int, d: int) -> Any:
    """Mix the four words of SipHash's state."""
    left, right = a + b, c + d
    b1, d1 = rotated(b, 51) ^ left, rotated(d, 48) ^ right
    left, right = rotated(left, 32) + d1, right + b1
    return left, rotated(b1, 47) ^ right, rotated(right, 32), rotated(d1, 43) ^ left


@kernel_function
def hash_by_sip(text: Array, begins: Array, key: Array, hashes: Array, item: int) -> None:
    """Compute SipHash-2-4 of one string with the key (key[0], key[1])."""
    at, n = int(begins[item]), int(begins[item + 1]) - int(begins[item])
    a, b, c, d = key[0] ^ SIP0, key[1] ^ SIP1, key[0] ^ SIP2, key[1] ^ SIP3
    for i in range(n // 8 + 1):
        m = uint64(n) << uint64(56)
        if i < n // 8:
            m = word(text, at + 8 * i)
        else:
            m = m | rest(text, at + n - n % 8, n % 8)
        d = d ^ m
        for _ in unrolled(2):
            a, b, c, d = sip_round(a, b, c, d)
        a = a ^ m
    c = c ^ LAST_BYTES
    for _ in unrolled(4):
        a, b, c, d = sip_round(a, b, c, d)
    hashes[item] = a ^ b ^ c ^ d


Texts = Sequence[bytes] | np.ndarray


def _hashed(by: KernelFunction, texts: Texts, *key: int) -> np.ndarray:
    return _hashed_spans(by, *joined(texts), *key)


def _hashed_spans(by: KernelFunction, data: np.ndarray, begins: np.ndarray, *key: int) -> np.ndarray:
    count = len(begins) - 1
    hashes = np.empty(count, np.uint64)
    by.run(count, data, begins, np.array(key or (0,), np.uint64), hashes)
    return hashes


def fingerprints(texts: Texts) -> np.ndarray:
    """Return FarmHash's Fingerprint64 of each string: uint64."""
    return _hashed(hash_by_farm, texts)


def fingerprints_of_rows(rows: np.ndarray) -> np.ndarray:
    """Return FarmHash's Fingerprint64 of the bytes of each row of [rows, ...]: uint64."""
    data = np.ascontiguousarray(rows).reshape(-1).view(np.uint8)
    return _hashed_spans(hash_by_farm, data, np.arange(len(rows) + 1) * (len(data) // max(len(rows), 1)))


def murmurs(texts: Texts, seed: int) -> np.ndarray:
    """Return MurmurHash64A of each string: uint64."""
    return _hashed(hash_by_murmur, texts, seed)


def siphashes(texts: Texts, key: tuple[int, int]) -> np.ndarray:
    """Return SipHash-2-4 of each string: uint64."""
    return _hashed(hash_by_sip, texts, *key)
