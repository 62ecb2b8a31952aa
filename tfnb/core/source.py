"""Creation sites in the user's code: cheap to record, formatted only on demand."""
from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

Frames = tuple[tuple[CodeType, int], ...]
Recorded = tuple[Any, ...]          # code object, position in its bytecode, and so on: what `recorded_frames` gives

DEPTH = 24                          # values recorded: two for each of 12 frames
WIDTH = 100                         # of a source line in a message
NEWLOCALS = 2                       # a flag of code objects: of functions, not of modules and cells
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_inside: dict[str, bool] = {}       # file name -> whether it is tfnb's own (hashing a code object hashes its constants)
_cell_label: list[Callable[[str], str | None]] = []


def set_cell_label(fn: Callable[[str], str | None] | None) -> None:
    """Install `fn`: file name -> a label such as "cell [3]", or None for a file that is no cell. None removes it."""
    _cell_label[:] = [fn] if fn is not None else []


def recorded_frames() -> Recorded:
    """Record the call stack outside tfnb: innermost frame first, at most 12, up to the first module or cell.

    It runs for each op that is made. A line number would cost a table lookup for each frame; the position in the
    bytecode costs nothing, and `frames_of` makes lines of it when somebody asks.
    """
    found: list[Any] = []
    inside = _inside
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        own = inside.get(code.co_filename)
        if not own:
            if own is None:
                own = inside[code.co_filename] = code.co_filename.startswith(PACKAGE)
            if not own:
                found += (code, frame.f_lasti)
                if not code.co_flags & NEWLOCALS or len(found) >= DEPTH:
                    break
        frame = frame.f_back    # type: ignore[assignment]
    return tuple(found)


def frames_of(recorded: Recorded) -> Frames:
    """Decode the result of `recorded_frames` to (code object, line number) of each frame."""
    return tuple((code, _line(code, position)) for code, position in zip(recorded[::2], recorded[1::2], strict=True))


def _line(code: CodeType, position: int) -> int:
    for begin, end, line in code.co_lines():
        if begin <= position < end and line is not None:
            return line
    return code.co_firstlineno


def user_frames() -> Frames:
    """Return the call stack outside tfnb, innermost first, as (code object, line number)."""
    return frames_of(recorded_frames())


def label(code: CodeType) -> str | None:
    """Return the label of the notebook cell that defines a code object, or None."""
    for fn in _cell_label:
        named = fn(code.co_filename)
        if named:
            return named
    return None


def innermost(frames: Frames) -> tuple[CodeType, int] | None:
    """Return the frame to show to the user: the innermost one in a cell, else the innermost of all."""
    for frame in frames:
        if label(frame[0]):
            return frame
    return frames[0] if frames else None


def describe(frames: Frames) -> str:
    """Format the location in one line: "cell [3], line 2: `y = tf.matmul(x, w)`" or "net.py:12 in build: `...`".

    A function defined in a cell adds its call site: "cell [2], line 5: `...`, called at cell [3], line 2".
    """
    frame = innermost(frames)
    if frame is None:
        return "an unknown place"
    code, line = frame
    cell = label(code)
    text = linecache.getline(code.co_filename, line).strip()
    text = text if len(text) <= WIDTH else text[:WIDTH - 3] + "..."
    called = _called_at(frames, frame) if cell else ""
    if cell:
        place = f"{cell}, line {line}"
    else:
        place = f"{os.path.basename(code.co_filename)}:{line}"
        place += f" in {code.co_name}" if code.co_name != "<module>" else ""
    return (f"{place}: `{text}`" if text else place) + called


def _called_at(frames: Frames, made: tuple[CodeType, int]) -> str:
    """Format the running cell's call of the function with the line `made`; "" if that is the cell's own line."""
    code, line = frames[-1]
    cell = label(code)
    same = code.co_filename == made[0].co_filename and line == made[1]          # a comprehension, a lambda
    return f", called at {cell}, line {line}" if cell and not same else ""


def traceback_of(frames: Frames) -> list[tuple[str, int, str, str]]:
    """Return (file, line, function, source text) of each frame, outermost first, for `Operation.traceback`."""
    return [(code.co_filename, line, code.co_name, linecache.getline(code.co_filename, line).strip())
            for code, line in reversed(frames)]
