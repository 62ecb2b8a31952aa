"""`tf.keras.regularizers`."""
# ruff: noqa: F401
from tfnb.keras.functions.regularizers import L1L2, Regularizer, deserialize, get, l1, l1_l2, l2, serialize
