"""Metrics over many runs: `tf.metrics`."""
# ruff: noqa: F401, I001
from tfnb.metrics.metrics import (
    accuracy, false_negatives, false_positives, mean_absolute_error, mean_cosine_distance, mean_per_class_accuracy,
    mean_relative_error, mean_squared_error, mean_tensor, percentage_below, precision, recall,
    root_mean_squared_error, true_negatives, true_positives,
)
from tfnb.metrics.base import mean
from tfnb.metrics.thresholds import (
    auc, false_negatives_at_thresholds, false_positives_at_thresholds, precision_at_thresholds, recall_at_thresholds,
    sensitivity_at_specificity, specificity_at_sensitivity, true_negatives_at_thresholds,
    true_positives_at_thresholds,
)
