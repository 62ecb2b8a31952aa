"""`tf.contrib.metrics`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
import sys as _sys

from tfnb.metrics.contrib import (
    STREAMING as _STREAMING, accuracy, aggregate_metric_map, aggregate_metrics, count, streaming_covariance,
    streaming_pearson_correlation, streaming_recall_at_k,
)
from tfnb.ops.array.counting import confusion_matrix
from tfnb.ops.sparse.sets import set_difference, set_intersection, set_size, set_union
from tfnb.tools.as_tensorflow import find_inside as _find_inside

globals().update(_STREAMING)
_find_inside(_sys.modules[__name__], "contrib.metrics")        # contrib.metrics.python and below

_explain(__name__)
