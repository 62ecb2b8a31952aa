"""`tf.contrib.learn.monitors`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.estimator.learn.monitors import ValidationMonitor

_explain(__name__)
