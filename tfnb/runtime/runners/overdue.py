"""A monitor thread that notices Python calls of a run which last: they may be waiting for others of the same run."""
from __future__ import annotations

import os
import threading
from time import monotonic, sleep
from typing import Protocol

from tfnb.core.options import options

PATIENCE = 0.02                   # seconds that a call may take before the others no longer wait for it
_IDLE = 50                        # rounds with nothing to watch after which the monitor sleeps until it is woken


class Turn(Protocol):
    """A call that is watched; `since`: when it began, by `time.monotonic`."""

    since: float

    def overdue(self) -> None:
        """Let others go on, if there are any. Called in the monitor's thread, again and again while the call lasts."""


class Monitor:
    """The turns that are watched now. Beginning and ending one costs 1 us: the monitor looks, nobody reports to it."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew: in a forked child, which has no monitor thread."""
        self._turns: set[Turn] = set()
        self._awake = threading.Event()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def begin(self, turn: Turn) -> None:
        """Watch a turn from now on, where there are threads for those that might go on."""
        if not options.background:
            return
        self._turns.add(turn)
        if not self._awake.is_set():
            self._awake.set()
            with self._starting:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._watch, name="tfnb-monitor", daemon=True)
                    self._thread.start()

    def end(self, turn: Turn) -> None:
        """Watch a turn no longer."""
        self._turns.discard(turn)

    def _watch(self) -> None:
        idle = 0
        while True:
            sleep(PATIENCE)
            idle = 0 if self._turns else idle + 1
            if idle > _IDLE:
                self._awake.clear()
                if not self._turns:                # else one began between the two lines above
                    self._awake.wait()
                self._awake.set()
                idle = 0
            now = monotonic()
            for turn in list(self._turns):
                if now - turn.since >= PATIENCE:
                    turn.overdue()


monitor = Monitor()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=monitor.forget)
