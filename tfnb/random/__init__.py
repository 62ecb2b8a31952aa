"""Random numbers: `tf.random`."""
# ruff: noqa: F401
from tfnb.core.lazy import lazy_module as _lazy_module
from tfnb.core.lazy import lazy_names as _lazy_names
from tfnb.ops.declaration.public import exports as _exports
from tfnb.ops.random.random_ops import categorical, get_seed, multinomial, set_random_seed, truncated_normal
from tfnb.ops.random.random_ops import random_normal as normal
from tfnb.ops.random.random_ops import random_shuffle as shuffle
from tfnb.ops.random.random_ops import random_uniform as uniform
from tfnb.ops.random.random_ops import set_random_seed as set_seed

experimental = _lazy_module("tfnb.random.experimental")
__getattr__ = _exports(__name__, _lazy_names(__name__, dict.fromkeys(
    ("log_uniform_candidate_sampler", "uniform_candidate_sampler"), "tfnb.ops.random.candidates")))
