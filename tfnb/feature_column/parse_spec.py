"""Features of tf.Example protos that columns need, for `tf.parse_example`."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfnb.core import dtypes
from tfnb.feature_column.column import FeatureColumn
from tfnb.feature_column.numeric import NumericColumn, numeric_column
from tfnb.ops.io.parsing import FixedLenFeature


def make_parse_example_spec(feature_columns: Iterable[FeatureColumn]) -> dict[str, Any]:
    """Return the features that `tf.parse_example` needs to read for the columns: name -> feature.

    feature_columns: of any kind. Raises ValueError for other things, and columns that need one feature in two forms.

    >>> age = tf.feature_column.numeric_column("age")
    >>> pet = tf.feature_column.categorical_column_with_hash_bucket("pet", 10)
    >>> columns = [age, tf.feature_column.embedding_column(pet, 2)]
    >>> spec = tf.feature_column.make_parse_example_spec(columns)
    >>> spec["age"]
    FixedLenFeature(shape=(1,), dtype=tf.float32, default_value=None)
    >>> spec["pet"]
    VarLenFeature(dtype=tf.string)
    """
    found: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(f"All feature_columns must be FeatureColumn instances. Given: {column}")
        for key, value in column.parse_example_spec.items():
            if found.setdefault(key, value) != value:
                raise ValueError(f"feature_columns contain different parse_spec for key {key}. Given {value} and "
                                 f"{found[key]}")
    return found


def _with_label(feature_columns: Iterable[FeatureColumn], label_key: str, label: FixedLenFeature,
                weight_column: Any) -> dict[str, Any]:
    """Return the features of columns, of a label and of a column of weights. Raises ValueError, TypeError."""
    found = make_parse_example_spec(feature_columns)
    if label_key in found:
        raise ValueError(f"label should not be used as feature. label_key: {label_key}, features: {sorted(found)}")
    found[label_key] = label
    if weight_column is None:
        return found
    column = numeric_column(weight_column) if isinstance(weight_column, str) else weight_column
    if not isinstance(column, NumericColumn):
        raise TypeError(f"weight_column should be a string or a numeric_column, got {weight_column!r}")
    if column.key in found:
        raise ValueError(f"Key {column.key} of the weights is that of a feature or of the label, too")
    return {**found, **column.parse_example_spec}


def classifier_parse_example_spec(feature_columns: Iterable[FeatureColumn], label_key: str,
                                  label_dtype: Any = dtypes.int64, label_default: Any = None,
                                  weight_column: Any = None) -> dict[str, Any]:
    """Return the features that `tf.parse_example` needs to read for a classifier: columns, a label, weights.

    feature_columns: as in make_parse_example_spec; label_key, label_dtype, label_default: of a label of shape [1].
    weight_column: the name of a feature with the examples' weights, or a numeric_column. Raises ValueError for a label
    that is a feature, TypeError for another weight_column.

    >>> age = tf.feature_column.numeric_column("age")
    >>> sorted(tf.estimator.classifier_parse_example_spec([age], label_key="rich"))
    ['age', 'rich']
    """
    label = FixedLenFeature((1,), dtypes.as_dtype(label_dtype), label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


def regressor_parse_example_spec(feature_columns: Iterable[FeatureColumn], label_key: str,
                                 label_dtype: Any = dtypes.float32, label_default: Any = None,
                                 label_dimension: int = 1, weight_column: Any = None) -> dict[str, Any]:
    """Return the features that `tf.parse_example` needs to read for a regressor: columns, a label, weights.

    label_dimension: the size of the label; other arguments as in classifier_parse_example_spec: feature_columns,
    label_key, label_dtype, label_default, weight_column. Raises as that.

    >>> age = tf.feature_column.numeric_column("age")
    >>> tf.estimator.regressor_parse_example_spec([age], label_key="y", label_dimension=2)["y"].shape
    (2,)
    """
    label = FixedLenFeature((label_dimension,), dtypes.as_dtype(label_dtype), label_default)
    return _with_label(feature_columns, label_key, label, weight_column)
