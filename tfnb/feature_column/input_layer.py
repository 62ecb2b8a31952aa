"""Dense input of a model: the columns of a batch of features, side by side."""
from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from math import prod
from typing import Any

from tfnb.core import dtypes
from tfnb.feature_column.column import (
    DenseColumn,
    FeatureCache,
    FeatureColumn,
    check_batch_sizes,
    check_columns,
)
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import get_default_graph
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import reshape, shape
from tfnb.variables.scope import get_variable, get_variable_scope, variable_scope


class ScopedVariables:
    """Variables of columns by `tf.get_variable`, in the scope that is open.

    collections: of the variables, beside those of all and of models; trainable: whether any may be.
    """

    def __init__(self, collections: Sequence[str] | None = None, trainable: bool = True) -> None:
        own = [GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
        self.collections = [*dict.fromkeys([*(collections or ()), *own])]
        self.trainable = trainable

    def variable(self, column: FeatureColumn, name: str, size: tuple[int, ...], initializer: Any,
                 trainable: bool) -> Any:
        """Return the variable `name`, float32."""
        return get_variable(name, size, dtypes.float32, initializer, trainable=self.trainable and trainable,
                            collections=self.collections)


def _is_dense(column: FeatureColumn) -> bool:
    return isinstance(column, DenseColumn)


def flat(column: DenseColumn, tensor: Tensor) -> Tensor:
    """Return the dense tensor of a column as [batch, elements]."""
    sizes: Any = shape(tensor)
    made: Tensor = reshape(tensor, (sizes[0], prod(column.variable_shape)))
    return made


def side_by_side(features: Mapping[str, Any], feature_columns: Any, variables: ScopedVariables,
                 cols_to_vars: MutableMapping[Any, Any] | None = None,
                 cols_to_output_tensors: MutableMapping[Any, Any] | None = None) -> Tensor:
    """Return the dense columns side by side, in the scope that is open. Arguments and errors as of input_layer."""
    columns = check_columns(feature_columns, _is_dense, "Items of feature_columns must be a _DenseColumn. You can wrap "
                            "a categorical column with an embedding_column or indicator_column.")
    cache, made = FeatureCache(features), []
    for column in columns:
        assert isinstance(column, DenseColumn)
        with variable_scope(None, default_name=column.var_scope_name):
            made.append(flat(column, column.get_dense_tensor(cache, variables)))
            if cols_to_vars is not None:
                cols_to_vars[column] = get_default_graph().get_collection(
                    GraphKeys.GLOBAL_VARIABLES, scope=get_variable_scope().name)
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = made[-1]
    check_batch_sizes(made, columns)
    return concat(made, 1)


def input_layer(features: Mapping[str, Any], feature_columns: Any, weight_collections: Sequence[str] | None = None,
                trainable: bool = True, cols_to_vars: MutableMapping[Any, Any] | None = None,
                cols_to_output_tensors: MutableMapping[Any, Any] | None = None) -> Tensor:
    """Return the dense columns of a batch of features side by side, in the order of their names: [batch, width].

    features: name -> tensor or SparseTensor with the batch as first axis; a vector is a column of one number each.
    feature_columns: dense ones: numeric, bucketized, indicator and embedding columns. weight_collections: of the
    variables, beside GLOBAL_VARIABLES and MODEL_VARIABLES; trainable: whether they are. cols_to_vars: a dict that
    gets the list of variables of each column; cols_to_output_tensors: one that gets each column's tensor.

    Raises ValueError for no columns, columns of other kinds or with one name, missing features, and features of
    different batch sizes.

    >>> age = tf.feature_column.numeric_column("age")
    >>> pet = tf.feature_column.categorical_column_with_vocabulary_list("pet", ["cat", "dog"])
    >>> columns = [tf.feature_column.indicator_column(pet), age]
    >>> layer = tf.feature_column.input_layer({"age": [30.0, 40.0], "pet": ["dog", "cat"]}, columns)
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(layer)
    array([[30.,  0.,  1.],
           [40.,  1.,  0.]], dtype=float32)
    """
    with variable_scope(None, default_name="input_layer", values=list(features.values())):
        return side_by_side(features, feature_columns, ScopedVariables(weight_collections, trainable), cols_to_vars,
                            cols_to_output_tensors)
