"""`tf.contrib.learn.python.learn`."""
# ruff: noqa: F401
from tfnb.contrib.learn.python.learn import datasets
