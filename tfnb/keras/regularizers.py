"""`tf.keras.regularizers`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.keras.functions.regularizers import L1L2, Regularizer, deserialize, get, l1, l1_l2, l2, serialize

_explain(__name__)
