"""Sorted string tables: files of keys and values in the order of the keys, the container of checkpoints.

    data blocks | metaindex block (empty) | index block | footer

A block is a run of entries - how many bytes the key shares with the previous one, how many follow, the length of the
value (varints), the rest of the key, the value - and the offsets of its restarts, where nothing is shared. After each
block stand its compression (0: none) and its masked CRC-32C. The index block has, for each data block, a key not below
its last one and its place.
"""
from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterable, Iterator
from typing import IO

from tfnb.core.errors import DataLossError, UnimplementedError
from tfnb.core.files.os_errors import os_errors
from tfnb.core.files.paths import open_regular
from tfnb.proto.records import masked_crc
from tfnb.proto.varints import read_varint, varint

MAGIC = 0xDB4775248B80FB57
BLOCK = 262_144                                    # TensorFlow closes a block of this many bytes
RESTART = 16                                       # entries from one restart to the next
FOOTER = 48
TRAILER = 5
MAPPED = 1 << 24                                   # larger files are mapped, not read
# Keys are longer than the bytes that store them, because they share beginnings: in honest files some 10 times.
KEY_FACTOR, KEY_EXTRA = 100, 1 << 16
_WORD = struct.Struct("<I")


class _Block:
    """A block while it is filled."""

    def __init__(self, interval: int) -> None:
        self._interval = interval
        self._bytes, self._restarts, self.count, self._since, self._last = bytearray(), [0], 0, 0, b""

    def add(self, key: bytes, value: bytes) -> None:
        """Append an entry, whose key must come after the last one; what it shares with that is left out."""
        shared = 0
        if self._since < self._interval:
            shared = len(os.path.commonprefix([key, self._last]))
        else:
            self._restarts.append(len(self._bytes))
            self._since = 0
        self._bytes += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        self._last, self._since, self.count = key, self._since + 1, self.count + 1

    @property
    def size(self) -> int:
        """Return the size in bytes as it is now."""
        return len(self._bytes) + 4 * len(self._restarts) + 4

    def contents(self) -> bytes:
        """Its bytes: the entries, then where the whole keys stand."""
        return bytes(self._bytes) + struct.pack(f"<{len(self._restarts) + 1}I", *self._restarts, len(self._restarts))


def separator(low: bytes, high: bytes) -> bytes:
    """A short key that is not below `low` and below `high`."""
    same = len(os.path.commonprefix([low, high]))
    if same < min(len(low), len(high)) and low[same] < 255 and low[same] + 1 < high[same]:
        return low[:same] + bytes([low[same] + 1])
    return low


def successor(key: bytes) -> bytes:
    """A short key that is not below `key`."""
    for i, byte in enumerate(key):
        if byte != 255:
            return key[:i] + bytes([byte + 1])
    return key


def write_table(file: IO[bytes], items: Iterable[tuple[bytes, bytes]]) -> None:
    """Write a table: the same bytes as TensorFlow's for the same items. Keys must strictly increase."""
    data, index, offset = _Block(RESTART), _Block(1), 0
    last, handle = None, b""

    def put(block: _Block) -> bytes:
        """Write a block and its checksum; its handle, which is its offset and size."""
        nonlocal offset
        contents = block.contents() + b"\0"
        file.write(contents + _WORD.pack(masked_crc(contents)))
        place = varint(offset) + varint(len(contents) - 1)
        offset += len(contents) + 4
        return place

    for key, value in items:
        if last is not None and key <= last:
            raise ValueError(f"the keys of a table must increase: {key!r} comes after {last!r}")
        if data.count and len(key) + len(value) >= 2 * BLOCK:
            handle, data = put(data), _Block(RESTART)
        if handle:
            index.add(separator(last or b"", key), handle)
            handle = b""
        data.add(key, value)
        last = key
        if data.size >= BLOCK:
            handle, data = put(data), _Block(RESTART)
    if data.count:
        handle = put(data)
    metaindex = put(_Block(RESTART))
    if handle:
        index.add(successor(last or b""), handle)
    footer = metaindex + put(index)
    file.write(footer.ljust(FOOTER - 8, b"\0") + struct.pack("<Q", MAGIC))


class Table:
    """A table file, read block by block. Raises NotFoundError, DataLossError: what is wrong, and where."""

    def __init__(self, path: str) -> None:
        self.path = path
        with open_regular(path) as file, os_errors(path):
            size = os.fstat(file.fileno()).st_size
            if size < FOOTER:
                raise self._loss(f"it has {size} bytes, less than a footer")
            self._data: bytes | mmap.mmap = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size > MAPPED \
                else file.read()
        self._view = memoryview(self._data)
        if len(self._data) < FOOTER or self._data[-8:] != struct.pack("<Q", MAGIC):
            raise self._loss("it is no table: the magic number at its end is wrong")
        with self._reading("footer", len(self._data) - FOOTER):
            footer, at = self._data[-FOOTER:-8], 0
            for _ in range(2):                     # the metaindex block is empty
                at = read_varint(footer, at)[1]
            place, at = read_varint(footer, at)
            count = read_varint(footer, at)[0]
        self._index = list(self._handles(place, count))

    def _loss(self, what: str) -> DataLossError:
        return DataLossError(None, None, f"{self.path}: {what}")

    def _reading(self, what: str, offset: int) -> _Reading:
        return _Reading(self, f"the {what} at byte {offset} is damaged")

    def _handles(self, offset: int, size: int) -> Iterator[tuple[bytes, int, int]]:
        """(a key not below the last one of the block, offset, size) of each data block."""
        end = 0
        for key, value in self._entries(offset, size):
            with self._reading("index block", offset):
                place, at = read_varint(value, 0)
                count = read_varint(value, at)[0]
            if place < end or place + count + TRAILER > len(self._data) - FOOTER:
                raise self._loss(f"a block of {count} bytes at {place} overlaps another or ends after the file")
            end = place + count + TRAILER
            yield key, place, count

    def _entries(self, offset: int, size: int) -> Iterator[tuple[bytes, memoryview]]:
        """The entries of a block."""
        if size < 4 or offset + size + TRAILER > len(self._data):
            raise self._loss(f"a block of {size} bytes at {offset} is not inside the file")
        if masked_crc(self._data[offset:offset + size + 1]) != _WORD.unpack_from(self._data, offset + size + 1)[0]:
            raise self._loss(f"the checksum of the block at {offset} is wrong")
        if self._data[offset + size]:
            raise UnimplementedError(None, None, f"{self.path}: the block at {offset} is compressed "
                                     f"(type {self._data[offset + size]}); tables of checkpoints are not")
        block = self._view[offset:offset + size]
        end = size - 4 - 4 * _WORD.unpack_from(block, size - 4)[0]
        if end < 0:
            raise self._loss(f"the block at {offset} has more restarts than bytes")
        at, key, long = 0, b"", 0
        first = True
        while at < end:
            with self._reading("block", offset):
                shared, at = read_varint(block, at)
                rest, at = read_varint(block, at)
                count, at = read_varint(block, at)
            if shared > len(key) or at + rest + count > end:
                raise self._loss(f"an entry of the block at {offset} ends after it")
            last, key = key, key[:shared] + bytes(block[at:at + rest])
            long += len(key)
            if (key <= last and not first) or long > KEY_FACTOR * size + KEY_EXTRA:
                raise self._loss(f"the keys of the block at {offset} are not in order, or too long")
            first = False
            yield key, block[at + rest:at + rest + count]
            at += rest + count

    def items(self) -> Iterator[tuple[bytes, memoryview]]:
        """All keys and values, in the order of the keys."""
        for _, offset, size in self._index:
            yield from self._entries(offset, size)

    def get(self, key: bytes) -> memoryview | None:
        """The value of a key, or None."""
        low, high = 0, len(self._index)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self._index[middle][0] < key else (low, middle)
        if low == len(self._index):
            return None
        return next((value for k, value in self._entries(*self._index[low][1:]) if k == key), None)


class _Reading:
    """A context in which a broken number is a DataLossError."""

    def __init__(self, table: Table, what: str) -> None:
        self._table, self._what = table, what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (IndexError, ValueError)):
            raise self._table._loss(self._what) from None
