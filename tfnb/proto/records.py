"""TFRecord files: the framing of event files and of training sets.

A record is its length (u64), the masked CRC-32C of those 8 bytes (u32), the data, and the masked CRC-32C of the data
(u32), all little-endian. A compressed file is the whole stream in one zlib or gzip container.
"""
from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, cast

from google_crc32c import value as crc32c

from tfnb.core.errors import DataLossError, FailedPreconditionError
from tfnb.core.files.os_errors import os_errors
from tfnb.core.files.paths import local

_LENGTH = struct.Struct("<QI")
_CRC = struct.Struct("<I")
_PIECE = 1 << 20
_KNOWN = 1 << 12                                   # lengths that are remembered
_EITHER = 47                                       # wbits: a zlib or gzip container, with the largest window


def masked_crc(data: bytes) -> int:
    """The CRC-32C of `data`, rotated and shifted as all of TensorFlow's files keep it."""
    crc = cast(int, crc32c(data))
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def frame(data: bytes) -> bytes:
    """`data` as one record."""
    length = struct.pack("<Q", len(data))
    return length + _CRC.pack(masked_crc(length)) + data + _CRC.pack(masked_crc(data))


@dataclass(frozen=True)
class Compression:
    """Settings of zlib for a compressed file; None: zlib's default.

    level: 0 (none) to 9; window_bits: 9 to 15 for a zlib container, 25 to 31 for gzip; mem_level: 1 to 9; strategy: 0
    to 4; flush_mode: of `RecordWriter.flush`.
    """

    kind: str = ""
    level: int | None = None
    window_bits: int | None = None
    method: int | None = None
    mem_level: int | None = None
    strategy: int | None = None
    flush_mode: int | None = None

    def packer(self) -> Any:
        """Return a compressor, None for no compression. Raises ValueError for settings that zlib refuses."""
        if not self.kind:
            return None
        default = 31 if self.kind == "GZIP" else 15      # a gzip or a zlib container with the largest window
        given = (self.level, self.method, self.window_bits, self.mem_level, self.strategy)
        standard = (-1, zlib.DEFLATED, default, zlib.DEF_MEM_LEVEL + 1, 0)
        try:
            level, method, window, memory, strategy = (d if g is None else g
                                                       for g, d in zip(given, standard, strict=True))
            return zlib.compressobj(level, method, window, memory, strategy)
        except (ValueError, zlib.error) as error:
            raise ValueError(f"zlib refuses {self}: {error}") from None


class RecordWriter:
    """Writes records to a file; `compression` is "", "GZIP" or "ZLIB", or a Compression.

    Raises FailedPreconditionError when it is used after `close`, and errors of tf.errors for what the operating system
    says.
    """

    def __init__(self, path: str | Path, compression: str | Compression = "") -> None:
        options = compression if isinstance(compression, Compression) else Compression(compression)
        _check(options.kind)
        self._path = local(path)
        self._packer = options.packer()
        self._flush_mode = zlib.Z_SYNC_FLUSH if options.flush_mode is None else options.flush_mode
        with os_errors(self._path):
            self._file = open(self._path, "wb")

    def _opened(self) -> BinaryIO:
        if self._file.closed:
            raise FailedPreconditionError(None, None, "Writer is closed.")
        return self._file

    def write(self, record: bytes | str) -> None:
        """Append one record; a string as UTF-8."""
        file, data = self._opened(), frame(record.encode() if isinstance(record, str) else bytes(memoryview(record)))
        with os_errors(self._path):
            file.write(self._packer.compress(data) if self._packer else data)

    def flush(self) -> None:
        """Hand what was written to the operating system: a reader now finds all records."""
        file = self._opened()
        with os_errors(self._path):
            if self._packer:
                file.write(self._packer.flush(self._flush_mode))
            file.flush()

    def close(self) -> None:
        """End the file. A second call does nothing."""
        if self._file.closed:
            return
        with os_errors(self._path), self._file:    # closed also where the last bytes can't be written
            if self._packer:
                self._file.write(self._packer.flush())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


def read_records(path: str | bytes | Path, compression: str = "", *, partial: bool = False) -> Iterator[bytes]:
    """Return an iterator over the records of a file, in order; it is looked for at once.

    partial: a record cut off at the end (its writer is still at work, or died) ends the file, where otherwise it is
    an error. Raises the error of tf.errors for what the operating system says, and DataLossError where a checksum or
    the compressed stream is wrong.
    """
    _check(compression)
    name = local(path)
    with os_errors(name):
        open(name, "rb").close()
    return _records_of(name, compression, partial)


def _records_of(path: str, compression: str, partial: bool) -> Iterator[bytes]:
    with os_errors(path), open(path, "rb") as file:
        yield from _records(_Inflate(file) if compression else file, path, partial)


def _records(stream: BinaryIO | _Inflate, path: str, partial: bool) -> Iterator[bytes]:
    data, at, offset = b"", 0, 0                       # a part of the file, a place in it, where it begins
    least = 0 if isinstance(stream, _Inflate) else _PIECE      # of compressed ones those before damage are to be read
    checked: dict[int, int] = {}                       # lengths that came with the right checksum
    while True:
        missing = at + _LENGTH.size - len(data)
        while missing <= 0:
            length, crc = _LENGTH.unpack_from(data, at)
            if checked.get(length) != crc:
                if masked_crc(data[at:at + 8]) != crc:
                    hint = "" if offset + at else " (is this a TFRecord file, and compressed as it was said to be?)"
                    raise _loss(f"corrupted record at {offset + at} of {path}{hint}")
                if len(checked) < _KNOWN:
                    checked[length] = crc
            start = at + _LENGTH.size
            stop = start + length
            missing = stop + _CRC.size - len(data)
            if missing > 0:
                break
            body = data[start:stop]
            if masked_crc(body) != _CRC.unpack_from(data, stop)[0]:
                raise _loss(f"corrupted record at {offset + start} of {path}")
            yield body
            at = stop + _CRC.size
            missing = at + _LENGTH.size - len(data)
        more = _read(stream, max(missing, least), path)
        if not more:
            if at == len(data) or partial:
                return
            raise _loss(f"truncated record at {offset + at} of {path}")
        data, at, offset = data[at:] + more, 0, offset + at


def _read(stream: BinaryIO | _Inflate, count: int, path: str) -> bytes:
    """Up to `count` bytes: fewer at the end. Read in pieces, so that a false length takes no memory."""
    found = bytearray()
    try:
        while len(found) < count and (piece := stream.read(min(count - len(found), _PIECE))):
            found += piece
    except zlib.error as error:
        raise _loss(f"{path} can't be decompressed: {error}") from None
    return bytes(found)


class _Inflate:
    """A gzip or zlib stream, read in pieces; several containers may follow one another."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._unpacker, self._ready = file, zlib.decompressobj(_EITHER), bytearray()
        self._in_header = False                         # bytes were taken, but no data came of them yet

    def read(self, count: int) -> bytes:
        """Up to `count` bytes: fewer at the end. Raises zlib.error for a container that ends in its header.

        One that ends in its data is of a writer that was killed: what is there is read, as by TensorFlow.
        """
        while len(self._ready) < count:
            if self._unpacker.eof:
                data, self._unpacker = self._unpacker.unused_data, zlib.decompressobj(_EITHER)
            else:
                data = self._unpacker.unconsumed_tail
            data = data or self._file.read(_PIECE)
            if not data:
                if self._in_header:
                    raise zlib.error("it ends in the header of its compressed data")
                break
            found = self._unpacker.decompress(data, _PIECE)
            self._in_header = not found and not self._unpacker.eof
            self._ready += found
        taken = bytes(self._ready[:count])
        del self._ready[:count]
        return taken


def _check(compression: str) -> None:
    if compression not in ("", "GZIP", "ZLIB"):
        raise ValueError(f'compression is "", "GZIP" or "ZLIB", not {compression!r}')


def _loss(message: str) -> DataLossError:
    return DataLossError(None, None, message)
