"""`tf.contrib.learn.python.learn.estimators.linear`."""
# ruff: noqa: F401
from tfnb.estimator.learn.models import LinearClassifier, LinearRegressor
