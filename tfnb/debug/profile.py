"""Kernel profiler: each launch of a run's programs, timed in isolation."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from tfnb.compile.planning.plan import Plan, Stage
from tfnb.core.options import options
from tfnb.debug.timing import LaunchTime, generator, table, time_gpu_program, time_program
from tfnb.graph.parts.context import session_for
from tfnb.graph.stack import get_default_graph
from tfnb.opdef import kinds
from tfnb.runtime.executor import Executor, Runner
from tfnb.runtime.fetch import Feed, feed_tensor, read_fetches
from tfnb.runtime.runners.gpu_program import GpuProgram
from tfnb.runtime.runners.gpu_runner import GpuRunner
from tfnb.runtime.runners.stages import StageRunner
from tfnb.runtime.session import BaseSession
from tfnb.runtime.state.store import Store
from tfnb.runtime.state.trace import Trace

WARM = 2                # runs until all is compiled


class NoKernels(ValueError):
    """The run that was to be profiled launches no kernels outside of loops."""


@dataclass(frozen=True)
class Profile:
    """The launches of a run in order; printed, a table of them. untimed: the number of stages without kernels."""

    launches: tuple[LaunchTime, ...]
    untimed: int = 0

    @property
    def seconds(self) -> float:
        """The launches' times, summed."""
        return sum(launch.seconds for launch in self.launches)

    def __repr__(self) -> str:
        rest = f"\nnot timed: {self.untimed} stages that are no kernels (host calls, loops, merges)"
        return table(self.launches) + rest * bool(self.untimed)


@dataclass
class _Timed:
    """Wrapper of a stage's runner that runs its program and times the launches."""

    runner: StageRunner
    store: Store
    runs: int
    launches: list[LaunchTime] = field(default_factory=list)

    def run(self, inputs: Sequence[np.ndarray], trace: Any = None) -> list[np.ndarray]:
        """Run and time the stage's program; see StageRunner.run."""
        program = self.runner.borrow(inputs)
        if program is None:
            return self.runner.interpreted.run(inputs, trace)
        try:
            if isinstance(program, GpuProgram):
                outputs, times = time_gpu_program(program, inputs, self.runs)
            else:
                outputs, times = time_program(program, inputs, self.store, self.runs)
        finally:
            program.lock.release()
        self.launches += times
        return outputs


def profile(fetches: Any, feed_dict: Any = None, session: Any = None, runs: int = 20) -> Profile:
    """Time each kernel launch of a run by itself, `runs` times; variables and generators keep their values.

    Stages that are no kernels (host calls, loops) run once, as in `session.run`, and are not timed. A launch is
    repeated on the same buffers, so what it reads is in the cache if it fits. Raises what `session.run` raises, and
    NoKernels, a ValueError, if the run has no kernels.
    """
    executor, store, feeds = _prepared(fetches, feed_dict, session)
    return profile_plan(executor, store, feeds, runs)


def trace_run(fetches: Any, feed_dict: Any = None, session: Any = None) -> Trace:
    """Trace a compiled run; variables and generators keep their values.

    Host calls run four times. Raises as `session.run`.
    """
    executor, store, feeds = _prepared(fetches, feed_dict, session)
    trace = Trace()
    with unchanged(executor.plan, store):
        for _ in range(WARM):
            executor.run(feeds)
        executor.run(feeds, Trace())                # makes the tapes of the single launches
        executor.run(feeds, trace)
    return trace


def _prepared(fetches: Any, feed_dict: Any, session: Any) -> tuple[Executor, Store, list[np.ndarray]]:
    chosen: BaseSession = session_for(session, get_default_graph(), "profile a run")
    read = read_fetches(fetches, chosen.graph)
    feeds = {feed_tensor(k, chosen.graph): v for k, v in (feed_dict or {}).items()}
    executor = chosen._executor(read.tensors, read.targets, tuple(feeds), chosen.graph.mutations)
    if not isinstance(executor, Executor):
        raise NoKernels(f"another process runs this session: {chosen.sess_str}; tf.RunOptions(trace_level="
                        "tf.RunOptions.FULL_TRACE) asks it for times")
    return executor, chosen._store, [Feed(t).array(v) for t, v in feeds.items()]


@contextmanager
def unchanged(plan: Plan, store: Store) -> Iterator[None]:
    """Context that restores variables and generators to the values that they have at its beginning."""
    kept = [(array, array.copy()) for array in _state(plan, store)]
    try:
        yield
    finally:
        _state(plan, store)                        # fetches values that are lent to a GPU
        for array, before in kept:
            array[...] = before


def profile_plan(executor: Executor, store: Store, feeds: Sequence[np.ndarray], runs: int = 20) -> Profile:
    """Profile an executor with its feeds; see `profile`."""
    kernels = [runner for runner in executor.runners if runner is not None]
    if options.compile == "never" or not kernels:
        raise NoKernels("this run has no kernels: it is one of host calls or of loops, or compiling is switched off")
    timed: list[_Timed] = []

    def wrap(_: Stage, runner: Runner) -> Runner:
        if type(runner) not in (StageRunner, GpuRunner):
            return runner
        timed.append(_Timed(cast("StageRunner", runner), store, runs))
        return timed[-1]

    trial = executor.wrapped(wrap)
    with unchanged(executor.plan, store):
        trial.run(feeds)
    launches = tuple(launch for stage in timed for launch in stage.launches)
    return Profile(launches, len(executor.runners) - len(kernels))


def _state(plan: Plan, store: Store) -> list[np.ndarray]:
    """Return the values of the variables and generators of a plan that have some."""
    variables = dict.fromkeys(op for stage in plan.stages for op in stage.variables)
    values = [array for op in variables if (array := store.array(op)) is not None]
    return values + [generator(op, store) for op in plan.ops if isinstance(op.spec, kinds.Random)]
