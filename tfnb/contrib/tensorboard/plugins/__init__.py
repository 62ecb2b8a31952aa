"""`tf.contrib.tensorboard.plugins`."""
from tfnb.contrib.tensorboard.plugins import projector

__all__ = ["projector"]
