"""Version of tfnb, defined here only, and of TensorFlow's API and formats as tfnb has them."""
from __future__ import annotations

__version__ = "0.2.0"
VERSION = "1.15.0"                          # the release whose API this is: programs compare it with numbers
GIT_VERSION = f"tfnb {__version__}"
# The GraphDef version of TensorFlow 1.15: what is newer is read by all that came after it.
GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER, GRAPH_DEF_VERSION_MIN_PRODUCER = 134, 0, 0
