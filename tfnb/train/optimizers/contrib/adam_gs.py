"""Adam that counts its steps by the global step, so that no powers of beta are shared between workers."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.declaration.public import public
from tfnb.ops.math.arithmetic import Pow
from tfnb.ops.math.casting import cast
from tfnb.train.optimizers.adam import AdamOptimizer
from tfnb.train.optimizers.declared import keep_arguments
from tfnb.variables.variable import Variable


@public("contrib.opt.AdamGSOptimizer")
class AdamGSOptimizer(AdamOptimizer):
    """Adam whose t is `global_step` + 1: an integer, tensor or variable, by default 0, which is then always step 1.

    learning_rate, beta1, beta2, epsilon: numbers, scalar tensors, or functions that return one. use_locking: whether
    updates of variables take a lock. name: of the ops that it makes. Slots "m" and "v" as of tf.train.AdamOptimizer;
    there are no variables for beta1^t and beta2^t.

    >>> v, count = tf.Variable(1.0), tf.train.get_or_create_global_step()
    >>> optimizer = tf.contrib.opt.AdamGSOptimizer(count, learning_rate=0.1)
    >>> step = optimizer.minimize(v ** 2, global_step=count)
    >>> sess.run(tf.global_variables_initializer())
    >>> for _ in range(3):
    ...     _ = sess.run(step)
    >>> sess.run([v, count])
    [0.7015, 3]
    """

    _rule = replace(AdamOptimizer._rule, powers={})

    @keep_arguments
    def __init__(self, global_step: Any = 0, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999,
                 epsilon: Any = 1e-8, use_locking: bool = False, name: str = "Adam") -> None: ...

    def _prepare(self) -> None:
        super()._prepare()
        self._global_step_on_worker = convert_to_tensor(self._global_step) + 1

    def _step_input(self, name: str, var: Variable) -> Any:
        if name in ("beta1_power", "beta2_power"):
            return self._power(name.removesuffix("_power"), var.dtype.base_dtype)
        return super()._step_input(name, var)

    def _get_beta_accumulators(self) -> tuple[Tensor, Tensor]:  # type: ignore[override]  # no variables
        """Return beta1^t and beta2^t, for subclasses."""
        return self._power("beta1", self._beta1_t.dtype), self._power("beta2", self._beta2_t.dtype)

    def _power(self, beta: str, dtype: Any) -> Tensor:
        made: Tensor = Pow(cast(getattr(self, f"_{beta}_t"), dtype), cast(self._global_step_on_worker, dtype))
        return made
