"""`tf.contrib.tensorboard`."""
from tfnb.contrib.tensorboard import plugins
from tfnb.core.absent import explain as _explain

__all__ = ["plugins"]

_explain(__name__)
