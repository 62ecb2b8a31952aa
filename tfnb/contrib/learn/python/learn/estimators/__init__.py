"""`tf.contrib.learn.python.learn.estimators`."""
# ruff: noqa: F401
from tfnb.contrib.learn.python.learn.estimators import dnn, estimator, linear, model_fn, run_config
from tfnb.core.absent import explain as _explain

_explain(__name__)
