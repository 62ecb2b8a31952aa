"""Where the time of a run goes: each launch of its programs, timed by itself."""
from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfnb.compile.lower import Ref, Step
from tfnb.graph.context import session_for
from tfnb.graph.stack import get_default_graph
from tfnb.kernels.cpu.tape import Tape
from tfnb.runtime.fetch import Feed, feed_tensor, read_fetches
from tfnb.runtime.program import Program
from tfnb.runtime.session import BaseSession


@dataclass(frozen=True)
class LaunchTime:
    """seconds: the best of several runs; nbytes: of all buffers it names (read or written once, at least)."""

    seconds: float
    nbytes: int
    items: int
    ops: tuple[str, ...]
    types: tuple[str, ...]

    def __str__(self) -> str:
        rate = self.nbytes / max(self.seconds, 1e-9) / 1e9
        return (f"{self.seconds * 1e6:10.1f} us {self.nbytes / 1e3:10.1f} kB {rate:7.1f} GB/s  "
                f"{' '.join(dict.fromkeys(self.types))}  ({', '.join(self.ops[:3])}{', ...' if len(self.ops) > 3 else ''})")


@dataclass(frozen=True)
class Profile:
    """The launches of a run in order."""

    launches: tuple[LaunchTime, ...]

    @property
    def seconds(self) -> float:
        """The launches' times, summed."""
        return sum(launch.seconds for launch in self.launches)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.launches), f"{self.seconds * 1e6:10.1f} us in {len(self.launches)} launches"])


def profile(fetches: Any, feed_dict: Any = None, session: Any = None, runs: int = 20) -> Profile:
    """Time each kernel launch of a run by itself; variables keep their values.

    Raises what `session.run` raises, and ValueError if the run is not one device stage. A launch is repeated on the
    same buffers, so its inputs are in the cache if they fit.
    """
    chosen: BaseSession = session_for(session, get_default_graph(), "profile a run")
    read = read_fetches(fetches, chosen.graph)
    feeds = {feed_tensor(k, chosen.graph): v for k, v in (feed_dict or {}).items()}
    executor = chosen._executor(read.tensors, read.targets, tuple(feeds), chosen.graph.mutations)
    if len(executor.runners) != 1 or executor.runners[0] is None:
        raise ValueError("this run has host stages; only runs that are one device stage can be profiled")
    arrays = [Feed(t, np.dtype(t.dtype.base_dtype.as_numpy_dtype), t.static).array(v) for t, v in feeds.items()]
    runner = executor.runners[0]
    if runner.run(arrays) is None:
        executor.run(arrays)                       # says which variable has no value
    program = runner.programs()[-1]
    with program.lock:
        saved = [(array, array.copy()) for array in program.variables.values()]
        outputs = program.run(arrays)              # binds the argument blocks; the arrays live until the end
        times = [_time(program, i, runs) for i in range(len(program.compiled.steps))]
        for array, copy in saved:
            array[...] = copy
        del outputs
    return Profile(tuple(_launch(step, t) for step, t in zip(program.compiled.steps, times, strict=True)))


def _time(program: Program, index: int, runs: int) -> float:
    play: Callable[[], None] = Tape([program.rows[index]]).play
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        play()
        best = min(best, time.perf_counter() - start)
    return best


def _launch(step: Step, seconds: float) -> LaunchTime:
    buffers = {arg.buffer for arg in step.args if isinstance(arg, Ref)}
    return LaunchTime(seconds, sum(b.nbytes for b in buffers), step.items, tuple(op.name for op in step.ops),
                      tuple(op.type for op in step.ops))
