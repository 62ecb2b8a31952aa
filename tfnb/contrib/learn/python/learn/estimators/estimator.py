"""`tf.contrib.learn.python.learn.estimators.estimator`."""
# ruff: noqa: F401
from tfnb.estimator.learn.arrays import infer_real_valued_columns_from_input, infer_real_valued_columns_from_input_fn
from tfnb.estimator.learn.estimator import Estimator, SKCompat
