"""Early stopping, evaluation in memory and parts of models: `tf.estimator.experimental`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.estimator.early_stopping import (
    make_early_stopping_hook,
    make_stop_at_checkpoint_step_hook,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from tfnb.estimator.in_memory import InMemoryEvaluatorHook
from tfnb.estimator.models.kmeans import KMeansClustering as KMeans
from tfnb.estimator.models.linear_sdca import LinearSDCA
from tfnb.estimator.models.logit_fns import call_logit_fn, dnn_logit_fn_builder, linear_logit_fn_builder
from tfnb.estimator.receivers import build_raw_supervised_input_receiver_fn

_explain(__name__)
