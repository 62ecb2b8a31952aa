"""`tf.contrib.learn.io`."""
# ruff: noqa: F401
from tfnb.estimator.inputs import numpy_input_fn, pandas_input_fn
