"""`tf.lookup.experimental`."""
# ruff: noqa: F401
from tfnb.lookup.mutable import DenseHashTable
