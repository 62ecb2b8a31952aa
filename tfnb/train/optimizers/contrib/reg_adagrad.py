"""Adagrad whose accumulators can be left alone by gradients of regularization losses."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.train.optimizers.adagrad import AdagradOptimizer
from tfnb.train.optimizers.declared import keep_arguments


class RegAdagradOptimizer(AdagradOptimizer):
    """tf.train.AdagradOptimizer with `avoid_updating_slots`, for gradients that the accumulators should not see.

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.contrib.opt.RegAdagradOptimizer(learning_rate=0.5, initial_accumulator_value=4.0)
    >>> with optimizer.avoid_updating_slots():
    ...     step = optimizer.minimize(v ** 2)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run([v, optimizer.get_slot(v, "accumulator")])
    [0.5, 4.0]
    """

    _update_slots = True

    @keep_arguments
    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False,
                 name: str = "RegAdagrad") -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")

    @contextmanager
    def avoid_updating_slots(self) -> Iterator[None]:
        """Let steps that are built inside leave the accumulators as they are."""
        before, self._update_slots = self._update_slots, False
        try:
            yield
        finally:
            self._update_slots = before


describe(globals(), OPTIMIZERS)
