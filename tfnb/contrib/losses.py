"""`tf.contrib.losses`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
import sys as _sys

from tfnb.losses import metric_learning
from tfnb.losses.contrib import (
    absolute_difference, cosine_distance, hinge_loss, log_loss, mean_pairwise_squared_error, mean_squared_error,
    sigmoid_cross_entropy, softmax_cross_entropy, sparse_softmax_cross_entropy,
)
from tfnb.losses.losses import (
    add_loss, compute_weighted_loss, get_losses, get_regularization_losses, get_total_loss,
)
from tfnb.tools.as_tensorflow import find_inside as _find_inside

_find_inside(_sys.modules[__name__], "contrib.losses")        # contrib.losses.python and below

_explain(__name__)
