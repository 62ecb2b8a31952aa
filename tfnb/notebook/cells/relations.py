"""Relations between cells: why some must run again of themselves, and which depend on which."""
from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import partial

from tfnb.graph.stack import all_graphs
from tfnb.notebook.cells.functions import Functions
from tfnb.notebook.cells.marks import Reason, uses
from tfnb.notebook.cells.state import Books
from tfnb.notebook.cells.values import Values

Key = Hashable


def reasons(books: Books, values: Values, functions: Functions) -> Iterator[tuple[Key, Reason]]:
    """The cells that would make or show something else in a run from top to bottom, and why."""
    for graph in all_graphs():
        yield from functions.outdated(graph).items()
    yield from values.outdated(books.readings).items()
    for graph in all_graphs():
        if (why := books.replaced.get(graph)) is not None:
            where = why.rpartition(" ")[2]
            for key in {op.owner for op in graph.get_operations()} & books.badges.keys() - {books.makers.get(graph)}:
                yield key, Reason(why, f"put ops into a graph that was replaced in {where}")
    yield from books.ended.items()
    for key, ran in books.ran.items():
        for reason in ran.other_entries(partial(values.sees, key)):
            yield key, reason


def users(books: Books, values: Values) -> dict[Key, dict[Key, None]]:
    """Return which cells depend on which: by ops, by runs of them, by names."""
    found: dict[Key, dict[Key, None]] = {}
    for graph in all_graphs():
        for owner, by in uses(graph).items():
            found.setdefault(owner, {}).update(dict.fromkeys(by))
    for key, ran in books.ran.items():
        for owner in (each for owners in ran.ops.values() for each in owners):
            found.setdefault(owner, {})[key] = None
    for maker, key, _ in values.makers(books.readings):
        found.setdefault(maker, {})[key] = None
    return found
