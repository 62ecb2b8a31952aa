"""Optimizers that add up gradients over the cores of a TPU: `tf.contrib.tpu.CrossShardOptimizer`."""
from __future__ import annotations

from typing import Any

from tfnb.train.optimizers.optimizer import Optimizer


class CrossShardOptimizer(Optimizer):
    """Optimizer that averages gradients over the cores of a TPU; computing them raises ValueError, as there are none.

    opt: the optimizer; reduction: of the loss over cores; name: of the training op; group_assignment: cores by group.

    >>> optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.1))
    >>> optimizer.get_slot_names()
    []
    """

    def __init__(self, opt: Optimizer, reduction: str = "weighted_sum", name: str = "CrossShardOptimizer",
                 group_assignment: Any = None) -> None:
        super().__init__(False, name)
        self._opt = opt

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Raise ValueError: there are no cores of a TPU. args, kwargs: of the optimizer within."""
        raise ValueError("CrossShardOptimizer should be used within a tpu_shard_context, but got unset "
                         "number_of_shards. If you are running on CPU or GPU, use the optimizer within: TPUEstimator "
                         "runs with use_tpu=False, and so should the model function")

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """Return a slot of the optimizer within. args, kwargs: of its `get_slot`."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """Return the names of the slots of the optimizer within. args, kwargs: of its `get_slot_names`."""
        return self._opt.get_slot_names(*args, **kwargs)
