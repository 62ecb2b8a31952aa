"""`tf.contrib.learn.python.learn.estimators.dnn`."""
# ruff: noqa: F401
from tfnb.estimator.learn.models import DNNClassifier, DNNRegressor
