"""`tf.contrib.learn.python.learn.datasets`."""
# ruff: noqa: F401
from tfnb.contrib.learn.datasets import mnist
