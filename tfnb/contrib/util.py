"""`tf.contrib.util`."""
# ruff: noqa: F401
from tfnb.graph.formats.protos import make_ndarray
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.tensor_proto import make_tensor_proto
