"""Errors as a cell shows them: the user's own lines, without the frames of tfnb between and behind them.

A shape error in a layer has 30 frames of ours, which bury the one line to look at. They are shown with
`%config Tfnb.full_tracebacks = True`, and for errors that only a fault of ours raises.
"""
from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from tfnb.core.errors import OpError
from tfnb.core.source import PACKAGE
from tfnb.notebook.settings import settings

# What the user did wrong, by TensorFlow's rules; anything else that tfnb raises may be a fault of ours.
TOLD = OpError, ValueError, TypeError, RuntimeError, KeyError, NotImplementedError
_OURS = PACKAGE, contextlib.__file__, functools.__file__


def shorten(error: BaseException | None, trace: TracebackType | None) -> tuple[TracebackType | None, int]:
    """(a traceback without the frames of tfnb, how many these were); as it was if nothing else would be left."""
    frames = list(_frames(trace))
    kept = [part for part in frames if not part.tb_frame.f_code.co_filename.startswith(_OURS)]
    if settings.full_tracebacks or not kept or frames[-1] is not kept[-1] and not isinstance(error, TOLD):
        return trace, 0
    made: TracebackType | None = None
    for part in reversed(kept):
        made = TracebackType(made, part.tb_frame, part.tb_lasti, part.tb_lineno)
    return made, len(frames) - len(kept)


def _frames(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def install(ip: Any) -> Callable[[], None]:
    """Let a shell show errors so. Returns what takes it back."""
    formatter = getattr(ip, "InteractiveTB", None)
    if formatter is None:
        return lambda: None
    before = formatter.structured_traceback

    def structured_traceback(etype: Any = None, value: Any = None, tb: Any = None, *args: Any, **kwargs: Any) -> Any:
        short, count = shorten(value, tb)
        lines = before(etype, value, short, *args, **kwargs)
        if count and isinstance(lines, list):
            lines = [*lines, f"({count} frame{'s' * (count > 1)} of tfnb left out; %config Tfnb.full_tracebacks = True "
                             "shows all)"]
        return lines
    formatter.structured_traceback = structured_traceback

    def remove() -> None:
        if vars(formatter).get("structured_traceback") is structured_traceback:
            del formatter.structured_traceback
    return remove
