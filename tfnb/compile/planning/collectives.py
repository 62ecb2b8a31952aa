"""Collectives of a plan: one order in all ranks, and those that are independent as one op.

The order is that of the graph, which all ranks build alike: what else a rank fetches (summaries, in the first one
alone) changes nothing.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from tfnb.compile.planning.guards import Condition
from tfnb.compile.planning.stand_ins import stand_in
from tfnb.graph.parts.operation import Operation
from tfnb.opdef import kinds
from tfnb.opdef.op import Op

ROLE = "collective"
Before = Callable[[Operation], Collection[Operation]]


def chain(units: dict[Operation, Condition], within: dict[Operation, Operation],
          after: dict[Operation, set[Operation]], before: Before, add: Callable[[Operation, Condition], Any],
          schedule: Callable[[Collection[Operation]], Sequence[tuple[Any, list[Operation]]]],
          ) -> dict[Operation, Operation]:
    """Put the collectives of a region into one order, and merge neighbours that may be one op.

    units, within, after: of the Region; units and after change. before: the predecessors of a unit; add: adds a unit;
    schedule: sorts them. Returns op -> the op that represents it, `within` included.
    """
    found = _collectives(units, within)
    if len(found) < 2:
        return within
    order = [op for _, ops in schedule(units) for op in ops]
    latest = _latest(found, order, before)
    if any(latest[op] > i for i, op in enumerate(found)):       # the graph was changed since
        found = [op for op in order if op in set(found)]
        latest = _latest(found, order, before)
    made: list[Operation] = []
    merged: dict[Operation, Operation] = {}
    for run in list(_runs(found, latest, units)):
        for ops, record, attrs in _groups(run):
            if len(ops) > 1:
                one = _merged(ops, record, attrs)
                add(one, units[ops[0]])
                merged.update(dict.fromkeys(ops, one))
        made += dict.fromkeys(merged.get(op, op) for op in run)
    for op in merged:
        del units[op]
    for first, second in pairwise(made):
        after.setdefault(second, set()).add(first)
    return {**within, **merged}


def _collectives(units: Collection[Operation], within: Mapping[Operation, Operation]) -> list[Operation]:
    """Return the units that are collectives, and the loops that have some, in the order of the graph."""
    found = {op for op in units if op.spec.role == ROLE}
    found |= {loop for op, loop in within.items() if op.spec.role == ROLE and loop in units}
    return sorted(found, key=lambda op: op._id)


def _merged(ops: Sequence[Operation], record: Op, attrs: dict[str, Any]) -> Operation:
    one = stand_in(ops[0], record, [t for op in ops for t in op.inputs], [t for op in ops for t in op.outputs], attrs)
    one.control_inputs = list(dict.fromkeys(c for op in ops for c in op.control_inputs))
    return one


def _latest(found: Sequence[Operation], order: Sequence[Operation], before: Before) -> dict[Operation, int]:
    """Return unit -> index of the last collective that it depends on, -1 for none."""
    index = {op: i for i, op in enumerate(found)}
    latest: dict[Operation, int] = {}
    for op in order:
        latest[op] = max((max(latest[b], index.get(b, -1)) for b in before(op)), default=-1)
    return latest


def _groups(run: list[Operation]) -> list[tuple[list[Operation], Op, dict[str, Any]]]:
    """Return what the record of a run says of it: ops that become one, its record and attrs."""
    spec = run[0].spec
    if len(run) < 2 or not isinstance(spec, kinds.Host) or spec.together is None:
        return []
    found: list[tuple[list[Operation], Op, dict[str, Any]]] = spec.together(run)
    return found


def _runs(found: Sequence[Operation], latest: Mapping[Operation, int],
          units: Mapping[Operation, Condition]) -> Iterator[list[Operation]]:
    """Divide collectives into runs of neighbours that may become one op."""
    run: list[Operation] = []
    for i, op in enumerate(found):
        same = run and op.spec is run[0].spec and isinstance(op.spec, kinds.Host) and op.spec.together is not None
        if not (same and units[op] == units[run[0]] and latest[op] < i - len(run)):
            if run:
                yield run
            run = []
        run.append(op)
    if run:
        yield run
