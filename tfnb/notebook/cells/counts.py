"""Counts for the line under a cell: ops, variables, those that kept their values, those that have none."""
from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace

from tfnb.graph.parts.operation import Operation
from tfnb.graph.stack import all_graphs, graph_of
from tfnb.notebook.cells.compare import Changes
from tfnb.notebook.cells.effects import Effects
from tfnb.notebook.cells.name_shifts import drifted
from tfnb.notebook.frontend.badge import Badge
from tfnb.opdef import kinds
from tfnb.runtime.session import live_sessions


def badge_of(label: str, made: list[Operation], changes: list[Changes], effects: Effects) -> Badge:
    """Return the badge of a cell that has run. made: its ops; changes: of each graph, from what it made before."""
    variables = sum(isinstance(op.spec, kinds.Variable) for op in made)
    gone = {name for part in changes for name in part.removed}
    changes = [part for part in changes if part.old or part.new]        # the others lost collection entries only
    there = [part.new[name] for part in changes for name in part.kept]
    empty = without_value(there)
    kept = sum(bool(live_sessions(graph_of(op))) for op in there) - empty
    return Badge(
        label, len(made), variables, kept, empty,
        identical=bool(changes) and all(part.identical for part in changes), rewired=effects.rewired,
        removed=len(gone - {op.name for op in made} if gone else gone), notes=drifted(made))


def without_value(variables: Iterable[Operation]) -> int:
    """Count those that have no value in any session, where one is open."""
    found = ([session._store.peek(op) for session in live_sessions(graph_of(op))] for op in variables)
    return sum(bool(values) and all(value is None for value in values) for values in found)


def counted_again(badge: Badge, key: Hashable) -> Badge:
    """Return the badge of a cell with the variables that have no value now: some may have got one."""
    ops = [op for graph in all_graphs() for op in graph.ops_of(key) if isinstance(op.spec, kinds.Variable)]
    return replace(badge, empty=min(badge.empty, without_value(ops)))
