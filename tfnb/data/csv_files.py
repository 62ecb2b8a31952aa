"""Datasets of comma-separated files: `CsvDataset`, `make_csv_dataset`."""
from __future__ import annotations

import csv
import os
from collections import OrderedDict
from collections.abc import Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import DATASETS, describe
from tfnb.core.files.paths import matching
from tfnb.data.dataset import AUTOTUNE, Dataset
from tfnb.data.readers import TextLineDataset
from tfnb.graph.convert import convert_to_tensor
from tfnb.ops.data import datasets as ops
from tfnb.ops.io.readers import lines
from tfnb.ops.strings.numbers import decode_csv

_KINDS = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string)    # official: tried in this order


class CsvDataset(Dataset):
    """The rows of CSV files, as tuples of scalars. A record ends with its line, also between quotes.

    filenames: a name or several, or a dataset of names; record_defaults: for each column its dtype, if each row must
    have a value, or a vector of the value where there is none; header: leave out the first line of each file;
    field_delim: between fields; use_quote_delim: whether quotes hold a field together; na_value: what stands for no
    value; select_cols: the numbers of the columns to take, in order. Iterators raise InvalidArgumentError for what is
    no row. buffer_size has no meaning here.

    >>> with tf.gfile.GFile("flowers.csv", "w") as file:
    ...     written = [file.write(f"{row}" + chr(10)) for row in ("name,petals", "rose,5", "lily,")]
    >>> row = tf.data.experimental.CsvDataset("flowers.csv", [tf.string, [0]], header=True)
    >>> name, petals = row.make_one_shot_iterator().get_next()
    >>> sess.run([name, petals]), sess.run([name, petals])
    ([b'rose', 5], [b'lily', 0])
    """

    def __init__(self, filenames: Any, record_defaults: Sequence[Any], compression_type: Any = None,
                 buffer_size: Any = None, header: bool = False, field_delim: str = ",", use_quote_delim: bool = True,
                 na_value: str = "", select_cols: Sequence[int] | None = None) -> None:
        defaults = _defaults(record_defaults)

        def row(line: Any) -> Any:
            return tuple(decode_csv(line, defaults, field_delim, use_quote_delim, None, na_value, select_cols))
        made = _lines(_names(filenames), compression_type, header).map(row)
        super().__init__(made._variant_tensor, made._element)


def _names(filenames: Any) -> Dataset:
    if isinstance(filenames, Dataset):
        return filenames
    names = convert_to_tensor(filenames, dtype=dtypes.string, name="filenames")
    return Dataset.from_tensors(names) if names.static == () else Dataset.from_tensor_slices(names)


def _lines(names: Dataset, compression_type: Any, header: bool, parallel: int = 1) -> Dataset:
    """The lines of files, without the first of each where that is a header."""
    return names.interleave(lambda name: TextLineDataset(name, compression_type).skip(int(header)), parallel)


def _defaults(given: Sequence[Any]) -> list[Any]:
    """Return a vector for each column, an empty one for those that are given as a dtype: each row has a value."""
    required = [np.empty(0, dtypes.as_dtype(d).as_numpy_dtype) if isinstance(d, (dtypes.DType, type)) else d
                for d in given]
    return [convert_to_tensor(d, name="record_defaults") for d in required]


def make_csv_dataset(file_pattern: Any, batch_size: int, column_names: Sequence[str] | None = None,
                     column_defaults: Sequence[Any] | None = None, label_name: str | None = None,
                     select_columns: Sequence[Any] | None = None, field_delim: str = ",",
                     use_quote_delim: bool = True, na_value: str = "", header: bool = True,
                     num_epochs: int | None = None, shuffle: bool = True, shuffle_buffer_size: int = 10000,
                     shuffle_seed: int | None = None, prefetch_buffer_size: int = AUTOTUNE,
                     num_parallel_reads: int = 1, sloppy: bool = False, num_rows_for_inference: int | None = 100,
                     compression_type: str | None = None, ignore_errors: bool = False) -> Dataset:
    """Batches of the rows of CSV files: dicts of column names to vectors, or pairs of such a dict and the labels.

    file_pattern: a pattern of names of files, or several; column_names: in order, by default those of the first line;
    column_defaults: as `record_defaults` of CsvDataset, by default of the dtypes that the first
    num_rows_for_inference rows have (None: all rows), with 0 and ""; label_name: the column of the labels;
    select_columns: names or numbers of the columns to take; num_epochs: None for ever; shuffle: in random order, of
    rows and of files; ignore_errors: leave out what is no row; sloppy: without effect.

    Raises ValueError for columns that are not there or come twice, and if no file matches.

    >>> with tf.gfile.GFile("flowers.csv", "w") as file:
    ...     written = [file.write(f"{row}" + chr(10)) for row in ("name,petals", "rose,5", "lily,6")]
    >>> batches = tf.data.experimental.make_csv_dataset("flowers.csv", 2, label_name="petals", shuffle=False)
    >>> features, petals = sess.run(batches.make_one_shot_iterator().get_next())
    >>> features["name"], petals
    (array([b'rose', b'lily'], dtype=object), array([5, 6], dtype=int32))
    """
    names = files_of(file_pattern)
    reading = {"delimiter": field_delim, "quoting": csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE}
    if column_names is None:
        if not header:
            raise ValueError("Cannot infer column names without a header line: give `column_names`, or header=True.")
        column_names = next(_rows(names[:1], compression_type, reading), [])
    if len(set(column_names)) != len(column_names):
        raise ValueError(f"Cannot have duplicate column names: {list(column_names)}")
    chosen = None if select_columns is None else _numbers(select_columns, list(column_names))
    if column_defaults is None:
        rows = chain.from_iterable(islice(_rows([name], compression_type, reading), int(header), None)
                                   for name in names)
        column_defaults = _inferred(islice(rows, num_rows_for_inference), len(column_names), chosen, na_value)
    if chosen is not None:
        column_names = [column_names[i] for i in chosen]
    if len(column_defaults) != len(column_names):
        raise ValueError(f"{len(column_names)} columns are taken, but `column_defaults` has {len(column_defaults)}")
    if label_name is not None and label_name not in column_names:
        raise ValueError(f"`label_name` provided must be one of the columns: expected one of {list(column_names)}, "
                         f"got {label_name!r}")
    defaults = _defaults(column_defaults)

    def columns(records: Any) -> Any:
        return tuple(decode_csv(records, defaults, field_delim, use_quote_delim, None, na_value, chosen))

    def named(*values: Any) -> Any:
        features = OrderedDict(zip(column_names, values, strict=True))
        if label_name is None:
            return features
        label = features.pop(label_name)
        return features, label

    found = _lines(shuffled_files(names, shuffle, shuffle_seed), compression_type, header, num_parallel_reads or 1)
    if ignore_errors:
        found = found.map(columns)
        found = found._made(ops.IgnoreErrorsDataset)
    found = repeated(found, shuffle, shuffle_buffer_size, shuffle_seed, num_epochs)
    found = found.batch(batch_size, drop_remainder=num_epochs is None)
    if not ignore_errors:                              # a whole batch at a time
        found = found.map(columns)
    return found.map(named).prefetch(prefetch_buffer_size)


def files_of(file_pattern: Any) -> list[str]:
    """Return the names of the files that match a pattern, or one of several. Raises ValueError if there are none."""
    patterns = [file_pattern] if isinstance(file_pattern, (str, bytes)) or hasattr(file_pattern, "__fspath__") \
        else list(file_pattern)
    found = sorted(name for pattern in patterns for name in matching(pattern))
    if not found:
        raise ValueError(f"No files match `file_pattern` {file_pattern!r}.")
    return found


def shuffled_files(names: Sequence[str], shuffle: bool, seed: int | None) -> Dataset:
    """A dataset of the names of files, with `shuffle` in random order."""
    found = Dataset.from_tensor_slices(list(names))
    return found.shuffle(len(names), seed) if shuffle else found


def repeated(dataset: Dataset, shuffle: bool, size: int, seed: int | None, epochs: int | None) -> Dataset:
    """The elements of a dataset for some epochs, with `shuffle` each in another order."""
    found = dataset.shuffle(size, seed) if shuffle else dataset
    return found if epochs == 1 else found.repeat(epochs)


def _rows(names: Sequence[str], compression: str | None, reading: dict[str, Any]) -> Any:
    for name in names:
        records = lines(0, compression or "")(os.fsencode(name))
        yield from csv.reader((line.decode("utf-8", "surrogateescape") for _, line in records), **reading)


def _numbers(selected: Sequence[Any], names: list[str]) -> list[int]:
    """Return the numbers of columns, in order. Raises ValueError for those that are not there or come twice."""
    for column in selected:
        if column not in names if isinstance(column, str) else not 0 <= column < len(names):
            raise ValueError(f"`select_columns` has {column!r}, which is no column: expected names of {names}, or "
                             f"numbers below {len(names)}")
    found = sorted(names.index(column) if isinstance(column, str) else int(column) for column in selected)
    if len(set(found)) != len(found):
        raise ValueError(f"`select_columns` has a column twice: {list(selected)}")
    return found


def _inferred(rows: Any, count: int, chosen: Sequence[int] | None, na_value: str) -> list[Any]:
    """Return a default for each column, of the first dtype that all its fields fit."""
    kinds: list[int | None] = [None] * count
    for row in rows:
        if len(row) != count:
            raise ValueError(f"Problem inferring types: expected {count} fields in each row, got {len(row)}: {row}")
        for i, text in enumerate(row):
            if text not in ("", na_value):
                kinds[i] = next(k for k in range(kinds[i] or 0, len(_KINDS)) if _fits(text, _KINDS[k]))
    types = [_KINDS[-1 if k is None else k] for k in kinds]
    return [[""] if types[i] == dtypes.string else np.zeros(1, types[i].as_numpy_dtype)
            for i in (range(count) if chosen is None else chosen)]


def _fits(text: str, dtype: Any) -> bool:
    """Return whether a field is a number of a dtype; all are strings."""
    try:
        if dtype.is_integer:
            return bool(dtype.min <= int(text) <= dtype.max)
        return dtype == dtypes.string or bool(-dtype.max < float(text) < dtype.max)
    except ValueError:
        return False


describe(globals(), DATASETS)
