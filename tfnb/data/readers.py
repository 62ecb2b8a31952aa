"""Datasets of the records of files."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import DATASETS, describe
from tfnb.core.shape import TensorShape
from tfnb.data.dataset import Dataset
from tfnb.data.structure import Component
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.data import datasets as ops

_STRING = Component(dtypes.string, TensorShape([]))
_BUFFER = 256 * 1024                               # official: bytes read at a time


def text(value: Any, name: str) -> Tensor:
    """Return a string tensor; "" for None."""
    tensor: Tensor = convert_to_tensor("" if value is None else value, dtype=dtypes.string, name=name)
    return tensor


def _int(value: Any, default: int, name: str) -> Tensor:
    tensor: Tensor = convert_to_tensor(default if value is None else value, dtype=dtypes.int64, name=name)
    return tensor


def _of_names(filenames: Any, parallel: Any, read: Callable[[Any], Tensor]) -> Tensor:
    """The variant of a dataset of files; with `parallel`, that many in turns."""
    names = filenames if isinstance(filenames, Dataset) else None
    if names is None and parallel is None:
        return read(text(filenames, "filenames"))
    if names is None:
        names = Dataset.from_tensor_slices(convert_to_tensor(filenames, dtype=dtypes.string))

    def of_one(name: Tensor) -> Dataset:
        return Dataset(read(name), _STRING)
    made = names.flat_map(of_one) if parallel is None else names.interleave(of_one, parallel, 1, parallel)
    return made._variant_tensor


class TextLineDataset(Dataset):
    """The lines of text files, without their ends, as string scalars.

    filenames: a name or several, or a dataset of names; compression_type: "", "ZLIB" or "GZIP"; num_parallel_reads:
    files to read in turns. buffer_size has no meaning here.

    >>> with tf.gfile.GFile("notes.txt", "w") as file:
    ...     file.write("first" + chr(10) + "second")
    >>> line = tf.data.TextLineDataset("notes.txt").make_one_shot_iterator().get_next()
    >>> sess.run(line), sess.run(line)
    (b'first', b'second')
    """

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None,
                 num_parallel_reads: Any = None) -> None:
        kind, size = text(compression_type, "compression_type"), _int(buffer_size, _BUFFER, "buffer_size")
        super().__init__(_of_names(filenames, num_parallel_reads, lambda names: ops.TextLineDataset(names, kind, size)),
                         _STRING)


class TFRecordDataset(Dataset):
    """The records of TFRecord files, as string scalars. For the arguments see TextLineDataset.

    >>> with tf.python_io.TFRecordWriter("data.tfrecord") as writer:
    ...     writer.write(b"first")
    >>> record = tf.data.TFRecordDataset("data.tfrecord").make_one_shot_iterator().get_next()
    >>> sess.run(record)
    b'first'
    """

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None,
                 num_parallel_reads: Any = None) -> None:
        kind, size = text(compression_type, "compression_type"), _int(buffer_size, _BUFFER, "buffer_size")
        super().__init__(_of_names(filenames, num_parallel_reads, lambda names: ops.TFRecordDataset(names, kind, size)),
                         _STRING)


class FixedLengthRecordDataset(Dataset):
    """The records of `record_bytes` bytes of files, as string scalars.

    header_bytes, footer_bytes: to be left out of each file. For the other arguments see TextLineDataset.

    >>> with tf.gfile.GFile("digits.bin", "wb") as file:
    ...     file.write(b"001122")
    >>> record = tf.data.FixedLengthRecordDataset("digits.bin", record_bytes=2).make_one_shot_iterator().get_next()
    >>> sess.run(record), sess.run(record)
    (b'00', b'11')
    """

    def __init__(self, filenames: Any, record_bytes: Any, header_bytes: Any = None, footer_bytes: Any = None,
                 buffer_size: Any = None, compression_type: Any = None, num_parallel_reads: Any = None) -> None:
        sizes = [_int(header_bytes, 0, "header_bytes"), _int(record_bytes, 0, "record_bytes"),
                 _int(footer_bytes, 0, "footer_bytes"), _int(buffer_size, _BUFFER, "buffer_size")]
        kind = text(compression_type, "compression_type")
        super().__init__(_of_names(filenames, num_parallel_reads,
                                   lambda names: ops.FixedLengthRecordDatasetV2(names, *sizes, kind)), _STRING)


describe(globals(), DATASETS)
