"""Continuous NaN check (`options.nan_check`): cheap checks in each run, exact localization by checkpoint and replay.

Fetched values are checked in each run. The variables are checked periodically (EVERY), and checkpointed (LOOKS);
between two checkpoints the feeds of each run are logged. When a check fails, the logged runs are replayed on the
checkpoint until the first bad value appears, and that run is searched op by op (debug/nan.py).

Feeds are logged by reference: to copy them took 30 % of a step of a small network. Where a caller turns out to reuse
one array for each run, which a few sampled elements of the first one show, they are copied from then on.
"""
from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from enum import Enum
from math import isfinite
from typing import NamedTuple

import numpy as np

from tfnb.compile.planning.plan import Plan
from tfnb.compile.planning.reads import writes_variables
from tfnb.core.errors import InvalidArgumentError
from tfnb.core.options import options
from tfnb.core.text import counted
from tfnb.debug.nan import badness, patterns, search
from tfnb.debug.tap import Inspection
from tfnb.kernels.library.finite import TYPES, Finite
from tfnb.opdef import kinds
from tfnb.runtime.executor import Executor, Settings
from tfnb.runtime.state.store import Key, Store

EVERY, OFTEN = 128, 32          # runs between two checks of the variables, and that if they have LARGE bytes
LARGE = 1 << 21
LOOKS = 8                       # checks between two checkpoints of the variables, if the logged feeds have at most
FEW_BYTES, MOST_BYTES = 1 << 24, 1 << 28        # these bytes; and their limit in any case
SAMPLES = 256                   # elements of a feed that are compared to detect reuse


class _Kind(Enum):
    """The side effects of a plan. PLAIN: none; STEP: replayable ones; ONCE: ones that can't be replayed, since they
    consume input (of a queue) or must not be repeated (calls of Python)."""

    PLAIN, STEP, ONCE = range(3)


class _Checked:
    """The guard's record of an executor.

    numbers: the scalar fetches to check, floats: the others; log: receives the feeds of its runs; room: the length that
    it may reach before a check or checkpoint is due.
    """

    __slots__ = ("kind", "floats", "numbers", "log", "room")

    def __init__(self, plan: Plan) -> None:
        self.kind = _kind_of(plan)
        self.floats = tuple(i for i, t in enumerate(plan.fetches)
                            if t.dtype.base_dtype.is_floating or t.dtype.base_dtype.is_complex)
        self.numbers = tuple(i for i in self.floats if plan.fetches[i].static == ()
                             and plan.fetches[i].dtype.base_dtype.is_floating)
        self.floats = tuple(i for i in self.floats if i not in self.numbers)
        self.log: _Log = deque(maxlen=0)            # keeps nothing
        self.room = 1

    def allow(self, values: Sequence[np.ndarray]) -> None:
        """Exempt the bad values among `values` from now on."""
        self.floats, self.numbers = (tuple(i for i in looked_at if not badness(values[i]))
                                     for looked_at in (self.floats, self.numbers))

    def bad(self, values: Sequence[np.ndarray]) -> bool:
        """Return whether any of the values is bad."""
        return any(badness(values[i]) for i in self.numbers + self.floats)


class _Copies(list[Sequence[np.ndarray]]):
    """A log that copies feeds when they are appended."""

    def append(self, feeds: Sequence[np.ndarray]) -> None:
        """Append copies: the caller reuses the arrays."""
        super().append([a.copy() for a in feeds])


_Log = list[Sequence[np.ndarray]] | deque[Sequence[np.ndarray]]


class _Variables:
    """The variables of a store of one generation. known: keys of those that may be bad."""

    def __init__(self, store: Store, known: Set[Key]) -> None:
        self.generation, self.count = store.generation, len(known)
        arrays = {key: array for key, array in store.arrays() if key not in known}
        quick = {key for key, a in arrays.items() if a.dtype.name in TYPES and a.flags.c_contiguous}
        self._arrays = arrays
        self._others = [array for key, array in arrays.items() if key not in quick]
        self._finite = Finite([arrays[key] for key in quick])

    def bad(self) -> set[Key]:
        """Return the variables that are not finite now."""
        if self._finite() and not any(map(badness, self._others)):
            return set()
        return {key for key, array in self._arrays.items() if badness(array)}


class _Run(NamedTuple):
    executor: Executor
    feeds: Sequence[np.ndarray]

    def inspection(self, store: Store) -> Inspection:
        """Return the inspection of a run that starts from the values in `store`."""
        plan = self.executor.plan
        return Inspection(plan, dict(zip(plan.feeds, self.feeds, strict=True)), store)


class NanGuard:
    """Runs the plans of one session and raises InvalidArgumentError, with a NanReport as its `report`, at NaN or inf.

    Not raised for ops that `options.nan_ignore` matches, for infinite constants and ops that propagate them, nor for
    variables that were not finite when the check began.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.RLock()
        self._base: Store | None = None             # the values before the first run in the log
        self._last: Executor | None = None          # ran last, if it may run again without preparation
        self._log: list[tuple[Executor, _Log]] = [] # the runs since then: those of one executor in a row are one entry
        self._closed = 0                            # how many runs there are in all entries but the last
        self._most = 0                              # how many runs the log may have
        self._every = EVERY
        self._room = 0                              # how many it has when the variables are looked at next
        self._samples: list[tuple[np.ndarray, bytes]] = []          # feeds in the log, as they were
        self._sampled: set[Executor] = set()        # whose feeds these are
        self._copies = False                        # whether feeds are copied
        self._known: set[Key] = set()               # variables that may be bad
        self._variables: _Variables | None = None   # the others

    def run(self, executor: Executor, feeds: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        """Run, check and log; see `Executor.run`. feeds: a list that nobody changes.

        Each word of this takes 30 ns, in the caches that a step leaves.
        """
        if executor is not self._last:
            self._turn_to(executor, feeds)
        checked = executor.checked
        log = checked.log
        log.append(feeds)
        values = executor.run(feeds)
        for i in checked.numbers:
            if not isfinite(values[i]):
                self._blame(executor, feeds, values)
                break
        for i in checked.floats:
            if badness(values[i]):
                self._blame(executor, feeds, values)
                break
        if len(log) >= checked.room:
            self._look(checked)
        return values

    def _turn_to(self, executor: Executor, feeds: Sequence[np.ndarray]) -> None:
        """Prepare for runs of an executor that is not the one that ran last, or when a copy of the variables is due."""
        with self._lock:
            checked = executor.checked
            if checked is None:
                checked = executor.checked = _Checked(executor.plan)
            self._last = executor
            if checked.kind is _Kind.ONCE:
                self._settle(feeds)
                self._last, self._most = None, 0    # the log restarts after this run, which can't be replayed
            elif checked.kind is _Kind.STEP:
                if self._closed + (len(self._log[-1][1]) if self._log else 0) >= self._most:
                    self._settle(feeds)
                self._begin(executor, feeds)

    def _begin(self, executor: Executor, feeds: Sequence[np.ndarray]) -> None:
        """Start a log segment of `executor` at the end of the log."""
        checked = executor.checked
        if not self._log or self._log[-1][0] is not executor:
            self._closed += len(self._log[-1][1]) if self._log else 0
            checked.log = _Copies() if self._copies else []
            self._log.append((executor, checked.log))
        checked.room = self._room - self._closed
        if executor not in self._sampled:
            self._sampled.add(executor)
            self._samples += [(a, _sample(a)) for a in feeds]

    def _settle(self, feeds: Sequence[np.ndarray]) -> None:
        """Check the variables, and checkpoint them. feeds: those of the next run."""
        bad = self._bad_variables(self._store)
        if self._base is None:
            self._known |= bad
        elif bad:
            self._replay()
            self._known |= bad
        self._base = self._store.copy(self._base)
        self._every = OFTEN if sum(a.nbytes for _, a in self._base.arrays()) > LARGE else EVERY
        fed = 1 + sum(a.nbytes for a in feeds)
        most = min(max(FEW_BYTES // fed, self._every), LOOKS * self._every)
        self._most = max(1, min(most, MOST_BYTES // fed))
        self._room = min(self._every, self._most)
        self._forget_runs()

    def _forget_runs(self) -> None:
        self._log.clear()
        self._sampled.clear()
        self._samples, self._closed = [], 0

    def _look(self, checked: _Checked) -> None:
        """Check the variables."""
        with self._lock:
            bad = self._bad_variables(self._store)
            if bad:
                self._replay()
                self._known |= bad
            if self._room >= self._most:
                self._last = None                   # the next run begins with a checkpoint
            self._room = min(self._room + self._every, self._most)
            checked.room = max(self._room - self._closed, len(checked.log) + 1)

    def _bad_variables(self, store: Store) -> set[Key]:
        if store is not self._store:
            return _Variables(store, self._known).bad()
        found = self._variables
        if found is None or (found.generation, found.count) != (store.generation, len(self._known)):
            found = self._variables = _Variables(store, self._known)
        return found.bad()

    def _blame(self, executor: Executor, feeds: Sequence[np.ndarray], values: Sequence[np.ndarray]) -> None:
        """Find the op that made the values bad, by replay; bad values without such an op are exempt from now on."""
        kind = executor.checked.kind
        with self._lock:
            if kind is _Kind.STEP:
                self._replay()
            else:
                before = self._store.copy() if kind is _Kind.PLAIN or self._base is None else self._base
                self._raise(_Run(executor, feeds), before, 0)
            executor.checked.allow(values)

    def _replay(self) -> None:
        """Replay the runs in the log, and raise at the first one that makes a bad value, if one does."""
        assert self._base is not None
        runs = [_Run(executor, feeds) for executor, log in self._log for feeds in log]
        if not self._copies and any(_sample(a) != sample for a, sample in self._samples):
            self._copies = True
            return self._raise(runs[-1], self._store.copy(), 0)
        store, executors = self._base.copy(), dict[Executor, Executor]()
        before: Store | None = None
        for i, run in enumerate(runs):
            before = store.copy(before)
            if run.executor not in executors:
                executors[run.executor] = Executor(run.executor.plan, store, settings=Settings())
            values = executors[run.executor].run(run.feeds)
            if self._bad_variables(store) or run.executor.checked.bad(values):
                self._raise(run, before, len(runs) - 1 - i)
                self._known |= self._bad_variables(store)
        return None

    def _raise(self, run: _Run, before: Store, ago: int) -> None:
        """Raise the error if the op to blame is found."""
        report = search(run.inspection(before), patterns(options.nan_ignore or ()))
        op = report.op
        if op is None:
            return
        report = replace(report, undo=_Undo(self._store, before.copy()))
        self._base, self._last, self._most, self._known = None, None, 0, set()
        self._forget_runs()
        when = f"{counted(ago, 'run')} ago: " if ago else ""
        error = InvalidArgumentError(op.node_def, op, f"{when}{report}\n  The variables are as the run left them; "
                                     "`error.report.restore()` puts back what they were before it.")
        error.report = report                       # type: ignore[attr-defined]
        raise error


@dataclass(frozen=True)
class _Undo:
    store: Store
    before: Store

    def __call__(self) -> None:
        self.store.take(self.before)


def _sample(array: np.ndarray) -> bytes:
    flat = array.reshape(-1)
    return flat[::flat.size // SAMPLES + 1].tobytes()


def _kind_of(plan: Plan) -> _Kind:
    host = [op for op in plan.ops if isinstance(op.spec, kinds.Host)]
    by_handle = [op for op in host if any(t.dtype._is_ref_dtype or t.dtype.name == "resource" for t in op.inputs)]
    held = [op for op in by_handle if any(t.dtype.name == "resource" for t in op.inputs)]
    writes = bool(held) or any(writes_variables(op) for op in plan.ops)
    once = bool(by_handle) or any(op.spec.stateful or op.spec.waits for op in host)
    if once:
        return _Kind.ONCE if writes else _Kind.PLAIN
    return _Kind.STEP if writes or any(isinstance(op.spec, kinds.Random) for op in plan.ops) else _Kind.PLAIN
