"""A line in the cell while its kernels are compiled, where that takes a while: waiting without a reason is worse."""
from __future__ import annotations

from html import escape
from itertools import count
from typing import Any

from tfnb.core.text import counted
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.badge import MUTED
from tfnb.notebook.frontend.settings import settings

PATIENCE = 0.5           # seconds of compiling before anything is said
_numbers = count(1)


class CompileLine:
    """Listens to `jit.on_compile`: one line for each batch of kernels that takes longer than PATIENCE."""

    def __init__(self) -> None:
        self._before = 0.0                         # seconds of compiling up to this batch
        self._last = 0.0
        self._id = ""

    def __call__(self, done: int, total: int, seconds: float) -> None:
        """`done` of `total` kernels of a batch are compiled; seconds: of all compilations of the process so far."""
        if done == 1:
            self._before, self._id = self._last, ""
        self._last = seconds
        spent = seconds - self._before
        if spent < PATIENCE or not settings.compile_line or not shell.has_front_end():
            return
        if done < total:
            text = f"compiling kernels: {done} of {total}, {spent:.1f} s"
        else:
            text = f"compiled {counted(total, 'kernel')} in {spent:.1f} s, kept for the next time"
        self._show(text)

    def _show(self, text: str) -> None:
        page = f'<span style="color:{MUTED};font-size:12px">{escape(text)}</span>'
        bundle: dict[str, Any] = {"text/plain": text, "text/html": page}
        if self._id:
            shell.update(bundle, self._id)
        else:
            self._id = f"tfnb-compile-{next(_numbers)}-{id(self):x}"
            shell.show(bundle, self._id)
