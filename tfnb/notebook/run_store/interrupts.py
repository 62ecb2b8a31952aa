"""Interrupt, the stop button of a notebook, while no cell runs: it ends the trainings.

A kernel ignores the signal between cells and restores whatever handler was there after each one. So ours is put in
place when the cell that asks for it has ended.
"""
from __future__ import annotations

import asyncio
import signal
import threading
from typing import Any

from tfnb.notebook.frontend import shell
from tfnb.notebook.plots.active_runs import active_runs

AGAIN = 0.1             # seconds until the next look whether the cell has ended


def listen() -> None:
    """Let Interrupt end trainings from the end of the running cell on. Nothing to do outside of kernels."""
    if shell.has_front_end() and threading.current_thread() is threading.main_thread():
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        loop.call_later(AGAIN, _install, loop)


def _install(loop: asyncio.AbstractEventLoop) -> None:
    present = signal.getsignal(signal.SIGINT)
    if present is signal.default_int_handler:       # a cell runs: the kernel will put back what was before it
        loop.call_later(AGAIN, _install, loop)
    elif present is not _interrupted:
        signal.signal(signal.SIGINT, _interrupted)


def _interrupted(_signal: int, _frame: Any) -> None:
    for run in active_runs():
        run.stop("by Interrupt", wait=False)
