"""Readers: ops that take file names from a queue and return the records of the files one after another.

A reader is a resource of the session. It keeps its place in a file between runs; several threads may read from one.
"""
from __future__ import annotations

import gzip
import io
import os
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

import numpy as np

from tfnb.core.errors import DataLossError, InvalidArgumentError, UnimplementedError
from tfnb.core.files.os_errors import os_errors
from tfnb.core.files.paths import local, read_bytes
from tfnb.core.shape import Static, merge
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.ops.data_flow.queues import QueueBase
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import behind_reference, host
from tfnb.proto.reader_state import ReaderState, parse_state
from tfnb.proto.records import read_records

Records = Iterator[tuple[bytes, bytes]]             # key and value of each record of a work unit
_SHARED: dict[str, Any] = {"container": "string = ''", "shared_name": "string = ''"}
_OVERHEAD = 16                                      # bytes of a record of a TFRecord file beside its data


class Reader:
    """The state of a reader: the rest of the work unit it is at, and its counts.

    records: of a work unit; single: a work unit is one record, so that there is no place in it to remember.
    """

    def __init__(self, records: Callable[[bytes], Records], single: bool = False) -> None:
        self._records, self._single, self._current = records, single, b""
        self._lock = threading.Lock()
        self._rest: Records | None = None
        self.handle = np.empty((), object)
        self.handle[()] = self
        self.started = self.produced = self.completed = 0

    def read(self, queue: Any, count: int, timeout: float | None) -> list[tuple[bytes, bytes]]:
        """Up to `count` records of one work unit, at least one. Raises what the queue raises when it has ended."""
        with self._lock:
            while True:
                if self._rest is None:
                    self._current = queue.dequeue(timeout)[0][()]
                    self._rest = self._records(self._current)
                    self.started += 1
                found = []
                try:
                    for record in self._rest:
                        found.append(record)
                        if len(found) == count and not self._single:
                            break
                    else:
                        self._rest = None
                        self.completed += 1
                except BaseException:
                    self._rest = None
                    raise
                self.produced += len(found)
                if found:
                    return found

    def reset(self) -> None:
        """Start anew: no work unit, no counts."""
        with self._lock:
            self._rest = None
            self.started = self.produced = self.completed = 0

    def state(self) -> bytes:
        """Return the state as `restore` takes it. Raises UnimplementedError for a place inside of a file."""
        if not self._single:
            raise UnimplementedError(None, None, "Reader SerializeState: its place in a file has no serialized form")
        with self._lock:
            return ReaderState(self.started, self.completed, self.produced, self._current).serialized()

    def restore(self, data: bytes) -> None:
        """Take over a state. Raises InvalidArgumentError where `data` is none, UnimplementedError as `state`."""
        if not self._single:
            raise UnimplementedError(None, None, "Reader RestoreState: its place in a file has no serialized form")
        found = parse_state(data)
        with self._lock:
            self.started, self.completed, self.produced, self._current = found
            self._rest = self._records(self._current) if self.started > self.completed else None


_DAMAGED = (zlib.error, EOFError, gzip.BadGzipFile)


@contextmanager
def _damage(work: bytes) -> Iterator[None]:
    """Turn what a decompressor raises inside into DataLossError."""
    try:
        yield
    except _DAMAGED as error:
        raise DataLossError(None, None, f"{os.fsdecode(work)} can't be decompressed: {error}") from None


def _opened(work: bytes, compression: str) -> IO[bytes]:
    """Open a file to read what it holds, decompressed."""
    if compression == "ZLIB":
        return io.BytesIO(zlib.decompress(read_bytes(work)))
    path = local(work)
    with os_errors(path):
        return cast(IO[bytes], gzip.open(path, "rb")) if compression else open(path, "rb")


def lines(skip: int, compression: str = "") -> Callable[[bytes], Records]:
    """Return a function that reads a file by lines, after the first `skip` ones. compression: "", "GZIP" or "ZLIB"."""
    def records(work: bytes) -> Records:
        with os_errors(work), _damage(work), _opened(work, compression) as file:
            for number, line in enumerate(file, 1):
                if number > skip:
                    yield work + b":%d" % number, line.replace(b"\r", b"").removesuffix(b"\n")
    return records


_UNPACK: dict[str, Callable[[bytes], bytes]] = {"": bytes, "GZIP": gzip.decompress, "ZLIB": zlib.decompress}


def fixed(header: int, size: int, footer: int, hop: int, compression: str,
          whole: bool = False) -> Callable[[bytes], Records]:
    """Return a function that reads a file as records of `size` bytes, one every `hop` (0: `size`); see `lines`.

    whole: the records must fill what lies between header and footer, else it raises InvalidArgumentError.
    """
    def records(work: bytes) -> Records:
        with _damage(work):
            data = _UNPACK[compression](read_bytes(work))
        body = len(data) - header - footer
        if whole and (body < 0 or body % size):
            raise InvalidArgumentError(None, None, f"Excluding the header ({header} bytes) and footer ({footer} "
                                       f"bytes), input file {os.fsdecode(work)!r} has body length {body} bytes, which "
                                       f"is not an exact multiple of the record length ({size} bytes).")
        for i, start in enumerate(range(header, len(data) - footer - size + 1, hop or size)):
            yield work + b":%d" % i, data[start:start + size]
    return records


def framed(compression: str) -> Callable[[bytes], Records]:
    """Return a function that reads a TFRecord file. compression: see `lines`."""
    def records(work: bytes) -> Records:
        offset = 0
        for data in read_records(work, compression):
            yield work + b":%d" % offset, data
            offset += len(data) + _OVERHEAD
    return records


def _held(ctx: Any, records: Callable[[bytes], Records], single: bool = False) -> np.ndarray:
    handle: np.ndarray = ctx.store.resource(ctx.op, lambda: Reader(records, single)).handle
    return handle


@host("-> reader_handle: resource", shape=shapes.scalar, stateful=True, **_SHARED)
def WholeFileReaderV2(*, ctx: Any) -> Any:
    """Create a reader whose records are whole files; the key is the file's name."""
    return _held(ctx, lambda work: iter([(work, read_bytes(work))]), True)


@host("-> reader_handle: resource", shape=shapes.scalar, stateful=True, skip_header_lines="int = 0", **_SHARED)
def TextLineReaderV2(*, skip_header_lines: int, ctx: Any) -> Any:
    """Create a reader of lines, without line ends; the key is "name:number", from 1."""
    return _held(ctx, lines(skip_header_lines))


@host("-> reader_handle: resource", shape=shapes.scalar, stateful=True, header_bytes="int = 0", record_bytes="int",
      footer_bytes="int = 0", hop_bytes="int = 0", **_SHARED, encoding="string = ''")
def FixedLengthRecordReaderV2(*, header_bytes: int, record_bytes: int, footer_bytes: int, hop_bytes: int,
                              ctx: Any, encoding: bytes = b"") -> Any:
    """Create a reader of records of `record_bytes` bytes, one every `hop_bytes`; the key is "name:number", from 0."""
    if record_bytes < 1 or min(header_bytes, footer_bytes, hop_bytes) < 0:
        raise InvalidArgumentError(None, ctx.op, f"record_bytes must be positive and the other sizes at least 0, got "
                                                 f"{record_bytes}, {header_bytes}, {footer_bytes}, {hop_bytes}")
    return _held(ctx, fixed(header_bytes, record_bytes, footer_bytes, hop_bytes, "ZLIB" if encoding == b"ZLIB" else ""))


@host("-> reader_handle: resource", shape=shapes.scalar, stateful=True, **_SHARED, compression_type="string = ''")
def TFRecordReaderV2(*, compression_type: bytes, ctx: Any) -> Any:
    """Create a reader of TFRecord files; the key is "name:offset"."""
    return _held(ctx, framed(compression_type.decode()))


@host("-> reader_handle: resource", shape=shapes.scalar, stateful=True, **_SHARED)
def IdentityReaderV2(*, ctx: Any) -> Any:
    """Create a reader whose records are the work units themselves, as key and as value."""
    return _held(ctx, lambda work: iter([(work, work)]), True)


def _pair(ctx: Any) -> list[Static]:
    merge(ctx.shape(0), ())
    merge(ctx.shape(1), ())
    return [(), ()]


@host("reader_handle: resource, queue_handle: resource -> key: string, value: string", shape=_pair, stateful=True,
      waits=True)
def ReaderReadV2(reader_handle: Any, queue_handle: Any, *, ctx: Any) -> Any:
    """Return the next record of a reader; the queue gives the next file when one is at its end."""
    key, value = reader_handle[()].read(queue_handle[()].queue, 1, ctx.timeout)[0]
    return np.array(key, object), np.array(value, object)


@host("reader_handle: resource, queue_handle: resource, num_records: int64 -> keys: string, values: string",
      shape=shapes.vector, stateful=True, waits=True)
def ReaderReadUpToV2(reader_handle: Any, queue_handle: Any, num_records: Any, *, ctx: Any) -> Any:
    """Return up to `num_records` records of a reader, all of one file: fewer at its end, but at least one."""
    if num_records < 1:
        raise InvalidArgumentError(None, ctx.op, f"num_records must be positive, got {num_records}")
    found = reader_handle[()].read(queue_handle[()].queue, int(num_records), ctx.timeout)
    keys, values = np.empty(len(found), object), np.empty(len(found), object)
    keys[:], values[:] = [key for key, _ in found], [value for _, value in found]
    return keys, values


@host("reader_handle: resource -> records_produced: int64", shape=shapes.scalar, stateful=True)
def ReaderNumRecordsProducedV2(reader_handle: Any) -> Any:
    """Return the number of records that a reader has produced."""
    return np.int64(reader_handle[()].produced)


@host("reader_handle: resource -> units_completed: int64", shape=shapes.scalar, stateful=True)
def ReaderNumWorkUnitsCompletedV2(reader_handle: Any) -> Any:
    """Return the number of work units that a reader has read to their end."""
    return np.int64(reader_handle[()].completed)


@host("reader_handle: resource", shape=lambda ctx: [], stateful=True)
def ReaderResetV2(reader_handle: Any) -> Any:
    """Reset a reader to its initial state."""
    reader_handle[()].reset()
    return ()


@host("reader_handle: resource -> state: string", shape=shapes.scalar, stateful=True)
def ReaderSerializeStateV2(reader_handle: Any) -> Any:
    """Serialize the state of a reader as a string, for ReaderRestoreStateV2."""
    return np.array(reader_handle[()].state(), object)


def _restoring(ctx: Any) -> list[Static]:
    merge(ctx.shape(0), ())
    merge(ctx.shape(1), ())
    return []


@host("reader_handle: resource, state: string", shape=_restoring, stateful=True)
def ReaderRestoreStateV2(reader_handle: Any, state: Any) -> Any:
    """Restore the state of a reader from the string of ReaderSerializeStateV2."""
    reader_handle[()].restore(state[()])
    return ()


for _op in (WholeFileReaderV2, TextLineReaderV2, FixedLengthRecordReaderV2, TFRecordReaderV2, IdentityReaderV2,
            ReaderReadV2, ReaderReadUpToV2, ReaderNumRecordsProducedV2, ReaderNumWorkUnitsCompletedV2, ReaderResetV2,
            ReaderSerializeStateV2, ReaderRestoreStateV2):
    _op.no_gradient("it reads files")
    behind_reference(_op, without=("encoding",))


# ---- classes ---------------------------------------------------------------------------------------------------------

class ReaderBase:
    """A reader of the graph. Programs make one of the subclasses.

    reader_ref: the resource of its op; supports_serialize: whether its state can be saved.

    >>> reader = tf.TextLineReader()
    >>> isinstance(reader, tf.ReaderBase), sess.run(reader.num_records_produced())
    (True, 0)
    """

    def __init__(self, reader_ref: Tensor, supports_serialize: bool = False) -> None:
        self._reader_ref, self._supports_serialize = reader_ref, supports_serialize

    @property
    def reader_ref(self) -> Tensor:
        """The tensor that holds the reader."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether its state can be saved."""
        return self._supports_serialize

    def read(self, queue: QueueBase | Tensor, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Return the key and the value of the next record, two string scalars.

        queue: of the names of files (a queue or its tensor), from which the next is taken when one is at its end.
        Running them raises OutOfRangeError when the queue is closed and empty.
        """
        made: tuple[Tensor, Tensor] = ReaderReadV2(self._reader_ref, _handle(queue), name=name)
        return made

    def read_up_to(self, queue: QueueBase | Tensor, num_records: Any,
                   name: str | None = None) -> tuple[Tensor, Tensor]:
        """Return the keys and the values of up to `num_records` records, two string vectors; see `read`."""
        made: tuple[Tensor, Tensor] = ReaderReadUpToV2(self._reader_ref, _handle(queue), num_records, name=name)
        return made

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """Return the number of records read so far, an int64 scalar."""
        tensor: Tensor = ReaderNumRecordsProducedV2(self._reader_ref, name=name)
        return tensor

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """Return the number of files read to their end, an int64 scalar."""
        tensor: Tensor = ReaderNumWorkUnitsCompletedV2(self._reader_ref, name=name)
        return tensor

    def serialize_state(self, name: str | None = None) -> Tensor:
        """Return the state, a string for `restore_state`. Running it raises UnimplementedError for most readers."""
        tensor: Tensor = ReaderSerializeStateV2(self._reader_ref, name=name)
        return tensor

    def restore_state(self, state: Any, name: str | None = None) -> Operation:
        """Return an operation that restores a state. Running it raises InvalidArgumentError for an invalid string."""
        op: Operation = ReaderRestoreStateV2(self._reader_ref, state, name=name)
        return op

    def reset(self, name: str | None = None) -> Operation:
        """Return an operation that lets the reader start anew."""
        op: Operation = ReaderResetV2(self._reader_ref, name=name)
        return op


def _handle(queue: QueueBase | Tensor) -> Tensor:
    return queue if isinstance(queue, Tensor) else queue.queue_ref


class WholeFileReader(ReaderBase):
    """Reads whole files; the key is the file's name.

    >>> with tf.gfile.GFile("notes.txt", "w") as file:
    ...     file.write("text")
    >>> key, value = tf.WholeFileReader().read(tf.train.string_input_producer(["notes.txt"]))
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     session.run([key, value])
    [b'notes.txt', b'text']
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(WholeFileReaderV2(name=name), True)


class TextLineReader(ReaderBase):
    """Reads lines, without their ends; the key is "name:number". skip_header_lines: of each file.

    >>> with tf.gfile.GFile("notes.txt", "w") as file:
    ...     file.write("first" + chr(10) + "second")
    >>> key, value = tf.TextLineReader().read(tf.train.string_input_producer(["notes.txt"]))
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     session.run([key, value]), session.run(value)
    ([b'notes.txt:1', b'first'], b'second')
    """

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        super().__init__(TextLineReaderV2(skip_header_lines=skip_header_lines, name=name))


class FixedLengthRecordReader(ReaderBase):
    """Reads records of `record_bytes` bytes, after `header_bytes` and before `footer_bytes` of each file.

    hop_bytes: from one record to the next, by default `record_bytes`; encoding: "ZLIB" for compressed files.

    >>> with tf.gfile.GFile("digits.bin", "wb") as file:
    ...     file.write(b"001122")
    >>> key, value = tf.FixedLengthRecordReader(record_bytes=2).read(tf.train.string_input_producer(["digits.bin"]))
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     session.run(value), session.run(value)
    (b'00', b'11')
    """

    def __init__(self, record_bytes: int, header_bytes: int | None = None, footer_bytes: int | None = None,
                 hop_bytes: int | None = None, name: str | None = None, encoding: str | None = None) -> None:
        super().__init__(FixedLengthRecordReaderV2(record_bytes=record_bytes, header_bytes=header_bytes,
                                                   footer_bytes=footer_bytes, hop_bytes=hop_bytes, encoding=encoding,
                                                   name=name))


class TFRecordReader(ReaderBase):
    """Reads the records of TFRecord files. options: a TFRecordOptions that names their compression.

    >>> with tf.python_io.TFRecordWriter("data.tfrecord") as writer:
    ...     writer.write(b"first")
    >>> names = tf.train.string_input_producer(["data.tfrecord"], shuffle=False)
    >>> key, value = tf.TFRecordReader().read(names)
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     session.run(value)
    b'first'
    """

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        kind = "" if options is None else options.get_compression_type_string(options)
        super().__init__(TFRecordReaderV2(compression_type=kind, name=name))


class IdentityReader(ReaderBase):
    """Gives what the queue gives, as key and as value.

    >>> key, value = tf.IdentityReader().read(tf.train.string_input_producer(["a.txt"]))
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     session.run([key, value])
    [b'a.txt', b'a.txt']
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(IdentityReaderV2(name=name), True)
