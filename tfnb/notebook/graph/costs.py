"""Cost of each op of a run: its share of the time of its kernel, and the bytes that it makes."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfnb.debug.tap import Tap, inspect_run
from tfnb.graph.parts.operation import Operation
from tfnb.notebook.frontend.fetch import in_session
from tfnb.runtime.executor import Executor
from tfnb.runtime.session import BaseSession
from tfnb.runtime.state.trace import Trace

RUNS = 5


@dataclass(frozen=True, slots=True)
class Cost:
    """seconds: of a compiled run, the best of some; a kernel of several ops gives each the same share. nbytes: of the
    outputs, were they all kept; fused ops keep none."""

    seconds: float = 0.0
    nbytes: int = 0


class _Sizes(Tap):
    def __init__(self) -> None:
        self.nbytes: dict[str, int] = {}

    def after(self, op: Operation, outputs: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """Notes how many bytes the op made."""
        self.nbytes[op.name] = sum(a.nbytes for a in outputs)
        return outputs


def measure(fetches: Sequence[Any], feed: Mapping[Any, Any] | None = None,
            session: BaseSession | None = None) -> dict[str, Cost]:
    """Op name -> what it costs in a run of `fetches`, which happens on a copy of the session's values.

    Raises NoSessionError if it is not clear which session, KeyError for a name that is not there, and what
    `Session.run` raises.
    """
    chosen, wanted, fed = in_session(fetches, feed, session)
    run = inspect_run(chosen, wanted, fed)
    sizes = _Sizes()
    run.run(sizes)
    executor = Executor(run.plan, run.store.copy())
    feeds = list(run.feeds.values())
    for _ in range(2):
        executor.run(feeds)
    seconds = [_seconds(executor, feeds) for _ in range(RUNS)]
    names = {*sizes.nbytes, *(name for run in seconds for name in run)}
    return {name: Cost(min(run.get(name, 0.0) for run in seconds), sizes.nbytes.get(name, 0)) for name in names}


def _seconds(executor: Executor, feeds: Sequence[np.ndarray]) -> dict[str, float]:
    trace = Trace()
    executor.run(feeds, trace)
    found: dict[str, float] = defaultdict(float)
    for record in trace.records:
        for op in record.ops:
            found[op.name] += (record.end - record.start) * 1e-9 / len(record.ops)
    return found
