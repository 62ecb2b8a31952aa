"""Functions of the notebook that ops were made through: which cells still use one that its cell defines otherwise now.

An op remembers the code that led to it. If the cell that defined a function defines it anew, and differently, what
other cells made through the old one still runs, but a run from top to bottom would make something else.
"""
from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from tfnb.graph.graph import Graph
from tfnb.notebook.cells.marks import Reason

Key = Hashable
MOST = 4096                     # old definitions that are remembered
HAS_DOCSTRING = 0x4000000       # a flag of code objects from Python 3.14 on; before, the first constant is it


@dataclass(frozen=True, slots=True)
class Definition:
    """A function as a cell defined it. key: of the cell; label: of the run that did."""

    key: Key
    name: str
    label: str
    code: CodeType
    defaults: tuple[Any, ...]

    def same(self, other: Definition) -> bool:
        """It does what the other one does, wherever the lines stand."""
        return _same_code(self.code, other.code) and _same_constant(self.defaults, other.defaults)


class Functions:
    """The definitions that there are, and those that were there before and may have made ops."""

    def __init__(self) -> None:
        self._now: dict[tuple[Key, str], Definition] = {}
        self._old: dict[int, Definition] = {}                   # by the identity of its code, or of code inside of it
        self._keys: dict[str, Key] = {}                         # file name of code -> the cell
        self._found: WeakKeyDictionary[Graph, tuple[Any, dict[Key, Reason]]] = WeakKeyDictionary()
        self._version = 0

    def observe(self, names: Mapping[str, Any], key: Key, label: str) -> None:
        """A cell has run: see what functions the user's names stand for now."""
        for name, function in _functions(names):
            code = function.__code__
            if self._keys.setdefault(code.co_filename, key) != key:
                continue                        # of another cell
            made = Definition(key, name, label, code, (function.__defaults__, function.__kwdefaults__))
            before = self._now.get((key, name))
            if before is None or before.code is not code:
                self._now[key, name] = made
            if before is not None and before.code is not code:
                self._old.update((id(each), before) for each in _inside(before.code))
                self._version += 1
        while len(self._old) > MOST:
            del self._old[next(iter(self._old))]

    def outdated(self, graph: Graph) -> dict[Key, Reason]:
        """The cells whose ops in `graph` were made through functions that are defined otherwise now, and which."""
        if not self._old:
            return {}
        state = graph.version, graph.mutations, self._version
        known = self._found.get(graph)
        if known is None or known[0] != state:
            known = self._found[graph] = state, self._search(graph)
        return known[1]

    def _search(self, graph: Graph) -> dict[Key, Reason]:
        other = {place: now for place, before in self._old.items()
                 if (now := self._now[before.key, before.name]) is not before and not before.same(now)}
        found: dict[Key, Reason] = {}
        for op in graph.get_operations() if other else ():
            for code in (*op._recorded[::2], op.spec.origin):
                current = other.get(id(code))
                if current is not None and op.owner not in (None, current.key):
                    found.setdefault(op.owner, Reason(f"{current.name}() changed in {current.label}",
                                                      f"calls {current.name}(), which changed in {current.label}"))
        return found


def _functions(names: Mapping[str, Any]) -> Iterator[tuple[str, FunctionType]]:
    """The functions of a namespace and the methods of its classes, that were made in `__main__`, by qualified name.

    Of a function that `tf.custom` or another decorator wrapped, the one inside.
    """
    for name, value in list(names.items()):
        wrapped = getattr(value, "__wrapped__", value)
        if isinstance(wrapped, FunctionType) and wrapped.__module__ == "__main__":
            yield name, wrapped
        elif isinstance(value, FunctionType) and value.__module__ == "__main__":
            yield name, value
        elif isinstance(value, type) and value.__module__ == "__main__":
            for inner, method in list(vars(value).items()):
                if isinstance(method, FunctionType):
                    yield f"{name}.{inner}", method


def _inside(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _inside(constant)


def _same_code(a: CodeType, b: CodeType) -> bool:
    return a is b or (a.co_code == b.co_code and a.co_names == b.co_names and a.co_varnames == b.co_varnames
                      and a.co_freevars == b.co_freevars and a.co_argcount == b.co_argcount
                      and a.co_kwonlyargcount == b.co_kwonlyargcount and a.co_flags == b.co_flags
                      and _same_constant(_constants(a), _constants(b)))


def _constants(code: CodeType) -> tuple[Any, ...]:
    """The constants of a function, but for its docstring."""
    found = code.co_consts
    documented = not sys.version_info >= (3, 14) or bool(code.co_flags & HAS_DOCSTRING)
    return found[1:] if documented and found and isinstance(found[0], (str, type(None))) else found


def _same_constant(a: Any, b: Any) -> bool:
    """Equal values of equal types; what can't be compared is taken to be the same."""
    if isinstance(a, CodeType) and isinstance(b, CodeType):
        return _same_code(a, b)
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_same_constant, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same_constant(a[name], b[name]) for name in a)
    if isinstance(a, (float, complex)):
        return repr(a) == repr(b)                           # NaN is NaN, and 0.0 is not -0.0
    return bool(a == b) if isinstance(a, (int, str, bytes, frozenset, type(None))) else True
