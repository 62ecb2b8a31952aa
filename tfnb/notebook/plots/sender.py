"""The one thread that files what training reports and sends it to the browser, while a board is open."""
from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from functools import partial
from typing import Protocol

from tfnb.notebook.plots.recorder import Recorder

MOST = 12               # boards open at once; an older one stops being updated


class Board(Protocol):
    """A board that the thread feeds."""

    hz: float
    recorder: Recorder

    def tick(self, now: float) -> None:
        """Send what is new, if it is time (seconds of `time.monotonic`)."""


class Sender:
    """A daemon thread that lives while boards are open."""

    def __init__(self) -> None:
        self.boards: list[Board] = []
        self._thread: threading.Thread | None = None
        self._bell = threading.Event()
        self._lock = threading.Lock()

    def open(self, board: Board) -> None:
        """Keep `board` up to date from now on."""
        with self._lock:
            if board not in self.boards:
                self.boards[:] = [*self.boards[1 - MOST:], board]
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="tfnb-live", daemon=True)
                self._thread.start()

    def close(self, board: Board) -> None:
        """Stop updating `board`."""
        with self._lock:
            if board in self.boards:
                self.boards.remove(board)
        self._bell.set()

    def wake(self) -> None:
        """Look for something to send now."""
        self._bell.set()

    def _work(self) -> None:
        while boards := self._open_boards():
            for recorder in {id(board.recorder): board.recorder for board in boards}.values():
                self._guarded(recorder.file, [board for board in boards if board.recorder is recorder])
            for board in boards:
                self._guarded(partial(board.tick, time.monotonic()), [board])
            self._bell.wait(1 / max(board.hz for board in boards))
            self._bell.clear()

    def _open_boards(self) -> list[Board]:
        with self._lock:
            if not self.boards:
                self._thread = None             # under the lock: `open` starts another
            return list(self.boards)

    def _guarded(self, work: Callable[[], object], boards: list[Board]) -> None:
        try:
            work()
        except Exception as error:              # one board must not stop the others, nor the user's loop
            self._report(error)
            for board in boards:
                self.close(board)

    def _report(self, error: Exception) -> None:
        traceback.print_exception(error)
