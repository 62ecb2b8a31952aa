"""`tf.lookup.experimental`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.lookup.mutable import DenseHashTable

_explain(__name__)
