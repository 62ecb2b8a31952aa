"""Verdicts on programs: each name of TensorFlow there, absent and why, called otherwise, or computed otherwise."""
from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from tfnb.core.absent import absent
from tfnb.tools.as_tensorflow import HOROVOD, Public, names_of
from tfnb.tools.inside import ABSENT, Inside, internal
from tfnb.tools.port.legacy import GONE, given
from tfnb.tools.port.names import Use, others, public_path, uses
from tfnb.tools.port.sources import Place, Source, read

# What a finding is, from what stops a program to what is good to know.
KINDS = ("unreadable", "missing", "arguments", "package", "differs", "gone", "python2")
STOPS = KINDS[:3]
# Packages whose releases since then took names away, and which can be imported to look: nothing runs by that.
_LATER = ("numpy", "scipy", *(name for name in GONE if "." not in name))


@dataclass(frozen=True)
class Finding:
    """One thing to know of a program. kind: of KINDS; what: a name; text: a sentence about it."""

    kind: str
    place: Place
    what: str
    text: str


@dataclass
class Verdict:
    """The findings of a program, with whether it is ready to run. names: how many names of TensorFlow it uses."""

    path: Path
    names: int
    findings: list[Finding]
    python2: bool = False
    trial: Any = None

    @property
    def ready(self) -> bool:
        """Whether nothing is known to stop it."""
        return not any(finding.kind in STOPS for finding in self.findings)


def judge(path: Path) -> Verdict:
    """Read a program and look up each name of TensorFlow that it uses; nothing of it runs."""
    source = read(path)
    if source.error:
        line, text = source.error
        what = "Python 2" if source.marks else "syntax"
        return Verdict(path, 0, [Finding("unreadable", source.place(line), what, text)], bool(source.marks))
    found = uses(source.tree)
    findings = list(dict.fromkeys([*_of_names(source, found), *_of_packages(source), *_of_later_releases(source),
                                   *_of_python2(source)]))
    findings.sort(key=lambda f: (KINDS.index(f.kind), f.place.cell, f.place.line))
    return Verdict(path, len({use.path for use in found}), findings, bool(source.marks))


def _of_names(source: Source, found: list[Use]) -> Iterator[Finding]:
    for use in found:
        shown = f"tf.{use.path}"
        value, why = look_up(use.path)
        if why:
            yield Finding("missing", source.place(use.line), shown, why)
            continue
        wrong = _arguments(value, use)
        if wrong:
            yield Finding("arguments", source.place(use.line), shown, wrong)
        differs = difference(use.path)
        if differs:
            yield Finding("differs", source.place(use.line), shown, differs)


def _of_packages(source: Source) -> Iterator[Finding]:
    beside = source.path.resolve().parent
    for name, line in others(source.tree).items():
        root = name.split(".")[0]
        if root in sys.stdlib_module_names or root in ("__future__", HOROVOD) or (beside / root).is_dir() \
                or (beside / f"{root}.py").exists():
            continue
        with suppress(ValueError):                 # a module that was made by hand has no spec
            if importlib.util.find_spec(root) is None:
                yield Finding("package", source.place(line), root, "this package is not installed")


def _of_later_releases(source: Source) -> Iterator[Finding]:
    """Yield the names of Python's own modules, NumPy and SciPy that are there no more."""
    for use in uses(source.tree, {name: name for name in _LATER}):
        module, _, name = use.path.rpartition(".")
        if given(module, name) and not _has(module, name):
            yield Finding("gone", source.place(use.line), use.path, "is there no more; `tfnb run` puts it back")
        elif module in ("numpy", "scipy.misc") and not _has(module, name):
            yield Finding("missing", source.place(use.line), use.path, "NumPy and SciPy have it no more")


def _has(module: str, name: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")        # that a name will go
            return hasattr(importlib.import_module(module), name)
    except ImportError:
        return False


def _of_python2(source: Source) -> Iterator[Finding]:
    if source.marks:
        line, text = source.marks[0]
        more = f", and {len(source.marks) - 1} more" if len(source.marks) > 1 else ""
        said = f"is Python 2{more}; `tfnb run` translates it as it runs"
        yield Finding("python2", source.place(line), text.rstrip(":"), said)


@cache
def look_up(path: str) -> tuple[Any, str]:
    """Return (what tfnb has at a path below `tf`, "") or (None, why it has nothing there).

    Attributes of objects (flags, instances) are not looked for: they may come to be while the program runs.
    """
    value: Any = importlib.import_module("tfnb")
    reached = ""
    for name in path.split("."):
        if not isinstance(value, ModuleType | Inside | type):
            return value, ""
        below = public_path(f"{reached}.{name}")
        found = _member(value, name, below)
        if found is ABSENT:
            return None, _reason(value, reached, name)
        value, reached = found, below
    return value, ""


def _member(value: Any, name: str, below: str) -> Any:
    """Return what a module or class has of that name, or the module inside of TensorFlow at the path, or ABSENT."""
    try:
        found = value.find(name) if isinstance(value, Inside) else getattr(value, name, ABSENT)
    except ImportError:                            # an extra that is not installed
        return None
    if found is not ABSENT and not internal(found):
        return found
    names = names_of(below)
    return ABSENT if names is None else names.of if isinstance(names, Public) else names


def _reason(value: Any, reached: str, name: str) -> str:
    """Return why a module or class does not have the name, without the words that every such error has."""
    if isinstance(value, type):
        return f"{value.__name__} has nothing of this name"
    said = str(absent(f"tfnb.{reached}".rstrip("."), name))
    return said.partition(f"no attribute {name!r}")[2].lstrip(":. ") or "there is nothing of this name"


def _arguments(value: Any, use: Use) -> str:
    """Return what is wrong with a call's arguments by the signature, or ""."""
    if use.positional is None or not callable(value):
        return ""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    try:
        signature.bind_partial(*[None] * use.positional, **dict.fromkeys(use.keywords))
    except TypeError as error:
        return f"{error}; its arguments are {_named(signature)}"
    return ""


def _named(signature: inspect.Signature) -> str:
    return ", ".join(name for name, p in signature.parameters.items() if p.kind not in (p.VAR_POSITIONAL,
                                                                                        p.VAR_KEYWORD))


@cache
def _differences() -> dict[str, str]:
    text = Path(__file__).with_name("differences.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {name: told for names, _, told in (line.partition(": ") for line in lines) for name in names.split()}


def difference(path: str) -> str:
    """Return in a sentence what tfnb does otherwise than TensorFlow where a program uses the name, or ""."""
    table = _differences()
    while path:
        if path in table:
            return table[path]
        path = path.rpartition(".")[0]
    return ""
