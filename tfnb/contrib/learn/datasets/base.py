"""`tf.contrib.learn.datasets.base`."""
# ruff: noqa: F401
from tfnb.examples.tables import Dataset, load_csv_with_header, load_csv_without_header, load_iris
from tfnb.examples.tutorials.mnist.input_data import Datasets, maybe_download
