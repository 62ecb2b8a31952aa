"""Dense columns of categorical ones: one-hot and embedded, alone, shared and in sequences."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from tfnb.feature_column.column import (
    AroundCategories,
    CategoricalColumn,
    DenseColumn,
    FeatureCache,
    FeatureColumn,
    IdWeightPair,
    SequenceDense,
    SequenceDenseColumn,
    Variables,
)
from tfnb.feature_column.combined import WeightedCategoricalColumn
from tfnb.feature_column.sequence_length import sequence_length
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import get_default_graph, name_scope
from tfnb.ops.array.gather import one_hot
from tfnb.ops.array.scatter_nd import scatter_nd
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.reductions.reduce import reduce_sum
from tfnb.ops.sparse.conversion import sparse_tensor_to_dense
from tfnb.ops.sparse.shapes import sparse_merge, sparse_reshape
from tfnb.ops.sparse.structure import sparse_slice
from tfnb.train.checkpoints.reader import init_from_checkpoint
from tfnb.variables.initializers import truncated_normal_initializer
from tfnb.variables.sparse_embedding import safe_embedding_lookup_sparse


@dataclass(frozen=True)
class SequenceCategoricalColumn(AroundCategories):
    """Categorical column whose second axis is time."""

    def get_sequence_sparse_tensors(self, cache: FeatureCache, variables: Variables | None = None) -> IdWeightPair:
        """Return the ids and weights [batch, time, ids at a time]."""
        ids, weights = self.categorical_column.get_sparse_tensors(cache, variables)
        return IdWeightPair(_three_axes(ids), None if weights is None else _three_axes(weights))


def _three_axes(sparse: SparseTensor) -> SparseTensor:
    sizes: Any = sparse.dense_shape
    return sparse_reshape(sparse, [sizes[0], sizes[1], -1])


class _OfCategories(DenseColumn, SequenceDenseColumn):
    """Dense column of a categorical one. `_layer`: what the messages call it."""

    categorical_column: CategoricalColumn
    _kind: str

    @property
    def name(self) -> str:
        """The name of the categorical column, and the kind."""
        return f"{self.categorical_column.name}_{self._kind}"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """That of the categorical column."""
        return self.categorical_column.parse_example_spec

    def _pair(self, cache: FeatureCache, variables: Variables | None, sequence: bool) -> IdWeightPair:
        """Return the ids and weights. Raises ValueError for sequences where there are to be none, and the reverse."""
        column = self.categorical_column
        if isinstance(column, SequenceCategoricalColumn) != sequence:
            wanted, layer = ("", "sequence_input_layer") if sequence else ("not ", "input_layer")
            raise ValueError(f"In {self._kind}_column: {self.name}. categorical_column must {wanted}be of type "
                             f"SequenceCategoricalColumn to use {layer}. Suggested fix: use one of "
                             f"{'' if sequence else 'the non-sequence '}categorical_column_with_* functions"
                             f"{', those that begin with sequence_' if sequence else ', or sequence_input_layer'}. "
                             f"Given (type {type(column)}): {column}")
        return column.get_sequence_sparse_tensors(cache, variables) \
            if isinstance(column, SequenceCategoricalColumn) else column.get_sparse_tensors(cache, variables)


@dataclass(frozen=True)
class IndicatorColumn(_OfCategories):
    """See indicator_column."""

    categorical_column: CategoricalColumn
    _kind = "indicator"

    @property
    def variable_shape(self) -> tuple[int, ...]:
        """One element for each id."""
        return (1, self.categorical_column.num_buckets)

    def transform_feature(self, cache: FeatureCache, variables: Variables | None = None) -> Tensor:
        """Return the counts of the ids, or the sums of their weights, along the last axis."""
        column = self.categorical_column
        ids, weights = self._pair(cache, variables, isinstance(column, SequenceCategoricalColumn))
        size = column.num_buckets
        if weights is not None:
            merged = sparse_merge(ids, weights, size)
            there = sparse_slice(merged, [0] * 2, merged.dense_shape)       # without those of the id -1
            return scatter_nd(there.indices, there.values, there.dense_shape)
        counts = reduce_sum(one_hot(sparse_tensor_to_dense(ids, default_value=-1), size, 1.0, 0.0), [-2])
        static = counts.get_shape()
        if static.ndims is not None:
            counts.set_shape([*static.as_list()[:-1], size])
        return counts

    def get_dense_tensor(self, cache: FeatureCache, variables: Variables) -> Tensor:
        """Return the counts. Raises ValueError for sequences."""
        self._pair(cache, variables, False)
        tensor: Tensor = cache.get(self, variables)
        return tensor

    def get_sequence_dense_tensor(self, cache: FeatureCache, variables: Variables) -> SequenceDense:
        """Return the counts at each time. Raises ValueError for anything but sequences."""
        ids, _ = self._pair(cache, variables, True)
        return SequenceDense(cache.get(self, variables), sequence_length(ids))


def indicator_column(categorical_column: CategoricalColumn) -> IndicatorColumn:
    """Return a dense column of a categorical one: for each id, how often it comes in an example (one-hot for one id).

    categorical_column: of the ids; those with weights are summed. Raises ValueError for a column of another kind.

    >>> pet = tf.feature_column.categorical_column_with_identity("pet", 3)
    >>> features = {"pet": [[0, 2], [1, 1]]}
    >>> sess.run(tf.feature_column.input_layer(features, [tf.feature_column.indicator_column(pet)]))
    array([[1., 0., 1.],
           [0., 2., 0.]], dtype=float32)
    """
    if not isinstance(categorical_column, CategoricalColumn):
        raise ValueError("Unsupported input type. Input must be a CategoricalColumn. Given: "
                         f"{categorical_column}")
    return IndicatorColumn(categorical_column)


# ---- embeddings ------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class EmbeddingColumn(_OfCategories):
    """See embedding_column."""

    categorical_column: CategoricalColumn
    dimension: int
    combiner: str
    initializer: Any
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool
    _kind = "embedding"

    @property
    def variable_shape(self) -> tuple[int, ...]:
        """The size of the embedding."""
        return (self.dimension,)

    def transform_feature(self, cache: FeatureCache, variables: Variables | None = None) -> Any:
        """Return what the categorical column makes."""
        return cache.get(self.categorical_column, variables)

    def _weights(self, variables: Variables) -> Any:
        made = variables.variable(self, "embedding_weights", (self.categorical_column.num_buckets, self.dimension),
                                  self.initializer, self.trainable)
        if self.ckpt_to_load_from is not None:
            init_from_checkpoint(self.ckpt_to_load_from, {self.tensor_name_in_ckpt: made})
        return made

    def _embedded(self, pair: IdWeightPair, variables: Variables) -> Tensor:
        return safe_embedding_lookup_sparse(self._weights(variables), pair.ids, pair.weights, self.combiner,
                                            name=f"{self.name}_weights", max_norm=self.max_norm)

    def get_dense_tensor(self, cache: FeatureCache, variables: Variables) -> Tensor:
        """Return the embeddings. Raises ValueError for sequences."""
        return self._embedded(self._pair(cache, variables, False), variables)

    def get_sequence_dense_tensor(self, cache: FeatureCache, variables: Variables) -> SequenceDense:
        """Return the embeddings at each time. Raises ValueError for anything but sequences."""
        pair = self._pair(cache, variables, True)
        return SequenceDense(self._embedded(pair, variables), sequence_length(pair.ids))


@dataclass(frozen=True)
class SharedEmbeddingColumn(EmbeddingColumn):
    """See shared_embedding_columns."""

    shared_embedding_collection_name: str = ""
    _kind = "shared_embedding"

    @property
    def var_scope_name(self) -> str:
        """The name that the columns share."""
        return self.shared_embedding_collection_name

    def _weights(self, variables: Variables) -> Any:
        """Return the weights that another column of these made in this graph, or make them."""
        graph, collection = get_default_graph(), self.shared_embedding_collection_name
        held = graph.get_collection(collection)
        if not held:
            made = super()._weights(variables)
            graph.add_to_collection(collection, made)
            return made
        want = [self.categorical_column.num_buckets, self.dimension]
        if len(held) > 1 or held[0].get_shape().as_list() != want:
            raise ValueError(f"Shared embedding collection {collection} must hold one variable of shape {want}, got "
                             f"{held}. Try renaming shared_embedding_collection_name.")
        return held[0]

    def _embedded(self, pair: IdWeightPair, variables: Variables) -> Tensor:
        with name_scope(None, self.name):
            return super()._embedded(pair, variables)


def _check_embedding(dimension: int | None, initializer: Any, ckpt_to_load_from: str | None,
                     tensor_name_in_ckpt: str | None) -> Any:
    """Return the initializer. Raises ValueError for arguments that don't fit."""
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified, got {initializer!r}.")
    return initializer or truncated_normal_initializer(mean=0.0, stddev=1.0 / sqrt(dimension))


def embedding_column(categorical_column: CategoricalColumn, dimension: int, combiner: str = "mean",
                     initializer: Callable[..., Any] | None = None, ckpt_to_load_from: str | None = None,
                     tensor_name_in_ckpt: str | None = None, max_norm: float | None = None,
                     trainable: bool = True) -> EmbeddingColumn:
    """Return a dense column of a categorical one: a vector for each id, which is learnt.

    categorical_column: of the ids; dimension: of the vectors; combiner: "mean", "sqrtn" or "sum" of those of an
    example. initializer: of the variable [ids, dimension], by default a truncated normal one of standard deviation
    1/sqrt(dimension). ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint to start from, and the name in it.
    max_norm: vectors are scaled down to that L2 norm. trainable: whether optimizers change the variable.

    Raises ValueError for a dimension below 1, an initializer that is no function, half of a checkpoint.

    >>> pet = tf.feature_column.categorical_column_with_identity("pet", 3)
    >>> column = tf.feature_column.embedding_column(pet, dimension=2, initializer=tf.ones_initializer())
    >>> layer = tf.feature_column.input_layer({"pet": [[0], [2]]}, [column])
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(layer)
    array([[1., 1.],
           [1., 1.]], dtype=float32)
    >>> tf.global_variables()[0].name
    'input_layer/pet_embedding/embedding_weights:0'
    """
    initializer = _check_embedding(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    return EmbeddingColumn(categorical_column, dimension, combiner, initializer, ckpt_to_load_from,
                           tensor_name_in_ckpt, max_norm, trainable)


def _inner(column: Any) -> FeatureColumn:
    """Return the column without weights and time."""
    while isinstance(column, (WeightedCategoricalColumn, SequenceCategoricalColumn)):
        column = column.categorical_column
    found: FeatureColumn = column
    return found


def shared_embedding_columns(categorical_columns: Sequence[CategoricalColumn], dimension: int, combiner: str = "mean",
                             initializer: Callable[..., Any] | None = None,
                             shared_embedding_collection_name: str | None = None, ckpt_to_load_from: str | None = None,
                             tensor_name_in_ckpt: str | None = None, max_norm: float | None = None,
                             trainable: bool = True) -> list[SharedEmbeddingColumn]:
    """Return a dense column for each categorical one, which share the vectors of ids.

    categorical_columns: of one kind and number of ids. shared_embedding_collection_name: the scope of the variable, by
    default the joined names. dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm,
    trainable: as for embedding_column.

    Raises ValueError for columns of several kinds or numbers of ids, and as embedding_column.

    >>> seen, wanted = [tf.feature_column.categorical_column_with_identity(name, 3) for name in ("seen", "wanted")]
    >>> columns = tf.feature_column.shared_embedding_columns([seen, wanted], dimension=2)
    >>> layer = tf.feature_column.input_layer({"seen": [[0]], "wanted": [[2]]}, columns)
    >>> layer.shape.as_list(), [v.name for v in tf.global_variables()]
    ([1, 4], ['input_layer/seen_wanted_shared_embedding/embedding_weights:0'])
    """
    initializer = _check_embedding(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    ordered = sorted(categorical_columns, key=lambda column: column.name)
    first = _inner(ordered[0])
    if not isinstance(first, CategoricalColumn):
        raise ValueError("All categorical_columns must be subclasses of _CategoricalColumn. Given: "
                         f"{first}, of type: {type(first)}")
    for other in map(_inner, ordered[1:]):
        if not isinstance(other, type(first)):
            raise ValueError("To use shared_embedding_column, all categorical_columns must have the same type, or be "
                             "weighted_categorical_column or sequence column of the same type. Given column: "
                             f"{first} of type: {type(first)} does not match given column: {other} of type: "
                             f"{type(other)}")
        if other.num_buckets != first.num_buckets:
            raise ValueError("To use shared_embedding_column, all categorical_columns must have the same number of "
                             f"buckets. Given column: {first} with buckets: {first.num_buckets} does not match "
                             f"column: {other} with buckets: {other.num_buckets}")
    shared = shared_embedding_collection_name or "_".join(column.name for column in ordered) + "_shared_embedding"
    return [SharedEmbeddingColumn(column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt,
                                  max_norm, trainable, shared) for column in categorical_columns]
