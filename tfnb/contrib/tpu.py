"""`tf.contrib.tpu`: what a program that was written for TPUs needs to run on a CPU."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.estimator.tpu.config import InputPipelineConfig, RunConfig, TPUConfig
from tfnb.estimator.tpu.estimator import TPUEstimator
from tfnb.estimator.tpu.optimizer import CrossShardOptimizer
from tfnb.estimator.tpu.spec import TPUEstimatorSpec

_explain(__name__)
