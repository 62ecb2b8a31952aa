"""Linear models solved by stochastic dual coordinate ascent: `tf.contrib.linear_optimizer`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.estimator.models.linear_sdca import SDCAOptimizer
from tfnb.estimator.models.sdca import SdcaModel, SparseFeatureColumn

_explain(__name__)
