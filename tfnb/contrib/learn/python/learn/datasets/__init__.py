"""`tf.contrib.learn.python.learn.datasets`."""
# ruff: noqa: F401
from tfnb.contrib.learn.datasets import load_dataset, load_iris, mnist
from tfnb.contrib.learn.python.learn.datasets import base
