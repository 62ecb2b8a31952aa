"""`tf.contrib.learn.python.learn.datasets.base`."""
# ruff: noqa: F401
from tfnb.contrib.learn.datasets.base import (
    Dataset,
    Datasets,
    load_csv_with_header,
    load_csv_without_header,
    load_iris,
    maybe_download,
)
