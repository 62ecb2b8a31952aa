"""`tf.contrib.tensorboard`."""
from tfnb.contrib.tensorboard import plugins

__all__ = ["plugins"]
