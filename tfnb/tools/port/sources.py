"""Programs as text: scripts and the code cells of notebooks, in Python 3, with the lines that their authors see."""
from __future__ import annotations

import ast
import io
import json
import tokenize
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tfnb.core.errors import InvalidArgumentError, NotFoundError
from tfnb.core.lazy import lazy_module

python2 = lazy_module("tfnb.tools.port.python2")
ENDINGS = (".py", ".ipynb")
# Folders that hold no program of the user: of environments, caches, checkpoints of notebooks, version control.
_SKIPPED = ("site-packages", "__pycache__", "node_modules")
# Cell magics whose body is Python of the notebook; the bodies of others (%%bash, %%html) are not read.
_PYTHON_CELLS = ("%%time", "%%timeit", "%%capture", "%%graph", "%%train", "%%prun")


@dataclass(frozen=True)
class Place:
    """A line as a user finds it: of a script (cell 0), or of a cell of a notebook, both from 1."""

    cell: int
    line: int

    def __str__(self) -> str:
        return f"cell {self.cell}, line {self.line}" if self.cell else f"line {self.line}"


@dataclass
class Source:
    """A program. text: all of it, as Python 3; starts: the first line of each cell of a notebook, from 1.

    marks: the lines that only Python 2 understands; error: why it can't be read, or None.
    """

    path: Path
    text: str
    starts: list[int] = field(default_factory=list)
    marks: list[tuple[int, str]] = field(default_factory=list)
    error: tuple[int, str] | None = None
    tree: ast.Module = field(default_factory=lambda: ast.Module([], []))

    def place(self, line: int) -> Place:
        """Return where the user finds a line of `text`."""
        if not self.starts:
            return Place(0, line)
        cell = bisect_right(self.starts, line)
        return Place(cell, line - self.starts[cell - 1] + 1)


def programs(paths: Iterable[str | Path]) -> list[Path]:
    """Return the scripts and notebooks at or below the paths, sorted. Raises NotFoundError for a path of nothing.

    >>> programs(["nowhere.py"])
    Traceback (most recent call last):
    tfnb.core.errors.NotFoundError: there is no file or folder nowhere.py
    """
    found: set[Path] = set()
    for path in map(Path, paths):
        if path.is_dir():
            found.update(p for p in path.rglob("*") if p.suffix in ENDINGS and p.is_file() and is_own(p, path))
        elif path.exists():
            found.add(path)
        else:
            raise NotFoundError(None, None, f"there is no file or folder {path}")
    return sorted(found)


def is_own(path: Path, below: Path) -> bool:
    """Return whether a file below a folder is of the user's program, not of an environment or a cache in there."""
    return not any(part.startswith(".") or part in _SKIPPED for part in path.relative_to(below).parts)


def read(path: Path) -> Source:
    """Read a program; a notebook's cells follow one another, with magics and shell commands left out.

    What can't be read, such as a file that is no notebook though it is called so, is a program with an `error`.
    """
    try:
        text, starts = _joined(cells(path)) if path.suffix == ".ipynb" else (decoded(path.read_bytes()), [])
    except (InvalidArgumentError, OSError) as error:
        return Source(path, "", error=(1, str(error)))
    source = Source(path, text, starts)
    source.marks = python2.marks(text)
    try:
        source.tree = python2.parse(text, str(path)) if source.marks else ast.parse(text)
    except SyntaxError as error:
        source.error = error.lineno or 1, error.msg
    except ImportError as error:
        source.error = source.marks[0][0], str(error)
    return source


def decoded(data: bytes) -> str:
    """Return the text of a script: in the encoding that it declares, in UTF-8, or in Latin-1 if it is neither."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError):
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def cells(path: Path) -> list[str]:
    """Return the code cells of a notebook (nbformat 3 and 4). Raises InvalidArgumentError for what is none."""
    try:
        book = json.loads(path.read_text(encoding="utf-8"))
        listed = book["cells"] if "cells" in book else [c for sheet in book["worksheets"] for c in sheet["cells"]]
        code = [c.get("source", c.get("input", "")) for c in listed if c["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError) as error:
        text = f"{path} is no notebook: expected JSON with cells, got {error!r}"
        raise InvalidArgumentError(None, None, text) from None
    return ["".join(lines) for lines in code]


def _joined(code: list[str]) -> tuple[str, list[int]]:
    lines: list[str] = []
    starts = []
    for cell in code:
        starts.append(len(lines) + 1)
        lines += _without_magics(cell.split("\n"))
    return "\n".join(lines) + "\n", starts


def _without_magics(lines: list[str]) -> list[str]:
    """Return the lines with as many, in which what only IPython understands does nothing."""
    first = next((line for line in lines if line.strip()), "")
    if first.startswith("%%"):
        if not first.startswith(_PYTHON_CELLS):
            return ["" for _ in lines]
        lines = ["" if line is first else line for line in lines]
    return [_plain(line) for line in lines]


def _plain(line: str) -> str:
    text = line.lstrip()
    if text.startswith(("%", "!")) or (text.rstrip().endswith("?") and "#" not in text):
        return line[:len(line) - len(text)] + "pass"
    return line
