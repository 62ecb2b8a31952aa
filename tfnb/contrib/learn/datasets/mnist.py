"""`tf.contrib.learn.datasets.mnist`."""
# ruff: noqa: F401, I001
from tfnb.examples.tutorials.mnist.input_data import (
    DEFAULT_SOURCE_URL, DataSet, Datasets, dense_to_one_hot, extract_images, extract_labels, load_mnist, read_data_sets,
)
