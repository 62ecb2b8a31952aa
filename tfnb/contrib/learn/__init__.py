"""`tf.contrib.learn`, as far as it reads MNIST and makes numbers of words."""
# ruff: noqa: F401
from tfnb.contrib.learn import datasets, preprocessing, python
