"""Where the time of a run goes: each launch of its programs, timed by itself."""
from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tfnb.compile.lower import Ref, Step
from tfnb.graph.context import session_for
from tfnb.graph.stack import get_default_graph
from tfnb.kernels.cpu.tape import Tape
from tfnb.runtime.executor import Executor, StageRunner
from tfnb.runtime.fetch import Feed, feed_tensor, read_fetches
from tfnb.runtime.program import Program
from tfnb.runtime.session import BaseSession

FLOOR = 0.2e-6           # seconds: what playing a launch that does nothing takes, mostly the call from Python


@dataclass(frozen=True)
class LaunchTime:
    """One kernel launch. seconds: the best of several; nbytes: of all buffers it names, each counted once."""

    seconds: float
    nbytes: int
    items: int
    ops: tuple[str, ...]
    types: tuple[str, ...]

    @property
    def bytes_per_second(self) -> float:
        """The rate at which it went through its buffers."""
        return self.nbytes / max(self.seconds, 1e-9)


@dataclass(frozen=True)
class Profile:
    """The launches of a run in order; printed, a table of them."""

    launches: tuple[LaunchTime, ...]

    @property
    def seconds(self) -> float:
        """The launches' times, summed."""
        return sum(launch.seconds for launch in self.launches)

    def __repr__(self) -> str:
        memory = memory_rate()
        lines = ["      time   share      buffers  of memory's rate  kernel"]
        for launch in self.launches:
            share, rate = launch.seconds / max(self.seconds, 1e-9), launch.bytes_per_second / memory
            ops = f"({', '.join(launch.ops[:2])}{', ...' if len(launch.ops) > 2 else ''})"
            lines.append(f"{launch.seconds * 1e6:7.1f} us {share:6.1%} {launch.nbytes / 1e3:9.1f} kB {rate:12.0%}      "
                         f"{'+'.join(dict.fromkeys(launch.types))} {ops}")
        lines.append(f"{self.seconds * 1e6:7.1f} us in {len(self.launches)} launches; this machine copies "
                     f"{memory / 1e9:.1f} GB/s from memory to memory (more while it stays in the caches)")
        return "\n".join(lines)


@cache
def memory_rate() -> float:
    """Bytes read and written a second by one thread that copies 64 MB: measured once, in 0.1 s."""
    source = np.ones(8_000_000)
    target = np.empty_like(source)
    best = float("inf")
    for _ in range(4):
        start = time.perf_counter()
        np.copyto(target, source)
        best = min(best, time.perf_counter() - start)
    return 2 * source.nbytes / best


def profile(fetches: Any, feed_dict: Any = None, session: Any = None, runs: int = 20) -> Profile:
    """Time each kernel launch of a run by itself, `runs` times; variables keep their values.

    Raises what `session.run` raises, and ValueError if the run is not one device stage. A launch is repeated on the
    same buffers, so what it reads is in the cache if it fits.
    """
    chosen: BaseSession = session_for(session, get_default_graph(), "profile a run")
    read = read_fetches(fetches, chosen.graph)
    feeds = {feed_tensor(k, chosen.graph): v for k, v in (feed_dict or {}).items()}
    executor = chosen._executor(read.tensors, read.targets, tuple(feeds), chosen.graph.mutations)
    runner = executor.runners[0] if len(executor.runners) == 1 else None
    if runner is None:
        raise ValueError("this run has host stages (summaries, queues, strings); only a run that is one device stage "
                         "can be profiled: fetch what is computed before them")
    arrays = [Feed.of(t).array(v) for t, v in feeds.items()]
    kept = [array for op in runner.stage.variables if (array := chosen._store.array(op)) is not None]
    saved = [array.copy() for array in kept]
    try:
        return _profile(executor, runner, arrays, runs)
    finally:
        for array, copy in zip(kept, saved, strict=True):
            array[...] = copy


def _profile(executor: Executor, runner: StageRunner, arrays: list[np.ndarray], runs: int) -> Profile:
    if runner.run(arrays) is None:
        executor.run(arrays)                       # says which variable has no value
        runner.run(arrays)
    program = runner.programs()[-1]
    with program.lock:
        outputs = program.run(arrays)              # binds the argument blocks; the arrays live until the end
        times = [_time(program, i, runs) for i in range(len(program.compiled.steps))]
        del outputs
    return Profile(tuple(_launch(step, t) for step, t in zip(program.compiled.steps, times, strict=True)))


def _time(program: Program, index: int, runs: int) -> float:
    play: Callable[[], None] = Tape([program.rows[index]]).play
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        play()
        best = min(best, time.perf_counter() - start)
    return max(best - FLOOR, 0.0)


def _launch(step: Step, seconds: float) -> LaunchTime:
    buffers = {arg.buffer for arg in step.args if isinstance(arg, Ref)}
    return LaunchTime(seconds, sum(b.nbytes for b in buffers), step.items, tuple(op.name for op in step.ops),
                      tuple(op.type for op in step.ops))
