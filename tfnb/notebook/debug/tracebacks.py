"""Errors as a cell shows them: the user's own lines, without the frames of tfnb between and behind them.

A shape error in a layer has 30 frames of ours, which bury the one line to look at. They are shown with
`%config Tfnb.full_tracebacks = True`, and for errors that only a fault of ours raises.
"""
from __future__ import annotations

import contextlib
import functools
import re
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType, TracebackType
from typing import Any

from IPython.core.error import UsageError

from tfnb.core import absent, lazy
from tfnb.core.errors import OpError
from tfnb.core.source import PACKAGE
from tfnb.core.text import counted, did_you_mean
from tfnb.graph.parts.python_names import told_operands
from tfnb.notebook.debug.failed_call import failed_call
from tfnb.notebook.frontend.settings import settings
from tfnb.ops.declaration import public
from tfnb.tools import as_tensorflow
from tfnb.tools.as_tensorflow import NAME
from tfnb.tools.inside import internal

# What the user did wrong, by TensorFlow's rules, or stopped; anything else that tfnb raises may be a fault of ours.
TOLD = (OpError, ValueError, TypeError, RuntimeError, KeyError, NotImplementedError, ImportError, OSError,
        KeyboardInterrupt)
_OURS = PACKAGE, contextlib.__file__, functools.__file__
LIBRARIES = tuple({sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")})
FINDERS = absent.__file__, lazy.__file__, public.__file__, as_tensorflow.__file__       # they look names of modules up
_CAUSES = *TOLD, ArithmeticError, LookupError       # what tfnb tells in words of its own: "raise ... from error"


def shorten(error: BaseException | None, trace: TracebackType | None) -> tuple[TracebackType | None, int]:
    """(a traceback without the frames of tfnb, how many these were); as it was if nothing else would be left."""
    frames = list(frames_of(trace))
    kept = _of_others(frames)
    if settings.full_tracebacks or not kept or frames[-1] is not kept[-1] and not isinstance(error, TOLD) \
            and not _misspelt(error, frames):
        return trace, 0
    made: TracebackType | None = None
    for part in reversed(kept):
        made = TracebackType(made, part.tb_frame, part.tb_lasti, part.tb_lineno)
    return made, len(frames) - len(kept)


def frames_of(trace: TracebackType | None) -> Iterator[TracebackType]:
    """Return the parts of a traceback, the outermost first."""
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _of_others(frames: list[TracebackType]) -> list[TracebackType]:
    """The frames that are not tfnb's, nor of the libraries that tfnb calls."""
    kept, within = [], False
    for part in frames:
        file = part.tb_frame.f_code.co_filename
        within = file.startswith(_OURS) or within and file.startswith(LIBRARIES)
        if not within:
            kept.append(part)
    return kept


def _misspelt(error: BaseException | None, frames: list[TracebackType]) -> bool:
    """Return whether somebody else's code looked for a name that a module of tfnb does not have."""
    asks = [part for part in frames if part.tb_frame.f_code.co_filename not in FINDERS]
    told = isinstance(error, AttributeError) and (
        isinstance(error.obj, ModuleType) or frames[-1].tb_frame.f_code.co_filename in FINDERS)
    return told and bool(_of_others(asks[-1:]))


def _nearest(error: BaseException | None) -> str:
    """The name that was meant by one that a module or object of tfnb does not have."""
    if not isinstance(error, AttributeError) or not error.name or error.obj is None:
        return ""
    made = error.obj if isinstance(error.obj, (type, ModuleType)) else type(error.obj)
    home = made.__name__ if isinstance(made, ModuleType) else made.__module__
    if home.partition(".")[0] not in ("tfnb", NAME):
        return ""
    has = getattr(made, "__dict__", {})
    known = [name for name in dir(error.obj) if name[0] != "_" and not internal(has.get(name))]
    return did_you_mean(error.name, known, 0.65).replace("; d", "D")


def _operands(error: BaseException | None, trace: TracebackType | None) -> list[str]:
    """The tensors that a function of tfnb refused, by their Python names, where the error does not tell of them."""
    call = failed_call(error) if "made at" not in str(error) else None
    return told_operands(call.tensors, trace=trace).split("\n")[1:] if call is not None else []


@contextmanager
def _without_causes(error: BaseException | None) -> Iterator[None]:
    """`error` for a moment without an error of tfnb alone as its cause; of another one without the frames of tfnb."""
    cause: BaseException | None = getattr(error, "__cause__", None)
    if error is None or cause is None:
        yield
        return
    trace = cause.__traceback__
    told = isinstance(cause, _CAUSES) and not _of_others(list(frames_of(trace)))
    error.__cause__ = None if told else cause.with_traceback(shorten(cause, trace)[0])
    try:
        yield
    finally:
        error.__cause__ = cause.with_traceback(trace)


def _nearest_magic(ip: Any, said: str) -> str:
    """The magic that was meant by one that there is not, as a hint behind what IPython says."""
    unknown = re.search(r"magic (?:function )?`(%%?)(\w+)` not found", said)
    known = ip.magics_manager.magics["cell" if unknown and unknown[1] == "%%" else "line"]
    meant = did_you_mean(unknown[2], known, 0.6, lambda name: f"{unknown[1]}{name}") if unknown else ""
    return meant.replace("; d", " D")


def install(ip: Any) -> Callable[[], None]:
    """Let a shell show errors so. Returns what takes it back."""
    formatter = getattr(ip, "InteractiveTB", None)
    if formatter is None:
        return lambda: None
    before = formatter.structured_traceback

    def structured_traceback(etype: Any = None, value: Any = None, tb: Any = None, *args: Any, **kwargs: Any) -> Any:
        short, count = shorten(value, tb)
        with _without_causes(value if count else None):
            lines = before(etype, value, short, *args, **kwargs)
        if not isinstance(lines, list):
            return lines
        meant = _nearest(value)
        left = f"({counted(count, 'frame')} of tfnb left out; %config Tfnb.full_tracebacks = True shows all)"
        return [*lines, *([meant] if meant else []), *_operands(value, tb), *([left] if count else [])]
    formatter.structured_traceback = structured_traceback
    show = getattr(ip, "show_usage_error", print)

    def show_usage_error(error: Any) -> None:
        show(UsageError(f"{error}{_nearest_magic(ip, str(error))}"))
    ip.show_usage_error = show_usage_error

    def remove() -> None:
        if vars(ip).get("show_usage_error") is show_usage_error:
            del ip.show_usage_error
        if vars(formatter).get("structured_traceback") is structured_traceback:
            del formatter.structured_traceback
    return remove
