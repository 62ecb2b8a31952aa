"""Sequence columns: the second axis of their features is time; and the input layer of recurrent models."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from tfnb.control_flow.assertions import assert_equal
from tfnb.core import dtypes
from tfnb.core.dtypes import DType
from tfnb.feature_column import categorical
from tfnb.feature_column.column import (
    FeatureCache,
    FeatureColumn,
    SequenceDense,
    SequenceDenseColumn,
    Variables,
    check_columns,
    check_key,
    to_sparse,
)
from tfnb.feature_column.dense import SequenceCategoricalColumn
from tfnb.feature_column.input_layer import ScopedVariables
from tfnb.feature_column.numeric import check_shape
from tfnb.feature_column.sequence_length import sequence_length
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import control_dependencies
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import identity, reshape
from tfnb.ops.array.reshape import shape as shape_of
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.io.parsing import VarLenFeature
from tfnb.ops.math.casting import cast
from tfnb.ops.sparse.conversion import sparse_tensor_to_dense
from tfnb.variables.scope import variable_scope


def sequence_categorical_column_with_identity(key: str, num_buckets: int,
                                              default_value: int | None = None) -> SequenceCategoricalColumn:
    """Return a categorical column of integers over time; see categorical_column_with_identity.

    key, num_buckets, default_value: as there.

    >>> days = tf.feature_column.sequence_categorical_column_with_identity("days", num_buckets=3)
    >>> column = tf.feature_column.indicator_column(days)
    >>> layer, lengths = tf.contrib.feature_column.sequence_input_layer({"days": [[2, 0], [1, -1]]}, [column])
    >>> sess.run([tf.shape(layer), lengths])
    [array([2, 2, 3], dtype=int32), array([2, 1])]
    """
    return SequenceCategoricalColumn(categorical.categorical_column_with_identity(key, num_buckets, default_value))


def sequence_categorical_column_with_hash_bucket(key: str, hash_bucket_size: int,
                                                 dtype: Any = dtypes.string) -> SequenceCategoricalColumn:
    """Return a categorical column of hashes over time; see categorical_column_with_hash_bucket.

    key, hash_bucket_size, dtype: as there.

    >>> tf.feature_column.sequence_categorical_column_with_hash_bucket("words", 100).num_buckets
    100
    """
    return SequenceCategoricalColumn(categorical.categorical_column_with_hash_bucket(key, hash_bucket_size, dtype))


def sequence_categorical_column_with_vocabulary_file(
        key: str, vocabulary_file: str, vocabulary_size: int | None = None, num_oov_buckets: int = 0,
        default_value: int | None = None, dtype: Any = dtypes.string) -> SequenceCategoricalColumn:
    """Return a categorical column of words of a file over time; see categorical_column_with_vocabulary_file.

    key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype: as there.

    >>> with open("pets.txt", "w") as file:
    ...     n = file.write("cat\\ndog\\n")
    >>> tf.feature_column.sequence_categorical_column_with_vocabulary_file("pets", "pets.txt").num_buckets
    2
    """
    return SequenceCategoricalColumn(categorical.categorical_column_with_vocabulary_file(
        key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype))


def sequence_categorical_column_with_vocabulary_list(
        key: str, vocabulary_list: Sequence[Any], dtype: Any = None, default_value: int = -1,
        num_oov_buckets: int = 0) -> SequenceCategoricalColumn:
    """Return a categorical column of words of a list over time; see categorical_column_with_vocabulary_list.

    key, vocabulary_list, dtype, default_value, num_oov_buckets: as there.

    >>> tf.feature_column.sequence_categorical_column_with_vocabulary_list("pets", ["cat", "dog"]).name
    'pets'
    """
    return SequenceCategoricalColumn(categorical.categorical_column_with_vocabulary_list(
        key, vocabulary_list, dtype, default_value, num_oov_buckets))


@dataclass(frozen=True)
class SequenceNumericColumn(SequenceDenseColumn):
    """See sequence_numeric_column."""

    key: str
    shape: tuple[int, ...]
    default_value: float
    dtype: DType
    normalizer_fn: Callable[[Any], Any] | None

    @property
    def name(self) -> str:
        """The key."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """A feature of any number of values."""
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def variable_shape(self) -> tuple[int, ...]:
        """The shape at each time."""
        return self.shape

    def transform_feature(self, cache: FeatureCache, variables: Variables | None = None) -> SparseTensor:
        """Return the normalised feature."""
        made: SparseTensor = to_sparse(cache.get(self.key, variables))
        return made if self.normalizer_fn is None else self.normalizer_fn(made)

    def get_sequence_dense_tensor(self, cache: FeatureCache, variables: Variables) -> SequenceDense:
        """Return the values at each time, default_value where there are none."""
        sparse = cache.get(self, variables)
        dense = sparse_tensor_to_dense(sparse, default_value=self.default_value)
        made = reshape(dense, [shape_of(dense)[0], -1, *self.shape])
        static = sparse.get_shape()
        each = prod(self.shape) if static.ndims == 2 else 1
        return SequenceDense(cast(made, dtypes.float32), sequence_length(sparse, each))


def sequence_numeric_column(key: str, shape: Any = (1,), default_value: float = 0.0, dtype: Any = dtypes.float32,
                            normalizer_fn: Callable[[Any], Any] | None = None) -> SequenceNumericColumn:
    """Return a column of numbers over time.

    key: the feature's name, a SparseTensor [batch, time * elements]; shape: at each time. default_value: of padding;
    dtype: of protos. normalizer_fn: from the sparse feature to a sparse one. Raises ValueError, TypeError as
    numeric_column.

    >>> column = tf.feature_column.sequence_numeric_column("load")
    >>> load = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2])
    >>> layer, lengths = tf.contrib.feature_column.sequence_input_layer({"load": load}, [column])
    >>> sess.run([layer[:, :, 0], lengths])
    [array([[1., 2.],
           [3., 0.]], dtype=float32), array([2, 1])]
    """
    sizes, kind = check_shape(shape, check_key(key)), dtypes.as_dtype(dtype)
    if not (kind.is_integer or kind.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    return SequenceNumericColumn(key, sizes, default_value, kind, normalizer_fn)


def _is_sequence(column: FeatureColumn) -> bool:
    return isinstance(column, SequenceDenseColumn)


def sequence_input_layer(features: Mapping[str, Any], feature_columns: Any,
                         weight_collections: Sequence[str] | None = None,
                         trainable: bool = True) -> tuple[Tensor, Tensor]:
    """Return the input of a recurrent model, [batch, time, width], and the length of each sequence, int64 [batch].

    features: name -> tensor or SparseTensor [batch, time, ...]. feature_columns: sequence_numeric_columns, and
    embedding and indicator columns of sequence categorical columns; all of one length. weight_collections, trainable:
    as in `tf.feature_column.input_layer`.

    Raises ValueError for other columns. Running it raises InvalidArgumentError for columns of different lengths.

    >>> words = tf.feature_column.sequence_categorical_column_with_identity("words", num_buckets=10)
    >>> ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [4, 7, 1], [2, 2])
    >>> column = tf.feature_column.embedding_column(words, dimension=3)
    >>> layer, lengths = tf.contrib.feature_column.sequence_input_layer({"words": ids}, [column])
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run([tf.shape(layer), lengths])
    [array([2, 2, 3], dtype=int32), array([2, 1])]
    """
    with variable_scope(None, default_name="sequence_input_layer", values=list(features.values())):
        return over_time(features, feature_columns, ScopedVariables(weight_collections, trainable))


def over_time(features: Mapping[str, Any], feature_columns: Any, variables: Variables) -> tuple[Tensor, Tensor]:
    """Return the sequence columns side by side, and lengths, in the scope that is open; as sequence_input_layer."""
    columns = check_columns(feature_columns, _is_sequence, "All feature_columns must be of type _SequenceDenseColumn. "
                            "You can wrap a sequence_categorical_column with an embedding_column or indicator_column.")
    cache, made, lengths = FeatureCache(features), [], []
    for column in columns:
        assert isinstance(column, SequenceDenseColumn)
        with variable_scope(None, default_name=column.var_scope_name):
            dense, length = column.get_sequence_dense_tensor(cache, variables)
            sizes: Any = shape_of(dense)
            width = prod(column.variable_shape)                        # type: ignore[attr-defined]
            made.append(reshape(dense, (sizes[0], sizes[1], width)))
            lengths.append(length)
    same = [assert_equal(lengths[0], other, name="sequence_length_check") for other in lengths[1:]]
    with control_dependencies(same):
        return concat(made, -1), identity(lengths[0]) if same else lengths[0]
