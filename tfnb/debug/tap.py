"""Instrumented runs: interpreted on a copy of the session's values, with an observer (tap) on each op."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfnb.compile.planning.plan import Plan
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.runtime.executor import Executor, Settings
from tfnb.runtime.fetch import Feed, feed_tensor, flat_feeds, read_fetches
from tfnb.runtime.session import BaseSession
from tfnb.runtime.state.store import Store


class Tap:
    """Observer of each op of an inspected run, in execution order; ops of a loop are observed once an iteration.

    Constants are ops too; variables and what is fed are seen as inputs only.
    """

    def before(self, op: Operation, inputs: Sequence[np.ndarray]) -> None:
        """Observe `op` before it runs. inputs: read-only; those that are references change when it runs."""

    def after(self, op: Operation, outputs: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """Observe `op` after it has run. Returns `outputs`, or replacements of the same shapes and dtypes."""
        return outputs


@dataclass(frozen=True)
class Inspection:
    """A repeatable run to be observed: each time it begins with the same values."""

    plan: Plan
    feeds: Mapping[Tensor, np.ndarray]
    store: Store

    def run(self, tap: Tap, store: Store | None = None) -> Sequence[np.ndarray]:
        """Run the plan and return the values of its fetches; raises as a run does.

        store: whose values it reads and changes; by default a copy, so that the run has no effects but on queues and
        files that it reads from.
        """
        executor = Executor(self.plan, store or self.store.copy(), settings=Settings(interpreted=True, tap=tap))
        return executor.run(list(self.feeds.values()))


def inspect_run(session: BaseSession, fetches: Any, feed_dict: Any = None) -> Inspection:
    """Return an inspection of a run of a session. Raises as `Session.run` for wrong fetches and feeds."""
    session._check_open()
    graph = session.graph
    read = read_fetches(fetches, graph)
    feeds = {feed_tensor(k, graph): v for k, v in flat_feeds(feed_dict or {}).items()}
    arrays = {t: Feed(t).array(v) for t, v in feeds.items()}
    plan = session._executor(read.tensors, read.targets, tuple(feeds), graph.mutations).plan
    return Inspection(plan, arrays, session._store.copy())


def run_tapped(session: BaseSession, fetches: Any, feed_dict: Any, tap: Tap) -> Any:
    """Run interpreted on the session's own values, with a tap on each op; see `Session.run`."""
    values = inspect_run(session, fetches, feed_dict).run(tap, session._store)
    return read_fetches(fetches, session.graph).build([v if v.ndim else v[()] for v in values])
