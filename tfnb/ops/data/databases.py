"""Datasets of random integers and of the rows of databases; datasets as files of records."""
from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.errors import InvalidArgumentError, UnknownError
from tfnb.core.files.paths import local
from tfnb.kernels.arrays.philox import words
from tfnb.ops.data.datasets import OUTPUTS, compression_of, source_of
from tfnb.ops.data.steps import Elements, Source, as_handle
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host
from tfnb.proto.records import RecordWriter

_SQL_TYPES = ("string", "int8", "int16", "int32", "int64", "uint8", "uint16", "bool", "float64")


@host("seed: int64, seed2: int64 -> handle: variant", shape=shapes.scalar, stateful=True, **OUTPUTS,
      metadata="string = ''")
def RandomDataset(seed: Any, seed2: Any) -> Any:
    """Create a dataset of random integers in [0, 2^32), without end, the same for each iterator."""
    first, second = int(seed), int(seed2)
    return as_handle(Source(lambda: ((np.array(word, np.int64),) for word in words(first, second)), True))


def _reader(dtype: Any) -> Callable[[Any], np.ndarray]:
    """Return what makes an array of a value of SQLite, converted as SQLite does; NULL is 0 or "" ."""
    kind = np.dtype(object) if dtype == dtypes.string else np.dtype(dtype.as_numpy_dtype)

    def read(value: Any) -> np.ndarray:
        if kind.hasobject:
            data = b"" if value is None else value if isinstance(value, bytes) else str(value).encode()
            return np.array(data, object)
        try:
            number = float(value or 0)
        except ValueError:                          # a text that is no number
            number = 0.0
        if kind.kind == "f":
            return np.array(number, kind)
        whole = value if isinstance(value, int) else int(number)
        return np.array(bool(whole)) if kind.kind == "b" else np.array(whole, object).astype(np.int64).astype(kind)
    return read


@host("driver_name: string, data_source_name: string, query: string -> handle: variant", shape=shapes.scalar,
      stateful=True, **OUTPUTS)
def SqlDataset(driver_name: Any, data_source_name: Any, query: Any, *, output_types: Any, output_shapes: Any,
               ctx: Any) -> Any:
    """Create a dataset of the rows that a query finds in a database of SQLite, a column for each component."""
    if driver_name[()] != b"sqlite":
        raise InvalidArgumentError(None, ctx.op, f"The database type, {driver_name[()].decode()}, is not supported by "
                                                 "SqlDataset. The set of supported databases is: {'sqlite'}.")
    if any(dtype.name not in _SQL_TYPES for dtype in output_types):
        raise InvalidArgumentError(None, ctx.op, f"Each element of `output_types_` must be one of: "
                                                 f"{', '.join(_SQL_TYPES)}, got {[t.name for t in output_types]}")
    if any(static != () for static in output_shapes):
        raise InvalidArgumentError(None, ctx.op, f"Each element of `output_shapes_` must be a scalar, got "
                                                 f"{output_shapes}")
    path, text = local(os.fsdecode(data_source_name[()])), query[()].decode()
    readers = [_reader(dtype) for dtype in output_types]

    def start() -> Elements:
        if not os.path.exists(path):
            raise InvalidArgumentError(None, ctx.op, f"Sqlite::Open(): no such database {path!r}")
        with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
            try:
                rows = connection.execute(text)
                columns = 0 if rows.description is None else len(rows.description)
                if columns != len(readers):
                    raise InvalidArgumentError(
                        None, ctx.op, f"The number of columns in query ({columns}) must match the number of elements "
                                      f"in output_types ({len(readers)}).")
                yield from (tuple([read(value) for read, value in zip(readers, row, strict=True)]) for row in rows)
            except sqlite3.Error as error:
                raise UnknownError(None, ctx.op, f"{error}: {text}") from None
    return as_handle(Source(start, True))


@host("input_dataset: variant, filename: string, compression_type: string ->", shape=lambda ctx: [], stateful=True,
      role="iterator")
def DatasetToTFRecord(input_dataset: Any, filename: Any, compression_type: Any, *, ctx: Any) -> Any:
    """Write the elements of a dataset, strings, to a file as records."""
    with RecordWriter(local(os.fsdecode(filename[()])), compression_of(ctx, compression_type)) as writer:
        for element in source_of(input_dataset).start():
            writer.write(element[0][()])
    return ()


for _op in (RandomDataset, SqlDataset, DatasetToTFRecord):
    _op.no_gradient("datasets are not differentiable")
