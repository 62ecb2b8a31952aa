"""`tf.contrib.estimator`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.estimator.heads.contrib import (
    binary_classification_head, logistic_regression_head, multi_class_head, multi_head, multi_label_head,
    poisson_regression_head, regression_head,
)
from tfnb.estimator.early_stopping import (
    make_early_stopping_hook, make_stop_at_checkpoint_step_hook, read_eval_metrics, stop_if_higher_hook,
    stop_if_lower_hook, stop_if_no_decrease_hook, stop_if_no_increase_hook,
)
from tfnb.estimator.extenders import add_metrics, clip_gradients_by_norm, forward_features
from tfnb.estimator.in_memory import InMemoryEvaluatorHook
from tfnb.estimator.models.logit_fns import (
    call_logit_fn, dnn_logit_fn_builder, linear_logit_fn_builder,
)

_explain(__name__)
