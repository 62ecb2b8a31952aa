"""Checkpoints of the second format: writing and merging. See proto/bundle.py for what is in the files."""
from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import IO, Any

import numpy as np
from google_crc32c import extend as crc32c_extend

from tfnb.core.dtypes import DType, as_dtype
from tfnb.core.errors import InvalidArgumentError
from tfnb.core.files.os_errors import os_errors
from tfnb.core.files.paths import local, make_folders
from tfnb.core.lazy import lazy_module
from tfnb.core.options import options
from tfnb.proto import slices
from tfnb.proto.bundle import VERSION, Array, begun, data_path, fixed_lengths, mask, pending, staged_shards
from tfnb.proto.files import SHARDS, STAGED, Staging, if_abandoned, remove_abandoned, write_all
from tfnb.proto.slices import Shape, Slice
from tfnb.proto.table import Table, write_table
from tfnb.proto.varints import varint

_messages = lazy_module("tfnb.proto.tensor_bundle_pb2")

BUFFER, BUFFERS = 1 << 22, 3
_STAGED_NAME = re.compile(re.escape(STAGED) + r"\d+L?$")
_SHARD_FOLDER = re.compile(r"_temp(_[0-9a-f]{32})?$")       # as our savers call it, and TensorFlow's


class _Output:
    """A file that a thread writes to while the next bytes are copied and their checksum is computed.

    The bytes are copied first, so that a variable that another thread changes meanwhile is stored as its checksum says.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.offset = 0
        self._file = file
        self._buffer, self._filled = np.empty(BUFFER, np.uint8), 0
        self._spare = [np.empty(0, np.uint8)] * (BUFFERS - 1)      # allocated when the first is full
        self._writing: list[tuple[Future[None], Array]] = []
        self._thread: ThreadPoolExecutor | None = None

    def put(self, data: Array, crc: int) -> int:
        """Append bytes (uint8); returns their CRC-32C after `crc`."""
        start = 0
        while start < data.size:
            if self._filled == BUFFER:
                self._hand_over()
            count = min(BUFFER - self._filled, data.size - start)
            piece = self._buffer[self._filled:self._filled + count]
            piece[:] = data[start:start + count]
            crc = crc32c_extend(crc, piece)
            self._filled, start = self._filled + count, start + count
        self.offset += data.size
        return crc

    def _hand_over(self) -> None:
        if not options.background:
            write_all(self._file, self._buffer[:self._filled].data)
            self._filled = 0
            return
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "tfnb-save")
        full = self._buffer
        self._writing.append((self._thread.submit(write_all, self._file, full[:self._filled].data), full))
        if self._spare:
            self._spare.pop()
            self._buffer = np.empty(BUFFER, np.uint8)
        else:
            done, self._buffer = self._writing.pop(0)
            done.result()
        self._filled = 0

    def finish(self) -> None:
        """Write what is left. Raises the OSError of any write."""
        for done, _ in self._writing:
            done.result()
        self.stop()
        write_all(self._file, self._buffer[:self._filled].data)

    def stop(self) -> None:
        """End the thread."""
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None


class BundleWriter:
    """Writes the checkpoint `prefix`: `add` tensors, then `finish`; or `discard`. Nothing is visible before `finish`.

    Raises the error of tf.errors for what the operating system says: PermissionDeniedError, ResourceExhaustedError...
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix = local(prefix)
        self._data = data_path(prefix, 0, 1)
        self._staging = Staging()
        self._entries: dict[bytes, Any] = {}
        with os_errors(prefix):
            finish_pending(prefix)
            self._file = self._staging.create(self._data)
        self._output = _Output(self._file)

    def add(self, name: str, array: Array, dtype: DType | None = None, full: Shape = (),
            part: Slice | None = None) -> None:
        """Append a tensor, or the part `part` of one that has the shape `full`.

        Raises InvalidArgumentError for a name that is taken or can't be stored, an array that has not the shape of
        the part, or parts that differ in dtype or full shape.
        """
        dtype = dtype or as_dtype(array.dtype)
        if not name or name.startswith("\0"):
            raise InvalidArgumentError(None, None, f"{name!r} is no name for a tensor in a checkpoint")
        key = name.encode()
        if part is not None and not slices.is_full(full, part):
            whole = self._whole(key, dtype, full)
            if slices.shape_of(full, part) != array.shape:
                raise InvalidArgumentError(None, None, f"the slice {part} of {name} does not have the shape "
                                           f"{list(array.shape)} of its value")
            whole.slices.append(slices.to_message(part))
            key = slices.key(name, part)
        if key in self._entries:
            raise InvalidArgumentError(None, None, f"Adding duplicate key: {name}")
        entry = self._entries[key] = _entry(dtype, array.shape)
        entry.offset = self._output.offset
        with os_errors(self._data):
            crc = self._put_strings(array) if dtype.name == "string" else self._output.put(_bytes_of(array), 0)
        entry.size, entry.crc32c = self._output.offset - entry.offset, mask(crc)

    def _whole(self, key: bytes, dtype: DType, full: Shape) -> Any:
        """The entry of a partitioned tensor itself."""
        whole = self._entries.get(key)
        if whole is None:
            whole = self._entries[key] = _entry(dtype, full)
        elif not whole.slices or whole.dtype != dtype.as_datatype_enum \
                or tuple(d.size for d in whole.shape.dim) != full:
            raise InvalidArgumentError(None, None, f"{key.decode()}: its parts differ in dtype or full shape, or it is "
                                       "stored as a whole too")
        return whole

    def _put_strings(self, array: Array) -> int:
        strings = [s.encode() if isinstance(s, str) else bytes(s) for s in array.reshape(-1).tolist()]
        lengths = [len(s) for s in strings]
        crc = crc32c_extend(0, fixed_lengths(lengths))
        self._output.put(_buffer(b"".join(map(varint, lengths))), 0)
        crc = self._output.put(_buffer(mask(crc).to_bytes(4, "little")), crc)
        for string in strings:
            crc = self._output.put(_buffer(string), crc)
        return crc

    def finish(self) -> None:
        """Complete the files and give them their names: the checkpoint is there at once, in place of an older one."""
        index = f"{self.prefix}.index"
        with os_errors(self.prefix):
            self._output.finish()
            _write_index(self._staging.create(index), 1, self._entries)
            self._staging.commit([self._data], index)
        sweep(os.path.dirname(self.prefix))

    def discard(self) -> None:
        """Remove what was written so far; an older checkpoint of that name stays as it is."""
        with suppress(OSError):
            self._output.stop()
        self._staging.discard([self._data], f"{self.prefix}.index")


def _bytes_of(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _buffer(data: bytes) -> Array:
    return np.frombuffer(data, np.uint8)


def _entry(dtype: DType, shape: Iterable[int]) -> Any:
    made = _messages.BundleEntryProto(dtype=dtype.base_dtype.as_datatype_enum)
    made.shape.SetInParent()
    for size in shape:
        made.shape.dim.add(size=size)
    return made


def _write_index(file: IO[bytes], shards: int, entries: dict[bytes, Any]) -> None:
    header = _messages.BundleHeaderProto(num_shards=shards)
    header.version.producer = VERSION
    table = io.BytesIO()
    write_table(table, [(b"", header.SerializeToString()),
                        *((key, entries[key].SerializeToString()) for key in sorted(entries))])
    write_all(file, table.getbuffer())


def finish_pending(prefix: str) -> None:
    """Complete a save over this checkpoint that died while it renamed its files (see `bundle.pending`)."""
    suffix = pending(prefix) if os.path.exists(f"{prefix}.index") else ""
    if suffix:
        _complete(prefix, suffix)


def _complete(prefix: str, suffix: str) -> None:
    for final in (*staged_shards(prefix, suffix), f"{prefix}.index"):
        with suppress(FileNotFoundError):
            os.replace(final + suffix, final)


def sweep(folder: str) -> None:
    """Remove what dead processes left in a folder of saves that came to nothing."""
    with suppress(OSError):
        names = os.listdir(folder or ".")
        left = [name for name in names if _STAGED_NAME.search(name)]
        for suffix in {name[name.rindex(STAGED):] for name in left}:
            _sweep_save([os.path.join(folder, name) for name in left if name.endswith(suffix)], suffix)
        for name in names:
            if _SHARD_FOLDER.search(name):
                _sweep_shards(os.path.join(folder, name))


def _sweep_save(paths: list[str], suffix: str) -> None:
    """Remove the staged files of one save, or give them their final names where it had begun to.

    The index goes first: with the index there and its data gone it would look like a save that was being completed.
    """
    ending = f".index{suffix}"
    for index in [path for path in paths if path.endswith(ending)]:
        prefix = index.removesuffix(ending)
        if begun(prefix, suffix):
            if_abandoned(index, partial(_complete, prefix, suffix))
            return
        if not remove_abandoned(index):
            return
    for path in paths:
        remove_abandoned(path)


def _sweep_shards(folder: str) -> None:
    """Remove the folder of the shards of one save that were never merged."""
    with suppress(OSError):
        paths = [entry.path for entry in os.scandir(folder)]
        newest = max(os.stat(path).st_mtime for path in (folder, *paths))
        if time.time() - newest >= SHARDS and all(os.path.basename(path).startswith("part-") for path in paths):
            for path in paths:
                os.remove(path)
            os.rmdir(folder)


def merge(prefixes: Sequence[str], destination: str, delete_old_dirs: bool = True,
          allow_missing: bool = False) -> None:
    """Make one checkpoint of several: their data files become its data files, in that order.

    Raises InvalidArgumentError if one is not there (unless allow_missing, when it is left out), and where a
    tensor stands in two of them.
    """
    prefixes, destination = [local(prefix) for prefix in prefixes], local(destination)
    staging, index = Staging(), f"{destination}.index"
    moves, entries = _merged(prefixes, allow_missing)
    finals = [data_path(destination, i, len(moves)) for i in range(len(moves))]
    folder = os.path.dirname(destination)
    with os_errors(destination):
        make_folders(folder)
        finish_pending(destination)
        try:
            file = staging.create(index)           # locked before there is data, so that nobody sweeps that
            for source, final in zip(moves, finals, strict=True):
                os.replace(source, staging.path(final))
            _write_index(file, len(moves), entries)
            staging.commit(finals, index)
        except BaseException:
            staging.discard(finals, index)
            raise
    for prefix in prefixes:
        with suppress(OSError):
            os.remove(f"{prefix}.index")
    for old in {os.path.dirname(prefix) for prefix in prefixes} if delete_old_dirs else ():
        if old != folder:
            with suppress(OSError):
                os.rmdir(old)
    sweep(folder)


def _merged(prefixes: Sequence[str], allow_missing: bool) -> tuple[list[str], dict[bytes, Any]]:
    """The data files, and the entries with the numbers they have among these."""
    moves: list[str] = []
    entries: dict[bytes, Any] = {}
    for prefix in prefixes:
        if not os.path.exists(f"{prefix}.index"):
            if allow_missing:
                continue
            raise InvalidArgumentError(None, None, f"{prefix}.index; No such file or directory")
        first = len(moves)
        for key, value in Table(f"{prefix}.index").items():
            if not key:
                shards = _messages.BundleHeaderProto.FromString(bytes(value)).num_shards
                moves += [data_path(prefix, i, shards) for i in range(shards)]
                continue
            entry = _messages.BundleEntryProto.FromString(bytes(value))
            if key not in entries:
                entry.shard_id += 0 if entry.slices else first
                entries[key] = entry
            elif entry.slices and entries[key].slices:
                entries[key].slices.extend(entry.slices)
            else:
                raise InvalidArgumentError(None, None, f"Duplicate tensor keyed by {key.decode(errors='replace')} "
                                           f"encountered, when merging prefix: {prefix}")
    return moves, entries
