"""Graph pruning and scheduling: the ops that the fetches depend on, in a topological order with few stages."""
from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence, Set
from itertools import count

from tfnb.core.errors import InvalidArgumentError
from tfnb.graph.closure import closure
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.opdef import kinds

# Among ops that are ready, pure ones go first, then random ones, then those that write to a variable: whatever is not
# ordered after an update sees the value before it, as it does (nearly always) in TensorFlow. Host calls come last, and
# then all that are ready, so that a plan has as few stages as possible.
UPDATE, HOST, WAITS = 2, 3, 4
_RANK = {kinds.Random: 1, kinds.Update: UPDATE, kinds.Scatter: UPDATE, kinds.Host: HOST}

Group = Hashable

# Ops of these kinds have no effect but their values, and can't fail once their shapes fit.
_SILENT = (kinds.Const, kinds.Elementwise, kinds.Reduction, kinds.Rowwise, kinds.Movement, kinds.ShapeOf,
           kinds.Control, kinds.Variable)


def is_silent(op: Operation) -> bool:
    """Return whether the op has no side effects and never fails. Reading an uninitialized variable fails."""
    if isinstance(op.spec, kinds.Flow):
        return True
    return (isinstance(op.spec, _SILENT) or op.spec.total) and not any(t.dtype._is_ref_dtype for t in op.inputs)


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
        if isinstance(op.spec, kinds.Placeholder) and all(t in feeds for t in op.outputs):
            continue                               # it is fed, which is all there is to wait for
        computed = computed or not is_silent(op) or isinstance(op.spec, kinds.Flow)
        seen = needed if computed else passed
        if op in needed or op in seen or op in cut:
            continue
        seen.add(op)
        todo += [(t.op, computed) for t in op.inputs if t not in feeds]
        todo += [(c, False) for c in op.control_inputs]
    return needed, passed - needed


def schedule(ops: Iterable[Operation], before: Callable[[Operation], Collection[Operation]],
             group_of: Callable[[Operation], tuple[Group, int]],
             start: Group | None = None) -> list[tuple[Group, list[Operation]]]:
    """Sort ops topologically into runs of one group each, few where that is possible.

    before: the predecessors of an op, all of them among `ops`; group_of: its group and its rank. Pure ops go first,
    then those of the current group (at first `start`), lower ranks, earlier ones. Once a host op is scheduled, all that
    are ready follow, but for those that may block.

    Raises InvalidArgumentError if the ops form a cycle.
    """
    waiting: dict[Operation, int] = {}
    users: dict[Operation, list[Operation]] = {}
    ready: dict[Group, list[tuple[int, int, int, Operation]]] = {}
    numbers = count()

    def release(op: Operation) -> None:
        group, rank = group_of(op)
        heapq.heappush(ready.setdefault(group, []), (rank, op._id, next(numbers), op))

    for op in ops:
        first = before(op)
        waiting[op] = len(first)
        for b in first:
            users.setdefault(b, []).append(op)
        if not first:
            release(op)
    runs: list[tuple[Group, list[Operation]]] = []
    current, done = start, 0

    def urgency(group: Group) -> tuple[bool, bool, int, int]:
        rank, created, _, _ = ready[group][0]
        return rank >= UPDATE and (group != current or rank != HOST), group != current, rank, created

    while ready:
        group = min(ready, key=urgency) if len(ready) > 1 else next(iter(ready))
        op = heapq.heappop(ready[group])[3]
        if not ready[group]:
            del ready[group]
        if group != current or not runs:
            runs.append((group, []))
            current = group
        runs[-1][1].append(op)
        done += 1
        for user in users.get(op, ()):
            waiting[user] -= 1
            if not waiting[user]:
                release(user)
    if done != len(waiting):
        raise cycle(sorted(op.name for op, left in waiting.items() if left))
    return runs


def order(needed: Collection[Operation], feeds: Collection[Tensor]) -> list[Operation]:
    """Sort ops topologically, by inputs and control inputs. Raises InvalidArgumentError if they form a cycle."""
    runs = schedule(needed, lambda op: required(op, feeds, needed), lambda op: (None, kind_rank(op)))
    return [op for _, ops in runs for op in ops]


def cycle(names: Sequence[str]) -> InvalidArgumentError:
    """Build the error for a dependency cycle. names: of the ops in it, and of those that depend on them."""
    return InvalidArgumentError(None, None, "Graph is invalid: these ops wait for one another in a cycle, or for those "
                                            f"that do: {', '.join(names[:10])}")


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
    """Return the scheduling rank of an op with a kernel."""
    return WAITS if op.spec.waits else _RANK.get(type(op.spec), 0)


def contenders(ops: Sequence[Operation], before: Callable[[Operation], Iterable[Operation]],
               exclusive: Callable[[Operation, Operation], bool]) -> list[Operation]:
    """Return the ops that may block (of queues, Python functions) if the order of any two is not determined, else none.

    TensorFlow runs such ops at the same time: one may wait for what another one does. ops: all, topologically sorted;
    before: the predecessors of an op; exclusive: whether at most one of two ops runs.
    """
    waiting = [op for op in ops if op.spec.waits or op.spec.calls]
    for i, op in enumerate(waiting[1:], 1):
        behind = ancestors(op, before)
        if any(other not in behind and not exclusive(other, op) for other in waiting[:i]):
            return waiting
    return []


def ancestors(op: Operation, before: Callable[[Operation], Iterable[Operation]]) -> Set[Operation]:
    """Return the transitive predecessors of `op`."""
    return closure(before(op), before).keys()
