"""Inputs and outputs of exported models: `tf.estimator.export`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.estimator.outputs import ClassificationOutput, EvalOutput, ExportOutput, PredictOutput, RegressionOutput
from tfnb.estimator.receivers import (
    ServingInputReceiver, TensorServingInputReceiver, build_parsing_serving_input_receiver_fn,
    build_raw_serving_input_receiver_fn,
)

_explain(__name__)
