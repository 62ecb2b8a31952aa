"""Vocabularies: tables from words to numbers, with hash buckets for words that are not in them, and back."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from tfnb.core import dtypes
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.lookup.initializers import (
    KeyValueTensorInitializer,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileStringTableInitializer,
)
from tfnb.lookup.static import LookupInterface, OpTable, StaticHashTable
from tfnb.ops.array.create import range_
from tfnb.ops.array.reshape import size
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.control.group import no_op
from tfnb.ops.control.source import constant
from tfnb.ops.math.arithmetic import Add
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import NotEqual, where
from tfnb.ops.strings.hashing import string_to_hash_bucket_fast, string_to_hash_bucket_strong
from tfnb.ops.strings.numbers import as_string


class HasherSpec(NamedTuple):
    """Hash function for words that are not in a vocabulary.

    hasher: "fasthash", FarmHash's Fingerprint64, or "stronghash", SipHash; key: of the second one, two integers.

    >>> tf.contrib.lookup.HasherSpec("fasthash", None) == tf.contrib.lookup.FastHashSpec
    True
    """

    hasher: str
    key: Any


FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """SipHash with a key, so that nobody who doesn't know it can make words that share a bucket.

    key: two integers. Raises ValueError for another number of them, TypeError for other things.

    >>> tf.contrib.lookup.StrongHashSpec([1, 2]).hasher
    'stronghash'
    """

    __slots__ = ()

    def __new__(cls, key: Sequence[int]) -> StrongHashSpec:
        """Check the key."""
        if len(key) != 2:
            raise ValueError(f"key must have size 2, got {key}")
        if not all(isinstance(part, int) for part in key):
            raise TypeError(f"key must be two integers, got {key}")
        return super().__new__(cls, "stronghash", key)


def _hasher(spec: Any) -> Callable[..., Tensor]:
    if not isinstance(spec, HasherSpec):
        raise TypeError(f"hasher_spec must be of type HasherSpec, got {spec}")
    if spec.hasher == "fasthash":
        return string_to_hash_bucket_fast
    if spec.hasher != "stronghash":
        raise ValueError(f"Unknown hasher: expected 'fasthash' or 'stronghash', got {spec.hasher!r}")
    return partial(string_to_hash_bucket_strong, key=spec.key)


class IdTableWithHashBuckets(LookupInterface):
    """Table from words to numbers, with hash buckets for the words that are not in `table`.

    table: one to int64, or None for buckets alone. num_oov_buckets: the number of buckets, which get the numbers after
    those of the table. hasher_spec: FastHashSpec or a StrongHashSpec. name: the start of the names of its ops;
    key_dtype: of keys, by default the table's; integers are hashed as their decimal digits.

    Raises ValueError for no buckets and no table, TypeError for keys that are no strings or integers.

    >>> inner = tf.contrib.lookup.index_table_from_tensor(["emerson", "lake"])
    >>> table = tf.contrib.lookup.IdTableWithHashBuckets(inner, num_oov_buckets=3)
    >>> sess.run(tf.tables_initializer())
    >>> sess.run([table.lookup(tf.constant(["lake", "palmer"])), table.size()])
    [array([1, 2]), 5]
    """

    def __init__(self, table: Any, num_oov_buckets: int, hasher_spec: HasherSpec = FastHashSpec,
                 name: str | None = None, key_dtype: Any = None) -> None:
        default = table.key_dtype if table is not None else dtypes.string
        dtype = default if key_dtype is None else dtypes.as_dtype(key_dtype)
        if dtype != dtypes.string and not dtype.is_integer:
            raise TypeError(f"Invalid key_dtype, expected integer or string, got {dtype.name}")
        if table is None and num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0 if no table is supplied")
        if table is not None:
            if (table.key_dtype == dtypes.string) != (dtype == dtypes.string):
                raise TypeError(f"Invalid key_dtype, expected {table.key_dtype.name}, got {dtype.name}")
            if table.value_dtype != dtypes.int64:
                raise TypeError(f"Invalid value_dtype, expected int64, got {table.value_dtype.name}")
        super().__init__(dtype, dtypes.int64)
        self._table, self._num_oov_buckets, self._hasher = table, num_oov_buckets, _hasher(hasher_spec)
        self._table_name = name.rstrip("/").split("/")[-1] if name else table.name if table is not None \
            else "hash_bucket"

    @property
    def name(self) -> str:
        """The name that those of its ops begin with."""
        return self._table_name

    @property
    def initializer(self) -> Operation:
        """The operation that fills the table; also part of `tf.tables_initializer()`."""
        if self._table is not None:
            made: Operation = self._table.initializer
            return made
        with name_scope(None, "init"):
            return no_op()

    @property
    def init(self) -> Operation:
        """`initializer` under its name in earlier releases."""
        return self.initializer

    @property
    def resource_handle(self) -> Tensor | None:
        """The tensor that holds the inner table; None without one."""
        return None if self._table is None else self._table.resource_handle

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of entries and buckets, an int64 scalar."""
        with name_scope(name, f"{self.name}_Size"):
            inner = self._table.size() if self._table is not None else constant(0, dtypes.int64)
            total: Tensor = inner + self._num_oov_buckets
            return total

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """Return the numbers of words, that of a bucket for those not in the table.

        keys: a tensor of any shape, or a SparseTensor; the result is one, too. Raises TypeError for keys of another
        dtype.
        """
        keys = self._checked_keys(keys)
        values = keys.values if isinstance(keys, SparseTensor) else convert_to_tensor(keys)
        if self._table is not None and self._table.key_dtype == dtypes.int64:
            values = cast(values, dtypes.int64)
        if self._num_oov_buckets == 0:
            ids = self._table.lookup(values, name=name)
        else:
            with name_scope(name, f"{self.name}_Lookup"):
                ids = self._numbered(values)
        return SparseTensor(keys.indices, ids, keys.dense_shape) if isinstance(keys, SparseTensor) else ids

    def _numbered(self, values: Tensor) -> Tensor:
        words = values if values.dtype.base_dtype == dtypes.string else as_string(values)
        buckets = self._hasher(words, num_buckets=self._num_oov_buckets, name="hash_bucket")
        if self._table is None:
            return buckets
        ids = self._table.lookup(values)
        buckets = Add(buckets, self._table.size())
        return where(NotEqual(ids, self._table.default_value), ids, buckets)


class StaticVocabularyTable(IdTableWithHashBuckets):
    """Table from words to numbers: those of the vocabulary, then hash buckets for other words.

    initializer: with the numbers 0, 1, ... as int64 values, or None for buckets alone. num_oov_buckets: the number of
    buckets, at least 1. lookup_key_dtype: of keys, by default the initializer's. name: of the table's op.

    Raises ValueError for no buckets, TypeError for dtypes that don't fit.

    >>> words = tf.lookup.KeyValueTensorInitializer(["emerson", "lake"], [0, 1], value_dtype=tf.int64)
    >>> table = tf.lookup.StaticVocabularyTable(words, num_oov_buckets=3)
    >>> sess.run(tf.tables_initializer())
    >>> sess.run([table.lookup(tf.constant(["lake", "palmer"])), table.size()])
    [array([1, 2]), 5]
    """

    def __init__(self, initializer: Any, num_oov_buckets: int, lookup_key_dtype: Any = None,
                 name: str | None = None) -> None:
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        table = None
        if initializer is not None:
            if initializer.value_dtype != dtypes.int64:
                raise TypeError(f"Invalid value dtype, expected int64, got {initializer.value_dtype.name}.")
            if lookup_key_dtype is not None and dtypes.as_dtype(lookup_key_dtype).is_integer != \
                    initializer.key_dtype.is_integer:
                raise TypeError(f"Invalid key dtype, expected {initializer.key_dtype.name}, got "
                                f"{dtypes.as_dtype(lookup_key_dtype).name}.")
            table = StaticHashTable(initializer, default_value=-1, name=name)
        super().__init__(table, num_oov_buckets, key_dtype=lookup_key_dtype, name=None if table else name)


# ---- tables from lists and files -------------------------------------------------------------------------------------

def _check_oov(num_oov_buckets: int) -> None:
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")


def _check_file(vocabulary_file: Any, vocab_size: int | None) -> None:
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise ValueError(f"vocabulary_file must be a path, got {vocabulary_file!r}")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}.")


def index_table_from_file(vocabulary_file: Any = None, num_oov_buckets: int = 0, vocab_size: int | None = None,
                          default_value: int = -1, hasher_spec: HasherSpec = FastHashSpec,
                          key_dtype: Any = dtypes.string, name: str | None = None,
                          key_column_index: int = TextFileIndex.WHOLE_LINE,
                          value_column_index: int = TextFileIndex.LINE_NUMBER, delimiter: str = "\t") -> Any:
    """Return a table from the words of a file, one a line, to their numbers from 0.

    vocabulary_file: a path or a string tensor with one; vocab_size: the number of its lines to read, all by default.
    num_oov_buckets: the number of hash buckets for other words, whose numbers follow; without any they get
    default_value. hasher_spec: of the buckets; key_dtype: string or integer. key_column_index, value_column_index,
    delimiter: as for `tf.lookup.TextFileInitializer`; name: the scope of its ops, "string_to_index" by default.

    Raises ValueError for a missing path and sizes below 0, TypeError for keys that are no strings or integers.

    >>> with open("words.txt", "w") as file:
    ...     n = file.write("emerson\\nlake\\n")
    >>> table = tf.contrib.lookup.index_table_from_file("words.txt", num_oov_buckets=1)
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(table.lookup(tf.constant(["lake", "sea"])))
    array([1, 2])
    """
    _check_file(vocabulary_file, vocab_size)
    _check_oov(num_oov_buckets)
    dtype = dtypes.as_dtype(key_dtype)
    if dtype != dtypes.string and not dtype.is_integer:
        raise TypeError(f"Only integer and string keys are supported, got {dtype.name}.")
    with name_scope(name, "string_to_index"):
        with name_scope(None, "hash_table"):
            words = TextFileIdTableInitializer(
                vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter, "table_init",
                dtypes.int64 if dtype.is_integer else dtype)
            table = StaticHashTable(words, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, dtype)


def _with_buckets(table: OpTable, buckets: int, spec: HasherSpec, dtype: Any) -> Any:
    return IdTableWithHashBuckets(table, buckets, spec, key_dtype=dtype) if buckets else table


def index_table_from_tensor(mapping: Any, num_oov_buckets: int = 0, default_value: int = -1,
                            hasher_spec: HasherSpec = FastHashSpec, dtype: Any = dtypes.string,
                            name: str | None = None) -> Any:
    """Return a table from the words of a vector to their positions.

    mapping: a vector of strings or integers without duplicates; dtype: of keys. num_oov_buckets, default_value,
    hasher_spec, name: as for index_table_from_file. Raises ValueError for no mapping, a negative number of buckets,
    and keys of another kind than `dtype`.

    >>> table = tf.contrib.lookup.index_table_from_tensor(["emerson", "lake", "palmer"], num_oov_buckets=1)
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(table.lookup(tf.constant(["lake", "and", "palmer"])))
    array([1, 3, 2])
    """
    if mapping is None:
        raise ValueError("mapping must be a vector of words, got None")
    _check_oov(num_oov_buckets)
    dtype = dtypes.as_dtype(dtype)
    if dtype != dtypes.string and not dtype.is_integer:
        raise TypeError(f"Only integer and string keys are supported, got {dtype.name}.")
    with name_scope(name, "string_to_index"):
        keys = convert_to_tensor(mapping)
        if keys.dtype.is_integer != dtype.is_integer:
            raise ValueError(f"Expected keys of dtype {dtype.name}, got {keys.dtype.name}.")
        numbers = cast(range_(size(keys)), dtypes.int64)
        with name_scope(None, "hash_table"):
            pairs = KeyValueTensorInitializer(cast(keys, dtypes.int64) if keys.dtype.is_integer else keys, numbers,
                                              name="table_init")
            table = StaticHashTable(pairs, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, dtype)


def index_to_string_table_from_file(vocabulary_file: Any, vocab_size: int | None = None, default_value: Any = "UNK",
                                    name: str | None = None, key_column_index: int = TextFileIndex.LINE_NUMBER,
                                    value_column_index: int = TextFileIndex.WHOLE_LINE, delimiter: str = "\t") -> Any:
    """Return a table from numbers (int64, from 0) to the words of a file, one a line.

    vocabulary_file: a path or a string tensor with one; vocab_size: the number of its lines to read, all by default.
    default_value: of other numbers. key_column_index, value_column_index, delimiter: as for
    `tf.lookup.TextFileInitializer`; name: the scope of its ops, "index_to_string" by default. Raises ValueError for a
    missing path and a vocab_size below 1.

    >>> with open("words.txt", "w") as file:
    ...     n = file.write("emerson\\nlake\\n")
    >>> table = tf.contrib.lookup.index_to_string_table_from_file("words.txt")
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(table.lookup(tf.constant([1, 5], tf.int64)))
    array([b'lake', b'UNK'], dtype=object)
    """
    _check_file(vocabulary_file, vocab_size)
    with name_scope(name, "index_to_string"):
        words = TextFileStringTableInitializer(vocabulary_file, key_column_index, value_column_index, vocab_size,
                                               delimiter, "table_init")
        return StaticHashTable(words, default_value)


def index_to_string_table_from_tensor(mapping: Any, default_value: Any = "UNK", name: str | None = None) -> Any:
    """Return a table from positions (int64) in a vector of words to the words.

    mapping: a vector of strings; default_value: of other positions; name: the scope of its ops, "index_to_string" by
    default. Raises ValueError for no mapping.

    >>> table = tf.contrib.lookup.index_to_string_table_from_tensor(["emerson", "lake"])
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(table.lookup(tf.constant([1, 5], tf.int64)))
    array([b'lake', b'UNK'], dtype=object)
    """
    if mapping is None:
        raise ValueError("mapping must be a vector of words, got None")
    with name_scope(name, "index_to_string"):
        words = convert_to_tensor(mapping, dtype=dtypes.string)
        numbers = cast(range_(size(words)), dtypes.int64)
        return StaticHashTable(KeyValueTensorInitializer(numbers, words, name="table_init"), default_value)


def string_to_index(tensor: Any, mapping: Any, default_value: int = -1, name: str | None = None) -> Tensor:
    """Return the positions (int64) of strings in a vector of words; see index_table_from_tensor.

    tensor: strings of any shape; mapping: the words; default_value: of other strings; name: the scope of its ops.

    >>> ids = tf.contrib.lookup.string_to_index(tf.constant(["lake", "sea"]), ["emerson", "lake"])
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(ids)
    array([ 1, -1])
    """
    ids: Tensor = index_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)
    return ids


def index_to_string(tensor: Any, mapping: Any, default_value: Any = "UNK", name: str | None = None) -> Tensor:
    """Return the words at positions (int64) of a vector; see index_to_string_table_from_tensor.

    tensor: positions, of any shape; mapping: the words; default_value: of other positions; name: the scope of its ops.

    >>> words = tf.contrib.lookup.index_to_string(tf.constant([1, 5], tf.int64), ["emerson", "lake"])
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(words)
    array([b'lake', b'UNK'], dtype=object)
    """
    words: Tensor = index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)
    return words
