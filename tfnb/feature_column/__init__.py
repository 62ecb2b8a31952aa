"""Columns of features: `tf.feature_column`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.feature_column.categorical import (
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
)
from tfnb.feature_column.combined import crossed_column, weighted_categorical_column
from tfnb.feature_column.dense import embedding_column, indicator_column, shared_embedding_columns
from tfnb.feature_column.input_layer import input_layer
from tfnb.feature_column.linear_model import linear_model
from tfnb.feature_column.numeric import bucketized_column, numeric_column
from tfnb.feature_column.parse_spec import make_parse_example_spec
from tfnb.feature_column.sequence import (
    sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list,
    sequence_numeric_column,
)

_explain(__name__)
