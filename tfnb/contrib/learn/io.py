"""`tf.contrib.learn.io`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.estimator.inputs import numpy_input_fn, pandas_input_fn

_explain(__name__)
