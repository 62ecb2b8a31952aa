"""The release whose API this is, and the versions of the graphs that it writes and reads: `tf.version`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.core.version import (
    GIT_VERSION, GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER, GRAPH_DEF_VERSION_MIN_PRODUCER, VERSION,
)

_explain(__name__)
