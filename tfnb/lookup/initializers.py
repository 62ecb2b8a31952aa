"""Initializers of static lookup tables: from tensors, and from the lines of text files."""
from __future__ import annotations

from typing import Any

from tfnb.core import dtypes
from tfnb.core.dtypes import DType
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import get_default_graph, name_scope
from tfnb.ops.data_flow import table_ops as ops


class TableInitializerBase:
    """Base of the initializers of lookup tables.

    key_dtype, value_dtype: of the table to fill.

    >>> issubclass(tf.lookup.TextFileInitializer, tf.contrib.lookup.TableInitializerBase)
    True
    """

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype, self._value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """The dtype of keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of values."""
        return self._value_dtype

    @property
    def _shared_name(self) -> str:
        """The name by which tables with this content are one; "" for none."""
        return ""

    def initialize(self, table: Any) -> Operation:
        """Return an op that fills `table`, and add it to the collection TABLE_INITIALIZERS. Subclasses define it."""
        raise NotImplementedError

    def _check(self, table: Any) -> None:
        for what, ours, theirs in (("key", self._key_dtype, table.key_dtype),
                                   ("value", self._value_dtype, table.value_dtype)):
            if ours.base_dtype != theirs.base_dtype:
                raise TypeError(f"Invalid {what} dtype for table: expected {theirs.name}, got {ours.name}")


def _collected(op: Operation) -> Operation:
    get_default_graph().add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
    return op


class KeyValueTensorInitializer(TableInitializerBase):
    """Initializer of a lookup table with two tensors.

    keys, values: vectors of one size, tensors or values of such. key_dtype, value_dtype: to convert them to; name: the
    scope of its op, "key_value_init" by default.

    >>> numbers = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2], value_dtype=tf.int64)
    >>> table = tf.lookup.StaticHashTable(numbers, default_value=-1)
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(table.lookup(tf.constant(["b", "c"])))
    array([ 2, -1])
    """

    def __init__(self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None,
                 name: str | None = None) -> None:
        with get_default_graph().control_dependencies(None):
            self._keys: Tensor = convert_to_tensor(keys, dtype=key_dtype, name="keys")
            self._values: Tensor = convert_to_tensor(values, dtype=value_dtype, name="values")
        self._name = name if name is not None else "key_value_init"
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: Any) -> Operation:
        """Return an op that fills `table`. Raises TypeError for a table of other dtypes."""
        self._check(table)
        with name_scope(self._name, values=[table.resource_handle, self._keys, self._values]):
            return _collected(ops.LookupTableImportV2(table.resource_handle, self._keys, self._values))


class TextFileIndex:
    """Parts of a line of a text file that are no columns: all of it, and its number.

    >>> tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
    (-2, -1)
    """

    WHOLE_LINE = ops.WHOLE_LINE
    LINE_NUMBER = ops.LINE_NUMBER


class TextFileInitializer(TableInitializerBase):
    r"""Initializer of a lookup table with the lines of a text file.

    filename: a path, or a string tensor with one. key_dtype, value_dtype: of the table. key_index, value_index: the
    number of a column from 0, or TextFileIndex.WHOLE_LINE or LINE_NUMBER (int64, from 0). vocab_size: the number
    of lines to read, all by default. delimiter: the character between columns; name: the scope of its op,
    "text_file_init" by default. The file is an asset of the graph (ASSET_FILEPATHS), which a SavedModel keeps.

    Raises ValueError for indices and dtypes that don't fit. Its op raises NotFoundError, or InvalidArgumentError for
    lines with too few columns, fields of another dtype, and fewer than vocab_size lines.

    >>> with open("kings.txt", "w") as file:
    ...     n = file.write("alice 5\nbob 7\n")
    >>> scores = tf.lookup.TextFileInitializer("kings.txt", tf.string, 0, tf.int64, 1, delimiter=" ")
    >>> table = tf.lookup.StaticHashTable(scores, default_value=0)
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(table.lookup(tf.constant(["bob", "carol"])))
    array([7, 0])
    """

    def __init__(self, filename: Any, key_dtype: Any, key_index: int, value_dtype: Any, value_index: int,
                 vocab_size: int | None = None, delimiter: str = "\t", name: str | None = None) -> None:
        if not isinstance(filename, Tensor) and not filename:
            raise ValueError("TextFileInitializer expects a filename, got an empty one")
        super().__init__(key_dtype, value_dtype)
        for what, index, dtype in (("key", key_index, self._key_dtype), ("value", value_index, self._value_dtype)):
            if index < ops.WHOLE_LINE:
                raise ValueError(f"`{what}_index` must be -2 or more, got {index}")
            if index == ops.LINE_NUMBER and dtype != dtypes.int64:
                raise ValueError(f"Signature mismatch. `{what}_dtype` must be int64 for line numbers, got {dtype.name}")
            if index == ops.WHOLE_LINE and dtype != dtypes.string and (what == "value" or not dtype.is_integer):
                raise ValueError(f"Signature mismatch. `{what}_dtype` must be string for whole lines, got {dtype.name}")
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"`vocab_size` must be positive, got {vocab_size}")
        self._arg, self._columns, self._size = filename, (key_index, value_index), vocab_size
        self._delimiter, self._name = delimiter, name
        with get_default_graph().control_dependencies(None):
            self._filename: Tensor = convert_to_tensor(filename, dtype=dtypes.string, name="asset_path")
        get_default_graph().add_to_collection(GraphKeys.ASSET_FILEPATHS, self._filename)

    @property
    def _shared_name(self) -> str:
        size = [] if self._size is None else [self._size]
        path = self._arg.name if isinstance(self._arg, Tensor) else self._arg
        return "_".join(str(part) for part in ("hash_table", path, *size, *self._columns))

    def initialize(self, table: Any) -> Operation:
        """Return an op that fills `table`. Raises TypeError for a table of other dtypes."""
        self._check(table)
        with name_scope(self._name, "text_file_init", [table.resource_handle]):
            return _collected(ops.InitializeTableFromTextFileV2(
                table.resource_handle, self._filename, *self._columns, vocab_size=self._size or -1,
                delimiter=self._delimiter))


class TextFileStringTableInitializer(TextFileInitializer):
    """Initializer from a text file of a table from int64 to strings, by default from the numbers of lines to lines.

    filename, vocab_size, delimiter, name: as for TextFileInitializer. key_column_index, value_column_index: of columns.

    >>> with open("words.txt", "w") as file:
    ...     n = file.write("emerson\\nlake\\n")
    >>> names = tf.contrib.lookup.TextFileStringTableInitializer("words.txt")
    >>> table = tf.contrib.lookup.HashTable(names, "unknown")
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(table.lookup(tf.constant([1, 5], tf.int64)))
    array([b'lake', b'unknown'], dtype=object)
    """

    def __init__(self, filename: Any, key_column_index: int = TextFileIndex.LINE_NUMBER,
                 value_column_index: int = TextFileIndex.WHOLE_LINE, vocab_size: int | None = None,
                 delimiter: str = "\t", name: str | None = "text_file_string_table_init") -> None:
        super().__init__(filename, dtypes.int64, key_column_index, dtypes.string, value_column_index, vocab_size,
                         delimiter, name)


class TextFileIdTableInitializer(TextFileInitializer):
    """Initializer from a text file of a table to int64, by default from lines to their numbers.

    filename, vocab_size, delimiter, name, key_dtype: as for TextFileInitializer. key_column_index,
    value_column_index: of columns.

    >>> with open("words.txt", "w") as file:
    ...     n = file.write("emerson\\nlake\\n")
    >>> numbers = tf.contrib.lookup.TextFileIdTableInitializer("words.txt")
    >>> table = tf.contrib.lookup.HashTable(numbers, -1)
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(table.lookup(tf.constant(["lake", "sea"])))
    array([ 1, -1])
    """

    def __init__(self, filename: Any, key_column_index: int = TextFileIndex.WHOLE_LINE,
                 value_column_index: int = TextFileIndex.LINE_NUMBER, vocab_size: int | None = None,
                 delimiter: str = "\t", name: str | None = "text_file_id_table_init",
                 key_dtype: Any = dtypes.string) -> None:
        super().__init__(filename, key_dtype, key_column_index, dtypes.int64, value_column_index, vocab_size, delimiter,
                         name)
