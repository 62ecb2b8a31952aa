"""Options of pipelines: what programs may ask of `Dataset.with_options`, and what has no effect here."""
from __future__ import annotations

from typing import Any


class _Settings:
    """Attributes that may be set; None where they are not. Raises AttributeError for others."""

    _names: tuple[str, ...] = ()

    def __init__(self) -> None:
        for name in self._names:
            setattr(self, name, None)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._names:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}: expected one of "
                                 + ", ".join(self._names))
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None     # type: ignore[assignment]


class OptimizationOptions(_Settings):
    """Rewritings of a pipeline; without effect.

    >>> options = tf.data.Options()
    >>> options.experimental_optimization = tf.data.experimental.OptimizationOptions()
    >>> options.experimental_optimization.map_and_batch_fusion = True
    >>> dataset = tf.data.Dataset.range(3).with_options(options)
    """

    _names = ("apply_default_optimizations", "autotune", "autotune_algorithm", "autotune_buffers",
              "autotune_cpu_budget", "filter_fusion", "filter_with_random_uniform_fusion", "hoist_random_uniform",
              "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion", "map_parallelization",
              "map_vectorization", "noop_elimination", "parallel_batch", "shuffle_and_repeat_fusion")


class ThreadingOptions(_Settings):
    """Threads of a pipeline; without effect.

    >>> options = tf.data.Options()
    >>> options.experimental_threading = tf.data.experimental.ThreadingOptions()
    >>> options.experimental_threading.private_threadpool_size = 4
    """

    _names = ("max_intra_op_parallelism", "private_threadpool_size")


class DistributeOptions(_Settings):
    """Sharing of a pipeline between workers; without effect.

    >>> options = tf.data.Options()
    >>> options.experimental_distribute = tf.data.experimental.DistributeOptions()
    >>> options.experimental_distribute.auto_shard = False
    """

    _names = ("auto_shard", "auto_shard_policy", "num_devices")
