"""Estimators that were written for TPUs, on CPUs: `tf.estimator.tpu`, `tf.contrib.tpu`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.estimator.tpu.config import InputPipelineConfig, RunConfig, TPUConfig
from tfnb.estimator.tpu.estimator import TPUEstimator
from tfnb.estimator.tpu.spec import TPUEstimatorSpec

_explain(__name__)
