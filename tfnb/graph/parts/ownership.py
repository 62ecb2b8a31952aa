"""All graphs that live, and for whom ops are made: in a notebook, the cell that runs."""
from __future__ import annotations

import itertools
from collections.abc import Hashable
from typing import Any
from weakref import WeakValueDictionary

_graphs: WeakValueDictionary[int, Any] = WeakValueDictionary()
_numbers = itertools.count()
_owner: list[Hashable] = [None]


def register(graph: Any) -> Hashable:
    """Enter a new graph. Returns the owner of the ops that it makes for now."""
    _graphs[next(_numbers)] = graph
    return _owner[0]


def living() -> list[Any]:
    """Return the graphs that live, oldest first; `stack.all_graphs` is the same with their type."""
    return list(_graphs.values())


def own(owner: Hashable) -> None:
    """Let the ops that are made from now on belong to `owner`, in all graphs, also in those to come."""
    _owner[0] = owner
    for graph in living():
        graph.owner = owner
