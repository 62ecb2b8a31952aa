"""Where in the user's code something was made: cheap to record, turned into words only when wanted."""
from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable, Sequence
from types import CodeType

Frames = tuple[tuple[CodeType, int], ...]

DEPTH = 12          # frames recorded; a notebook's cell stands on some 15 frames of IPython that nobody wants to see
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_inside: dict[str, bool] = {}       # file name -> is it tfnb's own (to hash a code object is to hash its constants)
_cell_label: list[Callable[[str], str | None]] = []


def set_cell_label(fn: Callable[[str], str | None] | None) -> None:
    """Install `fn`: file name -> a label such as "cell [3]", or None for what is no cell. None removes it."""
    _cell_label[:] = [fn] if fn is not None else []


def user_frames() -> Frames:
    """The frames outside tfnb that led here, innermost first, at most 12, as (code object, line number)."""
    found = []
    inside = _inside
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        own = inside.get(code.co_filename)
        if own is None:
            own = inside[code.co_filename] = code.co_filename.startswith(_PACKAGE)
        if not own:
            found.append((code, frame.f_lineno))
            if len(found) == DEPTH:
                break
        frame = frame.f_back    # type: ignore[assignment]
    return tuple(found)


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
    """One line on where that is: "cell [3], line 2: `y = tf.matmul(x, w)`" or "net.py:12 in build: `...`"."""
    frame = innermost(frames)
    if frame is None:
        return "an unknown place"
    code, line = frame
    cell = label(code)
    if cell:
        place = f"{cell}, line {line}"
    else:
        place = f"{os.path.basename(code.co_filename)}:{line}"
        place += f" in {code.co_name}" if code.co_name != "<module>" else ""
    text = linecache.getline(code.co_filename, line).strip()
    return f"{place}: `{text}`" if text else place


def traceback_of(frames: Frames) -> list[tuple[str, int, str, str]]:
    """(file, line, function, source text) of each frame, outermost first: what `Operation.traceback` shows."""
    return [(code.co_filename, line, code.co_name, linecache.getline(code.co_filename, line).strip())
            for code, line in reversed(frames)]


def same_place(a: Sequence[tuple[CodeType, int]], b: Sequence[tuple[CodeType, int]]) -> bool:
    """True if both were recorded at the same line of the same code."""
    return bool(a) and bool(b) and a[0] == b[0]
