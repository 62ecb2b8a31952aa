"""`tf.contrib.learn.python.learn.monitors`."""
# ruff: noqa: F401
from tfnb.estimator.learn.monitors import ValidationMonitor
