"""Metrics over many runs: `tf.metrics`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.metrics.metrics import (
    accuracy, false_negatives, false_positives, mean_absolute_error, mean_cosine_distance, mean_iou,
    mean_per_class_accuracy, mean_relative_error, mean_squared_error, mean_tensor, percentage_below, precision, recall,
    root_mean_squared_error, true_negatives, true_positives,
)
from tfnb.metrics.base import mean
from tfnb.metrics.thresholds import (
    auc, false_negatives_at_thresholds, false_positives_at_thresholds, precision_at_thresholds, recall_at_thresholds,
    sensitivity_at_specificity, specificity_at_sensitivity, true_negatives_at_thresholds,
    true_positives_at_thresholds,
)
from tfnb.metrics.at_k import (
    average_precision_at_k, precision_at_k, precision_at_top_k, recall_at_k, recall_at_top_k,
    sparse_average_precision_at_k, sparse_precision_at_k,
)

_explain(__name__)
