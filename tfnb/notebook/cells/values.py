"""Plain values that cells read: which cells made ops with a number that a cell above them has set otherwise since.

`hidden = 16` in one cell, a layer of that size in a later one: if the first is run again with 8, the layer is what it
was, but a run from top to bottom would make another one. Read are the names that a cell, or a function of the notebook
that it made ops through, takes from outside. Only changes by cells above count (those that ran first before it did):
what a training loop below does to `lr` or `i`, the next run from top to bottom has not done yet.
"""
from __future__ import annotations

import ast
import dis
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np

from tfnb.core.dtypes import DType
from tfnb.core.source import label
from tfnb.core.text import cut
from tfnb.graph.parts.operation import Operation

Key = Hashable
SINGLE = frozenset({bool, int, float, complex, str, bytes, type(None), DType})
NESTED = (list, tuple)
MOST = 256                      # elements of a list, letters of a string: what is larger is data
SHOWN = 24                      # letters of a value in a sentence
LOADS = frozenset({"LOAD_NAME", "LOAD_GLOBAL"})


@dataclass(frozen=True, slots=True)
class Reading:
    """The values that a run of a cell read, written out, by name; moment: the changes that came later are larger."""

    moment: int
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Setting:
    """The last value that a cell gave to a name."""

    moment: int
    value: str
    label: str


class Values:
    """The values of the names that cells read, and which cell changed them last."""

    def __init__(self) -> None:
        self._now: dict[str, str | None] = {}                   # of the names that some cell has read
        self._set: dict[str, dict[Key, Setting]] = {}
        self._first: dict[Key, int] = {}                        # the moment when a cell ran first
        self._moment = 0                                        # one for each run of a cell

    def observe(self, names: Mapping[str, Any], key: Key, label: str) -> None:
        """A cell has run, well or not: see what has changed."""
        self._moment += 1
        self._first.setdefault(key, self._moment)
        for name, before in self._now.items():
            now = written(names.get(name, self))                # a name that is gone: nothing plain
            if now != before:
                self._now[name] = now
                if now is not None:
                    self._set.setdefault(name, {})[key] = Setting(self._moment, now, label)

    def forget(self, key: Key) -> None:
        """A cell was deleted: what it set counts no more, and if it comes again it is a new one."""
        self._first.pop(key, None)
        for made in self._set.values():
            made.pop(key, None)

    def read(self, ops: Iterable[Operation], names: Mapping[str, Any], source: Callable[[], str]) -> Reading:
        """Return the values that a cell made these ops with and does not set itself. source: the cell as Python."""
        plain: dict[str, str] = {}
        for code in _codes(ops):
            known = {name: text for part in _parts(code) for name in part.co_names
                     if (text := written(names.get(name, self))) is not None}
            plain |= {name: known[name] for name in _taken(code) & known.keys()} if known else {}
        try:
            own = _own(source()) if plain else set()
        except SyntaxError:                     # the text of a cell magic that is no Python
            own = set(plain)
        plain = {name: text for name, text in plain.items() if name not in own}
        self._now |= plain
        return Reading(self._moment, plain)

    def outdated(self, readings: Mapping[Key, Reading]) -> dict[Key, str]:
        """The cells that read what a cell above has changed since, and what that is."""
        return {key: why for key, reading in readings.items() if (why := next(self._changed(key, reading), ""))}

    def _changed(self, key: Key, reading: Reading) -> Iterator[str]:
        for name, value in reading.values.items():
            above = [made for setter, made in self._set.get(name, {}).items()
                     if made.moment > reading.moment and self._first[setter] < self._first.get(key, -1)]
            last = max(above, key=lambda made: made.moment, default=None)
            if last is not None and last.value != value:
                yield f"{name} changed from {cut(value, SHOWN)} to {cut(last.value, SHOWN)} in {last.label}"


def written(value: Any) -> str | None:
    """A plain value as Python writes it: a number, a string, a dtype, a small list or dict of such; None: no such."""
    return repr(value) if _size(value, MOST) <= MOST else None


def _size(value: Any, room: int) -> int:
    """Count the elements of a plain value; more than there is room for if it is none, or too large."""
    kind = type(value)
    if kind in (str, bytes):
        return 1 if len(value) <= MOST else room + 1
    if kind in SINGLE or isinstance(value, np.generic):
        return 1
    if kind is dict:
        value = [*value, *value.values()] if len(value) <= room else None
    elif kind not in NESTED:
        return room + 1
    if value is None or len(value) > room:
        return room + 1
    size = 1
    for each in value:
        size += _size(each, room - size)
        if size > room:
            break
    return size


def _codes(ops: Iterable[Operation]) -> list[CodeType]:
    """The code of cells, and of functions in cells, that led to ops."""
    found = {id(code): code for op in ops for code in op._recorded[::2]}
    return [code for code in found.values() if label(code)]


def _taken(code: CodeType) -> set[str]:
    """The global names that code reads. It takes 2 us an instruction."""
    return {step.argval for part in _parts(code) for step in dis.get_instructions(part) if step.opname in LOADS}


def _own(source: str) -> set[str]:
    """The names that a cell sets somewhere. IPython compiles its statements one by one: their code does not tell."""
    found = set[str]()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.add(other or name.partition(".")[0])
    return found


def _parts(code: CodeType) -> Iterator[CodeType]:
    """Code, and the comprehensions and lambdas in it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType) and part.co_name.startswith("<"):
            yield from _parts(part)
