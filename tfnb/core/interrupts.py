"""Interrupts (Ctrl-C, a notebook's stop button): deferred in critical sections, let through where native code waits.

While programs run, `kernels/llvm/signals.py` looks for them.
"""
from __future__ import annotations

import contextvars
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any, TypeVar

from tfnb.core.errors import UnimplementedError
from tfnb.core.options import options

Result = TypeVar("Result")
LOOK = 0.05                       # seconds between two looks for a signal, where waiting does not end by one


@contextmanager
def held_back() -> Iterator[None]:
    """Defer KeyboardInterrupt to the end of the block. For blocks of at most some seconds.

    Imports and numba's compiler are left broken for the rest of the process by an exception that comes from nowhere.
    Interrupts reach the main thread only; in other threads this does nothing.
    """
    previous = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    if not callable(previous):
        yield
        return
    caught: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: caught.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        if caught:
            previous(*caught[-1])


class _Worker(threading.Thread):
    """A thread that makes one call after another; `abandoned` once nobody waits for the one it is at."""

    def __init__(self) -> None:
        super().__init__(name="tfnb-long", daemon=True)
        self.abandoned = False
        self.done = threading.Lock()
        self._asked = threading.Lock()
        self.done.acquire()
        self._asked.acquire()
        self._call: Callable[[], Any] | None = None
        self._made: Any = None
        self._error: BaseException | None = None

    def ask(self, call: Callable[[], Any]) -> None:
        """Begin a call; `done` is released at its end."""
        self._call = partial(contextvars.copy_context().run, call)
        if self.ident is None:
            self.start()
        self._asked.release()

    def result(self) -> Any:
        """Return the result of the call that is done, or raise its error, and keep neither."""
        made, error, self._made, self._error = self._made, self._error, None, None
        if error is not None:
            raise error
        return made

    def run(self) -> None:
        """Make calls, until one is abandoned."""
        while not self.abandoned:
            self._asked.acquire()
            call, self._call = self._call, None
            assert call is not None
            try:
                self._made = call()
            except BaseException as error:
                self._error = error
            del call
            self.done.release()


_idle: list[_Worker] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)        # the threads are the parent's


def interruptible(fn: Callable[..., Result], *args: Any) -> Result:
    """Return `fn(*args)`, where `fn` is long native calls that have no effect but their result (LAPACK, a sort).

    In the main thread it runs in another thread: an interrupt ends the waiting. The native call, which nobody can stop,
    goes on to its end, or to the next `leave_if_abandoned()`. Costs 10 us.
    """
    if threading.current_thread() is not threading.main_thread() or not options.background:
        return fn(*args)
    worker = _idle.pop() if _idle else _Worker()
    try:
        worker.ask(partial(fn, *args))      # which waits, too, at the first call: an interrupt may come there
        wait_for(worker.done)
    except BaseException:
        worker.abandoned = True
        raise
    _idle.append(worker)
    result: Result = worker.result()
    return result


def leave_if_abandoned() -> None:
    """End this thread if its work is that of a call of `interruptible` that was interrupted."""
    if getattr(threading.current_thread(), "abandoned", False):
        raise SystemExit


def wait_for(lock: threading.Lock, timeout: float | None = None, check: Callable[[], None] | None = None) -> bool:
    """Acquire a lock; in the main thread, let signals be handled meanwhile. check: called every LOOK seconds.

    Waiting for a lock is not ended by Ctrl-C on Windows, nor by `_thread.interrupt_main()` anywhere. Raises
    UnimplementedError where it would never end, since there is no other thread.
    """
    if not options.background and threading.active_count() == 1:
        if timeout is None and not lock.acquire(blocking=False):
            raise UnimplementedError(None, None, "It would wait for ever: what it waits for is another thread's work, "
                                     "and this Python has no threads")
        return timeout is None or lock.acquire(blocking=False)
    if check is None and threading.current_thread() is not threading.main_thread():
        return lock.acquire(timeout=-1 if timeout is None else max(timeout, 0))
    until = None if timeout is None else time.monotonic() + timeout
    while True:
        left = LOOK if until is None else min(LOOK, until - time.monotonic())
        if lock.acquire(timeout=max(left, 0)):
            return True
        if check is not None:
            check()
        if left < LOOK:
            return False
