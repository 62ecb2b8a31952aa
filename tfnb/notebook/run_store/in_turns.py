"""A training without a thread (`options.background`): its steps run in turns with all else on the event loop.

A turn is some steps in a row. Between two turns the loop delivers what was clicked, and the kernel runs cells; where
a cell waits for the training, it takes the turns itself.
"""
from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator

from tfnb.notebook.plots.training import FAILED, RUNS, SLICE, STOPPED, Run

TURN = 0.05             # seconds of steps between two looks at the event loop: a click is answered at once


class RunInTurns(Run):
    """A `Run` whose steps are run by the thread of the notebook, as long as its event loop runs."""

    def start(self) -> Run:
        """Begin. Returns itself."""
        self._since = time.perf_counter()
        self.recorder.note(self.name, [])
        self._steps = self._loop()
        RUNS.append(self)
        self._come_back(0.0)
        return self

    def _come_back(self, seconds: float) -> None:
        """Let the event loop take a turn then. In a script, which has none, only who waits for the training does."""
        try:
            asyncio.get_running_loop().call_later(seconds, self._beat)
        except RuntimeError:
            return

    def _beat(self) -> None:
        if self.active:
            self._turn()
            self._come_back(SLICE if self._idle else 0.0)

    def _turn(self) -> None:
        """Run steps until TURN is over, the training ends, or it waits for something."""
        status, until = STOPPED, time.perf_counter() + TURN
        try:
            with self._around():
                for status in self._steps:      # noqa: B007  (the last one counts)
                    if self._idle or time.perf_counter() > until:
                        return
            self._finish(status, None)
        except KeyboardInterrupt:
            self.why = "by Interrupt"
            self._finish(STOPPED, None)
        except BaseException as failure:        # told in the cell, and by `wait`
            self._finish(FAILED, failure)

    def _idling(self) -> Iterator[str]:
        while not self._may_go():
            yield self.status

    def _until(self, done: Callable[[], bool], timeout: float | None = None) -> None:
        """Take turns until `done()`. Raises RuntimeError where that would be never, since only a cell could resume."""
        end = None if timeout is None else time.monotonic() + timeout
        while not done() and (end is None or time.monotonic() < end):
            if self._idle and not self._may_go():
                if end is None:
                    raise RuntimeError(f"the training is {'held' if self._held else self.status}: without threads, "
                                       "nothing can let it go on while this cell waits for it")
                return
            self._turn()
