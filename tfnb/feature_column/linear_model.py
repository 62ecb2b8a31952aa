"""Linear model of feature columns: the sum of each column's weights, and a bias."""
from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from math import prod
from typing import Any

from tfnb.feature_column.column import (
    CategoricalColumn,
    DenseColumn,
    FeatureCache,
    FeatureColumn,
    check_batch_sizes,
    check_columns,
)
from tfnb.feature_column.input_layer import ScopedVariables, flat
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.math.arithmetic import add_n
from tfnb.ops.nn.activations import bias_add
from tfnb.ops.reductions.matmul import matmul
from tfnb.ops.sparse.shapes import sparse_reshape
from tfnb.variables.initializers import zeros_initializer
from tfnb.variables.partitioned import PartitionedVariable
from tfnb.variables.scope import variable_scope
from tfnb.variables.sparse_embedding import safe_embedding_lookup_sparse


def _is_linear(column: FeatureColumn) -> bool:
    return isinstance(column, (DenseColumn, CategoricalColumn))


def sorted_linear(feature_columns: Any) -> list[FeatureColumn]:
    """Return columns of a linear model, sorted by their names. Raises ValueError for others."""
    return check_columns(feature_columns, _is_linear,
                         "Items of feature_columns must be either a _DenseColumn or _CategoricalColumn.")


class LinearModel:
    """Weights of a linear model, and the sums that it makes of them."""

    def __init__(self, features: Mapping[str, Any], units: int, combiner: str, variables: ScopedVariables) -> None:
        self._cache, self._units, self._combiner, self._variables = FeatureCache(features), units, combiner, variables
        self.parts: dict[Any, list[Any]] = {}

    def weights(self, column: Any, name: str, size: tuple[int, ...]) -> Any:
        """Return a variable of zeros, and note its parts for `column`."""
        made = self._variables.variable(column, name, size, zeros_initializer(), True)
        self.parts[column] = list(made) if isinstance(made, PartitionedVariable) else [made]
        return made

    def weighted_sum(self, column: FeatureColumn) -> Tensor:
        """Return the sum of a column's weights, [batch, units]; an id's weight as often as it comes."""
        if isinstance(column, CategoricalColumn):
            table = self.weights(column, "weights", (column.num_buckets, self._units))
            ids, weights = column.get_sparse_tensors(self._cache, self._variables)
            return safe_embedding_lookup_sparse(
                table, one_row_each(ids), None if weights is None else one_row_each(weights),
                getattr(column, "combiner", self._combiner), name="weighted_sum")
        assert isinstance(column, DenseColumn)
        matrix = self.weights(column, "weights", (prod(column.variable_shape), self._units))
        return matmul(flat(column, column.get_dense_tensor(self._cache, self._variables)), matrix, name="weighted_sum")

    def total(self, columns: list[FeatureColumn], names: list[str]) -> Tensor:
        """Return the sum of all columns and a bias. names: the scope of each column's variables."""
        sums = []
        for column, name in zip(columns, names, strict=True):
            with variable_scope(name):
                sums.append(self.weighted_sum(column))
        check_batch_sizes(sums, columns)
        total = add_n(sums, name="weighted_sum_no_bias")
        return bias_add(total, self.weights("bias", "bias_weights", (self._units,)), name="weighted_sum")


def one_row_each(sparse: SparseTensor) -> SparseTensor:
    """Return a SparseTensor with one row for each example, [batch, all else]."""
    sizes: Any = sparse.dense_shape
    return sparse_reshape(sparse, [sizes[0], -1])


def _claimed(name: str) -> str:
    """Return a name of a variable scope that is free here, as TensorFlow's layers take them: with those around it."""
    with variable_scope(None, default_name=name) as scope:
        found: str = scope.name
        return found


def linear_model(features: Mapping[str, Any], feature_columns: Any, units: int = 1, sparse_combiner: str = "sum",
                 weight_collections: Sequence[str] | None = None, trainable: bool = True,
                 cols_to_vars: MutableMapping[Any, Any] | None = None) -> Tensor:
    """Return the predictions (logits) of a linear model of the columns, [batch, units].

    features: name -> tensor or SparseTensor with the batch as first axis. feature_columns: dense and categorical ones;
    a categorical column has a weight for each id. units: of the output. sparse_combiner: "sum", "mean" or "sqrtn" of
    the weights of several ids. weight_collections, trainable: as in input_layer. cols_to_vars: a dict that gets the
    list of variables of each column, and of "bias". All weights start at 0.

    Raises ValueError as input_layer.

    >>> age = tf.feature_column.numeric_column("age")
    >>> pet = tf.feature_column.categorical_column_with_vocabulary_list("pet", ["cat", "dog"])
    >>> logits = tf.feature_column.linear_model({"age": [30.0, 40.0], "pet": ["dog", "cat"]}, [age, pet])
    >>> sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    [None, None]
    >>> sess.run(logits)
    array([[0.],
           [0.]], dtype=float32)
    >>> [v.op.name for v in tf.trainable_variables()]
    ['linear_model/age/weights', 'linear_model/pet/weights', 'linear_model/bias_weights']
    """
    columns = sorted_linear(feature_columns)
    names = [_claimed(column.var_scope_name).rsplit("/", 1)[-1] for column in columns]
    inner = _claimed("linear_model").rsplit("/", 1)[-1]
    model = LinearModel(features, units, sparse_combiner, ScopedVariables(weight_collections, trainable))
    with variable_scope(inner, auxiliary_name_scope=False), name_scope(inner), name_scope(inner):
        made = model.total(columns, names)
    if cols_to_vars is not None:
        cols_to_vars.update(model.parts)
    return made
