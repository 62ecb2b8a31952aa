"""Where in the user's code something was made: cheap to record, turned into words only when wanted."""
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
_inside: dict[str, bool] = {}       # file name -> is it tfnb's own (to hash a code object is to hash its constants)
_cell_label: list[Callable[[str], str | None]] = []


def set_cell_label(fn: Callable[[str], str | None] | None) -> None:
    """Install `fn`: file name -> a label such as "cell [3]", or None for what is no cell. None removes it."""
    _cell_label[:] = [fn] if fn is not None else []


def recorded_frames() -> Recorded:
    """The frames outside tfnb that led here: innermost first, at most 12, up to the first module or cell.

    It runs for each op that is made. A line number would cost a search in a table for each frame; the position in the
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
    """What `recorded_frames` gave, as (code object, line number) of each frame."""
    return tuple((code, _line(code, position)) for code, position in zip(recorded[::2], recorded[1::2], strict=True))


def _line(code: CodeType, position: int) -> int:
    for begin, end, line in code.co_lines():
        if begin <= position < end and line is not None:
            return line
    return code.co_firstlineno


def user_frames() -> Frames:
    """The frames outside tfnb that led here, innermost first, as (code object, line number)."""
    return frames_of(recorded_frames())


def label(code: CodeType) -> str | None:
    """The notebook cell that the code object is from, or None."""
    for fn in _cell_label:
        named = fn(code.co_filename)
        if named:
            return named
    return None


def innermost(frames: Frames) -> tuple[CodeType, int] | None:
    """The frame a user wants to see: the innermost one in a cell, else the innermost of all."""
    for frame in frames:
        if label(frame[0]):
            return frame
    return frames[0] if frames else None


def describe(frames: Frames) -> str:
    """One line on where that is: "cell [3], line 2: `y = tf.matmul(x, w)`" or "net.py:12 in build: `...`".

    Of a function in a cell also from where it was called: "cell [2], line 5: `...`, called at cell [3], line 2".
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
    """Where the cell that runs called the function with the line `made`; "" if that is the cell's own line."""
    code, line = frames[-1]
    cell = label(code)
    same = code.co_filename == made[0].co_filename and line == made[1]          # a comprehension, a lambda
    return f", called at {cell}, line {line}" if cell and not same else ""


def traceback_of(frames: Frames) -> list[tuple[str, int, str, str]]:
    """(file, line, function, source text) of each frame, outermost first: what `Operation.traceback` shows."""
    return [(code.co_filename, line, code.co_name, linecache.getline(code.co_filename, line).strip())
            for code, line in reversed(frames)]
