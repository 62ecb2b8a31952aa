"""`tf.contrib.feature_column`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.feature_column.sequence import (
    sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list,
    sequence_input_layer,
    sequence_numeric_column,
)

_explain(__name__)
