"""`tf.contrib.learn.python.learn.metric_spec`."""
# ruff: noqa: F401
from tfnb.estimator.learn.estimator import MetricSpec
