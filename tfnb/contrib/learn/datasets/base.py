"""`tf.contrib.learn.datasets.base`."""
# ruff: noqa: F401
from tfnb.examples.tutorials.mnist.input_data import Datasets, maybe_download
