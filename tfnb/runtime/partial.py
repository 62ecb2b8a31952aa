"""Incremental execution (`Session.partial_run`): each step computes what the feeds so far determine, no op twice."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tfnb.compile.planning.order import is_silent, order, reach
from tfnb.compile.planning.plan import LEAVES, Plan
from tfnb.compile.planning.structure import build
from tfnb.core.errors import InvalidArgumentError, UnimplementedError
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.references import refers
from tfnb.opdef import kinds
from tfnb.runtime.executor import Executor


class PartialRun:
    """One run of `fetches` and `targets` that gets `feeds` incrementally.

    execute: makes an executor of a plan. Raises InvalidArgumentError if there is nothing to do, UnimplementedError
    for control flow, whose branches would begin in one step and end in another.
    """

    def __init__(self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor],
                 execute: Callable[[Plan], Executor]) -> None:
        if not fetches and not targets:
            raise InvalidArgumentError(None, None, "Must specify at least one target to fetch or execute.")
        self._execute = execute
        needed, passed = reach(fetches, targets, frozenset(feeds))
        for op in needed | passed:
            if isinstance(op.spec, kinds.Flow):
                raise UnimplementedError(op.node_def, op, f"partial_run of a graph with control flow: {op.name!r} "
                                                          f"({op.type})")
        met = needed | passed                       # passed ops are waited for, but not computed
        self._needed = needed
        self._waiting = order(met, frozenset(feeds))           # ops that have not run, in order
        self._unfed, self._unfetched = dict.fromkeys(feeds), dict.fromkeys(fetches)
        self._targets = set(targets)
        self._ran: set[Operation] = set()
        self._values: dict[Tensor, np.ndarray] = {}                 # feeds, and inputs of later steps

    @property
    def done(self) -> bool:
        """Whether all has been fetched and fed."""
        return not self._unfetched and not self._unfed

    def step(self, fetches: Sequence[Tensor], feeds: Mapping[Tensor, np.ndarray]) -> list[np.ndarray]:
        """Add `feeds`, run all ops whose inputs are available now, and return `fetches`.

        Raises InvalidArgumentError, and does nothing, for tensors that can't be fed or fetched now.
        """
        self._check(fetches, feeds)
        unfed = self._unfed.keys() - feeds.keys()
        ready = self._ready(unfed)
        there = {t for op in (*ready, *self._ran) for t in op.outputs}
        for t in fetches:
            if t in unfed or (t not in there and t not in self._values and t not in feeds
                              and not isinstance(t.op.spec, LEAVES)):
                raise InvalidArgumentError(None, t.op, f"Fetch {t.name} can't be computed from the feeds that have "
                                                       "been fed so far.")
        self._values.update(feeds)
        if ready or fetches:
            self._run(ready, fetches)
        self._unfed = dict.fromkeys(t for t in self._unfed if t in unfed)
        for t in fetches:
            self._unfetched.pop(t, None)
        return [np.array(self._values[t]) for t in fetches]

    def _check(self, fetches: Sequence[Tensor], feeds: Mapping[Tensor, np.ndarray]) -> None:
        for word, tensors, left in (("feed", feeds, self._unfed), ("fetch", fetches, self._unfetched)):
            for t in tensors:
                if t not in left:
                    had = t in self._values
                    raise InvalidArgumentError(None, t.op, f"The {word} {t.name} has already been {word}ed."
                                               .replace("feeded", "fed") if had else
                                               f"The {word} {t.name} was not specified in partial_run_setup.")

    def _ready(self, unfed: set[Tensor]) -> list[Operation]:
        """Return the waiting ops that depend on no unfed tensor; constants and variables are always available."""
        late: set[Operation] = set()
        found = []
        for op in self._waiting:
            if any(t in unfed or (t not in self._values and t.op in late) for t in op.inputs) \
                    or any(c in late or any(t in unfed for t in c.outputs) for c in op.control_inputs):
                late.add(op)
            elif not isinstance(op.spec, LEAVES) and op in self._needed:
                found.append(op)
        return found

    def _run(self, ready: Sequence[Operation], fetches: Sequence[Tensor]) -> None:
        made = {t for op in ready for t in op.outputs}
        later = {t for op in self._waiting if op not in set(ready) for t in op.inputs}
        keep = [t for t in dict.fromkeys([*(t for t in made if t in later or t in self._unfetched), *fetches])
                if t not in self._values and (t in fetches or not refers(t))]
        targets = [op for op in ready if op in self._targets or not is_silent(op)]
        feeds = list(self._values)
        cut = {op for op in self._ran if not isinstance(op.spec, kinds.Variable)}
        plan = build(keep, targets, feeds, cut=cut)
        values = self._execute(plan).run([self._values[t] for t in feeds])
        self._values.update(zip(keep, values, strict=True))
        self._ran |= set(ready)
        self._waiting = [op for op in self._waiting if op not in self._ran]
