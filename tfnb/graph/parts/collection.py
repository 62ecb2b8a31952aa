"""The collections of a graph: named lists of anything, in the order of insertion, each entry with its owner."""
from __future__ import annotations

import re
from collections.abc import Callable, Container, Hashable, Iterable
from typing import Any, NamedTuple

from tfnb.core import taps
from tfnb.graph.parts.operation import Operation, Tensor


class Entry(NamedTuple):
    """An entry that was taken out of the collection `name`, where it stood at `place`."""

    name: Hashable
    place: int
    value: Any
    owner: Hashable


def op_of(value: Any) -> Operation | None:
    """The op behind an entry of a collection (an op, a tensor, a variable...), or None."""
    if isinstance(value, Operation):
        return value
    if isinstance(value, Tensor):
        return value.op
    op = getattr(value, "op", None)
    return op if isinstance(op, Operation) else None


class Collections:
    """Lists by name. `get_ref` hands out the lists themselves, so users may change them behind our back."""

    __slots__ = ("lists", "_owners")

    def __init__(self) -> None:
        self.lists: dict[Hashable, list[Any]] = {}
        self._owners: dict[tuple[Hashable, int], Hashable] = {}     # (collection, id of the entry) -> owner

    def add(self, name: Hashable, value: Any, owner: Hashable, later: Callable[[Operation], bool] | None) -> None:
        """Append an entry; with `later`, insert it before those at the end whose ops stand later in the graph."""
        values = self.lists.setdefault(name, [])
        values.insert(len(values) if later is None else _place(values, later), value)
        self._own(name, value, owner)

    def _own(self, name: Hashable, value: Any, owner: Hashable) -> None:
        if owner is not None:
            self._owners[name, id(value)] = owner
        elif self._owners:
            self._owners.pop((name, id(value)), None)       # of an object that had this id before

    def get(self, name: Hashable, scope: str | None = None) -> list[Any]:
        """A copy of the list; with `scope`, of the entries whose name matches that regular expression."""
        if taps.cell is not None and taps.on_collection is not None:
            taps.on_collection(self, name)
        values = self.lists.get(name, [])
        if scope is None:
            return list(values)
        match = re.compile(scope).match
        return [value for value in values if hasattr(value, "name") and match(value.name)]

    def get_ref(self, name: Hashable) -> list[Any]:
        """The list itself, made if it is not there."""
        return self.lists.setdefault(name, [])

    def owner_of(self, name: Hashable, value: Any) -> Hashable:
        """For whom an entry was added; None: for nobody."""
        return self._owners.get((name, id(value)))

    def has_of(self, owner: Hashable) -> bool:
        """Some entry was added for `owner`."""
        return owner in self._owners.values()

    def clear(self, name: Hashable) -> None:
        """Remove all entries of a collection."""
        self.lists.pop(name, None)

    def remove(self, gone: Container[Operation], owners: set[Hashable]) -> list[Entry]:
        """Take out the entries of the ops in `gone`, and those that were added for one of `owners`."""
        taken = []
        for name, values in self.lists.items():
            for i, value in enumerate(values):
                owner = self._owners.get((name, id(value)))
                if op_of(value) in gone or (owner is not None and owner in owners):
                    taken.append(Entry(name, i, value, owner))
        for entry in reversed(taken):
            del self.lists[entry.name][entry.place]
            self._owners.pop((entry.name, id(entry.value)), None)
        return taken

    def put_back(self, entries: Iterable[Entry]) -> None:
        """Put what `remove` returned to where it stood."""
        for entry in entries:
            values = self.lists.setdefault(entry.name, [])
            values.insert(min(entry.place, len(values)), entry.value)
            self._own(entry.name, entry.value, entry.owner)

    def copy(self) -> Collections:
        """The same contents, for `restore`."""
        made = Collections()
        made.lists = {name: list(values) for name, values in self.lists.items()}
        made._owners = dict(self._owners)
        return made

    def restore(self, saved: Collections) -> None:
        """Restore the contents of `saved`; the lists that users hold are changed, not replaced."""
        for name in [name for name in self.lists if name not in saved.lists]:
            del self.lists[name]
        for name, values in saved.lists.items():
            self.lists.setdefault(name, [])[:] = values
        self._owners = dict(saved._owners)


def _place(values: list[Any], later: Callable[[Operation], bool]) -> int:
    place = len(values)
    while place:
        op = op_of(values[place - 1])
        if op is None or not later(op):
            break
        place -= 1
    return place
