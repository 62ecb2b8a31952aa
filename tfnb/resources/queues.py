"""Blocking, thread-safe queues: FIFO, shuffling and priority queues.

An element is any object; `ops/data_flow/queue_ops.py` defines its components. Blocked threads wait in one of two FIFO
lines, of enqueues and of dequeues: a thread that changes the queue moves elements for the threads at the heads of the
lines, and wakes a thread only when its whole call is done.
"""
from __future__ import annotations

import heapq
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

from tfnb.core.errors import CancelledError, DeadlineExceededError, OpError, OutOfRangeError
from tfnb.core.interrupts import wait_for

Element = Any
_STUCK, _MOVED, _DONE = range(3)                   # results of serving the head of a line


class _Attempt:
    """Waiting call of a thread: the count of elements it still waits for, those it has, and the lock it waits on."""

    __slots__ = ("need", "elements", "partial", "closes", "gate", "done", "error", "cancelled")

    def __init__(self, need: int, elements: Any, partial: bool = False, closes: bool = False) -> None:
        self.need, self.elements, self.partial, self.closes = need, elements, partial, closes
        self.gate = threading.Lock()
        self.gate.acquire()
        self.done = False
        self.error: OpError | None = None
        self.cancelled = run.cancelled

    def cancel(self) -> CancelledError | None:
        """Return the error of a run that was cancelled: its thread looks only every LOOK seconds."""
        try:
            if self.cancelled is not None:
                self.cancelled.check()
        except CancelledError as error:
            return error
        return None

    def finish(self, error: OpError | None = None) -> int:
        """Wake the thread. To be called once, with the queue's lock held."""
        self.error, self.done = error, True
        self.gate.release()
        return _DONE


class Cancellation(threading.Event):
    """Event of a run that is set when the run is over or cancelled.

    around: those of the run, call or session that it is part of. reason: of the CancelledError of ops that wait.
    """

    def __init__(self, *around: Cancellation | None, reason: str = "another op of it failed") -> None:
        super().__init__()
        self._around = [event for event in around if event is not None]
        self._reason = reason

    def check(self) -> None:
        """Raise CancelledError if this event, or one around it, is set."""
        if self.is_set():
            raise CancelledError(None, None, f"The run was cancelled: {self._reason}")
        for event in self._around:
            event.check()


class _Run(threading.local):
    """Cancellation of a thread's run, which ends its waiting; None if there is none."""

    cancelled: Cancellation | None = None


run = _Run()


@contextmanager
def cancelled_by(event: Cancellation) -> Iterator[None]:
    """Let an event cancel what this thread runs."""
    around = run.cancelled
    run.cancelled = event
    try:
        yield
    finally:
        run.cancelled = around


def cancellable(call: Callable[..., Any], event: Cancellation) -> Callable[..., Any]:
    """Return a function that an event cancels too, beside what cancels its caller."""
    def made(*args: Any) -> Any:
        with cancelled_by(Cancellation(run.cancelled, event)):
            return call(*args)
    return made


@contextmanager
def token() -> Iterator[None]:
    """Give this thread's run an event that is set when the run is over: what it locked is free then."""
    event = Cancellation(run.cancelled)
    try:
        with cancelled_by(event):
            yield
    finally:
        event.set()


class Queue:
    """A FIFO queue; subclasses order elements otherwise by `_push`, `_pop`, `_put_back` and `_ready`.

    kind: the word that messages call it by; name: its own; capacity: negative for no bound. Methods raise
    CancelledError when the queue (or, by `cancel`, its session) is closed under an enqueue, OutOfRangeError when a
    closed queue has too few elements, DeadlineExceededError after `timeout` seconds.
    """

    def __init__(self, kind: str, name: str, capacity: int) -> None:
        self.kind, self.name = kind, name
        self.capacity = capacity if capacity >= 0 else sys.maxsize
        self._lock = threading.Lock()
        self._elements: Any = deque()
        self._putting: deque[_Attempt] = deque()
        self._taking: deque[_Attempt] = deque()
        self._closed = self._cancelled = False

    # ---- storage of elements: called with the lock held

    def _push(self, element: Element) -> None:
        self._elements.append(element)

    def _pop(self) -> Element:
        return self._elements.popleft()

    def _put_back(self, elements: Sequence[Element]) -> None:
        """Put back the elements of an incomplete dequeue."""
        self._elements.extendleft(reversed(elements))

    def _ready(self) -> int:
        """Return the count of elements that can be dequeued now."""
        return len(self._elements)

    # ---- calls of ops

    def enqueue(self, element: Element, timeout: float | None = None) -> None:
        """Enqueue an element, as soon as there is room."""
        with self._lock:
            if not (self._putting or self._closed or self._cancelled) and len(self._elements) < self.capacity:
                self._push(element)
                if self._taking:
                    self._serve()
                return
            attempt = self._stand(self._putting, _Attempt(1, [element]))
        self._wait(self._putting, attempt, timeout)

    def enqueue_many(self, elements: Iterable[Element], timeout: float | None = None) -> None:
        """Enqueue elements one after another as there is room; other enqueues wait until all are in."""
        waiting = list(elements)
        with self._lock:
            if timeout is not None and timeout <= 0 and self._would_block(len(waiting)):
                raise DeadlineExceededError(None, None, "Timed out waiting for notification")
            attempt = self._stand(self._putting, _Attempt(len(waiting), waiting[::-1]))
        self._wait(self._putting, attempt, timeout)

    def dequeue(self, timeout: float | None = None) -> Element:
        """Dequeue an element, as soon as there is one."""
        with self._lock:
            if not (self._taking or self._cancelled) and self._ready() > 0:
                element = self._pop()
                if self._putting:
                    self._serve()
                return element
            attempt = self._stand(self._taking, _Attempt(1, []))
        return self._wait(self._taking, attempt, timeout)[0]

    def dequeue_many(self, n: int, partial: bool = False, timeout: float | None = None) -> list[Element]:
        """Dequeue `n` elements; with `partial`, those that are left once the queue is closed, but at least one."""
        with self._lock:
            if not (self._taking or self._putting or self._cancelled) and self._ready() >= n:
                return [self._pop() for _ in range(n)]
            attempt = self._stand(self._taking, _Attempt(n, [], partial))
        found: list[Element] = self._wait(self._taking, attempt, timeout)
        return found

    def close(self, cancel_pending: bool = False) -> None:
        """Close the queue: after the enqueues that are blocked now, or, with `cancel_pending`, cancelling them.

        Raises CancelledError if the queue is closed already (not with `cancel_pending`).
        """
        with self._lock:
            if cancel_pending:
                self._closed = True
                self._dismiss(self._putting, "Enqueue")
                self._serve()
                return
            attempt = self._stand(self._putting, _Attempt(0, [], closes=True))
        self._wait(self._putting, attempt, None)

    def cancel(self) -> None:
        """Raise CancelledError in all blocked and later calls: the session is closed."""
        with self._lock:
            self._cancelled = True
            self._dismiss(self._putting, "Enqueue")
            self._dismiss(self._taking, "Dequeue")

    def size(self) -> int:
        """Return the count of elements in the queue."""
        return len(self._elements)

    def waiting(self) -> tuple[int, int]:
        """Return the counts of blocked enqueues and of blocked dequeues."""
        return len(self._putting), len(self._taking)

    def is_closed(self) -> bool:
        """Return whether the queue is closed."""
        return self._closed

    # ---- lines

    def _stand(self, line: deque[_Attempt], attempt: _Attempt) -> _Attempt:
        if self._cancelled:
            attempt.finish(self._dismissal(line))
            return attempt
        line.append(attempt)
        self._serve()
        return attempt

    def _wait(self, line: deque[_Attempt], attempt: _Attempt, timeout: float | None) -> Any:
        try:
            if not self._pass(attempt.gate, timeout):
                self._withdraw(line, attempt)
                if not attempt.done:
                    raise DeadlineExceededError(None, None, "Timed out waiting for notification")
        except BaseException as error:             # an interrupt: leave the line, and lose nothing
            if not isinstance(error, DeadlineExceededError):
                self._withdraw(line, attempt, give_back=True)
            raise
        if attempt.error is not None:
            raise attempt.error
        return attempt.elements

    def _would_block(self, n: int) -> bool:
        """Return whether an enqueue of `n` elements would block now. The lock must be held."""
        full = bool(self._putting) or len(self._elements) + n > self.capacity
        return full and not (self._closed or self._cancelled)

    def _pass(self, gate: threading.Lock, timeout: float | None) -> bool:
        """Wait for a lock; return whether it was acquired. Raises CancelledError if this thread's run is cancelled."""
        return wait_for(gate, timeout, None if run.cancelled is None else run.cancelled.check)

    def _withdraw(self, line: deque[_Attempt], attempt: _Attempt, give_back: bool = False) -> None:
        with self._lock:
            if not attempt.done:
                line.remove(attempt)
            elif not give_back:
                return
            if line is self._taking and attempt.elements:
                self._put_back(attempt.elements)
                attempt.elements = []
            self._serve()

    def _dismiss(self, line: deque[_Attempt], what: str) -> None:
        while line:
            attempt = line.popleft()
            if line is self._taking and attempt.elements:
                self._put_back(attempt.elements)
            attempt.finish(CancelledError(None, None, f"{what} operation was cancelled"))

    def _dismissal(self, line: deque[_Attempt]) -> OpError:
        what = "Enqueue" if line is self._putting else "Dequeue"
        return CancelledError(None, None, f"{what} operation was cancelled")

    def _serve(self) -> None:
        """Serve both lines until neither can proceed."""
        moved = True
        while moved:
            moved = self._serve_line(self._putting, self._try_put)
            moved = self._serve_line(self._taking, self._try_take) or moved

    def _serve_line(self, line: deque[_Attempt], serve: Callable[[_Attempt], int]) -> bool:
        moved = False
        while line:
            attempt = line[0]
            if error := attempt.cancel():
                if line is self._taking and attempt.elements:
                    self._put_back(attempt.elements)
                result = attempt.finish(error)
            else:
                result = serve(attempt)
            if result is not _DONE:
                return moved or result is _MOVED
            line.popleft()
            moved = True
        return moved

    def _try_put(self, attempt: _Attempt) -> int:
        if attempt.closes:
            already = self._closed
            self._closed = True
            return attempt.finish(CancelledError(
                None, None, f"Queue '{self.name}' is already closed.") if already else None)
        if self._closed:
            return attempt.finish(CancelledError(None, None, f"{self.kind} '{self.name}' is closed."))
        room = min(self.capacity - len(self._elements), attempt.need)
        for _ in range(room):
            self._push(attempt.elements.pop())
        attempt.need -= room
        return (_MOVED if room else _STUCK) if attempt.need else attempt.finish()

    def _try_take(self, attempt: _Attempt) -> int:
        present = len(self._elements)
        if self._closed and present < attempt.need:
            needed = attempt.need
            self._put_back(attempt.elements)
            attempt.need += len(attempt.elements)
            attempt.elements = []
            if not (attempt.partial and self._elements):
                return attempt.finish(OutOfRangeError(
                    None, None, f"{self.kind} '{self.name}' is closed and has insufficient elements "
                                f"(requested {needed}, current size {present})"))
            attempt.need = len(self._elements)
        take = min(self._ready(), attempt.need)
        for _ in range(take):
            attempt.elements.append(self._pop())
        attempt.need -= max(take, 0)
        return (_MOVED if take > 0 else _STUCK) if attempt.need else attempt.finish()


class ShuffleQueue(Queue):
    """Queue that returns its elements in random order, keeping at least `min_after` of them until it is closed.

    draw: a function without arguments that returns random non-negative integers.
    """

    def __init__(self, kind: str, name: str, capacity: int, min_after: int, draw: Callable[[], int]) -> None:
        super().__init__(kind, name, capacity)
        self.min_after, self._draw = min_after, draw
        self._elements = []

    def _pop(self) -> Element:
        elements = self._elements
        i = self._draw() % len(elements)
        found, elements[i] = elements[i], elements[-1]     # the last one takes its place
        elements.pop()
        return found

    def _put_back(self, elements: Sequence[Element]) -> None:
        self._elements.extend(elements)

    def _ready(self) -> int:
        return len(self._elements) - (0 if self._closed else self.min_after)


class PriorityQueue(Queue):
    """Queue that returns the element with the least first component first; equal ones in FIFO order."""

    def __init__(self, kind: str, name: str, capacity: int) -> None:
        super().__init__(kind, name, capacity)
        self._elements = []
        self._order = count()

    def _push(self, element: Element) -> None:
        heapq.heappush(self._elements, (int(element[0]), next(self._order), element))

    def _pop(self) -> Element:
        return heapq.heappop(self._elements)[2]

    def _put_back(self, elements: Sequence[Element]) -> None:
        for element in elements:
            self._push(element)
