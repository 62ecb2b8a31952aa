"""`horovod.tensorflow.keras`: the names of `horovod.keras`, for `tf.keras`."""
# ruff: noqa: F401, F403, I001
from tfnb.core.absent import explain as _explain
from tfnb.horovod import callbacks
from tfnb.horovod.keras import *

_explain(__name__)
