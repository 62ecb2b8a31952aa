"""`tf.contrib.learn.models`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.estimator.learn.old import get_dnn_model, linear_regression, logistic_regression

_explain(__name__)
