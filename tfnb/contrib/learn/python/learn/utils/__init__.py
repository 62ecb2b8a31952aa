"""`tf.contrib.learn.python.learn.utils`."""
from tfnb.core.absent import explain as _explain
from tfnb.core.lazy import lazy_module as _lazy_module

saved_model_export_utils = _lazy_module("tfnb.contrib.learn.python.learn.utils.saved_model_export_utils")

_explain(__name__)
