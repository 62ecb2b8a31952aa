"""Categorical columns of several features: ids with weights, and crosses."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tfnb.core import dtypes
from tfnb.core.dtypes import DType
from tfnb.feature_column.categorical import HashedCategoricalColumn, with_values
from tfnb.feature_column.column import CategoricalColumn, FeatureCache, IdWeightPair, Variables, to_sparse
from tfnb.feature_column.numeric import BucketizedColumn
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.io.parsing import VarLenFeature
from tfnb.ops.math.casting import cast
from tfnb.ops.sparse.cross import cross_hashed


@dataclass(frozen=True)
class WeightedCategoricalColumn(CategoricalColumn):
    """See weighted_categorical_column."""

    categorical_column: CategoricalColumn
    weight_feature_key: str
    dtype: DType

    @property
    def name(self) -> str:
        """The names of both."""
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """That of the ids, and a feature for the weights."""
        spec = self.categorical_column.parse_example_spec
        if self.weight_feature_key in spec:
            raise ValueError(f"Parse config {spec[self.weight_feature_key]} already exists for "
                             f"{self.weight_feature_key}.")
        return {**spec, self.weight_feature_key: VarLenFeature(self.dtype)}

    @property
    def num_buckets(self) -> int:
        """The number of ids."""
        return self.categorical_column.num_buckets

    def transform_feature(self, cache: FeatureCache, variables: Variables | None = None) -> tuple[Any, SparseTensor]:
        """Return the ids and their weights. Raises ValueError for weights of another dtype."""
        weights = cache.get(self.weight_feature_key, variables)
        if self.dtype.base_dtype != weights.dtype.base_dtype:
            raise ValueError(f"Bad dtype, expected {self.dtype}, but got {weights.dtype}.")
        sparse = to_sparse(weights, 0.0)           # a weight of 0 counts as none, in dense features
        if not sparse.dtype.is_floating:
            sparse = with_values(sparse, cast(sparse.values, dtypes.float32))
        return cache.get(self.categorical_column, variables), sparse

    def get_sparse_tensors(self, cache: FeatureCache, variables: Variables | None = None) -> IdWeightPair:
        """Return the ids and their weights."""
        return IdWeightPair(*cache.get(self, variables))


def weighted_categorical_column(categorical_column: CategoricalColumn, weight_feature_key: str,
                                dtype: Any = dtypes.float32) -> WeightedCategoricalColumn:
    """Return a categorical column whose ids have weights, such as counts of words.

    categorical_column: of the ids. weight_feature_key: the feature with a weight for each id, of the same shape and,
    where they are sparse, indices; dtype: of the weights, integer or float. Raises ValueError for another dtype.

    >>> words = tf.feature_column.categorical_column_with_vocabulary_list("words", ["a", "b"])
    >>> counted = tf.feature_column.weighted_categorical_column(words, "counts")
    >>> features = {"words": [["a", "b"]], "counts": [[3.0, 5.0]]}
    >>> layer = tf.feature_column.input_layer(features, [tf.feature_column.indicator_column(counted)])
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(layer)
    array([[3., 5.]], dtype=float32)
    """
    kind = None if dtype is None else dtypes.as_dtype(dtype)
    if kind is None or not (kind.is_integer or kind.is_floating):
        raise ValueError(f"dtype {dtype} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, kind)


# ---- crosses ---------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class CrossedColumn(CategoricalColumn):
    """See crossed_column."""

    keys: tuple[Any, ...]
    hash_bucket_size: int
    hash_key: int | None

    def _leaves(self) -> Iterator[Any]:
        for key in self.keys:
            yield from key._leaves() if isinstance(key, CrossedColumn) else (key,)

    @property
    def name(self) -> str:
        """The sorted names of what is crossed, joined by "_X_"."""
        return "_X_".join(sorted(key if isinstance(key, str) else key.name for key in self._leaves()))

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """The features of all columns; those that are given by a key hold words."""
        spec: dict[str, Any] = {}
        for key in self.keys:
            spec.update({key: VarLenFeature(dtypes.string)} if isinstance(key, str) else key.parse_example_spec)
        return spec

    @property
    def num_buckets(self) -> int:
        """The number of hash buckets."""
        return self.hash_bucket_size

    def transform_feature(self, cache: FeatureCache, variables: Variables | None = None) -> SparseTensor:
        """Return the ids. Raises ValueError for a column with weights."""
        features = []
        for key in self._leaves():
            if isinstance(key, str):
                features.append(cache.get(key, variables))
                continue
            ids, weights = key.get_sparse_tensors(cache, variables)
            if weights is not None:
                raise ValueError("crossed_column does not support weight_tensor, but the given column populates "
                                 f"weight_tensor. Given column: {key.name}")
            features.append(ids)
        return cross_hashed(features, num_buckets=self.hash_bucket_size, hash_key=self.hash_key)


def crossed_column(keys: Sequence[Any], hash_bucket_size: int, hash_key: int | None = None) -> CrossedColumn:
    """Return a categorical column of the combinations of several features' values, by their hash.

    keys: names of features, and categorical or bucketized columns other than those of hashes; at least two.
    hash_bucket_size: the number of ids. hash_key: another hash function. Raises ValueError for fewer keys, no buckets,
    and columns of other kinds.

    >>> age = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("age"), [18, 65])
    >>> cross = tf.feature_column.crossed_column(["city", age], hash_bucket_size=4)
    >>> cross.name
    'age_bucketized_X_city'
    >>> features = {"city": [["Paris"], ["Rome"]], "age": [[30.0], [70.0]]}
    >>> sess.run(tf.feature_column.input_layer(features, [tf.feature_column.indicator_column(cross)])).sum()
    2.0
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, (str, CategoricalColumn, BucketizedColumn)):
            raise ValueError("Unsupported key type. All keys must be either string, or categorical column except "
                             f"HashedCategoricalColumn. Given: {key}")
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError("categorical_column_with_hash_bucket is not supported for crossing. Hashing before "
                             "crossing will increase probability of collision. Instead, use the feature name as a "
                             f"string. Given: {key}")
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)
