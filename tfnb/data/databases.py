"""Datasets of random integers and of databases, and files of records that datasets write."""
from __future__ import annotations

from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import DATASETS, describe
from tfnb.core.shape import TensorShape
from tfnb.data import structure
from tfnb.data.dataset import Dataset, seeds
from tfnb.data.readers import text
from tfnb.data.structure import Component
from tfnb.graph.parts.operation import Operation
from tfnb.ops.data import databases as ops


class RandomDataset(Dataset):
    """Random integers in [0, 2^32), int64 scalars without end, TensorFlow's for the same seeds.

    seed: see tf.set_random_seed.

    >>> tf.set_random_seed(5)
    >>> number = tf.data.experimental.RandomDataset(seed=1).make_one_shot_iterator().get_next()
    >>> sess.run(number), sess.run(number)
    (1664195124, 1407176791)
    """

    def __init__(self, seed: Any = None) -> None:
        element = Component(dtypes.int64, TensorShape([]))
        super().__init__(ops.RandomDataset(*seeds(seed), **structure.attrs(element)), element)


class SqlDataset(Dataset):
    """The rows that a query finds in a database: a tuple of scalars each, a component for each column.

    driver_name: "sqlite". data_source_name: the path of the database. query: in SQL, SELECT ... output_types: a tuple
    of tf.string, tf.bool, tf.float64 and integer dtypes; NULL is 0 or "". Iterators raise InvalidArgumentError for
    other dtypes or another number of columns, UnknownError for what SQLite refuses.

    >>> import sqlite3
    >>> connection = sqlite3.connect("birds.db")
    >>> with connection:
    ...     done = connection.executescript("CREATE TABLE birds (name TEXT, legs INT);"
    ...                                     "INSERT INTO birds VALUES ('owl', 2), ('wren', 2)")
    >>> connection.close()
    >>> dataset = tf.data.experimental.SqlDataset(
    ...     "sqlite", "birds.db", "SELECT name, legs FROM birds", (tf.string, tf.int32))
    >>> bird = dataset.make_one_shot_iterator().get_next()
    >>> sess.run(bird), sess.run(bird)
    ((b'owl', 2), (b'wren', 2))
    """

    def __init__(self, driver_name: Any, data_source_name: Any, query: Any, output_types: Any) -> None:
        element = structure.convert(lambda c: Component(c.dtype, TensorShape([])), structure.of(output_types))
        super().__init__(ops.SqlDataset(
            text(driver_name, "driver_name"), text(data_source_name, "data_source_name"), text(query, "query"),
            **structure.attrs(element)), element)


class TFRecordWriter:
    """Writer of the elements of a dataset of strings as a TFRecord file.

    filename: the path. compression_type: "", "ZLIB" or "GZIP"; None: "".

    >>> dataset = tf.data.Dataset.from_tensor_slices(["a", "b"])
    >>> sess.run(tf.data.experimental.TFRecordWriter("some.tfrecord").write(dataset))
    >>> list(tf.python_io.tf_record_iterator("some.tfrecord"))
    [b'a', b'b']
    """

    def __init__(self, filename: Any, compression_type: Any = None) -> None:
        self._filename = text(filename, "filename")
        self._compression_type = text(compression_type, "compression_type")

    def write(self, dataset: Any) -> Operation:
        """Return the op that writes all elements. Raises TypeError for a dataset of others than string scalars."""
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`dataset` must be a `tf.data.Dataset` object, got {dataset!r}")
        element = dataset._element
        if structure.is_structure(element) or element.dtype != dtypes.string or element.wrap is not None or \
                not element.shape.is_compatible_with([]):
            raise TypeError("`dataset` must produce scalar `DT_STRING` tensors whereas it produces shape "
                            f"{dataset.output_shapes} and types {dataset.output_types}")
        made: Operation = ops.DatasetToTFRecord(dataset._variant_tensor, self._filename, self._compression_type)
        return made


describe(globals(), DATASETS)
