"""`tf.contrib.util`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.graph.formats.protos import make_ndarray
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.tensor_proto import make_tensor_proto

_explain(__name__)
