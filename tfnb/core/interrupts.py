"""Deferred interrupts (Ctrl-C, a notebook's stop button) around critical sections."""
from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


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
