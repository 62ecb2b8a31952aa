"""`tf.contrib.learn.python.learn.metric_spec`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.estimator.learn.estimator import MetricSpec

_explain(__name__)
