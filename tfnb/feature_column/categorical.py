"""Categorical columns of one feature: ids of words and integers."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfnb.control_flow.assertions import assert_greater_equal, assert_less
from tfnb.core import dtypes
from tfnb.core.dtypes import DType
from tfnb.core.files.os_errors import os_errors
from tfnb.core.files.paths import local
from tfnb.core.program.log import info
from tfnb.feature_column.column import (
    CategoricalColumn,
    FeatureCache,
    Variables,
    check_key,
    check_string_or_int,
    to_sparse,
)
from tfnb.graph.stack import control_dependencies
from tfnb.lookup.vocabulary import index_table_from_file, index_table_from_tensor
from tfnb.ops.array.create import fill
from tfnb.ops.array.reshape import identity, shape
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.control.source import constant
from tfnb.ops.declaration.raw import raw
from tfnb.ops.io.parsing import VarLenFeature
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import where
from tfnb.ops.strings.hashing import string_to_hash_bucket_fast
from tfnb.ops.strings.numbers import as_string


class KeyColumn(CategoricalColumn):
    """Categorical column of one feature, which protos hold in any number."""

    key: str
    dtype: DType

    @property
    def name(self) -> str:
        """The key."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """A feature of any number of values."""
        return {self.key: VarLenFeature(self.dtype)}

    def transform_feature(self, cache: FeatureCache, variables: Variables | None = None) -> SparseTensor:
        """Return the ids. Raises ValueError for a feature of another kind of dtype."""
        return self._ids(to_sparse(cache.get(self.key, variables)))

    def _ids(self, values: SparseTensor) -> SparseTensor:
        raise NotImplementedError

    def _check_dtype(self, values: SparseTensor) -> None:
        check_string_or_int(values.dtype, f"column_name: {self.key} input_tensor")
        if self.dtype.is_integer != values.dtype.is_integer:
            raise ValueError("Column dtype and SparseTensors dtype must be compatible. "
                             f"key: {self.key}, column dtype: {self.dtype}, tensor dtype: {values.dtype}")


def with_values(sparse: SparseTensor, values: Any) -> SparseTensor:
    """Return a sparse tensor with other values."""
    return SparseTensor(sparse.indices, values, sparse.dense_shape)


# ---- hash buckets ----------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class HashedCategoricalColumn(KeyColumn):
    """See categorical_column_with_hash_bucket."""

    key: str
    hash_bucket_size: int
    dtype: DType

    @property
    def num_buckets(self) -> int:
        """The number of hash buckets."""
        return self.hash_bucket_size

    def _ids(self, values: SparseTensor) -> SparseTensor:
        self._check_dtype(values)
        words = values.values if self.dtype == dtypes.string else as_string(values.values)
        return with_values(values, string_to_hash_bucket_fast(words, self.hash_bucket_size, name="lookup"))


def categorical_column_with_hash_bucket(key: str, hash_bucket_size: int,
                                        dtype: Any = dtypes.string) -> HashedCategoricalColumn:
    """Return a categorical column of the hashes of words or integers, for features without a list of their values.

    key: the feature's name; dtype: string or integer. hash_bucket_size: the number of ids; values with the same hash
    share one. "" and -1 in dense features mean none.

    Raises ValueError for no buckets, and other dtypes.

    >>> words = tf.feature_column.categorical_column_with_hash_bucket("words", hash_bucket_size=5)
    >>> features = {"words": [["a"], ["b"]]}
    >>> sess.run(tf.feature_column.input_layer(features, [tf.feature_column.indicator_column(words)]))
    array([[0., 0., 0., 0., 1.],
           [0., 0., 1., 0., 0.]], dtype=float32)
    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}")
    kind = dtypes.as_dtype(dtype)
    check_string_or_int(kind, f"column_name: {check_key(key)}")
    return HashedCategoricalColumn(key, hash_bucket_size, kind)


# ---- vocabularies ----------------------------------------------------------------------------------------------------

class _VocabularyColumn(KeyColumn):
    """Categorical column with a table from values to ids."""

    def _table(self, dtype: DType) -> Any:
        raise NotImplementedError

    def _ids(self, values: SparseTensor) -> SparseTensor:
        self._check_dtype(values)
        words, dtype = values, self.dtype
        if dtype.is_integer:                       # tables have keys of int64
            words, dtype = with_values(values, cast(values.values, dtypes.int64)), dtypes.int64
        found: SparseTensor = self._table(dtype).lookup(words)
        return found


@dataclass(frozen=True)
class VocabularyFileCategoricalColumn(_VocabularyColumn):
    """See categorical_column_with_vocabulary_file."""

    key: str
    vocabulary_file: str
    vocabulary_size: int
    num_oov_buckets: int
    dtype: DType
    default_value: int

    @property
    def num_buckets(self) -> int:
        """The number of words, and of the buckets for others."""
        return self.vocabulary_size + self.num_oov_buckets

    def _table(self, dtype: DType) -> Any:
        return index_table_from_file(self.vocabulary_file, self.num_oov_buckets, self.vocabulary_size,
                                     self.default_value, key_dtype=dtype, name=f"{self.key}_lookup")


def _check_buckets(key: str, num_oov_buckets: int, has_default: bool) -> None:
    if not num_oov_buckets:
        return
    if has_default:
        raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
    if num_oov_buckets < 0:
        raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


def categorical_column_with_vocabulary_file(
        key: str, vocabulary_file: str, vocabulary_size: int | None = None, num_oov_buckets: int = 0,
        default_value: int | None = None, dtype: Any = dtypes.string) -> VocabularyFileCategoricalColumn:
    """Return a categorical column of the numbers of lines of a file of words.

    key: the feature's name; dtype: string or integer. vocabulary_file: the path of a file with a word on each line;
    vocabulary_size: how many lines to use, all by default. Words that are not in it get the id default_value (-1:
    none), or with num_oov_buckets one of as many ids after the others, by their hash. Run `tf.tables_initializer()`.

    Raises ValueError for a missing file, sizes below 1, buckets and a default value at once, and other dtypes.

    >>> with open("pets.txt", "w") as file:
    ...     n = file.write("cat\\ndog\\n")
    >>> pet = tf.feature_column.categorical_column_with_vocabulary_file("pet", "pets.txt", num_oov_buckets=1)
    >>> layer = tf.feature_column.input_layer({"pet": [["dog"], ["cow"]]}, [tf.feature_column.indicator_column(pet)])
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(layer)
    array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None:
        vocabulary_size = _count_lines(key, vocabulary_file)
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}: expected 1 or more, got {vocabulary_size}.")
    _check_buckets(key, num_oov_buckets, default_value is not None)
    kind = dtypes.as_dtype(dtype)
    check_string_or_int(kind, f"column_name: {check_key(key)}")
    return VocabularyFileCategoricalColumn(key, vocabulary_file, vocabulary_size, num_oov_buckets, kind,
                                           -1 if default_value is None else default_value)


def _count_lines(key: str, path: str) -> int:
    try:
        with os_errors(path), open(local(path), "rb") as file:
            count = sum(1 for _ in file)
    except Exception as error:
        raise ValueError(f"vocabulary_file in {key} does not exist or can't be read: {error}") from error
    info("vocabulary_size = %d in %s is inferred from the number of elements in the vocabulary_file %s.", count, key,
         path)
    return count


@dataclass(frozen=True)
class VocabularyListCategoricalColumn(_VocabularyColumn):
    """See categorical_column_with_vocabulary_list."""

    key: str
    vocabulary_list: tuple[Any, ...]
    dtype: DType
    default_value: int
    num_oov_buckets: int

    @property
    def num_buckets(self) -> int:
        """The number of words, and of the buckets for others."""
        return len(self.vocabulary_list) + self.num_oov_buckets

    def _table(self, dtype: DType) -> Any:
        return index_table_from_tensor(self.vocabulary_list, self.num_oov_buckets, self.default_value, dtype=dtype,
                                       name=f"{self.key}_lookup")


def categorical_column_with_vocabulary_list(key: str, vocabulary_list: Sequence[Any], dtype: Any = None,
                                            default_value: int = -1,
                                            num_oov_buckets: int = 0) -> VocabularyListCategoricalColumn:
    """Return a categorical column of the positions in a list of words or integers.

    key: the feature's name; vocabulary_list: its values, without duplicates; dtype: string or integer, by default that
    of the list. Other values get the id default_value (-1: none), or with num_oov_buckets one of as many ids
    after the others, by their hash. Run `tf.tables_initializer()`.

    Raises ValueError for an empty list, duplicates, buckets and a default value at once, and a dtype that doesn't fit.

    >>> pet = tf.feature_column.categorical_column_with_vocabulary_list("pet", ["cat", "dog"])
    >>> layer = tf.feature_column.input_layer({"pet": [["dog"], ["cow"]]}, [tf.feature_column.indicator_column(pet)])
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(layer)
    array([[0., 1.],
           [0., 0.]], dtype=float32)
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    array = np.array(vocabulary_list)
    found = dtypes.string if array.dtype.kind in "SUO" else dtypes.as_dtype(array.dtype)
    _check_buckets(key, num_oov_buckets, default_value != -1)
    check_string_or_int(found, f"column_name: {key} vocabulary")
    kind = found if dtype is None else dtypes.as_dtype(dtype)
    if kind.is_integer != found.is_integer:
        raise ValueError(f"dtype {kind} and vocabulary dtype {found} do not match, column_name: {key}")
    check_string_or_int(kind, f"column_name: {check_key(key)}")
    return VocabularyListCategoricalColumn(key, tuple(vocabulary_list), kind, default_value, num_oov_buckets)


# ---- ids as they are -------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class IdentityCategoricalColumn(KeyColumn):
    """See categorical_column_with_identity."""

    key: str
    number_buckets: int
    default_value: int | None
    dtype = dtypes.int64

    @property
    def num_buckets(self) -> int:
        """The number of ids."""
        return self.number_buckets

    def _ids(self, values: SparseTensor) -> SparseTensor:
        if not values.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {values.dtype}")
        ids = cast(values.values, dtypes.int64, name="values")
        limit, zero = constant(self.number_buckets, dtypes.int64, name="num_buckets"), constant(0, dtypes.int64)
        if self.default_value is None:
            checks = [assert_less(ids, limit, data=(ids, limit), name="assert_less_than_num_buckets"),
                      assert_greater_equal(ids, zero, data=(ids,), name="assert_greater_or_equal_0")]
            with control_dependencies(checks):
                return with_values(values, identity(ids))
        outside = raw.LogicalOr(ids < zero, ids >= limit, name="out_of_range")
        others = fill(shape(ids), constant(self.default_value, dtypes.int64), name="default_values")
        return with_values(values, where(outside, others, ids))


def categorical_column_with_identity(key: str, num_buckets: int,
                                     default_value: int | None = None) -> IdentityCategoricalColumn:
    """Return a categorical column of integers from 0 to num_buckets - 1 as they are.

    key: the feature's name. default_value: the id of integers outside of the range; without it they raise
    InvalidArgumentError in a run. -1 in dense features means none. Raises ValueError for num_buckets below 1 and a
    default value outside of the range.

    >>> day = tf.feature_column.categorical_column_with_identity("day", num_buckets=3)
    >>> layer = tf.feature_column.input_layer({"day": [[2], [0]]}, [tf.feature_column.indicator_column(day)])
    >>> sess.run(layer)
    array([[0., 0., 1.],
           [1., 0., 0.]], dtype=float32)
    """
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}")
    return IdentityCategoricalColumn(check_key(key), num_buckets, default_value)
