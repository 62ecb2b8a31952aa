"""TFRecord files for programs: `tf.python_io`."""
from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tfnb.proto.records import Compression, RecordWriter, read_records


class TFRecordCompressionType:
    """Compression of TFRecord files.

    >>> options = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.ZLIB)
    >>> with tf.python_io.TFRecordWriter("data.tfrecord", options) as writer:
    ...     writer.write(b"first")
    >>> list(tf.python_io.tf_record_iterator("data.tfrecord", options))
    [b'first']
    """

    NONE, ZLIB, GZIP = 0, 1, 2


_NAMES = {TFRecordCompressionType.NONE: "", TFRecordCompressionType.ZLIB: "ZLIB", TFRecordCompressionType.GZIP: "GZIP"}


class TFRecordOptions:
    """Compression of a TFRecord file, with the settings of zlib.

    compression_type: a member of TFRecordCompressionType, "", "ZLIB" or "GZIP". compression_level: 0 to 9;
    compression_strategy: 0 to 4 (zlib's Z_FILTERED...); window_bits: 9 to 15 for ZLIB, 25 to 31 for GZIP; mem_level: 1
    to 9; flush_mode: of zlib's constants, for `flush`. None: zlib's default. compression_method: 8 (deflated);
    input_buffer_size, output_buffer_size make no difference. Raises ValueError for another kind.

    >>> options = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)
    >>> with tf.python_io.TFRecordWriter("data.tfrecord", options) as writer:
    ...     writer.write(b"first")
    >>> list(tf.python_io.tf_record_iterator("data.tfrecord", options))
    [b'first']
    """

    compression_type_map = _NAMES

    def __init__(self, compression_type: Any = None, flush_mode: Any = None, input_buffer_size: Any = None,
                 output_buffer_size: Any = None, window_bits: Any = None, compression_level: Any = None,
                 compression_method: Any = None, mem_level: Any = None, compression_strategy: Any = None) -> None:
        self.get_compression_type_string(compression_type)
        self.compression_type, self.flush_mode = compression_type, flush_mode
        self.input_buffer_size, self.output_buffer_size = input_buffer_size, output_buffer_size
        self.window_bits, self.compression_level = window_bits, compression_level
        self.compression_method, self.mem_level = compression_method, mem_level
        self.compression_strategy = compression_strategy

    def _settings(self) -> Compression:
        return Compression(self.get_compression_type_string(self), self.compression_level, self.window_bits,
                           self.compression_method, self.mem_level, self.compression_strategy, self.flush_mode)

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """The kind as a string, of a TFRecordOptions, a member of TFRecordCompressionType, a string or None."""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if not options:
            return ""
        kind = _NAMES.get(options, options)
        if kind not in _NAMES.values():
            raise ValueError(f'Not a valid compression_type: "{options}"')
        return str(kind)


class TFRecordWriter:
    """Writes strings of bytes as the records of a file: `with tf.python_io.TFRecordWriter(path) as writer: ...`

    Raises errors of tf.errors, FailedPreconditionError after `close`; ValueError for settings that zlib refuses.
    options: TFRecordOptions, or a compression type.

    >>> with tf.python_io.TFRecordWriter("data.tfrecord") as writer:
    ...     writer.write(b"first")
    ...     writer.write(b"second")
    >>> list(tf.python_io.tf_record_iterator("data.tfrecord"))
    [b'first', b'second']
    """

    def __init__(self, path: str | Path, options: Any = None) -> None:
        self._writer = RecordWriter(os.fspath(path), options._settings() if isinstance(options, TFRecordOptions)
                                    else TFRecordOptions.get_compression_type_string(options))

    def write(self, record: bytes) -> None:
        """Append a record."""
        self._writer.write(record)

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        self._writer.flush()

    def close(self) -> None:
        """End the file."""
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


def tf_record_iterator(path: str | Path, options: Any = None) -> Iterator[bytes]:
    """Return an iterator over the records of a TFRecord file. Raises NotFoundError, and DataLossError as it is read.

    path: the file; options: TFRecordOptions, or a compression type.

    >>> with tf.python_io.TFRecordWriter("data.tfrecord") as writer:
    ...     writer.write(b"first")
    >>> list(tf.python_io.tf_record_iterator("data.tfrecord"))
    [b'first']
    """
    return read_records(os.fspath(path), TFRecordOptions.get_compression_type_string(options))
