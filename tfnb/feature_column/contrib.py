"""Feature columns of `tf.contrib.layers`, which came before `tf.feature_column`: the same columns by other names.

Variables have the names of these releases: `weight` of numbers, `weights` of ids and embeddings, `bias_weight`.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tfnb.core import dtypes
from tfnb.feature_column import categorical, combined, dense
from tfnb.feature_column.column import (
    AroundCategories,
    CategoricalColumn,
    FeatureCache,
    FeatureColumn,
    IdWeightPair,
    Variables,
)
from tfnb.feature_column.input_layer import ScopedVariables, side_by_side
from tfnb.feature_column.linear_model import LinearModel, sorted_linear
from tfnb.feature_column.numeric import BucketizedColumn, NumericColumn, numeric_column
from tfnb.feature_column.numeric import bucketized_column as numeric_buckets
from tfnb.feature_column.parse_spec import make_parse_example_spec
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.control.source import placeholder
from tfnb.ops.io.parsing import FixedLenFeature, parse_example
from tfnb.ops.sparse.conversion import sparse_placeholder
from tfnb.variables.scope import variable_scope


@dataclass(frozen=True)
class CombinedColumn(AroundCategories):
    """Categorical column with a combiner of its own for linear models: "mean" or "sqrtn" ("sum" needs none)."""

    combiner: str

    def get_sparse_tensors(self, cache: FeatureCache, variables: Variables | None = None) -> IdWeightPair:
        """Return the ids and weights of the column."""
        return self.categorical_column.get_sparse_tensors(cache, variables)


def _combined(column: CategoricalColumn, combiner: str) -> CategoricalColumn:
    if combiner not in ("sum", "mean", "sqrtn"):
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner!r}")
    return column if combiner == "sum" else CombinedColumn(column, combiner)


def real_valued_column(column_name: str, dimension: int = 1, default_value: Any = None, dtype: Any = dtypes.float32,
                       normalizer: Callable[[Tensor], Tensor] | None = None) -> NumericColumn:
    """Return a column of numbers; see `tf.feature_column.numeric_column`.

    column_name: the feature's name; dimension: the count of numbers of an example. default_value, dtype, normalizer:
    as there. Raises ValueError for a dimension below 1, or none (sparse numbers are not supported).

    >>> x = tf.contrib.layers.real_valued_column("x", dimension=2)
    >>> sess.run(tf.contrib.layers.input_from_feature_columns({"x": [[1.0, 2.0]]}, [x]))
    array([[1., 2.]], dtype=float32)
    """
    if dimension is None:
        raise ValueError("dimension must be a number: real_valued_column of sparse features is not supported")
    return numeric_column(column_name, (dimension,), default_value, dtype, normalizer)


def sparse_column_with_hash_bucket(column_name: str, hash_bucket_size: int, combiner: str = "sum",
                                   dtype: Any = dtypes.string) -> CategoricalColumn:
    """Return a column of hashes; see `tf.feature_column.categorical_column_with_hash_bucket`.

    column_name: the feature's name; hash_bucket_size, dtype: as there. combiner: "sum", "mean" or "sqrtn" of the
    weights of several ids in a linear model. Raises ValueError as there, and for another combiner.

    >>> tf.contrib.layers.sparse_column_with_hash_bucket("words", 100).num_buckets
    100
    """
    return _combined(categorical.categorical_column_with_hash_bucket(column_name, hash_bucket_size, dtype), combiner)


def sparse_column_with_keys(column_name: str, keys: Sequence[Any], default_value: int = -1, combiner: str = "sum",
                            dtype: Any = dtypes.string) -> CategoricalColumn:
    """Return a column of positions in a list; see `tf.feature_column.categorical_column_with_vocabulary_list`.

    column_name: the feature's name; keys: the list; default_value, dtype: as there; combiner: as of
    sparse_column_with_hash_bucket. Raises as these.

    >>> tf.contrib.layers.sparse_column_with_keys("pet", ["cat", "dog"]).name
    'pet'
    """
    return _combined(categorical.categorical_column_with_vocabulary_list(column_name, keys, dtype, default_value),
                     combiner)


def sparse_column_with_vocabulary_file(column_name: str, vocabulary_file: str, num_oov_buckets: int = 0,
                                       vocab_size: int | None = None, default_value: int = -1, combiner: str = "sum",
                                       dtype: Any = dtypes.string) -> CategoricalColumn:
    """Return a column of lines of a file; see `tf.feature_column.categorical_column_with_vocabulary_file`.

    column_name: the feature's name; vocab_size: how many lines to use; vocabulary_file, num_oov_buckets,
    default_value, dtype: as there; combiner: as of sparse_column_with_hash_bucket. Raises as these.

    >>> with open("pets.txt", "w") as file:
    ...     n = file.write("cat\\ndog\\n")
    >>> tf.contrib.layers.sparse_column_with_vocabulary_file("pet", "pets.txt", num_oov_buckets=1).num_buckets
    3
    """
    return _combined(categorical.categorical_column_with_vocabulary_file(
        column_name, vocabulary_file, vocab_size, num_oov_buckets, None if num_oov_buckets else default_value, dtype),
        combiner)


def sparse_column_with_integerized_feature(column_name: str, bucket_size: int, combiner: str = "sum",
                                           dtype: Any = dtypes.int64) -> CategoricalColumn:
    """Return a column of integers from 0 to bucket_size - 1; see `tf.feature_column.categorical_column_with_identity`.

    column_name: the feature's name; combiner: as of sparse_column_with_hash_bucket; dtype: an integer one. Raises
    as these.

    >>> tf.contrib.layers.sparse_column_with_integerized_feature("day", 7).num_buckets
    7
    """
    if not dtypes.as_dtype(dtype).is_integer:
        raise ValueError(f"dtype must be an integer. dtype: {dtype}, column_name: {column_name}")
    return _combined(categorical.categorical_column_with_identity(column_name, bucket_size), combiner)


def weighted_sparse_column(sparse_id_column: CategoricalColumn, weight_column_name: str,
                           dtype: Any = dtypes.float32) -> CategoricalColumn:
    """Return a column of ids with weights; see `tf.feature_column.weighted_categorical_column`.

    sparse_id_column: of the ids; weight_column_name: the feature with their weights; dtype: of these. Raises as there.

    >>> words = tf.contrib.layers.sparse_column_with_hash_bucket("words", 100)
    >>> tf.contrib.layers.weighted_sparse_column(words, "counts").name
    'words_weighted_by_counts'
    """
    inner = _bare(sparse_id_column)
    made = combined.weighted_categorical_column(inner, weight_column_name, dtype)
    return _combined(made, _combiner(sparse_id_column))


def _bare(column: Any) -> Any:
    return column.categorical_column if isinstance(column, CombinedColumn) else column


def _combiner(column: Any) -> str:
    return column.combiner if isinstance(column, CombinedColumn) else "sum"


def one_hot_column(sparse_id_column: CategoricalColumn) -> dense.IndicatorColumn:
    """Return a dense column of counts of ids; see `tf.feature_column.indicator_column`.

    sparse_id_column: of the ids. Raises as there.

    >>> day = tf.contrib.layers.sparse_column_with_integerized_feature("day", 3)
    >>> columns = [tf.contrib.layers.one_hot_column(day)]
    >>> sess.run(tf.contrib.layers.input_from_feature_columns({"day": [[2]]}, columns))
    array([[0., 0., 1.]], dtype=float32)
    """
    return dense.indicator_column(sparse_id_column)


def embedding_column(sparse_id_column: CategoricalColumn, dimension: int, combiner: str = "mean",
                     initializer: Callable[..., Any] | None = None, ckpt_to_load_from: str | None = None,
                     tensor_name_in_ckpt: str | None = None, max_norm: float | None = None,
                     trainable: bool = True) -> dense.EmbeddingColumn:
    """Return a dense column of vectors of ids; see `tf.feature_column.embedding_column`.

    sparse_id_column: of the ids; dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm,
    trainable: as there. Raises as there.

    >>> words = tf.contrib.layers.sparse_column_with_hash_bucket("words", 100)
    >>> tf.contrib.layers.embedding_column(words, dimension=8).name
    'words_embedding'
    """
    return dense.embedding_column(sparse_id_column, dimension, combiner, initializer, ckpt_to_load_from,
                                  tensor_name_in_ckpt, max_norm, trainable)


def shared_embedding_columns(sparse_id_columns: Sequence[CategoricalColumn], dimension: int, combiner: str = "mean",
                             shared_embedding_name: str | None = None,
                             initializer: Callable[..., Any] | None = None, ckpt_to_load_from: str | None = None,
                             tensor_name_in_ckpt: str | None = None, max_norm: float | None = None,
                             trainable: bool = True) -> list[dense.SharedEmbeddingColumn]:
    """Return dense columns that share the vectors of ids; see `tf.feature_column.shared_embedding_columns`.

    sparse_id_columns: of the ids; shared_embedding_name: the scope of the variable. dimension, combiner, initializer,
    ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable: as there. Raises as there.

    >>> seen, wanted = [tf.contrib.layers.sparse_column_with_integerized_feature(x, 9) for x in ("seen", "wanted")]
    >>> [column.name for column in tf.contrib.layers.shared_embedding_columns([seen, wanted], 4)]
    ['seen_shared_embedding', 'wanted_shared_embedding']
    """
    return dense.shared_embedding_columns(sparse_id_columns, dimension, combiner, initializer, shared_embedding_name,
                                          ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable)


def crossed_column(columns: Sequence[Any], hash_bucket_size: int, combiner: str = "sum",
                   ckpt_to_load_from: str | None = None, tensor_name_in_ckpt: str | None = None,
                   hash_key: int | None = None) -> CategoricalColumn:
    """Return a column of the combinations of several columns' values; see `tf.feature_column.crossed_column`.

    columns: sparse, bucketized and crossed ones, at least two; hash_bucket_size, hash_key: as there; combiner: as of
    sparse_column_with_hash_bucket. ckpt_to_load_from, tensor_name_in_ckpt: not supported. Raises ValueError as there,
    and for a checkpoint.

    >>> pet = tf.contrib.layers.sparse_column_with_hash_bucket("pet", 100)
    >>> city = tf.contrib.layers.sparse_column_with_hash_bucket("city", 100)
    >>> tf.contrib.layers.crossed_column([pet, city], 1000).name
    'city_X_pet'
    """
    if ckpt_to_load_from is not None or tensor_name_in_ckpt is not None:
        raise ValueError("crossed_column: weights from a checkpoint are not supported, use "
                         "tf.train.init_from_checkpoint")
    keys = [key.key if isinstance(key, categorical.KeyColumn) else key for key in map(_bare, columns)]
    return _combined(combined.crossed_column(keys, hash_bucket_size, hash_key), combiner)


def bucketized_column(source_column: NumericColumn, boundaries: Sequence[float]) -> BucketizedColumn:
    """Return a column of the buckets that numbers fall into; see `tf.feature_column.bucketized_column`.

    source_column: a real_valued_column; boundaries: as there, but equal ones count once. Raises as there.

    >>> age = tf.contrib.layers.real_valued_column("age")
    >>> tf.contrib.layers.bucketized_column(age, [18, 65]).num_buckets
    3
    """
    return numeric_buckets(source_column, list(dict.fromkeys(boundaries)))


# ---- models ----------------------------------------------------------------------------------------------------------

_NAMES = {"embedding_weights": "weights", "bias_weights": "bias_weight"}


class _OldNames(ScopedVariables):
    """Variables of columns by the names of `tf.contrib.layers`."""

    def variable(self, column: Any, name: str, size: tuple[int, ...], initializer: Any, trainable: bool) -> Any:
        """Return the variable `name`, as these releases call it."""
        old = "weight" if name == "weights" and not isinstance(column, CategoricalColumn) else _NAMES.get(name, name)
        return super().variable(column, old, size, initializer, trainable)


def input_from_feature_columns(columns_to_tensors: Mapping[str, Any], feature_columns: Any,
                               weight_collections: Sequence[str] | None = None, trainable: bool = True,
                               scope: Any = None) -> Tensor:
    """Return the dense columns of a batch side by side, [batch, width]; see `tf.feature_column.input_layer`.

    columns_to_tensors: name of a feature -> tensor or SparseTensor; scope: of the variables. feature_columns,
    weight_collections, trainable: as there. Columns stand in the order of their names. Raises as there.

    >>> age = tf.contrib.layers.real_valued_column("age")
    >>> groups = tf.contrib.layers.bucketized_column(age, [18, 65])
    >>> sess.run(tf.contrib.layers.input_from_feature_columns({"age": [[30.0]]}, [age, groups]))
    array([[30.,  0.,  1.,  0.]], dtype=float32)
    """
    with variable_scope(scope, default_name="input_from_feature_columns", values=list(columns_to_tensors.values())):
        return side_by_side(columns_to_tensors, feature_columns, _OldNames(weight_collections, trainable))


def weighted_sum_from_feature_columns(
        columns_to_tensors: Mapping[str, Any], feature_columns: Any, num_outputs: int,
        weight_collections: Sequence[str] | None = None, trainable: bool = True,
        scope: Any = None) -> tuple[Tensor, dict[FeatureColumn, list[Any]], Any]:
    """Return a linear model of the columns: outputs [batch, num_outputs], column -> its variables, and the bias.

    columns_to_tensors: name of a feature -> tensor or SparseTensor; scope: of the variables. feature_columns,
    weight_collections, trainable: as in `tf.feature_column.linear_model`. All weights start at 0. Raises as there.

    >>> age = tf.contrib.layers.real_valued_column("age")
    >>> outputs, weights, bias = tf.contrib.layers.weighted_sum_from_feature_columns({"age": [[30.0]]}, [age], 1)
    >>> bias.op.name, [v.op.name for v in weights[age]]
    ('weighted_sum_from_feature_columns/bias_weight', ['weighted_sum_from_feature_columns/age/weight'])
    """
    columns = sorted_linear(feature_columns)
    model = LinearModel(columns_to_tensors, num_outputs, "sum", _OldNames(weight_collections, trainable))
    with variable_scope(scope, default_name="weighted_sum_from_feature_columns",
                        values=list(columns_to_tensors.values())):
        outputs = model.total(columns, [column.var_scope_name for column in columns])
    (bias,) = model.parts.pop("bias")
    return outputs, model.parts, bias


# ---- features --------------------------------------------------------------------------------------------------------

def create_feature_spec_for_parsing(feature_columns: Any) -> dict[str, Any]:
    """Return the features that `tf.parse_example` needs; see `tf.feature_column.make_parse_example_spec`.

    feature_columns: as there. Raises as there.

    >>> sorted(tf.contrib.layers.create_feature_spec_for_parsing([tf.contrib.layers.real_valued_column("age")]))
    ['age']
    """
    return make_parse_example_spec(feature_columns)


def parse_feature_columns_from_examples(serialized: Any, feature_columns: Any, name: str | None = None,
                                        example_names: Any = None) -> dict[str, Any]:
    """Parse tf.Example protos to the features of columns: name -> tensor or SparseTensor.

    serialized: a string vector; feature_columns: as in create_feature_spec_for_parsing; name: of the op;
    example_names: of the protos, for messages. Raises as `tf.parse_example`.

    >>> day = tf.contrib.layers.sparse_column_with_integerized_feature("day", 7)
    >>> proto = tf.train.Example()
    >>> proto.features.feature["day"].int64_list.value.append(3)
    >>> parsed = tf.contrib.layers.parse_feature_columns_from_examples([proto.SerializeToString()], [day])
    >>> sess.run(parsed["day"].values)
    array([3])
    """
    found: dict[str, Any] = parse_example(serialized, make_parse_example_spec(feature_columns), name=name,
                                          example_names=example_names)
    return found


def make_place_holder_tensors_for_base_features(feature_columns: Any) -> dict[str, Any]:
    """Return a placeholder for each feature of columns, sparse ones for sparse features: name -> placeholder.

    feature_columns: as in create_feature_spec_for_parsing. Raises as that.

    >>> columns = [tf.contrib.layers.real_valued_column("age")]
    >>> tf.contrib.layers.make_place_holder_tensors_for_base_features(columns)["age"].shape.as_list()
    [None, 1]
    """
    return {key: placeholder(feature.dtype, [None, *feature.shape]) if isinstance(feature, FixedLenFeature)
            else sparse_placeholder(feature.dtype) for key, feature in make_parse_example_spec(feature_columns).items()}


def transform_features(features: Mapping[str, Any], feature_columns: Any) -> dict[FeatureColumn, Any]:
    """Return what columns make of features: column -> tensor, SparseTensor, or a pair of these.

    features: name -> tensor or SparseTensor. feature_columns: of any kind. Raises ValueError for missing features.

    >>> age = tf.contrib.layers.real_valued_column("age", normalizer=lambda x: x / 10.0)
    >>> sess.run(tf.contrib.layers.transform_features({"age": [[30.0]]}, [age])[age])
    array([[3.]], dtype=float32)
    """
    cache = FeatureCache(features)
    return {column: cache.get(column) for column in feature_columns}
