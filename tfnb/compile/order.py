"""From what is fetched to the ops that must run, in the order in which they run."""
from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Sequence

from tfnb.graph.operation import Operation, Tensor
from tfnb.opdef.spec import Kind

# Among ops that are ready, pure ones go first, then random ones, then those that write to a variable: whatever is not
# ordered after an update sees the value before it, as it does (nearly always) in TensorFlow. Host calls come last, so
# that a plan has as few stages as possible.
_RANK = {Kind.RANDOM: 1, Kind.UPDATE: 2, Kind.SCATTER: 2, Kind.HOST: 3}


def prune(fetches: Iterable[Tensor], targets: Iterable[Operation], feeds: Collection[Tensor]) -> set[Operation]:
    """The ops that the fetches and targets need, directly or not; nothing behind a fed tensor."""
    todo = [t.op for t in fetches if t not in feeds] + list(targets)
    needed: set[Operation] = set()
    while todo:
        op = todo.pop()
        if op in needed:
            continue
        needed.add(op)
        todo += [t.op for t in op.inputs if t not in feeds and t.op not in needed]
        todo += [c for c in op.control_inputs if c not in needed]
    return needed


def order(needed: Collection[Operation], feeds: Collection[Tensor],
          on_device: Collection[Operation]) -> list[Operation]:
    """The needed ops, each after its inputs and control inputs; otherwise by rank, then by creation.

    Raises ValueError if the ops form a cycle.
    """
    waiting: dict[Operation, int] = {}
    users: dict[Operation, list[Operation]] = {}
    ready: list[tuple[int, int, Operation]] = []
    for op in needed:
        before = {t.op for t in op.inputs if t not in feeds} | set(op.control_inputs)
        waiting[op] = len(before)
        for b in before:
            users.setdefault(b, []).append(op)
        if not before:
            heapq.heappush(ready, (_rank(op, on_device), op._id, op))
    done: list[Operation] = []
    while ready:
        op = heapq.heappop(ready)[2]
        done.append(op)
        for user in users.get(op, ()):
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, (_rank(user, on_device), user._id, user))
    if len(done) != len(needed):
        stuck = sorted(op.name for op in needed if waiting[op])
        raise ValueError(f"These ops wait for one another in a cycle: {', '.join(stuck[:10])}")
    return done


def _rank(op: Operation, on_device: Collection[Operation]) -> int:
    return _RANK.get(op.spec.kind, 0) if op in on_device else 3


def split(ops: Sequence[Operation], on_device: Collection[Operation]) -> list[tuple[bool, list[Operation]]]:
    """Runs of consecutive ops that are all on the device, or all host calls: (on device?, ops)."""
    runs: list[tuple[bool, list[Operation]]] = []
    for op in ops:
        device = op in on_device
        if not runs or runs[-1][0] != device:
            runs.append((device, []))
        runs[-1][1].append(op)
    return runs
