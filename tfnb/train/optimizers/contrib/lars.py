"""LARS optimizer: momentum with a learning rate for each layer, for large batches (You et al., 2017)."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import where
from tfnb.ops.reductions.reduce import norm
from tfnb.train.optimizers.declared import keep_arguments
from tfnb.train.optimizers.momentum import MomentumOptimizer
from tfnb.variables.variable import Variable


class LARSOptimizer(MomentumOptimizer):
    """LARS: momentum with the rate learning_rate * eeta * |var| / (|grad| + weight_decay * |var| + epsilon).

    |.|: the L2 norm of a whole variable or gradient; where one is 0, the rate is learning_rate. skip_list: parts of the
    names of variables whose rate is that, too (biases, batch normalization). Sparse gradients take it as well. Raises
    ValueError for a negative momentum or weight_decay. Slot: "momentum".

    >>> v = tf.Variable([3.0, 4.0])
    >>> step = tf.contrib.opt.LARSOptimizer(learning_rate=1.0, eeta=0.1, weight_decay=0.0).minimize(-v[0])
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    array([3.5, 4. ], dtype=float32)
    """

    @keep_arguments
    def __init__(self, learning_rate: Any, momentum: Any = 0.9, weight_decay: float = 0.0001, eeta: float = 0.001,
                 epsilon: float = 0.0, name: str = "LARSOptimizer", skip_list: Sequence[str] | None = None,
                 use_nesterov: bool = False) -> None:
        for what, value in (("momentum", momentum), ("weight_decay", weight_decay)):
            if isinstance(value, (int, float)) and value < 0.0:
                raise ValueError(f"{what} should be positive: {value}")

    def compute_lr(self, grad: Tensor, var: Variable) -> Any:
        """Return the learning rate of a variable, a scalar of its dtype."""
        rate = self._step_input("lr", var)
        if self._skip_list is not None and any(part in var.name for part in self._skip_list):
            return rate
        weights, slope = norm(var, ord=2), norm(grad, ord=2)
        ratio = self._eeta * weights / (slope + self._weight_decay * weights + self._epsilon)
        return rate * where((weights > 0) & (slope > 0), ratio, 1.0)

    def _step_dense(self, grad: Tensor, var: Variable) -> Operation:
        # The slot sums steps, not gradients: a rate that changes counts for the gradients of its own time.
        return self._apply_step(self._rule.step, var, grad=grad * self.compute_lr(grad, var), lr=cast(1.0, grad.dtype))


describe(globals(), OPTIMIZERS)
