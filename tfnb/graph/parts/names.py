"""Names of ops and scopes in one graph: unique without regard to case, valid, and given back when ops leave."""
from __future__ import annotations

import re
from collections.abc import Hashable, Iterable

_VALID_ROOT = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*\Z").match
_VALID_INNER = re.compile(r"[A-Za-z0-9_.\\/>-]*\Z").match


class Names:
    """The names in use, by their lower-case form, with the least number that may be free when one is asked for again.

    The number only saves the search: the name given is always the one with the least number that is free, which is
    what TensorFlow's count of requests leads to as well. `owners` says for whom a name was taken (a notebook's cell),
    where there was somebody.
    """

    __slots__ = ("used", "owners")

    def __init__(self) -> None:
        self.used: dict[str, int] = {}
        self.owners: dict[str, Hashable] = {}

    def propose(self, name: str) -> tuple[str, str, str, int]:
        """A free name for `name`, and what to give to `take` with it: two keys and a number."""
        key = base = name.lower()
        number = self.used.get(key, 0)
        if not number:
            return name, key, base, 1
        while key in self.used:
            key = f"{base}_{number}"
            number += 1
        return f"{name}_{number - 1}", key, base, number

    def take(self, key: str, base: str, number: int, owner: Hashable) -> None:
        """Mark a proposed name as used."""
        self.used[key] = 1
        self.used[base] = number
        if owner is not None:
            self.owners[key] = owner

    def unique(self, name: str, owner: Hashable, mark: bool = True) -> str:
        """A free name for `name`, marked as used unless told otherwise."""
        found, key, base, number = self.propose(name)
        if mark:
            self.take(key, base, number, owner)
        return found

    def free(self, names: Iterable[str]) -> dict[str, int]:
        """Give names (lower-case keys) back. Returns what is needed to take them again: see `restore`."""
        used, owners = self.used, self.owners
        freed = {key: used.pop(key) for key in names if key in used}
        for key in freed:
            owners.pop(key, None)
            if key[-1] in "0123456789":
                base, _, number = key.rpartition("_")
                if base in used and number.isdecimal():
                    used[base] = max(1, min(used[base], int(number)))
        return freed

    def restore(self, freed: dict[str, int], owners: dict[str, Hashable]) -> None:
        """Take again what `free` gave back."""
        for key, number in freed.items():
            self.used[key] = max(number, self.used.get(key, 0))
        self.owners.update(owners)

    def of_owners(self, owners: set[Hashable]) -> list[str]:
        """The keys that were taken for one of `owners`: its ops and its scopes."""
        return [key for key, owner in self.owners.items() if owner in owners]

    def copy(self) -> Names:
        """The same state, to put back later."""
        made = Names()
        made.used, made.owners = dict(self.used), dict(self.owners)
        return made


def check_op_name(name: str) -> None:
    """Raise ValueError if `name` can't be the full name of an op."""
    if not _VALID_ROOT(name):
        raise ValueError(f"{name!r} is not a valid node name: it must begin with a letter, a digit or '.', and hold "
                         "only letters, digits and _ . \\ - / >")


def check_scope_name(name: str, inner: bool) -> None:
    """Raise ValueError if `name` can't be a scope (inner: inside another one, where it may begin with `_` too).

    Raises TypeError if it is no string.
    """
    if not isinstance(name, str):
        raise TypeError(f"a scope name must be a string, got {name!r} of type {type(name).__name__}")
    if not (_VALID_INNER if inner else _VALID_ROOT)(name):
        raise ValueError(f"{name!r} is not a valid scope name: it must hold only letters, digits and _ . \\ - / >"
                         + ("" if inner else ", and begin with a letter, a digit or '.'"))
