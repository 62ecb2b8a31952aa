"""Plan execution: each stage runs in the interpreter, or as a program specialized to the shapes at hand."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfnb.compile.plan import Choice, Guard, Loop, Plan, Stage
from tfnb.core.errors import InvalidArgumentError, ResourceExhaustedError
from tfnb.core.options import options
from tfnb.graph.operation import Tensor
from tfnb.graph.references import ref_variable, refers
from tfnb.runtime.gpu_runner import GpuRunner
from tfnb.runtime.host import HostRunner, is_plain
from tfnb.runtime.interpreter import Env, Taps, interpret
from tfnb.runtime.loops import LoopRunner
from tfnb.runtime.stages import StageRunner
from tfnb.runtime.store import Store
from tfnb.runtime.trace import Trace
from tfnb.runtime.waiting import run_waiting


@dataclass(frozen=True)
class Settings:
    """Execution options of a session. interpreted: never compiled (but for a GPU); threads: of one kernel at most,
    None: all there are; tap: the observer of each op of an interpreted plan (debug/tap.py)."""

    interpreted: bool = False
    threads: int | None = None
    tap: Taps | None = None


@dataclass(frozen=True, slots=True)
class Slots:
    """A plan with numbered slots for values, in a list: the feeds, then the outputs of each stage."""

    rows: tuple[tuple[Stage, StageRunner | HostRunner, tuple[int, ...]], ...]
    fetches: tuple[int, ...]


class Executor:
    """Runs one plan over a store: the first run interpreted, later ones compiled (see core/options.py)."""

    def __init__(self, plan: Plan, store: Store, in_loop: bool = False, settings: Settings = Settings()) -> None:
        self.plan = plan
        self._store = store
        self._runs = 0
        self._fed = frozenset(plan.feeds)
        self._tap = settings.tap
        self.runners = [self._runner(stage, in_loop, settings) for stage in plan.stages]
        self._host = [HostRunner(stage, store) if self._tap is None and is_plain(stage, self._fed) else None
                      for stage in plan.stages]
        self.loops = {stage.loop.op: LoopRunner(stage.loop, lambda inner: Executor(inner, store, True, settings), store)
                      for stage in plan.stages if stage.loop is not None}
        self.direct = self.runners[0] if plan.direct else None     # runner of the whole plan, if it is one stage
        self._direct_host = self._host[0] if plan.direct else None
        self._slots = self._numbered()
        self.checked: Any = None                               # the NaN check's record

    def run(self, feeds: Sequence[np.ndarray], trace: Trace | None = None) -> Sequence[np.ndarray]:
        """Return the values of the fetches. feeds: row-major arrays of the right dtypes, in the plan's order.

        trace: receives the times of ops. Raises DeadlineExceededError past the store's limit, ResourceExhaustedError
        where memory does not suffice.
        """
        try:
            return self._run(feeds, trace)
        except MemoryError as error:               # outside of any op: copies of fetched values
            raise ResourceExhaustedError(None, None, f"OOM: {error or 'no memory left'} (while fetching "
                                                     f"{[t.name for t in self.plan.fetches]})") from error

    def _run(self, feeds: Sequence[np.ndarray], trace: Trace | None) -> Sequence[np.ndarray]:
        if self._direct_host is not None:
            return self._direct_host.run(feeds, trace)
        compiled = options.compile == "always" or (self._runs > 0 and options.compile == "second")
        self._runs += 1
        if self.direct is not None and (compiled or self.direct.eager):
            outputs = self.direct.run(feeds, trace)
            if outputs is not None:
                return outputs
        if compiled and self._slots is not None:
            return self._run_slots(self._slots, feeds, trace)
        env: Env = dict(zip(self.plan.feeds, feeds, strict=True))
        if self.plan.before is not None:
            run_waiting(self.plan, env, self._store, lambda i, env: self._run_stage(i, env, compiled, trace),
                        concurrent=self._tap is None)
        else:
            for i in range(len(self.plan.stages)):
                self._store.check_time()
                self._run_stage(i, env, compiled, trace)
        return [self._fetched(t, env) for t in self.plan.fetches]

    def _runner(self, stage: Stage, in_loop: bool, settings: Settings) -> StageRunner | None:
        if stage.gpu:
            return GpuRunner(stage, self._store) if self._tap is None else None
        if stage.on_device and not settings.interpreted:
            return StageRunner(stage, self._store, in_loop, settings.threads)
        return None

    def wrapped(self, wrap: Callable[[StageRunner], Any]) -> Executor:
        """Wrap the runners of the CPU stages of this executor, which is compiled from now on; return it."""
        other = copy(self)
        other.runners = [runner if runner is None or runner.stage.gpu else wrap(runner) for runner in self.runners]
        other.direct, other._slots, other._runs = None, None, max(1, self._runs)
        return other

    def _numbered(self) -> Slots | None:
        """Assign slots to the tensors that stages pass on, if all stages are unconditional; else return None."""
        plan = self.plan
        runners = [found for host, runner in zip(self._host, self.runners, strict=True) if (found := host or runner)]
        if plan.before is not None or any(stage.guard for stage in plan.stages) or len(runners) < len(plan.stages):
            return None
        tensors = [*plan.feeds, *(t for stage in plan.stages for t in stage.outputs)]
        number = {t: i for i, t in enumerate(tensors)}
        used = [*plan.fetches, *(t for stage in plan.stages for t in stage.inputs)]
        if len(number) != len(tensors) or not number.keys() >= set(used) or self._fed.intersection(plan.fetches):
            return None
        rows = [(stage, runner, tuple(number[t] for t in stage.inputs))
                for stage, runner in zip(plan.stages, runners, strict=True)]
        return Slots(tuple(rows), tuple(number[t] for t in plan.fetches))

    def _run_slots(self, slots: Slots, feeds: Sequence[np.ndarray], trace: Trace | None) -> Sequence[np.ndarray]:
        """Run by slots, without tensor look-ups: the path of loop iterations. See `run`."""
        values = [*feeds]
        limited = self._store.time_left() is not None
        for stage, runner, taken in slots.rows:
            if limited:
                self._store.check_time()
            inputs = [values[i] for i in taken]
            made = runner.run(inputs, trace)
            if made is None:
                env: Env = dict(zip(stage.inputs, inputs, strict=True))
                interpret(stage, env, self._store, trace, self._fed)
                made = [env[t] for t in stage.outputs]
            values += made
        return [values[i] for i in slots.fetches]

    def _run_stage(self, i: int, env: Env, compiled: bool, trace: Trace | None) -> None:
        """Run stage number `i`, if its guard holds; `env` has its inputs and gets its outputs."""
        stage = self.plan.stages[i]
        if stage.guard and not _holds(stage.guard, env):
            return
        if stage.loop is not None:
            self._run_loop(stage.loop, env, trace)
        elif stage.merges:
            self._merge(stage.merges, env)
        else:
            self._compute(stage, self._host[i] or self._compiled(i, compiled), env, trace)

    def _compiled(self, i: int, compiled: bool) -> StageRunner | None:
        """Return the runner of stage number `i`, None where it is to be interpreted."""
        runner = self.runners[i]
        return runner if runner is not None and (compiled or runner.eager) else None

    def _compute(self, stage: Stage, runner: StageRunner | HostRunner | None, env: Env, trace: Trace | None) -> None:
        outputs = runner.run([env[t] for t in stage.inputs], trace) if runner is not None else None
        if outputs is None:
            interpret(stage, env, self._store, trace, self._fed, self._tap)
        else:
            env.update(zip(stage.outputs, outputs, strict=True))

    def _run_loop(self, loop: Loop, env: Env, trace: Trace | None) -> None:
        given = [self._value(t, env) for t in (*loop.initial, *loop.constants)]
        count = len(loop.initial)
        values = self.loops[loop.op].run(given[:count], given[count:], trace)
        for k, tensor in loop.exits:                # a value that no op computed belongs to someone else
            env[tensor] = np.array(values[k]) if any(values[k] is a for a in given) else values[k]
            if self._tap is not None:
                env[tensor], = self._tap.after(tensor.op, (env[tensor],))

    def _merge(self, choices: Sequence[Choice], env: Env) -> None:
        for choice in choices:
            for i, (guard, tensor) in enumerate(choice.inputs):
                if _holds(guard, env):
                    output, index = choice.op.outputs
                    if not refers(output):
                        env[output] = self._value(tensor, env)
                    env[index] = np.array(i, np.int32)
                    if self._tap is not None and not refers(output):
                        env[output], env[index] = self._tap.after(choice.op, (env[output], env[index]))
                    break

    def _value(self, tensor: Tensor, env: Env) -> np.ndarray:
        """Return the value of an input of a merge or loop: also a constant, or a variable as it is now."""
        found = env.get(tensor)
        if found is not None:
            return found
        if refers(tensor):
            return np.array(self._store.value(ref_variable(tensor), tensor.op))
        return np.array(tensor.op.attrs["value"])

    def _fetched(self, tensor: Tensor, env: Env) -> np.ndarray:
        """Return the values of the fetches; fed arrays are copied, since what a run returns belongs to the caller."""
        if tensor not in env:
            raise InvalidArgumentError(None, tensor.op, f"Retval[0] does not have value: {tensor.name!r} is in a "
                                                        "branch that was not taken")
        return np.array(env[tensor]) if tensor in self.plan.feeds else env[tensor]


def _holds(guard: Guard, env: Env) -> bool:
    """Return whether a guard holds: each predicate has its wanted value."""
    for tensor, want in guard:
        found = env.get(tensor)
        if found is None or (want is not None and bool(found) is not want):
            return False
    return True
