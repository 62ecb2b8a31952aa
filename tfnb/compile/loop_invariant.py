"""Loop-invariant code motion: nodes that depend on loop-invariant inputs only run in the first iteration only.

An example is the transposed weight in the backward loop of a recurrent network. A node whose outputs are larger than
its inputs is not hoisted: reading the result back would cost more than computing it.
"""
from __future__ import annotations

from collections.abc import Collection, Sequence

from tfnb.compile.values import Buffer, Call, Node, Value


def is_invariant(value: Value, fixed: Collection[int]) -> bool:
    """Return whether the value is loop-invariant: a constant, or one of the stage inputs with these indices."""
    return value.buffer.role == "const" or value.buffer.role == "input" and value.buffer.index in fixed


def split_invariant(nodes: Sequence[Node], fixed: Collection[int]) -> tuple[list[Node], list[Node]]:
    """Split nodes into the loop-invariant ones and the others. fixed: the indices of loop-invariant inputs."""
    first: list[Node] = []
    rest: list[Node] = []
    made: set[Buffer] = set()
    for node in nodes:
        if fixed and _is_same(node, fixed, made):
            made.update(v.buffer for v in node.outs)
            first.append(node)
        else:
            rest.append(node)
    return first, rest


def _is_same(node: Node, fixed: Collection[int], made: Collection[Buffer]) -> bool:
    if isinstance(node, Call) and node.state is not None or any(v.buffer.role != "temp" for v in node.outs):
        return False
    if not node.outs or not all(v.buffer in made or is_invariant(v, fixed) for v in node.ins):
        return False
    return sum(v.buffer.size for v in node.outs) <= sum(v.buffer.size for v in node.ins)
