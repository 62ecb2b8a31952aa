"""Plan execution: a run's values in numbered slots, and a runner for each stage."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from tfnb.compile.planning.plan import Plan, Stage
from tfnb.core.errors import InvalidArgumentError, ResourceExhaustedError
from tfnb.core.options import options
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.declaration.by_kernel import draws_many
from tfnb.resources import queues
from tfnb.runtime.runners.gpu_runner import GpuRunner
from tfnb.runtime.runners.host import HostRunner, is_plain
from tfnb.runtime.runners.interpreter import Interpreted, Taps
from tfnb.runtime.runners.loops import LoopRunner
from tfnb.runtime.runners.merges import Literals, MergeRunner, holds, numbered
from tfnb.runtime.runners.partial import PartialRun, PartialRunner, Values
from tfnb.runtime.runners.stages import StageRunner
from tfnb.runtime.runners.waiting import run_waiting
from tfnb.runtime.state.store import Store
from tfnb.runtime.state.trace import Trace

_NOTHING = nullcontext()                    # around runs that take no lock


@dataclass(frozen=True)
class Settings:
    """Execution options of a session. interpreted: never compiled (but for a GPU); threads: of one kernel at most,
    None: all there are; tap: the observer of each op of an interpreted plan (debug/tap.py)."""

    interpreted: bool = False
    threads: int | None = None
    tap: Taps | None = None


def settings_of(config: Any) -> Settings:
    """Read the execution options of a ConfigProto (or None). Level L0 asks for no optimization: all is interpreted."""
    if config is None:
        return Settings()
    level = config.graph_options.optimizer_options.opt_level
    return Settings(level < 0, config.intra_op_parallelism_threads if config.intra_op_parallelism_threads > 0 else None)


class Runner(Protocol):
    """A stage over a store: interpreted, compiled for the CPU or a GPU, host calls, a loop, or merges.

    Also all stages of a run in steps (PartialRunner).
    """

    def run(self, inputs: Sequence[Any], trace: Trace | None = None) -> Sequence[Any]:
        """Return the stage's outputs for its inputs: row-major arrays. trace: receives the times of ops.

        Merges and loops take None for a tensor that no stage computes, and merges return None for no value. A run in
        steps takes and returns None for what is not there yet.
        """


class Row(NamedTuple):
    """A stage of a plan by slots: its runner, its guard, and the slots of its inputs and outputs.

    made: a slice, or else their numbers: an output that an earlier stage has made (a variable read again) has its slot.
    """

    runner: Runner
    guard: Literals
    taken: tuple[int, ...]
    made: slice | tuple[int, ...]


class Executor:
    """Runs one plan over a store: the first run interpreted, later ones compiled (see core/options.py).

    runners: those of the stages that are compiled, else None; direct: that of the whole plan, if it is one such stage.
    """

    def __init__(self, plan: Plan, store: Store, in_loop: bool = False, settings: Settings = Settings()) -> None:
        self.plan = plan
        self.checked: Any = None                               # the NaN check's record
        self._store, self._in_loop, self._settings = store, in_loop, settings
        # An initializer that draws millions of numbers is compiled in its first run, which often is the only one
        self._runs = int(any(draws_many(op) for stage in plan.stages for op in stage.ops))
        self._fed = frozenset(plan.feeds)
        pairs = [self._pair(stage) for stage in plan.stages]
        self.runners = [found if isinstance(found, StageRunner) else None for _, found in pairs]
        self.direct = self.runners[0] if plan.direct else None
        self._locks = any(op.spec.role == "lock" for stage in plan.stages for op in stage.ops)
        # (interpreted, compiled) of the whole plan, if its inputs are the feeds
        self._only = pairs[0] if plan.direct and not self._locks else None
        self._rows = [[self._row(stage, pair[i]) for stage, pair in zip(plan.stages, pairs, strict=True)]
                      for i in range(2)]
        self._absent = len(plan.slots)                         # the last slot stays empty
        self._empty: Values = [None] * (self._absent + 1 - len(plan.feeds))
        self._fetches = tuple(plan.slots.get(t, self._absent) for t in plan.fetches)
        self._sure = not any(stage.guard or stage.merges for stage in plan.stages) and all(
            len(plan.feeds) <= slot < self._absent for slot in self._fetches)      # all are there, and none is fed

    def run(self, feeds: Sequence[np.ndarray], trace: Trace | None = None) -> Sequence[np.ndarray]:
        """Return the values of the fetches. feeds: row-major arrays of the right dtypes, in the plan's order.

        trace: receives the times of ops. Raises DeadlineExceededError past the store's limit, ResourceExhaustedError
        where memory does not suffice.
        """
        compiled = self._begin()
        try:
            if self._only is not None:
                return self._only[compiled].run(feeds, trace)
            values: Values = [*feeds, *self._empty]
            rows = self._rows[compiled]
            with queues.token() if self._locks else _NOTHING:
                if self.plan.before is not None:
                    run_waiting(self.plan, self._store, lambda i: self._run_rows(rows[i:i + 1], values, trace, False),
                                concurrent=self._settings.tap is None)
                else:
                    self._run_rows(rows, values, trace, self._store.limited)
            return [values[i] for i in self._fetches] if self._sure else self._fetched(values)  # type: ignore[misc]
        except MemoryError as error:               # outside of any op: copies of fetched values
            raise ResourceExhaustedError(None, None, f"OOM: {error or 'no memory left'} (while fetching "
                                                     f"{[t.name for t in self.plan.fetches]})") from error

    def _begin(self) -> bool:
        """Count a run, and return whether it is a compiled one."""
        self._runs += 1
        return options.compile == "always" or (self._runs > 1 and options.compile == "second")

    @property
    def settled(self) -> bool:
        """Whether it has run compiled: the next run is like those that follow."""
        return self._runs > (0 if options.compile == "always" else 1)

    def begin_partial(self, fetches: Sequence[Tensor]) -> PartialRun:
        """Begin a run in steps, which fetches these tensors. The plan must be one for feeds that come late."""
        rows = self._rows[self._begin()]
        runner = PartialRunner(self.plan, self._store,
                               lambda i, values: self._run_rows(rows[i:i + 1], values, None, False))
        return PartialRun(runner, self.plan, fetches, self._store)

    def _run_rows(self, rows: Sequence[Row], values: Values, trace: Trace | None, limited: bool) -> None:
        """Run stages one after the other, those whose guards hold: the loop of a run. limited: check the time."""
        for runner, guard, taken, made in rows:
            if limited:
                self._store.check_time()
            if guard and not holds(guard, values):
                continue
            outputs = runner.run([values[i] for i in taken], trace)
            if type(made) is slice:
                values[made] = outputs
            else:
                for slot, value in zip(made, outputs, strict=True):
                    values[slot] = value

    def _pair(self, stage: Stage) -> tuple[Runner, Runner]:
        """Return the runners of a stage: in an interpreted run, and in a compiled one."""
        store, settings, tap = self._store, self._settings, self._settings.tap
        if stage.loop is not None:
            loop = LoopRunner(stage.loop, stage.outputs, lambda plan: Executor(plan, store, True, settings), store, tap)
            return loop, loop
        if stage.merges:
            merges = MergeRunner(stage, store, tap)
            return merges, merges
        if tap is None and is_plain(stage, self._fed):
            host = HostRunner(stage, store)
            return host, host
        interpreted = Interpreted(stage, store, self._fed, tap)
        if stage.gpu and tap is None:
            gpu = GpuRunner(interpreted, store, self._in_loop)
            return gpu, gpu
        if stage.on_device and not stage.gpu and not settings.interpreted:
            return interpreted, StageRunner(interpreted, store, self._in_loop, settings.threads)
        return interpreted, interpreted

    def _row(self, stage: Stage, runner: Runner) -> Row:
        slots = self.plan.slots
        absent = len(slots)
        inputs = runner.inputs if isinstance(runner, (LoopRunner, MergeRunner)) else stage.inputs
        made = tuple(slots[t] for t in stage.outputs)
        first = made[0] if made else 0
        there = slice(first, first + len(made))
        return Row(runner, numbered(stage.guard, slots, absent), tuple(slots.get(t, absent) for t in inputs),
                   there if made == tuple(range(there.start, there.stop)) else made)

    def wrapped(self, wrap: Callable[[Stage, Runner], Any]) -> Executor:
        """Return a copy of this executor that is compiled from now on, each runner become `wrap(stage, runner)`."""
        other = copy(self)
        rows = [row._replace(runner=wrap(stage, row.runner))
                for stage, row in zip(self.plan.stages, self._rows[True], strict=True)]
        other._rows, other._only, other._runs = [rows, rows], None, max(1, self._runs)
        return other

    def _fetched(self, values: Values) -> list[np.ndarray]:
        """Return the values of the fetches; fed arrays are copied, since what a run returns belongs to the caller."""
        found = []
        for tensor, slot in zip(self.plan.fetches, self._fetches, strict=True):
            value = values[slot]
            if value is None:
                raise InvalidArgumentError(None, tensor.op, f"Retval[0] does not have value: {tensor.name!r} is in a "
                                                            "branch that was not taken")
            found.append(np.array(value) if slot < len(self.plan.feeds) else value)
        return found
