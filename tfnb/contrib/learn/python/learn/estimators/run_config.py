"""`tf.contrib.learn.python.learn.estimators.run_config`."""
# ruff: noqa: F401
from tfnb.estimator.learn.estimator import RunConfig
