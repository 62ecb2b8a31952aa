"""The check for NaN that stays on (`options.nan_check`): cheap in each run, exact when something turns up.

What is fetched is checked in each run. The variables are checked, and copied, now and then (EVERY); between two such
times the feeds of each run are kept. When a check fails, the runs since then are done again on the copy until the first
bad value appears, and that run is searched op by op (runtime/nan.py).

Feeds are kept by reference: to copy them took 30 % of a step of a small network. Where a program turns out to fill the
same array anew for each run, which a few numbers of the first one tell, they are copied from then on.
"""
from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from tfnb.compile.plan import Plan
from tfnb.compile.reads import WRITERS
from tfnb.core.errors import InvalidArgumentError
from tfnb.core.options import options
from tfnb.opdef.spec import Kind
from tfnb.runtime.executor import Executor, Settings
from tfnb.runtime.nan import badness, patterns, search
from tfnb.runtime.store import Key, Store
from tfnb.runtime.tap import Inspection

EVERY, OFTEN = 128, 32          # runs from one copy of the variables to the next, and if they have LARGE bytes
LARGE = 1 << 21
MOST_BYTES = 1 << 28            # of feeds that are kept
SAMPLES = 256                   # numbers of a feed that tell whether it still is what it was


class _Kind(Enum):
    """What a plan does to a session. PLAIN: nothing; STEP: the same if it is done again; ONCE: it takes what is gone
    then (of a queue) or does what must not be done twice (calls of Python)."""

    PLAIN, STEP, ONCE = range(3)


_PLAIN, _STEP = _Kind.PLAIN, _Kind.STEP


class _Checked:
    """What the guard knows of an executor. floats: the fetches to look at; fine: those that may be bad."""

    __slots__ = ("kind", "floats", "fine", "round")

    def __init__(self, plan: Plan) -> None:
        self.kind = _kind_of(plan)
        self.floats = tuple(i for i, t in enumerate(plan.fetches)
                            if t.dtype.base_dtype.is_floating or t.dtype.base_dtype.is_complex)
        self.fine: set[int] = set()
        self.round = 0                              # of the guard, when it last took samples of the feeds

    def allow(self, values: Sequence[np.ndarray]) -> None:
        """Let what is bad in `values` be so from now on."""
        self.fine |= {i for i in self.floats if badness(values[i])}
        self.floats = tuple(i for i in self.floats if i not in self.fine)


@dataclass(frozen=True, slots=True)
class _Run:
    executor: Executor
    feeds: tuple[np.ndarray, ...]

    def inspection(self, store: Store) -> Inspection:
        """The run, to be looked at, from the values in `store`."""
        plan = self.executor.plan
        return Inspection(plan, dict(zip(plan.feeds, self.feeds, strict=True)), store)


class NanGuard:
    """Runs the plans of one session and raises InvalidArgumentError, with a NanReport as its `report`, at NaN or inf.

    Not raised for what `options.nan_ignore` matches, for constants that are infinite and what passes them on, nor for
    variables that were not finite when the check began.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.RLock()
        self._base: Store | None = None             # the values before the first run in the log
        self._log: list[_Run] = []
        self._room = 0                              # how many runs the log may have
        self._round = 0                             # how often the log was begun anew
        self._samples: list[tuple[np.ndarray, bytes]] = []          # feeds in the log, as they were
        self._copies = False                        # whether feeds are copied
        self._known: set[Key] = set()               # variables that may be bad

    def run(self, executor: Executor, feeds: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        """As `executor.run`."""
        checked = executor.checked
        if checked is None:
            checked = executor.checked = _Checked(executor.plan)
        kind = checked.kind
        if kind is not _PLAIN:
            log = self._log
            if len(log) >= self._room or kind is _Kind.ONCE:
                self._settle(feeds)
            if kind is _STEP:
                if checked.round != self._round:
                    checked.round = self._round
                    self._samples += [(a, _sample(a)) for a in feeds]
                log.append(_Run(executor, tuple([a.copy() for a in feeds] if self._copies else feeds)))
        values = executor.run(feeds)
        for i in checked.floats:
            value = values[i]
            if _is_bad(value):
                self._blame(executor, feeds, values)
                break
        return values

    def _settle(self, feeds: Sequence[np.ndarray]) -> None:
        """Check the variables, and keep their values. feeds: those of the next run."""
        with self._lock:
            bad = self._bad_variables(self._store)
            if self._base is None:
                self._known |= bad
            elif bad:
                self._replay()
                self._known |= bad
            self._base = self._store.copy(self._base)
            self._log.clear()
            often = OFTEN if sum(a.nbytes for _, a in self._base.arrays()) > LARGE else EVERY
            self._room = max(1, min(often, MOST_BYTES // (1 + sum(a.nbytes for a in feeds))))
            self._round += 1
            self._samples = []

    def _bad_variables(self, store: Store) -> set[Key]:
        return {key for key, array in store.arrays() if key not in self._known and badness(array)}

    def _blame(self, executor: Executor, feeds: Sequence[np.ndarray], values: Sequence[np.ndarray]) -> None:
        """Find out what made the values bad. What nobody is to blame for may be so from now on."""
        kind = executor.checked.kind
        with self._lock:
            if kind is _Kind.STEP:
                self._replay()
            else:
                before = self._store.copy() if kind is _Kind.PLAIN or self._base is None else self._base
                self._raise(_Run(executor, tuple(feeds)), before, 0)
            executor.checked.allow(values)

    def _replay(self) -> None:
        """Do the runs in the log again, and raise at the first one that makes a bad value, if one does."""
        assert self._base is not None
        if not self._copies and any(_sample(a) != sample for a, sample in self._samples):
            self._copies = True
            return self._raise(self._log[-1], self._store.copy(), 0)
        store, executors = self._base.copy(), dict[Executor, Executor]()
        before: Store | None = None
        for i, run in enumerate(self._log):
            before = store.copy(before)
            if run.executor not in executors:
                executors[run.executor] = Executor(run.executor.plan, store, settings=Settings())
            values = executors[run.executor].run(run.feeds)
            if self._bad_variables(store) or any(badness(values[k]) for k in run.executor.checked.floats):
                self._raise(run, before, len(self._log) - 1 - i)
                self._known |= self._bad_variables(store)
        return None

    def _raise(self, run: _Run, before: Store, ago: int) -> None:
        """Raise the error if the op to blame is found."""
        report = search(run.inspection(before), patterns(options.nan_ignore or ()))
        op = report.op
        if op is None:
            return
        report = replace(report, undo=_Undo(self._store, before.copy()))
        self._base, self._room, self._known = None, 0, set()
        self._log.clear()
        when = f"{ago} run{'s' * (ago > 1)} ago: " if ago else ""
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


def _is_bad(value: np.ndarray) -> bool:
    if value.size == 1 and value.dtype.kind == "f":
        number = value.item()
        return bool(number - number != 0)
    return badness(value) != 0


def _kind_of(plan: Plan) -> _Kind:
    host = [op for op in plan.ops if op.spec.kind is Kind.HOST]
    by_handle = [op for op in host if any(t.dtype._is_ref_dtype or t.dtype.name == "resource" for t in op.inputs)]
    held = [op for op in by_handle if any(t.dtype.name == "resource" for t in op.inputs)]
    writes = bool(held) or any(op.spec.kind in WRITERS for op in plan.ops)
    once = bool(by_handle) or any(op.spec.stateful or op.spec.waits for op in host)
    if once:
        return _Kind.ONCE if writes else _Kind.PLAIN
    return _Kind.STEP if writes or any(op.spec.kind is Kind.RANDOM for op in plan.ops) else _Kind.PLAIN
