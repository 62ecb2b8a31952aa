"""Cooperative scheduling of blocking ops: a dequeue may wait for an enqueue of the same run.

No threads as long as some stage can run: a stage that would block is deferred. Only when all ready stages block, on
other runs or on one another, do they run concurrently, each in a thread.
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

from tfnb.compile.plan import Plan
from tfnb.core import queues
from tfnb.core.errors import DeadlineExceededError
from tfnb.runtime.interpreter import Env
from tfnb.runtime.store import Store

Run = Callable[[int, Env], None]                # runs the stage of that number: its inputs and outputs are in `Env`
NOW = float("-inf")                             # a deadline that lets nothing wait


def run_waiting(plan: Plan, env: Env, store: Store, run: Run) -> None:
    """Run all stages of a plan that has `before`. Raises the first error, once no other stage blocks any more."""
    _Waiting(plan, env, store, run).run()


class _Waiting:
    """Scheduler state of one run."""

    def __init__(self, plan: Plan, env: Env, store: Store, run: Run) -> None:
        assert plan.before is not None
        self._stages, self._before = plan.stages, plan.before
        self._env, self._store, self._run = env, store, run
        self._left = dict.fromkeys(range(len(plan.stages)))         # in the order of the plan
        self._done: set[int] = set()
        self._threads: dict[int, threading.Thread] = {}
        self._finished: SimpleQueue[tuple[int, Env, BaseException | None]] = SimpleQueue()
        self._cancelled = threading.Event()

    def run(self) -> None:
        """Run all stages."""
        try:
            while self._left or self._threads:
                if not self._go_on():
                    self._wait()
        finally:
            self._cancelled.set()
            for thread in self._threads.values():
                thread.join()

    def _ready(self) -> list[int]:
        return [i for i in self._left if self._before[i] <= self._done]

    def _go_on(self) -> bool:
        """Run one ready stage that does not block; return False if there is none."""
        self._store.check_time()
        for i in self._ready():
            waits = any(op.spec.waits for op in self._stages[i].ops)
            if not waits or self._without_waiting(i):
                if not waits:
                    self._run(i, self._env)
                self._done.add(i)
                del self._left[i]
                return True
        return False

    def _without_waiting(self, i: int) -> bool:
        """Run a stage with a deadline in the past; return False if it would block."""
        deadline = self._store.deadline()
        self._store.wait_until(NOW)
        try:
            self._run(i, self._env)
            return True
        except DeadlineExceededError:
            return False
        finally:
            self._store.wait_until(deadline)

    def _wait(self) -> None:
        """Run all ready stages concurrently, until one of them is done."""
        ready = self._ready()
        if len(ready) == 1 and not self._threads:
            self._run(ready[0], self._env)
            self._done.add(ready[0])
            del self._left[ready[0]]
            return
        for i in ready:
            del self._left[i]
            arguments = i, dict(self._env), self._store.deadline()
            self._threads[i] = threading.Thread(target=self._in_thread, args=arguments, daemon=True)
            self._threads[i].start()
        i, made, error = self._finished.get()
        self._threads.pop(i).join()
        if error is not None:
            raise error
        self._env.update({t: made[t] for t in self._stages[i].outputs})
        self._done.add(i)

    def _in_thread(self, i: int, env: Env, deadline: float | None) -> None:
        queues.run.cancelled = self._cancelled
        self._store.wait_until(deadline)
        try:
            self._run(i, env)
            self._finished.put((i, env, None))
        except BaseException as error:
            self._finished.put((i, env, error))
