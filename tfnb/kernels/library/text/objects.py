"""The bytes of strings in an object array, read by machine code where CPython keeps them.

An object of type bytes has its type, its length and its bytes at fixed places after its address. A kernel that goes
through the addresses of an array takes 3 ns a string, where Python takes 40 to make a list of them and ask each.
"""
from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from functools import cache

import numpy as np

from tfnb.core.options import has_compiler
from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, array_at, int64, uint8

END = 0xFF                                # no byte of UTF-8
LEAST = 400                               # strings from which kernels are quicker: calls take 10 us
TYPE, LENGTH, BYTES = 1, 2, 32            # where an object has them: words, words, bytes


@cache
def readable() -> bool:
    """Return whether objects are laid out as kernels read them: CPython's with a global lock, of 64 bits."""
    if sys.implementation.name != "cpython" or bytes.__basicsize__ != BYTES + 1 or not has_compiler():
        return False
    probe = b"some bytes"
    words = (ctypes.c_int64 * 3).from_address(id(probe))
    return (words[TYPE], words[LENGTH]) == (id(bytes), len(probe)) and ctypes.string_at(
        id(probe) + BYTES, len(probe)) == probe


@kernel_function(independent=True)
def measure_object(objects: int, type: int, lengths: Array, item: int) -> None:
    """Write the length of a string; -1 for an object of another type. objects: the address of the array."""
    addresses = array_at(objects, "int64")
    place = int(addresses[item])
    lengths[item] = int64(-1)
    if place != 0:                        # NumPy's None, where nothing was ever written
        words = array_at(place, "int64")
        if int(words[TYPE]) == type:
            lengths[item] = int64(words[LENGTH])


@kernel_function(independent=True)
def copy_object(objects: int, lengths: Array, places: Array, text: Array, item: int) -> None:
    """Copy the bytes of a string to its place in a buffer."""
    addresses = array_at(objects, "int64")
    source = array_at(int(addresses[item]) + BYTES, "uint8")
    at = int(places[item])
    for k in range(int(lengths[item])):
        text[at + k] = source[k]


def lengths(texts: np.ndarray) -> np.ndarray | None:
    """Return how many bytes each string has: int64, flat. None for an array that kernels can't read, or a short one.

    >>> lengths(np.array([b"ab", b"", b"c"] * 200, object))[:3].tolist()
    [2, 0, 1]
    """
    return _lengths(texts.flatten()) if texts.size >= LEAST and readable() else None


def only_bytes(texts: np.ndarray) -> bool:
    """Return whether each object of an array is of type bytes.

    >>> only_bytes(np.array([b"ab", "c"], object))
    False
    """
    if texts.size < LEAST or not readable():
        return all(type(text) is bytes for text in texts.flat)
    return _lengths(texts.flatten()) is not None


def _lengths(flat: np.ndarray) -> np.ndarray | None:
    found = np.empty(len(flat), np.int64)
    measure_object.run(len(flat), flat.ctypes.data, id(bytes), found)
    return found if found.min() >= 0 else None


@kernel_function(independent=True)
def copy_row(objects: int, lengths: Array, text: Array, size: int, item: int) -> None:
    """Copy the bytes of a string to a row of `size` bytes, cut or followed by zeros."""
    addresses = array_at(objects, "int64")
    source = array_at(int(addresses[item]) + BYTES, "uint8")
    count = min(int(lengths[item]), size)
    for k in range(count):
        text[item * size + k] = source[k]
    for k in range(count, size):
        text[item * size + k] = uint8(0)


def rows(texts: np.ndarray, size: int) -> np.ndarray | None:
    """Return strings as rows of `size` bytes, cut or filled with zeros: uint8 [strings, size]. None as `lengths`."""
    kept = texts.flatten()
    sizes = _lengths(kept) if len(kept) >= LEAST and readable() else None
    if sizes is None:
        return None
    text = np.empty((len(kept), size), np.uint8)
    copy_row.run(len(kept), kept.ctypes.data, sizes, text, size)
    return text


def contents(texts: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the bytes of all strings and where each begins, as `spans.joined` does; None as `lengths`."""
    if texts.size < LEAST or not readable():
        return None
    kept = texts.flatten()                # a copy: no other thread can take a string away while the lock is released
    sizes = _lengths(kept)
    if sizes is None:
        return None
    begins = np.zeros(len(kept) + 1, np.int64)
    np.cumsum(sizes, out=begins[1:])
    text = np.empty(int(begins[-1]), np.uint8)
    copy_object.run(len(kept), kept.ctypes.data, sizes, begins, text)
    return text, begins


def joined_columns(columns: Sequence[np.ndarray], separator: bytes) -> list[bytes] | None:
    """Return the strings of columns joined row by row; a column is an array, or a scalar for all. None as `lengths`.

    They are written to one buffer with a byte between rows that none of them has, which `bytes.split` finds.
    """
    count = max(column.size for column in columns)
    if count < LEAST or not readable():
        return None
    kept = [column.flatten() for column in columns]
    sizes = [_lengths(column) for column in kept]
    width = len(separator)
    places = np.full(count, (len(columns) - 1) * width + 1)
    for size in sizes:
        if size is None:
            return None
        places += size
    stops = np.cumsum(places)
    text, at = np.full(int(stops[-1]), END, np.uint8), stops - places
    for i, (column, size) in enumerate(zip(kept, sizes, strict=True)):
        for byte in separator if i else b"":
            text[at] = byte
            at += 1
        if len(column) == count:
            copy_object.run(count, column.ctypes.data, size, at, text)
        else:
            for byte in column[0]:
                text[at] = byte
                at += 1
            continue
        at += size
    found = text[:-1].tobytes().split(bytes([END]))
    return found if len(found) == count else None
