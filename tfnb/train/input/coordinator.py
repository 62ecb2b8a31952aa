"""Coordinated termination of threads: `tf.train.Coordinator` and `tf.train.LooperThread`."""
from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tfnb.core.errors import OutOfRangeError

_log = logging.getLogger("tensorflow")


class Coordinator:
    """Coordinator that asks threads to stop, joins them, and raises in the caller the exception that one reported.

    Threads look at `should_stop()` often, and one calls `request_stop()`. clean_stop_exception_types: exceptions that
    stop the threads without being raised by `join`; by default OutOfRangeError, the end of an input.

    >>> coordinator = tf.train.Coordinator()
    >>> coordinator.should_stop()
    False
    >>> coordinator.request_stop()
    >>> coordinator.should_stop()
    True
    """

    def __init__(self, clean_stop_exception_types: Sequence[type[BaseException]] | None = None) -> None:
        self._clean = (OutOfRangeError,) if clean_stop_exception_types is None else tuple(clean_stop_exception_types)
        self._lock = threading.Lock()
        self._stop_event = threading.Event()
        self._error: BaseException | None = None
        self._joined = False
        self._registered_threads: set[threading.Thread] = set()

    @property
    def joined(self) -> bool:
        """Whether `join` has returned."""
        return self._joined

    def request_stop(self, ex: Any = None) -> None:
        """Request that all threads stop: `should_stop()` returns True from now on.

        ex: an exception, or what sys.exc_info() returns: of the first call, it is raised by `join`. After `join` it is
        raised here. Raises TypeError for something else.
        """
        error = ex[1] if isinstance(ex, tuple) and len(ex) == 3 else ex
        if error is not None and not isinstance(error, BaseException):
            raise TypeError(f"ex must be an exception or the result of sys.exc_info(), but is {ex!r}")
        with self._lock:
            if isinstance(error, self._clean):
                error = None
            if error is not None and self._joined:
                raise error
            if not self._stop_event.is_set():
                if error is not None and self._error is None:
                    _log.info("Error reported to Coordinator: %s, %s", type(error), error)
                    self._error = error
                self._stop_event.set()

    def clear_stop(self) -> None:
        """Reset the coordinator: no stop requested, no exception reported, nothing joined."""
        with self._lock:
            self._joined, self._error = False, None
            self._stop_event.clear()

    def should_stop(self) -> bool:
        """Return whether a stop was requested."""
        return self._stop_event.is_set()

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """Return a context manager that passes an exception of its block to `request_stop` and suppresses it."""
        try:
            yield
        except Exception as error:
            self.request_stop(error)

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Wait for a stop request, at most `timeout` seconds, and return whether there is one."""
        return self._stop_event.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Register a thread that `join` waits for too."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(self, threads: Iterable[threading.Thread] | None = None, stop_grace_period_secs: float = 120,
             ignore_live_threads: bool = False) -> None:
        """Wait until all threads (these and registered ones) have ended, or until a stop is requested.

        From then on threads have `stop_grace_period_secs` to end. Raises the exception given to `request_stop`, else
        RuntimeError, naming the threads that still run, unless `ignore_live_threads`.
        """
        with self._lock:
            waited = list(self._registered_threads.union(threads or ()))
        while any(t.is_alive() for t in waited) and not self.wait_for_stop(0.05):
            pass
        end = time.monotonic() + stop_grace_period_secs
        for thread in waited:
            if thread.is_alive():
                thread.join(max(0.0, end - time.monotonic()))
        late = [t.name for t in waited if t.is_alive()]
        with self._lock:
            self._joined = True
            self._registered_threads = set()
            if self._error is not None:
                raise self._error
        if late and not ignore_live_threads:
            raise RuntimeError(f"Coordinator stopped with threads still running: {' '.join(late)}")
        if late:
            _log.info("Coordinator stopped with threads still running: %s", " ".join(late))

    def raise_requested_exception(self) -> None:
        """Raise the exception that was given to `request_stop`, if there is one."""
        with self._lock:
            if self._error is not None:
                raise self._error


class LooperThread(threading.Thread):
    """Thread that calls a function every `timer_interval_secs` seconds until its coordinator stops.

    With None as interval it runs the code without a pause. Subclasses override `run_loop`, and perhaps `start_loop`
    and `stop_loop`; else `target` is called with `args` and `kwargs`. An exception is reported to the coordinator.
    Raises ValueError if `coord` is no Coordinator, or if there are arguments without a target.

    >>> coordinator, ticks = tf.train.Coordinator(), []
    >>> def tick():
    ...     ticks.append(1)
    ...     coordinator.request_stop()
    >>> thread = tf.train.LooperThread.loop(coordinator, None, target=tick)
    >>> coordinator.join([thread])
    >>> ticks
    [1]
    """

    def __init__(self, coord: Coordinator, timer_interval_secs: float | None,
                 target: Callable[..., Any] | None = None, args: Sequence[Any] | None = None,
                 kwargs: Mapping[str, Any] | None = None) -> None:
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        super().__init__(daemon=True)
        if target is None and (args or kwargs):
            raise ValueError("'args' and 'kwargs' argument require that you also pass 'target'")
        self._coord, self._timer_interval_secs, self._work = coord, timer_interval_secs, target
        self._work_args, self._work_kwargs = tuple(args or ()), dict(kwargs or {})
        coord.register_thread(self)

    @staticmethod
    def loop(coord: Coordinator, timer_interval_secs: float | None, target: Callable[..., Any],
             args: Sequence[Any] | None = None, kwargs: Mapping[str, Any] | None = None) -> LooperThread:
        """Start and return a LooperThread that calls `target`."""
        looper = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        """Run the loop in the thread."""
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._timer_interval_secs is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                due = time.monotonic()
                while not self._coord.wait_for_stop(max(0.0, due - time.monotonic())):
                    due += self._timer_interval_secs
                    self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Prepare the loop; called once, before it."""

    def stop_loop(self) -> None:
        """Finish the loop; called once, after it, unless an exception ended it."""

    def run_loop(self) -> None:
        """Run one iteration."""
        if self._work:
            self._work(*self._work_args, **self._work_kwargs)
