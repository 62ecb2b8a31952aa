"""Running a plan: for each stage the interpreter, or a program made for the shapes at hand."""
from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfnb.compile.plan import Plan, Stage
from tfnb.compile.trace import Meta
from tfnb.core.options import options
from tfnb.graph.operation import Operation, Tensor
from tfnb.ops.evaluate import wants_lock
from tfnb.runtime.host import HostRunner, is_plain
from tfnb.runtime.interpreter import Env, interpret
from tfnb.runtime.program import Program, compile_stage
from tfnb.runtime.store import Store

KEPT = 32                # programs kept a stage: more shapes than that are rebuilt, the least recently used first

Watch = Callable[[Operation], None]


class StageRunner:
    """The programs of one device stage, by the shapes (and values) they are made for."""

    def __init__(self, stage: Stage, store: Store) -> None:
        self.stage = stage
        self._store = store
        self._lock = threading.Lock()
        self._locks = any(wants_lock(op) for op in stage.ops)
        self._by_value = tuple(stage.inputs.index(t) for t in stage.by_value)
        self._programs: OrderedDict[tuple[Any, ...], list[Program]] = OrderedDict()

    def run(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray] | None:
        """The outputs; None if a variable it uses has no value yet (the interpreter says which, or gives it one)."""
        key: tuple[Any, ...] = tuple([a.shape for a in inputs])
        if self._by_value:
            key += tuple(inputs[i].tobytes() for i in self._by_value)
        for program in self._programs.get(key, ()):
            if program.lock.acquire(blocking=False):
                if program.is_current(self._store):
                    break
                self._drop(key, program)
        else:
            made = self._make(key, inputs)
            if made is None:
                return None
            program = made
        try:
            if self._locks:
                with self._store.updating:
                    return program.run(inputs)
            return program.run(inputs)
        finally:
            program.lock.release()

    def _make(self, key: tuple[Any, ...], inputs: Sequence[np.ndarray]) -> Program | None:
        """A new program, locked by the caller."""
        if any(self._store.array(op) is None for op in self.stage.variables):
            return None
        metas = [Meta(a.dtype.name, a.shape, a.copy() if i in self._by_value else None)
                 for i, a in enumerate(inputs)]
        with self._lock:
            compiled = next((p.compiled for p in self._programs.get(key, ()) if p.is_current(self._store)), None)
            program = Program(compiled or compile_stage(self.stage, metas, self._store), self._store)
            while not program.fits():              # another thread gave a variable another shape just now
                program = Program(compile_stage(self.stage, metas, self._store), self._store)
            program.lock.acquire()
            self._programs.setdefault(key, []).append(program)
            self._programs.move_to_end(key)
            while len(self._programs) > KEPT:
                self._programs.popitem(last=False)
        return program

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


class Executor:
    """Runs one plan over a store: the first run interpreted, later ones compiled (see core/options.py)."""

    def __init__(self, plan: Plan, store: Store) -> None:
        self.plan = plan
        self._store = store
        self._runs = 0
        self._fed = frozenset(plan.feeds)
        self.runners = [StageRunner(stage, store) if stage.on_device else None for stage in plan.stages]
        self._host = [HostRunner(stage, store) if is_plain(stage, self._fed) else None for stage in plan.stages]
        only = plan.stages[0] if len(plan.stages) == 1 else None
        direct = only is not None and only.inputs == plan.feeds and only.outputs == plan.fetches
        self._direct = self.runners[0] if direct else None
        self._direct_host = self._host[0] if direct else None

    def run(self, feeds: Sequence[np.ndarray], watch: Watch | None = None) -> Sequence[np.ndarray]:
        """The values of the fetches. feeds: row-major arrays of the right dtypes, in the order of the plan's feeds."""
        if self._direct_host is not None and watch is None:
            return self._direct_host.run(feeds)
        compiled = options.compile == "always" or (self._runs and options.compile == "second")
        self._runs += 1
        if self._direct is not None and compiled and watch is None:
            outputs = self._direct.run(feeds)
            if outputs is not None:
                return outputs
        env: Env = dict(zip(self.plan.feeds, feeds, strict=True))
        for stage, runner, host in zip(self.plan.stages, self.runners, self._host, strict=True):
            self._run_stage(stage, None if watch is not None else host or (runner if compiled else None), env, watch)
        return [self._fetched(t, env) for t in self.plan.fetches]

    def _run_stage(self, stage: Stage, runner: StageRunner | HostRunner | None, env: Env,
                   watch: Watch | None) -> None:
        outputs = runner.run([env[t] for t in stage.inputs]) if runner is not None else None
        if outputs is None:
            interpret(stage, env, self._store, watch, self._fed)
        else:
            env.update(zip(stage.outputs, outputs, strict=True))

    def _fetched(self, tensor: Tensor, env: Env) -> np.ndarray:
        """A fed tensor that is fetched is copied: what a run returns belongs to the caller."""
        return np.array(env[tensor]) if tensor in self.plan.feeds else env[tensor]
