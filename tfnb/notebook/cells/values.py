"""Values that cells read: which cells took a value that a cell above them has set otherwise since.

`hidden = 16` in one cell, a layer of that size in a later one: if the first is run again with 8, the layer is what it
was, but a run from top to bottom would make another one. Read are the names that a cell, or a function of the notebook
that it calls, takes from outside. Only changes by cells above count (those that ran first before it did): what a
training loop below does to `lr` or `i`, the next run from top to bottom has not done yet.

Numbers, strings, dtypes and small lists and dicts of them are compared as they are; anything else (an array, an
optimizer) by its recipe: the statements of its cell that make it, and what these take. So a training that is run again
as it is makes nothing below it out of date, although its losses are others. Tensors are left to the graph.
"""
from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tfnb.core.dtypes import DType
from tfnb.core.source import label
from tfnb.core.text import cut
from tfnb.graph.graph import Graph
from tfnb.graph.parts.collection import op_of
from tfnb.graph.parts.operation import Operation
from tfnb.notebook.cells.marks import Reason
from tfnb.notebook.cells.statements import Text, global_reads, taken
from tfnb.runtime.session import BaseSession

Key = Hashable
SINGLE = frozenset({bool, int, float, complex, str, bytes, type(None), DType})
NESTED = (list, tuple)
MOST = 256                      # elements of a list, letters of a string: what is larger is data
SHOWN = 24                      # letters of a value in a sentence
PASSIVE = (ModuleType, FunctionType, BuiltinFunctionType, type, BaseSession, Graph)     # their makers don't matter


@dataclass(frozen=True, slots=True)
class Taken:
    """A value as a cell took it. value: written out, if it is plain; recipe: how it was made; exact: an op was made
    with it, so that another value counts, however it came about."""

    value: str | None
    recipe: int
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """The values that a run of a cell read, by name; moment: the changes that came later are larger.

    names: all names that it read, also of tensors.
    """

    moment: int
    values: Mapping[str, Taken]
    names: frozenset[str] = frozenset()


@dataclass(slots=True)
class Made:
    """A run of a cell that set names. inputs: what it read, for recipes; times: how often it ran to mend itself."""

    text: Text | None = None
    inputs: Mapping[str, Taken] = field(default_factory=dict)
    times: int = 0
    known: dict[str, int] = field(default_factory=dict)

    def recipe(self, name: str) -> int:
        """Return a hash of the statements that made the value of that name, and their inputs."""
        if self.text is None:
            return 0
        if name not in self.known:
            statements, outside = self.text.recipe(name)
            inputs = [(each, self.inputs[each]) for each in sorted(outside) if each in self.inputs]
            self.known[name] = hash((statements, self.times, *((n, x.value or x.recipe) for n, x in inputs)))
        return self.known[name]


@dataclass(frozen=True, slots=True)
class Setting:
    """The last value that a cell gave to a name; value: None if it is not plain."""

    moment: int
    value: str | None
    label: str
    made: Made


class Values:
    """The values of the names that cells read, and which cell set them last."""

    def __init__(self) -> None:
        self._now: dict[str, str | None] = {}                   # of the names that some cell has read
        self._set: dict[str, dict[Key, Setting]] = {}
        self._made: dict[Key, Made] = {}
        self._first: dict[Key, int] = {}                        # the moment when a cell ran first
        self._moment = 0                                        # one for each run of a cell
        self._latest: dict[str, int] = {}                       # the moment when a name was set last
        self._nearest: dict[tuple[str, Key], Key | None] = {}   # what `maker` found

    def place(self, key: Key) -> int:
        """The place of a cell among those that ran, by their first runs."""
        return self._first.get(key, -1)

    def sees(self, key: Key, other: Key) -> bool:
        """Return whether another cell comes before one in a run from top to bottom; all do before one that is new."""
        return other != key and self.place(other) < self._first.get(key, self._moment + 1)

    def observe(self, names: Mapping[str, Any], key: Key, label: str, text: Text | None = None,
                mended: bool = False) -> None:
        """A cell has run, well or not: see what has changed. mended: it was out of date before."""
        self._moment += 1
        if self._first.setdefault(key, self._moment) == self._moment:
            self._nearest.clear()
        made = Made(text, {}, self._made[key].times + mended if key in self._made else 0)
        if text is not None:
            self._made[key] = made
            made.inputs = self._take(text.reads, names)
        for name in text.sets if text is not None else ():
            if name in names and not passive(name, names[name]):
                by = made if not of_graph(names[name]) else Made()
                self._enter(name, key, Setting(self._moment, written(names[name]), label, by))
        for name, before in self._now.items():
            now = written(names.get(name, self))                # a name that is gone: nothing plain
            if now != before:
                self._now[name] = now
                if now is not None:
                    self._enter(name, key, Setting(self._moment, now, label, made))

    def _enter(self, name: str, key: Key, setting: Setting) -> None:
        known = self._set.setdefault(name, {})
        if key not in known:
            self._nearest.clear()
        known[key], self._latest[name] = setting, self._moment

    def forget(self, key: Key) -> None:
        """A cell was deleted: what it set counts no more, and if it comes again it is a new one."""
        self._first.pop(key, None)
        self._made.pop(key, None)
        for made in self._set.values():
            made.pop(key, None)
        self._nearest.clear()

    def read(self, ops: Iterable[Operation], names: Mapping[str, Any], text: Text | None) -> Reading:
        """Return the values that a cell read, or made these ops with, and does not set itself."""
        if text is None:                        # a cell magic whose body is no Python
            return Reading(self._moment, {})
        made = frozenset().union(*(taken(code) for code in _codes(ops)))
        read = (made | global_reads(text.uses, names)) - text.sets
        return Reading(self._moment, self._take(read, names, made), frozenset(read))

    def _take(self, read: Iterable[str], names: Mapping[str, Any], made: Collection[str] = ()) -> dict[str, Taken]:
        """The values of these names that can be compared later, which are observed from now on."""
        found: dict[str, Taken] = {}
        for name in read:
            if name in names and not passive(name, value := names[name]):
                plain, last = written(value), max(self._set.get(name, {}).values(), key=_moment, default=None)
                recipe = last.made.recipe(name) if last is not None and not of_graph(value) else 0
                if plain is not None or recipe:
                    found[name] = Taken(plain, recipe, name in made)
                if plain is not None:
                    self._now[name] = plain
        return found

    def outdated(self, readings: Mapping[Key, Reading]) -> dict[Key, Reason]:
        """The cells that read what a cell above has changed since, and what that is."""
        return {key: why for key, reading in readings.items()
                if (why := next(self._changed(key, reading), None)) is not None}

    def _changed(self, key: Key, reading: Reading) -> Iterator[Reason]:
        for name, before in reading.values.items():
            if self._latest.get(name, 0) <= reading.moment or (maker := self.maker(name, key)) is None:
                continue
            setting = self._set[name][maker]
            if setting.moment <= reading.moment or not _differ(name, before, setting):
                continue
            if before.value is None or setting.value is None:
                yield Reason(f"{name} was made otherwise in {setting.label}",
                             f"reads {name}, made otherwise in {setting.label}")
            else:
                old, new = cut(before.value, SHOWN), cut(setting.value, SHOWN)
                yield Reason(f"{name} changed from {old} to {new} in {setting.label}", f"reads {name} ({old} -> {new})")

    def maker(self, name: str, key: Key) -> Key | None:
        """The cell whose value of a name another one would see in a run from top to bottom; None if it is unknown."""
        if (name, key) not in self._nearest:
            above = [setter for setter in self._set.get(name, ()) if self.sees(key, setter)]
            self._nearest[name, key] = max(above, key=self.place, default=None)
        return self._nearest[name, key]

    def makers(self, readings: Mapping[Key, Reading]) -> Iterator[tuple[Key, Key, str]]:
        """(cell that sets a name, cell that reads it, the name)."""
        for key, reading in readings.items():
            for name in reading.names:
                if name in self._set and (maker := self.maker(name, key)) is not None:
                    yield maker, key, name


def _moment(setting: Setting) -> int:
    return setting.moment


def _differ(name: str, before: Taken, now: Setting) -> bool:
    """Return whether a value is another one, and not only because what made it ran again."""
    if before.value is not None and before.value == now.value:
        return False
    recipe = now.made.recipe(name)
    if before.exact and before.value is not None:
        return now.value is not None or bool(recipe)
    return bool(before.recipe and recipe) and before.recipe != recipe


def passive(name: str, value: Any) -> bool:
    """Return whether it does not matter which cell made a value: of modules, functions, sessions, IPython's `_3`."""
    return isinstance(value, PASSIVE) or hasattr(value, "__wrapped__") or not name.strip("_0123456789")


def of_graph(value: Any) -> bool:
    """Return whether a value is a tensor, an op or a variable, or holds some: the graph tells what becomes of it."""
    inner: Iterable[Any] = value.values() if isinstance(value, dict) else value if isinstance(value, NESTED) else ()
    if type(value).__module__ == "__main__" and not isinstance(value, type):
        inner = getattr(value, "__dict__", {}).values()
    return op_of(value) is not None or any(op_of(part) is not None for part in islice(inner, MOST))


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

