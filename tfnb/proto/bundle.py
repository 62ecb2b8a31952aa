"""Checkpoints of the second format, "tensor bundles": reading.

P.index is a table (proto/table.py): under the key "" the header, under each tensor's name its dtype, shape, place and
checksum; P.data-00000-of-00001 (one file a shard) holds the bytes of the tensors, one after another. Of a partitioned
tensor the name has only the full shape and the list of its parts, each of which is stored under a key of its own.
"""
from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from google_crc32c import extend as crc32c_extend

from tfnb.core.dtypes import DType, as_dtype
from tfnb.core.errors import DataLossError, InvalidArgumentError, NotFoundError, UnimplementedError
from tfnb.core.files.os_errors import os_errors
from tfnb.core.files.paths import require_regular
from tfnb.core.lazy import lazy_module
from tfnb.core.options import options
from tfnb.proto import slices
from tfnb.proto.files import staged_beside
from tfnb.proto.mapped import CHUNK, file_array, map_of, read_at, release
from tfnb.proto.nearby import nearby
from tfnb.proto.slices import Shape, Slice
from tfnb.proto.table import Table
from tfnb.proto.varints import read_varint

_messages = lazy_module("tfnb.proto.tensor_bundle_pb2")

VERSION = 1                                        # of the format: readers need min_consumer <= 1
MAX_RANK = 254
PARALLEL = 1 << 20                                 # bytes from which checksums are computed by several threads
Array = np.ndarray[Any, np.dtype[Any]]


def mask(crc: int) -> int:
    """A CRC-32C in the form in which files keep it."""
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def data_path(prefix: str, shard: int, shards: int) -> str:
    """The name of a data file."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


@dataclass(frozen=True, slots=True)
class Entry:
    """The index entry of a tensor, or of a part of one. parts: of a partitioned tensor; it has no bytes itself."""

    dtype: DType
    shape: Shape
    shard: int
    offset: int
    size: int
    crc: int
    parts: tuple[Slice, ...]


class BundleReader:
    """An open checkpoint. Raises NotFoundError if there is none, DataLossError for a damaged one.

    prefix: its path, without ".index". entries: by tensor name.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._suffix, table = _current_index(prefix)
        self._files: dict[int, tuple[int, int]] = {}
        items = table.items()
        header = self._parsed(_messages.BundleHeaderProto(), next(items, (b"", b""))[1], "header")
        self.shards = header.num_shards
        if self.shards < 1:
            raise self._loss("its header tells of no data files")
        if header.endianness == _messages.BundleHeaderProto.BIG:
            raise UnimplementedError(None, None, f"{prefix}: a checkpoint with numbers of big-endian machines")
        if header.version.min_consumer > VERSION:
            raise InvalidArgumentError(None, None, f"{prefix}: a checkpoint of a newer version, which readers of "
                                       f"version {VERSION} can't read (it asks for {header.version.min_consumer})")
        self._parts: dict[bytes, Entry] = {}
        self.entries: dict[str, Entry] = {}
        for key, value in items:
            entry = self._entry(key, value)
            if key[:1] == b"\0":
                self._parts[key] = entry
            else:
                self.entries[self._name(key)] = entry

    def __del__(self) -> None:
        for file, _ in getattr(self, "_files", {}).values():
            os.close(file)

    def _loss(self, what: str) -> DataLossError:
        return DataLossError(None, None, f"{self.prefix}.index: {what}")

    def _name(self, key: bytes) -> str:
        try:
            return key.decode()
        except UnicodeDecodeError:
            raise self._loss(f"the name {key[:80]!r} is not UTF-8") from None

    def _parsed(self, message: Any, data: bytes | memoryview, what: str) -> Any:
        try:
            message.ParseFromString(bytes(data))
        except Exception as error:                 # the protobuf runtime's own class, not worth an import
            raise self._loss(f"the {what} can't be parsed: {error}") from None
        return message

    def _entry(self, key: bytes, value: memoryview) -> Entry:
        name = repr(key[:80])
        found = self._parsed(_messages.BundleEntryProto(), value, f"entry of {name}")
        try:
            dtype = as_dtype(found.dtype)
        except TypeError:
            raise self._loss(f"the entry of {name} has the unknown dtype {found.dtype}") from None
        shape = tuple(dim.size for dim in found.shape.dim)
        if found.shape.unknown_rank or len(shape) > MAX_RANK or min(shape, default=0) < 0:
            raise self._loss(f"the entry of {name} has the impossible shape {list(shape)[:MAX_RANK]}")
        parts = tuple(slices.from_message(message) for message in found.slices)
        if not all(slices.inside(shape, part) for part in parts):
            raise self._loss(f"a part of {name} is not inside its shape {list(shape)}")
        if min(found.offset, found.size) < 0 or not 0 <= found.shard_id < self.shards:
            raise self._loss(f"the entry of {name} has the impossible place {found.offset}, {found.size} in data file "
                             f"{found.shard_id} of {self.shards}")
        if not parts and dtype.name not in ("string", "variant", "resource") \
                and math.prod(shape) * dtype.size != found.size:
            raise self._loss(f"{name} has {found.size} bytes, but {dtype.name}{list(shape)} has "
                             f"{math.prod(shape) * dtype.size}")
        return Entry(dtype, shape, found.shard_id, found.offset, found.size, found.crc32c, parts)

    def _file(self, shard: int) -> tuple[int, int]:
        """The descriptor and the size of a data file."""
        if shard not in self._files:
            path = data_path(self.prefix, shard, self.shards)
            if self._suffix and os.path.exists(path + self._suffix):
                path += self._suffix
            require_regular(path)
            with os_errors(path):
                file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
                self._files[shard] = file, os.fstat(file).st_size
        return self._files[shard]

    # What there is

    def find(self, name: str) -> Entry:
        """The entry of a tensor. Raises NotFoundError, which tells near names, if there is none."""
        found = self.entries.get(name)
        if found is None:
            raise NotFoundError(None, None, f"Key {name} not found in checkpoint {self.prefix}")
        return found

    # Values

    def read(self, name: str, part: Slice | None = None) -> Array:
        """The value of a tensor, or of a part of it: read-only, and still in the file where it can be.

        Raises NotFoundError for a tensor that is not there, InvalidArgumentError for a part that is not inside it,
        DataLossError where bytes are missing or their checksum is wrong.
        """
        return self.read_all([(name, part)])[0]

    def read_all(self, wanted: Sequence[tuple[str, Slice | None]]) -> list[Array]:
        """The values of several tensors, or parts of them; checksums of large ones are computed in parallel."""
        plans = [self._plan(name, part) for name, part in wanted]
        whole = [(name, plan) for (name, _), plan in zip(wanted, plans, strict=True) if isinstance(plan, Entry)]
        stored = iter(self._stored(whole))
        return [next(stored) if isinstance(plan, Entry) else self._assembled(name, *plan)
                for (name, _), plan in zip(wanted, plans, strict=True)]

    def _plan(self, name: str, part: Slice | None) -> Entry | tuple[Entry, Slice]:
        """Return the entry that holds exactly the part; else the entry of the tensor, and the part."""
        entry = self.find(name)
        part = part or (None,) * len(entry.shape)
        if not slices.inside(entry.shape, part):
            raise InvalidArgumentError(None, None, f"{self.prefix}: the slice {part} is not inside the tensor {name}, "
                                       f"which has the shape {list(entry.shape)}")
        if not entry.parts and slices.is_full(entry.shape, part):
            return entry
        for stored in entry.parts:
            if slices.extents(entry.shape, stored) == slices.extents(entry.shape, part):
                return self._part(name, entry, stored)
        return entry, part

    def _part(self, name: str, entry: Entry, stored: Slice) -> Entry:
        found = self._parts.get(slices.key(name, stored))
        if found is None or found.parts or found.dtype is not entry.dtype \
                or found.shape != slices.shape_of(entry.shape, stored):
            raise self._loss(f"the part {stored} of {name} is missing, or of another dtype or shape than it says")
        return found

    def _assembled(self, name: str, entry: Entry, part: Slice) -> Array:
        """A part that is stored in pieces, or as a piece of something."""
        size = math.prod(slices.shape_of(entry.shape, part))
        pieces = []
        for stored in entry.parts or ((None,) * len(entry.shape),):
            overlap = slices.common(entry.shape, part, stored)
            if overlap is not None:
                pieces.append((stored, *overlap))
        if sum(slices.volume(at) for _, at, _ in pieces) != size:
            raise NotFoundError(None, None, f"{self.prefix}: the stored parts of {name} don't cover the part "
                                f"{slices.extents(entry.shape, part)} of {list(entry.shape)}")
        made = np.zeros(slices.shape_of(entry.shape, part), entry.dtype.np_dtype)
        for stored, at, inside in pieces:
            holder = self._part(name, entry, stored) if entry.parts else entry
            made[at] = self._stored([(name, holder)])[0][inside]
        return made

    def _stored(self, wanted: Sequence[tuple[str, Entry]]) -> list[Array]:
        for _, entry in wanted:
            self._file(entry.shard)                # in this thread: the others only read
        large = sum(entry.size for _, entry in wanted)
        if len(wanted) < 2 or large < PARALLEL or options.threads < 2 or not options.background:
            return [self._value(name, entry) for name, entry in wanted]
        with ThreadPoolExecutor(options.threads) as pool:
            return list(pool.map(lambda one: self._value(*one), wanted))

    def _value(self, name: str, entry: Entry) -> Array:
        file, length = self._file(entry.shard)
        if entry.offset + entry.size > length:
            raise DataLossError(None, None, f"{data_path(self.prefix, entry.shard, self.shards)}: {name} takes the "
                                f"bytes {entry.offset} to {entry.offset + entry.size}, but the file has {length}")
        if entry.dtype.name == "string":
            return self._strings(name, entry, read_at(file, entry.size, entry.offset))
        if entry.dtype.name in ("variant", "resource"):
            raise UnimplementedError(None, None, f"{self.prefix}: {name} is a {entry.dtype.name}")
        array = file_array(file, entry.offset, entry.size, entry.dtype.np_dtype, entry.shape)
        self._check(name, entry, checksum(array))
        return array

    def _check(self, name: str, entry: Entry, crc: int) -> None:
        if mask(crc) != entry.crc:
            raise DataLossError(None, None, f"{data_path(self.prefix, entry.shard, self.shards)}: the checksum of "
                                f"{name} (bytes {entry.offset} to {entry.offset + entry.size}) is {mask(crc):#010x}, "
                                f"but the index has {entry.crc:#010x}: the checkpoint is damaged")

    def _strings(self, name: str, entry: Entry, data: bytes) -> Array:
        count, at, lengths = math.prod(entry.shape), 0, []
        try:
            if count > len(data):
                raise ValueError
            for _ in range(count):
                length, at = read_varint(data, at)
                lengths.append(length)
            if at + 4 + sum(lengths) != len(data):
                raise ValueError
        except (ValueError, IndexError):
            if not count and not data:
                return np.empty(entry.shape, object)
            raise DataLossError(None, None, f"{data_path(self.prefix, entry.shard, self.shards)}: the lengths of the "
                                f"strings of {name} at {entry.offset} don't fit {entry.size} bytes") from None
        crc = crc32c_extend(0, fixed_lengths(lengths))
        stored = int.from_bytes(data[at:at + 4], "little")
        self._check(name, entry, crc32c_extend(crc, data[at:]) if stored == mask(crc) else ~entry.crc & 0xFFFFFFFF)
        at += 4
        made = np.empty(count, object)
        for i, length in enumerate(lengths):
            made[i] = data[at:at + length]
            at += length
        return made.reshape(entry.shape)


def fixed_lengths(lengths: Sequence[int]) -> bytes:
    """The lengths of strings as their checksum sees them: 4 bytes each, or 8 for 4 GB and more."""
    return b"".join(n.to_bytes(4 if n < 1 << 32 else 8, "little") for n in lengths)


def checksum(array: Array) -> int:
    """The CRC-32C of an array's bytes; of a large one that lies in a file little stays resident."""
    flat, crc = array.reshape(-1).view(np.uint8), 0
    mapped = map_of(array) if flat.size > CHUNK else None
    for start in range(0, flat.size, CHUNK):
        crc = crc32c_extend(crc, flat[start:start + CHUNK])
        if mapped is not None:
            release(mapped, flat[start:start + CHUNK])
    return crc


def _current_index(prefix: str) -> tuple[str, Table]:
    """The index of a checkpoint, and the suffix that some of its data files still have ("" usually)."""
    path = f"{prefix}.index"
    if not os.path.exists(path):
        raise NotFoundError(None, None, f"Unsuccessful TensorSliceReader constructor: Failed to find any matching "
                            f"files for {prefix}{nearby(prefix)}")
    suffix = pending(prefix)
    return suffix, Table(path + suffix)


def staged_shards(prefix: str, suffix: str) -> list[str]:
    """The final names of the data files of an index that still has its suffix. Raises as Table."""
    first = next(Table(f"{prefix}.index{suffix}").items(), (b"", memoryview(b"")))[1]
    shards = _messages.BundleHeaderProto.FromString(bytes(first)).num_shards
    if not 0 < shards < 100_000:
        raise DataLossError(None, None, f"{prefix}.index{suffix}: {shards} data files")
    return [data_path(prefix, i, shards) for i in range(shards)]


def pending(prefix: str) -> str:
    """The suffix of a save over this checkpoint that died while it gave its files their final names; "" if none did.

    Then the index is complete, and some data file has its final name already, in place of the old one.
    """
    return next((suffix for suffix in staged_beside(f"{prefix}.index") if begun(prefix, suffix)), "")


def begun(prefix: str, suffix: str) -> bool:
    """Return whether a save with that suffix has given a data file its final name already."""
    try:
        finals = staged_shards(prefix, suffix)
    except Exception:                              # half written: its data files have not been renamed
        return False
    return not all(os.path.exists(final + suffix) for final in finals)
