"""`tf.contrib.predictor`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.estimator.learn.predictor import from_saved_model

_explain(__name__)
