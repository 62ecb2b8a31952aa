"""`tf.contrib.learn.python.learn.estimators.model_fn`."""
# ruff: noqa: F401
from tfnb.estimator.learn.estimator import ModeKeys, ModelFnOps
