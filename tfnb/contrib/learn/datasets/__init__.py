"""`tf.contrib.learn.datasets`."""
# ruff: noqa: F401
from tfnb.contrib.learn.datasets import base, mnist
from tfnb.examples.tables import load_iris
from tfnb.examples.tutorials.mnist.input_data import load_dataset
