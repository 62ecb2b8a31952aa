"""`tf.contrib.batching`: functions that compute several runs of a session as one batch."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.data.batch_functions import batch_function

_explain(__name__)
