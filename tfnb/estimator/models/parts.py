"""Parts that the models of `tf.estimator` share: heads of classifiers and regressors, summaries of layers."""
from __future__ import annotations

from typing import Any

from tfnb.estimator.heads.base import Head
from tfnb.estimator.heads.kinds import BinaryClassHead, MultiClassHead, RegressionHead
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import get_collection
from tfnb.ops.io.summary import histogram as histogram_summary
from tfnb.ops.io.summary import scalar as scalar_summary
from tfnb.ops.reductions.reduce import zero_fraction
from tfnb.variables.partitioners import min_max_variable_partitioner

_SLICE = 64 << 20                                  # bytes of a part of a variable


def classification_head(n_classes: int, weight_column: Any, label_vocabulary: Any, loss_reduction: str) -> Head:
    """Return the head of a classifier."""
    if n_classes == 2:
        return BinaryClassHead(weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction)
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)


def regression_head(label_dimension: int, weight_column: Any, loss_reduction: str) -> Head:
    """Return the head of a regressor."""
    return RegressionHead(label_dimension, weight_column, loss_reduction)


def partitioner() -> Any:
    """Return the partitioner of weights: one part each, "part_0", as TensorFlow's without parameter servers."""
    return min_max_variable_partitioner(max_partitions=1)


def input_partitioner(given: Any) -> Any:
    """Return the partitioner of embeddings."""
    return given or min_max_variable_partitioner(max_partitions=1, min_slice_size=_SLICE)


def layer_summary(value: Any, tag: str) -> None:
    """Add summaries of a layer's output."""
    scalar_summary(f"{tag}/fraction_of_zero_values", zero_fraction(value))
    histogram_summary(f"{tag}/activation", value)


def trainable(scope: str) -> list[Any]:
    """Return the trainable variables of a scope."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=f"{scope}/")


def check_columns(feature_columns: Any) -> tuple[Any, ...]:
    """Return the columns as a tuple. Raises ValueError if there are none."""
    if feature_columns is None or (hasattr(feature_columns, "__len__") and not len(feature_columns)):
        raise ValueError(f"feature_columns must be a list of tf.feature_column columns, got {feature_columns}")
    return tuple(feature_columns) if isinstance(feature_columns, (list, tuple, set)) else (
        tuple(feature_columns) if hasattr(feature_columns, "__next__") else (feature_columns,))


def check_features(features: Any) -> None:
    """Raise ValueError unless features are a dict."""
    if not isinstance(features, dict):
        raise ValueError(f"features should be a dictionary of `Tensor`s. Given type: {type(features)}")
