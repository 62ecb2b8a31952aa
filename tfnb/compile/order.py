"""Graph pruning and scheduling: the ops that the fetches depend on, in a topological order with few stages."""
from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Sequence

from tfnb.core.errors import InvalidArgumentError
from tfnb.graph.operation import Operation, Tensor
from tfnb.opdef.spec import FLOW, Kind

# Among ops that are ready, pure ones go first, then random ones, then those that write to a variable: whatever is not
# ordered after an update sees the value before it, as it does (nearly always) in TensorFlow. Host calls come last, and
# then all that are ready, so that a plan has as few stages as possible.
_HOST = 3
_RANK = {Kind.RANDOM: 1, Kind.UPDATE: 2, Kind.SCATTER: 2, Kind.HOST: _HOST}


_Heap = list[tuple[int, int, Operation]]


# Ops of these kinds have no effect but their values, and can't fail once their shapes fit.
_SILENT = frozenset({Kind.CONST, Kind.ELEMENTWISE, Kind.REDUCTION, Kind.ROWWISE, Kind.MOVEMENT, Kind.SHAPEOF,
                     Kind.CONTROL, Kind.VARIABLE})


def is_silent(op: Operation) -> bool:
    """Return whether the op has no side effects and never fails. Reading an uninitialized variable fails."""
    if op.spec.kind in FLOW:
        return True
    return (op.spec.kind in _SILENT or op.spec.total) and not any(t.dtype._is_ref_dtype for t in op.inputs)


def prune(fetches: Iterable[Tensor], targets: Iterable[Operation], feeds: Collection[Tensor],
          cut: Collection[Operation] = ()) -> set[Operation]:
    """Return the ops that fetches and targets depend on, directly or not; none behind a fed tensor, none of `cut`.

    An op that is reached by control inputs only is needed for its side effects: if it has none it is dropped, and only
    the effects that it depends on itself remain. (tf.gradients ties the gradients of an op together by control inputs;
    some of them may be dead.)
    """
    return reach(fetches, targets, feeds, cut)[0]


def reach(fetches: Iterable[Tensor], targets: Iterable[Operation], feeds: Collection[Tensor],
          cut: Collection[Operation] = (), waits: Iterable[Operation] = ()) -> tuple[set[Operation], set[Operation]]:
    """Return the needed ops, and the side-effect-free ones reached by control inputs only. waits: more of these."""
    needed: set[Operation] = set()
    passed: set[Operation] = set()
    todo = [(t.op, True) for t in fetches if t not in feeds] + [(op, True) for op in targets]
    todo += [(op, False) for op in waits]
    while todo:
        op, computed = todo.pop()
        if op.spec.kind is Kind.PLACEHOLDER and all(t in feeds for t in op.outputs):
            continue                               # it is fed, which is all there is to wait for
        computed = computed or not is_silent(op) or op.spec.kind in FLOW
        seen = needed if computed else passed
        if op in needed or op in seen or op in cut:
            continue
        seen.add(op)
        todo += [(t.op, computed) for t in op.inputs if t not in feeds]
        todo += [(c, False) for c in op.control_inputs]
    return needed, passed - needed


def order(needed: Collection[Operation], feeds: Collection[Tensor], on_device: Collection[Operation],
          on_gpu: Collection[Operation] = ()) -> list[Operation]:
    """Sort the needed ops topologically (by inputs and control inputs); ties by rank, then by creation.

    Once a host op is scheduled, all that are ready follow. Where some ops are for a GPU, the schedule stays on the GPU
    or the CPU as long as it has ready ops there, but ops without side effects precede those that write to a variable.

    Raises InvalidArgumentError if the ops form a cycle.
    """
    waiting: dict[Operation, int] = {}
    users: dict[Operation, list[Operation]] = {}
    sides: list[_Heap] = [[], []]                          # ready: on the CPU, on the GPU
    ready, hosts = sides[0], _Heap()

    def enter(op: Operation) -> None:
        rank = _rank(op, on_device)
        heapq.heappush(hosts if rank == _HOST else sides[op in on_gpu], (rank, op._id, op))

    for op in needed:
        before = required(op, feeds, needed)
        waiting[op] = len(before)
        for b in before:
            users.setdefault(b, []).append(op)
        if not before:
            enter(op)
    done: list[Operation] = []
    staying = False
    while sides[0] or sides[1] or hosts:
        if on_gpu:
            ready = _next_side(sides, ready)
        staying = bool(hosts) and (staying or not ready or ready[0][0] > _HOST)
        op = heapq.heappop(hosts if staying else ready)[2]
        done.append(op)
        for user in users.get(op, ()):
            waiting[user] -= 1
            if not waiting[user]:
                enter(user)
    if len(done) != len(needed):
        stuck = sorted(op.name for op in needed if waiting[op])
        raise cycle(stuck)
    return done


def cycle(names: Sequence[str]) -> InvalidArgumentError:
    """Build the error for a dependency cycle. names: of the ops in it, and of those that depend on them."""
    return InvalidArgumentError(None, None, "Graph is invalid: these ops wait for one another in a cycle, or for those "
                                            f"that do: {', '.join(names[:10])}")


def _next_side(sides: Sequence[_Heap], current: _Heap) -> _Heap:
    """Return the heap to take from next: the current one, unless only the other has ops without side effects."""
    filled = [side for side in sides if side]
    return min(filled, key=lambda side: (max(side[0][0], 1), side is not current), default=current)


def required(op: Operation, feeds: Collection[Tensor], needed: Collection[Operation]) -> set[Operation]:
    """Return the predecessors of `op` among the needed ops: its inputs, and its control inputs, the latter also
    through ops that are not needed."""
    found = {t.op for t in op.inputs if t not in feeds}
    if not op.control_inputs:
        return found
    seen: set[Operation] = set()
    todo = list(op.control_inputs)
    while todo:
        before = todo.pop()
        if before in needed:
            found.add(before)
        elif before not in seen:
            seen.add(before)
            todo += [t.op for t in before.inputs] + before.control_inputs
    return found


def kind_rank(op: Operation) -> int:
    """Return the scheduling priority of an op's kind: lower ranks first."""
    return 4 if op.spec.waits else _RANK.get(op.spec.kind, 0)


def _rank(op: Operation, on_device: Collection[Operation]) -> int:
    return kind_rank(op) if op in on_device or op.spec.waits else _HOST


def split(ops: Sequence[Operation], on_device: Collection[Operation], alone: Collection[Operation] = (),
          on_gpu: Collection[Operation] = ()) -> list[tuple[str, list[Operation]]]:
    """Split the schedule into maximal runs of ops of one placement: "cpu" or "gpu" kernels, or "host" calls.

    alone: ops that form a run each.
    """
    runs: list[tuple[str, list[Operation]]] = []
    last: Operation | None = None
    for op in ops:
        place = "gpu" if op in on_gpu else "cpu" if op in on_device else "host"
        if not runs or runs[-1][0] != place or op in alone or last in alone:
            runs.append((place, []))
        runs[-1][1].append(op)
        last = op
    return runs


def contenders(ops: Sequence[Operation], feeds: Collection[Tensor]) -> list[Operation]:
    """Return the blocking ops (of queues) if their order is not determined, else none. ops: all, topologically sorted.

    TensorFlow runs such ops at the same time: one may wait for what another one does.
    """
    waiting = [op for op in ops if op.spec.waits]
    for first, second in zip(waiting, waiting[1:], strict=False):
        if first not in ancestors(second, feeds, ops):
            return waiting
    return []


def ancestors(op: Operation, feeds: Collection[Tensor], ops: Collection[Operation]) -> set[Operation]:
    """Return the transitive predecessors of `op` among `ops`."""
    among = set(ops)
    found: set[Operation] = set()
    todo = [op]
    while todo:
        at = todo.pop()
        before = required(at, feeds, among)
        todo += before - found
        found |= before
    return found
