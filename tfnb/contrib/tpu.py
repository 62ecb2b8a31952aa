"""`tf.contrib.tpu`: what a program that was written for TPUs needs to run on a CPU."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.estimator.tpu import InputPipelineConfig, RunConfig, TPUConfig, TPUEstimator, TPUEstimatorSpec

_explain(__name__)
