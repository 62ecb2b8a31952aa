"""Runs that are looked at op by op: interpreted, on a copy of the session's values, with a tap on each op."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tfnb.compile.plan import Plan
from tfnb.graph.operation import Operation, Tensor
from tfnb.runtime.executor import Executor, Settings
from tfnb.runtime.store import Store


class Tap:
    """What sees each op of an inspected run, in the order in which they run. Those of a loop come once a round.

    Constants are ops too; variables and what is fed are seen as inputs only.
    """

    def before(self, op: Operation, inputs: Sequence[np.ndarray]) -> None:
        """`op` is about to run. inputs: to be read only; those that are references change when it runs."""

    def after(self, op: Operation, outputs: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """`op` has run. Returns what to go on with: `outputs`, or others of the same shapes and dtypes."""
        return outputs


@dataclass(frozen=True)
class Inspection:
    """A run that is ready to be looked at, as often as one likes: each time it begins with the same values."""

    plan: Plan
    feeds: Mapping[Tensor, np.ndarray]
    store: Store

    def run(self, tap: Tap, store: Store | None = None) -> Sequence[np.ndarray]:
        """Run it and return the values of the plan's fetches; raises what a run raises.

        store: whose values it reads and changes; by default a copy, so that nothing is left of the run but what it
        took from queues and files.
        """
        executor = Executor(self.plan, store or self.store.copy(), settings=Settings(interpreted=True, tap=tap))
        return executor.run(list(self.feeds.values()))

