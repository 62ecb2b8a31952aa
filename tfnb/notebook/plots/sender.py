"""The one thread that files what training reports and sends it to the browser, while a board is open.

Without threads (`options.background`) whoever reports something sends it when it is time, and so does the event loop.
"""
from __future__ import annotations

import asyncio
import threading
import time
import traceback
from collections.abc import Callable
from functools import partial
from typing import Protocol

from tfnb.core.options import options
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
        self._due = 0.0                         # without a thread: when to send next,
        self._busy = self._comes_back = False   # whether it does now, and whether the event loop will

    def open(self, board: Board) -> None:
        """Keep `board` up to date from now on."""
        with self._lock:
            if board not in self.boards:
                self.boards[:] = [*self.boards[1 - MOST:], board]
            if not options.background:
                board.recorder.on_entry = self._if_due
            elif self._thread is None:
                self._thread = threading.Thread(target=self._work, name="tfnb-live", daemon=True)
                self._thread.start()
        self._come_back()

    def close(self, board: Board) -> None:
        """Stop updating `board`."""
        with self._lock:
            if board in self.boards:
                self.boards.remove(board)
        self._bell.set()

    def wake(self) -> None:
        """Look for something to send now."""
        self._bell.set()
        if not options.background:
            self._due = 0.0
            self._if_due()

    def _work(self) -> None:
        while boards := self._open_boards():
            self._send(boards)
            self._bell.wait(_seconds(boards))
            self._bell.clear()

    def _send(self, boards: list[Board]) -> None:
        for recorder in {id(board.recorder): board.recorder for board in boards}.values():
            self._guarded(recorder.file, [board for board in boards if board.recorder is recorder])
        for board in boards:
            self._guarded(partial(board.tick, time.monotonic()), [board])

    def _if_due(self) -> None:
        """Send, if it is time: where there is no thread for it. A board that is sent may call this again."""
        if self._busy or time.monotonic() < self._due:
            return
        self._busy = True
        try:
            boards = self._open_boards()
            self._send(boards)
            self._due = time.monotonic() + _seconds(boards)
        finally:
            self._busy = False

    def _come_back(self) -> None:
        """Let the event loop send, too, while boards are open, where there is a loop and no thread."""
        if options.background or self._comes_back or not self.boards:
            return
        try:
            asyncio.get_running_loop().call_later(_seconds(self.boards), self._beat)
            self._comes_back = True
        except RuntimeError:
            return

    def _beat(self) -> None:
        self._comes_back = False
        self._if_due()
        self._come_back()

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


def _seconds(boards: list[Board]) -> float:
    """Return the time between two updates of the quickest board."""
    return 1 / max([board.hz for board in boards], default=1.0)
