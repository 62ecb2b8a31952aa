"""`tf.contrib.learn`, as far as it reads MNIST."""
# ruff: noqa: F401
from tfnb.contrib.learn import datasets, python
