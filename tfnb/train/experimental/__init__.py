"""Scales of losses for half precision: `tf.train.experimental`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.train.optimizers.loss_scale import (
    DynamicLossScale,
    FixedLossScale,
    LossScale,
    MixedPrecisionLossScaleOptimizer,
)

_explain(__name__)
