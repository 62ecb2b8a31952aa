"""`tf.contrib.learn.ops`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.estimator.learn.old import categorical_variable, conv2d, dnn, one_hot_matrix

_explain(__name__)
