"""`tf.contrib.learn.learn_runner`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.estimator.learn.experiment import run

_explain(__name__)
