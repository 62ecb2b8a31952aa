"""`tf.contrib.learn.ops`."""
# ruff: noqa: F401
from tfnb.estimator.learn.old import categorical_variable, conv2d, dnn, one_hot_matrix
