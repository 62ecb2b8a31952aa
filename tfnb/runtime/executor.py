"""Running a plan: for each stage the interpreter, or a program made for the shapes at hand."""
from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfnb.compile.plan import Choice, Guard, Loop, Plan, Stage
from tfnb.compile.trace import Meta
from tfnb.core.errors import InvalidArgumentError, OpError
from tfnb.core.options import options
from tfnb.graph.operation import Tensor
from tfnb.ops.evaluate import ref_variable, refers, wants_lock
from tfnb.runtime.host import HostRunner, is_plain
from tfnb.runtime.interpreter import Env, Taps, interpret
from tfnb.runtime.loops import LoopRunner
from tfnb.runtime.program import Program, compile_stage
from tfnb.runtime.residents import element_of
from tfnb.runtime.store import Store
from tfnb.runtime.trace import Trace
from tfnb.runtime.waiting import run_waiting

PATIENCE = 8             # programs of a stage of a loop: what has more shapes than that is interpreted
KEPT, ALWAYS = 512, 4    # shapes of a stage of which programs are kept (4 ms to build one); so many however large
KEPT_BYTES = 1 << 28     # of their arenas and result arrays
NOTED = 32               # shapes that a stage of a loop remembers to have met


@dataclass(frozen=True)
class Settings:
    """How a session runs plans. interpreted: never compiled; threads: of one kernel at most, None: all there are;
    tap: what looks at each op of an interpreted plan (runtime/tap.py)."""

    interpreted: bool = False
    threads: int | None = None
    tap: Taps | None = None


class StageRunner:
    """The programs of one device stage, by the shapes (and values) they are made for."""

    def __init__(self, stage: Stage, store: Store, patient: bool = False, threads: int | None = None) -> None:
        self.stage = stage
        self._threads = threads
        self._patience: dict[Any, None] | None = {} if patient else None
        self._store = store
        self._lock = threading.Lock()
        self.locks = any(wants_lock(op) for op in stage.ops)
        self._handles = tuple(i for i, t in enumerate(stage.inputs) if t.dtype.base_dtype.name == "resource")
        self._barred: set[Any] = set()
        by_value = [stage.inputs.index(t) for t in stage.by_value]
        self._by_value = tuple(i for i in by_value if i not in self._handles)
        self._valued = frozenset(by_value) & frozenset(self._handles)
        self._programs: OrderedDict[tuple[Any, ...], list[Program]] = OrderedDict()

    def run(self, inputs: Sequence[np.ndarray], trace: Trace | None = None) -> list[np.ndarray] | None:
        """The outputs; None if a variable it uses has no value yet (the interpreter says which, or gives it one)."""
        program = self.borrow(inputs)
        if program is None:
            return None
        try:
            if self.locks:
                with self._store.updating:
                    return program.run(inputs, trace)
            return program.run(inputs, trace)
        finally:
            program.lock.release()

    def borrow(self, inputs: Sequence[np.ndarray]) -> Program | None:
        """A program for these inputs, locked for the caller; None as for `run`, and where kernels can't use the
        elements of the TensorArrays and stacks among the inputs.
        """
        key: tuple[Any, ...] = tuple([a.shape for a in inputs])
        if self._by_value:
            key += tuple(inputs[i].tobytes() for i in self._by_value)
        if self._handles:
            elements = [element_of(inputs[i], i in self._valued) for i in self._handles]
            key += tuple(elements)
            if None in elements or key in self._barred:
                return None
        for program in self._programs.get(key, ()):
            if program.lock.acquire(blocking=False):
                if program.is_current(self._store):
                    program.used = True
                    return program
                self._drop(key, program)
        if self._patience is not None and not self._settled(key):
            return None
        if not self._handles:
            return self._make(key, inputs)
        try:
            return self._make(key, inputs)
        except OpError:                            # host calls take elements of all shapes, or say what is wrong
            self._barred.add(key)
            return None

    def _settled(self, key: tuple[Any, ...]) -> bool:
        """Has a loop come with this key before, and not with a new one in each round?"""
        assert self._patience is not None
        if key in self._programs or key in self._patience:
            return key in self._programs or len(self._programs) < PATIENCE
        if len(self._patience) < NOTED:
            self._patience[key] = None
        return False

    def _make(self, key: tuple[Any, ...], inputs: Sequence[np.ndarray]) -> Program | None:
        """A new program, locked by the caller."""
        if any(self._store.array(op) is None for op in self.stage.variables):
            return None
        metas = [Meta(a.dtype.name, a.shape, a.copy() if i in self._by_value else None,
                      element_of(a, i in self._valued) if i in self._handles else None) for i, a in enumerate(inputs)]
        with self._lock:
            compiled = next((p.compiled for p in self._programs.get(key, ()) if p.is_current(self._store)), None)
            program = Program(compiled or compile_stage(self.stage, metas, self._store), self._store, self._threads)
            while not program.fits():              # another thread gave a variable another shape just now
                program = Program(compile_stage(self.stage, metas, self._store), self._store, self._threads)
            program.lock.acquire()
            self._trim(program.nbytes)
            self._programs.setdefault(key, []).append(program)
            self._programs.move_to_end(key)
        return program

    def _trim(self, coming: int) -> None:
        """Make room for one more: drop programs that were not used since this last went by, the oldest first."""
        total = coming + sum(p.nbytes for peers in self._programs.values() for p in peers)
        while len(self._programs) >= ALWAYS and (len(self._programs) >= KEPT or total > KEPT_BYTES):
            key, peers = next(iter(self._programs.items()))
            if any(p.used for p in peers):
                self._programs.move_to_end(key)
                for program in peers:
                    program.used = False
            else:
                del self._programs[key]
                total -= sum(p.nbytes for p in peers)

    def _drop(self, key: tuple[Any, ...], program: Program) -> None:
        with self._lock:
            peers = self._programs.get(key, [])
            if program in peers:
                peers.remove(program)
            if not peers:
                self._programs.pop(key, None)

    def programs(self) -> list[Program]:
        """The programs made so far."""
        with self._lock:
            return [p for peers in self._programs.values() for p in peers]


@dataclass(frozen=True, slots=True)
class Slots:
    """A plan whose values stand in a list: the feeds, then the outputs of each stage. Tensors are places in it."""

    rows: tuple[tuple[Stage, StageRunner | HostRunner, tuple[int, ...]], ...]
    fetches: tuple[int, ...]


class Executor:
    """Runs one plan over a store: the first run interpreted, later ones compiled (see core/options.py)."""

    def __init__(self, plan: Plan, store: Store, in_loop: bool = False, settings: Settings = Settings()) -> None:
        self.plan = plan
        self._store = store
        self._runs = 0
        self._fed = frozenset(plan.feeds)
        self.runners = [StageRunner(stage, store, in_loop, settings.threads)
                        if stage.on_device and not settings.interpreted else None for stage in plan.stages]
        self._tap = settings.tap
        self._host = [HostRunner(stage, store) if self._tap is None and is_plain(stage, self._fed) else None
                      for stage in plan.stages]
        self.loops = {stage.loop.op: LoopRunner(stage.loop, lambda inner: Executor(inner, store, True, settings), store)
                      for stage in plan.stages if stage.loop is not None}
        self.direct = self.runners[0] if plan.direct else None     # what runs the whole plan, if one device stage does
        self._direct_host = self._host[0] if plan.direct else None
        self._slots = self._numbered()
        self.checked: Any = None                               # what the check for NaN notes here

    def run(self, feeds: Sequence[np.ndarray], trace: Trace | None = None) -> Sequence[np.ndarray]:
        """The values of the fetches. feeds: row-major arrays of the right dtypes, in the order of the plan's feeds.

        trace: where to note what ran when. Raises DeadlineExceededError past the store's limit.
        """
        if self._direct_host is not None:
            return self._direct_host.run(feeds, trace)
        compiled = options.compile == "always" or (self._runs > 0 and options.compile == "second")
        self._runs += 1
        if self.direct is not None and compiled:
            outputs = self.direct.run(feeds, trace)
            if outputs is not None:
                return outputs
        if compiled and self._slots is not None:
            return self._run_slots(self._slots, feeds, trace)
        env: Env = dict(zip(self.plan.feeds, feeds, strict=True))
        if self.plan.before is not None:
            run_waiting(self.plan, env, self._store, lambda i, env: self._run_stage(i, env, compiled, trace))
        else:
            for i in range(len(self.plan.stages)):
                self._store.check_time()
                self._run_stage(i, env, compiled, trace)
        return [self._fetched(t, env) for t in self.plan.fetches]

    def wrapped(self, wrap: Callable[[StageRunner], Any]) -> Executor:
        """This executor with something around the runners of its device stages, and compiled from now on."""
        other = copy(self)
        other.runners = [None if runner is None else wrap(runner) for runner in self.runners]
        other.direct, other._slots, other._runs = None, None, max(1, self._runs)
        return other

    def _numbered(self) -> Slots | None:
        """The plan with a number for each tensor that is passed on, if it is a row of stages that always run."""
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
        """As `run`, without looking up a tensor: what rounds of loops are made of."""
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
            self._compute(stage, self._host[i] or (self.runners[i] if compiled else None), env, trace)

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
        for k, tensor in loop.exits:                # what nobody has computed belongs to someone else
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
        """What a merge or a loop takes: also a constant, or a variable as it is now."""
        found = env.get(tensor)
        if found is not None:
            return found
        if refers(tensor):
            return np.array(self._store.value(ref_variable(tensor), tensor.op))
        return np.array(tensor.op.attrs["value"])

    def _fetched(self, tensor: Tensor, env: Env) -> np.ndarray:
        """A fed tensor that is fetched is copied: what a run returns belongs to the caller."""
        if tensor not in env:
            raise InvalidArgumentError(None, tensor.op, f"Retval[0] does not have value: {tensor.name!r} is in a "
                                                        "branch that was not taken")
        return np.array(env[tensor]) if tensor in self.plan.feeds else env[tensor]


def _holds(guard: Guard, env: Env) -> bool:
    """Is what has this guard there?"""
    for tensor, want in guard:
        found = env.get(tensor)
        if found is None or (want is not None and bool(found) is not want):
            return False
    return True
