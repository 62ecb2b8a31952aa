"""Monitors: state that blocking calls wait for, until it changes, their run is cancelled or their time is over."""
from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic
from typing import TypeVar

from tfnb.core.errors import CancelledError, DeadlineExceededError
from tfnb.core.interrupts import LOOK, wait_for
from tfnb.resources.queues import run

Found = TypeVar("Found")


class Monitor:
    """Base of resources whose calls block. what: names such a call in messages.

    polls: look again every LOOK seconds, as the state changes by other things than calls too.
    """

    what = "Operation"
    polls = False

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._gates: list[threading.Lock] = []     # of the calls that wait
        self._cancelled = False

    def wait(self, attempt: Callable[[], Found | None], timeout: float | None) -> Found:
        """Call `attempt`, with the lock held, until it returns something else than None, and return that.

        Raises CancelledError when the session is closed or the run cancelled, DeadlineExceededError after `timeout`
        seconds.
        """
        until = None if timeout is None else monotonic() + timeout
        while True:
            gate = threading.Lock()
            with self._lock:
                if self._cancelled:
                    raise CancelledError(None, None, f"{self.what} was cancelled")
                found = attempt()
                if found is not None:
                    self._wake()
                    return found
                gate.acquire()
                self._gates.append(gate)
            self._pass(gate, until)

    def _pass(self, gate: threading.Lock, until: float | None) -> None:
        """Wait for a change. Raises DeadlineExceededError if there was none until then."""
        left = None if until is None else until - monotonic()
        check = None if run.cancelled is None else run.cancelled.check
        soon = self.polls and (left is None or left > LOOK)
        if not wait_for(gate, LOOK if soon else left, check) and not soon:
            raise DeadlineExceededError(None, None, "Timed out waiting for notification")

    def change(self, action: Callable[[], Found]) -> Found:
        """Call `action` with the lock held, wake all that wait, and return its result."""
        with self._lock:
            found = action()
            self._wake()
            return found

    def _wake(self) -> None:
        for gate in self._gates:
            gate.release()
        self._gates.clear()

    def cancel(self) -> None:
        """Raise CancelledError in all blocked and later calls: the session is closed."""
        with self._lock:
            self._cancelled = True
            self._wake()


class Mutex(Monitor):
    """Mutual exclusion of runs. A run that ends without unlocking has unlocked."""

    what, polls = "Locking a mutex", True

    def __init__(self) -> None:
        super().__init__()
        self._holder: Held | None = None

    def lock(self, timeout: float | None) -> Held:
        """Wait until nobody holds the mutex; return the object that holds it."""
        def attempt() -> Held | None:
            if self._holder is not None and not self._holder.over:
                return None
            self._holder = Held(run.cancelled)
            return self._holder
        return self.wait(attempt, timeout)

    def unlock(self, held: Held) -> None:
        """End what `lock` returned."""
        held.done = True
        self.change(lambda: None)


class Held:
    """Possession of a mutex. run: the event that is set when the run of the holder is over, None if that has none."""

    __slots__ = ("run", "done", "__weakref__")

    def __init__(self, run: threading.Event | None) -> None:
        self.run, self.done = run, False

    @property
    def over(self) -> bool:
        """Whether the mutex is free again."""
        return self.done or self.run is not None and self.run.is_set()
