"""Running while loops: the plans of a loop, one round after another."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from tfnb.compile.plan import Loop, Plan


class Runs(Protocol):
    """What runs a plan: runtime/executor.py."""

    def run(self, feeds: Sequence[np.ndarray], watch: Any = None) -> Sequence[np.ndarray]:
        """The values of the fetches."""


class LoopRunner:
    """One loop in one session. Its first round is interpreted, later ones are compiled."""

    def __init__(self, loop: Loop, executor: Callable[[Plan], Runs]) -> None:
        self.loop = loop
        self.test, self.step = executor(loop.test), executor(loop.step)

    def run(self, initial: Sequence[np.ndarray], constants: Sequence[np.ndarray],
            watch: Any = None) -> list[np.ndarray]:
        """The values of the variables when the test fails."""
        loop = self.loop
        values = [*initial, *constants]
        count, feeds, nexts, step = len(initial), loop.step_feeds, loop.nexts, self.step.run
        goes_on = self._goes_on(values, watch)
        while goes_on:
            made = step([values[k] for k in feeds], watch)
            values[:count] = [made[k] if k >= 0 else values[-1 - k] for k in nexts]
            goes_on = bool(made[-1]) if loop.fused else self._goes_on(values, watch)
        return values[:count]

    def _goes_on(self, values: Sequence[np.ndarray], watch: Any) -> bool:
        return bool(self.test.run([values[k] for k in self.loop.test_feeds], watch)[0])
