"""Varints, the integers of Protocol Buffers and of checkpoints: groups of 7 bits, the low ones first."""
from __future__ import annotations


def varint(number: int) -> bytes:
    """A number below 2^64, seven bits a byte, the lowest first."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_varint(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """The number at `at`, and where the next one stands. Raises ValueError, IndexError for what is none."""
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")
