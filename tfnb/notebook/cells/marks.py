"""Marks of cells that must run again, and their spread to all that depends on these cells.

A cell is *stale* if an op that it made can't be used any more (effects.py), *out of date* if a run from top to bottom
would make or show something else: a value that it read, or a function, was changed (values.py, functions.py), ops that
it ran were (sessions.py). A cell depends on another one if its ops take ops of that one (data, control, or what they
are gradients of), if it ran ops of it, or if it read a name that it sets.
"""
from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from tfnb.graph.graph import Graph

Key = Hashable
Users = dict[Key, dict[Key, str]]       # owner -> who uses its ops -> the name of one of these
_uses: WeakKeyDictionary[Graph, tuple[tuple[int, int], Users]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Orphan:
    """The owner of ops that no cell made, once what they depend on has changed: no cell can make them again."""

    name: str


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason why a cell must run again; clause: the same in a sentence about it, "[4], which reads n (2 -> 3)"."""

    why: str
    clause: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A cell that must run again. run: the cells to run, in order, itself last; usable: its ops still run."""

    why: str
    clause: str
    run: tuple[Key, ...]
    usable: bool = True


@dataclass(frozen=True)
class Stale:
    """The reason why ops of a cell can't be used, and the cells to run, in order (itself last)."""

    why: str
    run: tuple[Key, ...]


def spread(graph: Graph, reasons: Mapping[Key, str], label: Mapping[Key, str]) -> dict[Key, Stale]:
    """All stale cells of a graph: those with a reason of their own, and those that use ops of stale ones."""
    found = {owner: Stale(why, (owner,)) for owner, why in reasons.items()}
    users = uses(graph) if found else {}
    todo = list(found)
    for owner in todo:                          # grows while it is walked: nearest first
        for user, name in users.get(owner, {}).items():
            if user not in found:
                where = label.get(owner, "a cell")
                found[user] = Stale(f"{name!r} of {where} is stale", (*found[owner].run, user))
                todo.append(user)
    return found


def spread_all(stale: Mapping[Key, Stale], reasons: Mapping[Key, Reason], users: Mapping[Key, Iterable[Key]],
               label: Mapping[Key, str]) -> dict[Key, Mark]:
    """All marks: of stale cells, of those with a reason of their own, and of what depends on either, nearest first.

    users: the cells that depend on each.
    """
    found = {key: Mark(one.why, f"must run again: {one.why}", one.run, usable=False) for key, one in stale.items()}
    for key, reason in reasons.items():
        found.setdefault(key, Mark(reason.why, reason.clause, (key,)))
    todo = list(found)
    root = {key: key for key in todo}
    for owner in todo:
        for user in users.get(owner, ()):
            if user not in found:
                root[user] = root[owner]
                where, clause = label.get(root[owner], "a cell"), found[root[owner]].clause
                found[user] = Mark(f"depends on {where}, which {clause}", clause, (*found[owner].run, user))
                todo.append(user)
    return found


def uses(graph: Graph) -> Users:
    """Return who uses whose ops: takes them, waits for them, or is a gradient of them."""
    state = graph.version, graph.mutations
    known = _uses.get(graph)
    if known is None or known[0] != state:
        known = _uses[graph] = state, _search(graph)
    return known[1]


def _search(graph: Graph) -> Users:
    found: Users = {}
    for op in graph.get_operations():
        original = op._original_op
        for source in (*(t.op for t in op.inputs), *op.control_inputs, *([original] if original is not None else ())):
            if source.owner != op.owner and None not in (source.owner, op.owner):
                found.setdefault(source.owner, {}).setdefault(op.owner, source.name)
    return found
