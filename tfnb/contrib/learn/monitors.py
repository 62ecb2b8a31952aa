"""`tf.contrib.learn.monitors`."""
# ruff: noqa: F401
from tfnb.estimator.learn.monitors import ValidationMonitor
