"""The path that programs import from: `tf.contrib.learn.python.learn.datasets.mnist`."""
# ruff: noqa: F401
from tfnb.contrib.learn.python import learn
