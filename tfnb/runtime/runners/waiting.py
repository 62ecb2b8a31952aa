"""Cooperative scheduling of blocking ops: a dequeue may wait for an enqueue of the same run.

No threads as long as some stage can run: a stage that would block is deferred. Only when all ready stages block, on
other runs or on one another, do they run concurrently, each in a thread.

Whether a Python function (`py_func`) will wait for another one can't be known before it is called. It is called by the
thread that schedules; where it lasts (runtime/runners/overdue.py) while other stages are ready, a deputy, another
thread, takes over the scheduling. So functions that are quick run one after another, in the order of the plan, in the
thread of the caller; those that last run concurrently with what is not ordered after them.
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from time import monotonic

from tfnb.compile.planning.plan import Plan
from tfnb.core.errors import DeadlineExceededError
from tfnb.core.interrupts import LOOK
from tfnb.core.options import options
from tfnb.resources import queues
from tfnb.runtime.runners.overdue import monitor
from tfnb.runtime.state.store import Store

Run = Callable[[int], None]                     # runs the stage of that number
NOW = float("-inf")                             # a deadline that lets nothing wait
NEVER = float("inf")                            # the beginning of a turn while there is none
GRACE, INTERRUPTED = 5.0, 0.5                   # seconds that functions may still run after an error, an interrupt


def run_waiting(plan: Plan, store: Store, run: Run, concurrent: bool = True) -> None:
    """Run all stages of a plan that has `before`. Raises the first error, once no other stage blocks any more.

    concurrent: let functions that last run beside others; else all go one after another, in the order of the plan.
    """
    if plan.waits or not concurrent:
        _Waiting(plan, store, run, concurrent).run()
    else:
        _InOrder(plan, store, run).run()


class _InOrder:
    """A run of functions, without queues: the stages in the order of the plan, until one lasts."""

    __slots__ = ("since", "_deadline", "_stage", "_turn", "_lock", "_plan", "_store", "_run")

    def __init__(self, plan: Plan, store: Store, run: Run) -> None:
        self._plan, self._store, self._run = plan, store, run
        self.since, self._stage, self._deadline = NEVER, 0, store.deadline()
        self._turn: _Turn | None = None            # once a deputy has taken over
        self._lock = threading.Lock()

    def run(self) -> None:
        """Run all stages."""
        monitor.begin(self)
        try:
            for i, calls in enumerate(self._plan.calls):
                self._store.check_time()
                if not calls:
                    self._run(i)
                elif (turn := self._call(i)) is not None:
                    turn.run.rest(turn)
                    return
        finally:
            monitor.end(self)

    def _call(self, i: int) -> _Turn | None:
        """Run a stage that calls a function; return its turn if a deputy goes on, which then has its error too."""
        error = None
        self._stage, self.since = i, monotonic()
        try:
            self._run(i)
        except BaseException as caught:
            error = caught
        with self._lock:
            self.since = NEVER
        if self._turn is not None:
            self._turn.error = error
        elif error is not None:
            raise error
        return self._turn

    def overdue(self) -> None:
        """Let a deputy take over, if there is anything to do."""
        with self._lock:
            if self.since != NEVER and self._turn is None:
                waiting = _Waiting(self._plan, self._store, self._run, True, self._stage)
                turn = _Turn(waiting, self._stage, self._deadline)
                waiting.take_over(turn)
                self._turn = None if turn.deputy is None else turn


class _Turn:
    """A function that the scheduling thread calls; `deputy`: the thread that schedules since it has lasted."""

    __slots__ = ("run", "stage", "since", "deadline", "deputy", "over", "error")

    def __init__(self, run: _Waiting, stage: int, deadline: float | None) -> None:
        self.run, self.stage, self.deadline = run, stage, deadline
        self.since = monotonic()
        self.deputy: threading.Thread | None = None
        self.over = False
        self.error: BaseException | None = None

    def overdue(self) -> None:
        """Let a deputy take over, if there is anything to do."""
        self.run.take_over(self)


class _Waiting:
    """Scheduler state of one run. One thread at a time schedules: the caller's, or the last deputy.

    present: the number of the stage that runs already, after those before it.
    """

    def __init__(self, plan: Plan, store: Store, run: Run, concurrent: bool, present: int = -1) -> None:
        assert plan.before is not None
        self._stages, self._before = plan.stages, plan.before
        self._store, self._run = store, run
        self._calls = plan.calls if concurrent else [False] * len(plan.stages)
        self._left = dict.fromkeys(range(present + 1, len(plan.stages)))    # in the order of the plan
        self._done = set(range(present))
        self._threads: dict[int, threading.Thread | None] = {}      # None: a function that had its thread before
        self._finished: SimpleQueue[tuple[int, BaseException | None]] = SimpleQueue()
        self._cancelled = queues.Cancellation(queues.run.cancelled)
        self._baton = threading.Lock()             # held to end a turn or to take over
        self._error: BaseException | None = None   # of a deputy

    def run(self) -> None:
        """Run all stages."""
        try:
            self._schedule()
        finally:
            self._end()

    def _schedule(self) -> None:
        while self._left or self._threads:
            self._cancelled.check()
            if not self._go_on():
                self._wait()

    def _end(self) -> None:
        """Wait for the ops of queues, which end as the run is cancelled."""
        self._cancelled.set()
        for thread in list(self._threads.values()):
            if thread is not None:
                thread.join()

    def _call(self, i: int) -> None:
        """Run a stage that calls a function, watched by the monitor."""
        del self._left[i]
        turn = _Turn(self, i, self._store.deadline())
        monitor.begin(turn)
        try:
            self._run(i)
        except BaseException as caught:
            turn.error = caught
        finally:
            monitor.end(turn)
        with self._baton:
            turn.over = True
        if turn.deputy is not None:
            self._follow(turn, turn.deputy)
        elif turn.error is not None:
            raise turn.error
        self._done.add(i)

    def rest(self, turn: _Turn) -> None:
        """Leave the rest of the run to the deputy of a turn that is over."""
        assert turn.deputy is not None
        try:
            self._follow(turn, turn.deputy)
        finally:
            self._end()

    def take_over(self, turn: _Turn) -> None:
        """Start a deputy in the place of a thread whose turn lasts, if there is anything to do."""
        with self._baton:
            if turn.over or turn.deputy is not None or self._cancelled.is_set() or not (self._threads or self._ready()):
                return
            self._threads[turn.stage] = None
            turn.deputy = threading.Thread(target=self._depute, args=(turn,), name="tfnb-deputy", daemon=True)
            turn.deputy.start()

    def _depute(self, turn: _Turn) -> None:
        queues.run.cancelled = self._cancelled
        self._store.wait_until(turn.deadline)
        try:
            self._schedule()
        except BaseException as error:
            self._error = error
            self._end()

    def _follow(self, turn: _Turn, deputy: threading.Thread) -> None:
        """Tell the thread that schedules now of a turn that is over, and wait for it; raise the error of either.

        After an error of one's own, functions that still run are given some time, and then left behind: nobody can
        stop them, and they may wait for ever.
        """
        error = turn.error
        self._finished.put((turn.stage, error))
        if error is None:
            while deputy.is_alive():
                deputy.join(LOOK)
            error = self._error
        else:
            self._cancelled.set()
            deputy.join(GRACE if isinstance(error, Exception) else INTERRUPTED)
        if error is not None:
            raise error

    def _ready(self) -> list[int]:
        return [i for i in self._left if self._before[i] <= self._done]

    def _go_on(self) -> bool:
        """Run one ready stage that does not block; return False if there is none."""
        self._store.check_time()
        for i in self._ready():
            if self._calls[i] and len(self._left) + len(self._threads) > 1:
                self._call(i)
                return True
            waits = any(op.spec.waits for op in self._stages[i].ops)
            if not waits or self._without_waiting(i):
                if not waits:
                    self._run(i)
                self._done.add(i)
                del self._left[i]
                return True
        return False

    def _without_waiting(self, i: int) -> bool:
        """Run a stage with a deadline in the past; return False if it would block."""
        deadline = self._store.deadline()
        self._store.wait_until(NOW)
        try:
            self._run(i)
            return True
        except DeadlineExceededError:
            return False
        finally:
            self._store.wait_until(deadline)

    def _wait(self) -> None:
        """Run all ready stages concurrently, until one of them is done; without threads, the first one."""
        ready = self._ready()
        if (len(ready) == 1 or not options.background) and not self._threads:
            self._run(ready[0])
            self._done.add(ready[0])
            del self._left[ready[0]]
            return
        for i in ready:
            del self._left[i]
            arguments = i, self._store.deadline()
            self._threads[i] = thread = threading.Thread(target=self._in_thread, args=arguments, daemon=True)
            thread.start()
        i, error = self._next()
        if (ended := self._threads.pop(i)) is not None:
            ended.join()
        if error is not None:
            raise error
        self._done.add(i)

    def _next(self) -> tuple[int, BaseException | None]:
        """Wait for a stage in another thread to end. Lets signals be handled meanwhile, see `wait_for`."""
        while True:
            with suppress(Empty):
                return self._finished.get(timeout=LOOK)
            self._cancelled.check()    # who waits for this deputy sets it

    def _in_thread(self, i: int, deadline: float | None) -> None:
        queues.run.cancelled = self._cancelled
        self._store.wait_until(deadline)
        try:
            self._run(i)
            self._finished.put((i, None))
        except BaseException as error:
            self._finished.put((i, error))
