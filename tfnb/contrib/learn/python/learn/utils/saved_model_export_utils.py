"""`tf.contrib.learn.python.learn.utils.saved_model_export_utils`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.estimator.learn.experiment import make_export_strategy

_explain(__name__)
