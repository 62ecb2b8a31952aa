"""The path that programs import from: `tf.contrib.learn.python.learn.datasets.mnist`."""
# ruff: noqa: F401, I001
from tfnb.contrib.learn.python import learn
from tfnb.core.lazy import lazy_names as _lazy_names

__getattr__ = _lazy_names(__name__, {"SKCompat": "tfnb.estimator.learn.estimator"})
