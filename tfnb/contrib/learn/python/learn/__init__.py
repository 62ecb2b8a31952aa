"""`tf.contrib.learn.python.learn`."""
# ruff: noqa: F401, I001
from tfnb.contrib.learn.python.learn import datasets
from tfnb.core.lazy import lazy_module as _lazy_module, lazy_names as _lazy_names

estimators = _lazy_module("tfnb.contrib.learn.python.learn.estimators")
learn_runner = _lazy_module("tfnb.contrib.learn.learn_runner")
utils = _lazy_module("tfnb.contrib.learn.python.learn.utils")
metric_spec = _lazy_module("tfnb.contrib.learn.python.learn.metric_spec")
monitors = _lazy_module("tfnb.contrib.learn.python.learn.monitors")
__getattr__ = _lazy_names(__name__, dict.fromkeys(
    ("Estimator", "MetricSpec", "ModeKeys", "ModelFnOps", "RunConfig", "SKCompat"), "tfnb.estimator.learn.estimator"))
