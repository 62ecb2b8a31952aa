"""`tf.contrib.estimator`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.estimator.heads.contrib import (
    binary_classification_head, logistic_regression_head, multi_class_head, multi_head, multi_label_head,
    poisson_regression_head, regression_head,
)
from tfnb.estimator.extenders import add_metrics, clip_gradients_by_norm, forward_features

_explain(__name__)
