"""`tf.contrib.opt`: optimizers beside those of `tf.train`."""
# ruff: noqa: F401, I001
from tfnb.train.optimizers.contrib.ada_max import AdaMaxOptimizer
from tfnb.train.optimizers.contrib.adam_variants import LazyAdamOptimizer, NadamOptimizer
from tfnb.train.optimizers.contrib.external import ExternalOptimizerInterface, ScipyOptimizerInterface
from tfnb.train.optimizers.contrib.lars import LARSOptimizer
from tfnb.train.optimizers.contrib.reg_adagrad import RegAdagradOptimizer
from tfnb.train.optimizers.contrib.signs import AddSignOptimizer, PowerSignOptimizer
from tfnb.train.optimizers.contrib.weight_decay import (
    AdamWOptimizer, DecoupledWeightDecayExtension, MomentumWOptimizer, extend_with_decoupled_weight_decay,
)
from tfnb.train.optimizers.contrib.wrappers import MovingAverageOptimizer, VariableClippingOptimizer
from tfnb.ops.declaration.public import exports as _exports

__getattr__ = _exports(__name__)
