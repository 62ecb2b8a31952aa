"""TFRecord files for programs: `tf.python_io`."""
from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tfnb.proto.records import RecordWriter, read_records


class TFRecordCompressionType:
    """How a TFRecord file may be compressed."""

    NONE, ZLIB, GZIP = 0, 1, 2


_NAMES = {TFRecordCompressionType.NONE: "", TFRecordCompressionType.ZLIB: "ZLIB", TFRecordCompressionType.GZIP: "GZIP"}


class TFRecordOptions:
    """How a TFRecord file is compressed: a member of TFRecordCompressionType, "", "ZLIB" or "GZIP".

    The other arguments tune zlib; they are accepted without effect. Raises ValueError for another kind.
    """

    compression_type_map = _NAMES

    def __init__(self, compression_type: Any = None, flush_mode: Any = None, input_buffer_size: Any = None,
                 output_buffer_size: Any = None, window_bits: Any = None, compression_level: Any = None,
                 compression_method: Any = None, mem_level: Any = None, compression_strategy: Any = None) -> None:
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type

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
    """Writes strings of bytes as the records of a file: `with tf.python_io.TFRecordWriter(path) as writer: ...`"""

    def __init__(self, path: str | Path, options: Any = None) -> None:
        self._writer = RecordWriter(os.fspath(path), TFRecordOptions.get_compression_type_string(options))

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
    """The records of a TFRecord file. Raises NotFoundError, DataLossError when they are read."""
    return read_records(os.fspath(path), TFRecordOptions.get_compression_type_string(options))
