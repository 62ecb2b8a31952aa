"""Transitive closures over a graph: all that an op needs, and all that needs it."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from tfnb.graph.parts.operation import Operation

T = TypeVar("T", bound=Hashable)


def closure(start: Iterable[T], following: Callable[[T], Iterable[T]]) -> dict[T, None]:
    """Return `start` and all that `following` leads to from there, breadth first."""
    found = dict.fromkeys(start)
    todo = deque(found)
    while todo:
        for each in following(todo.popleft()):
            if each not in found:
                found[each] = None
                todo.append(each)
    return found


def upstream(ops: Iterable[Operation]) -> dict[Operation, None]:
    """Return `ops` and all operations that they need, by inputs or control inputs, breadth first."""
    return closure(ops, lambda op: [*(t.op for t in op.inputs), *op.control_inputs])
