"""`tf.contrib.learn.python.learn.datasets.mnist`."""
# ruff: noqa: F401
from tfnb.contrib.learn.datasets.mnist import DataSet, Datasets, extract_images, extract_labels, read_data_sets
