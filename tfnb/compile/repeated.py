"""Loop-invariant code motion: what is the same in all iterations is computed in the first one only.

That is what follows from constants of the loop, as the transposed weight by which the loop of gradients multiplies.
What would be larger than all that it is made of is computed each time: reading it would cost more.
"""
from __future__ import annotations

from collections.abc import Collection, Sequence

from tfnb.compile.values import Buffer, Call, Node, Value


def is_fixed(value: Value, fixed: Collection[int]) -> bool:
    """Is the value one of the stage inputs with these numbers, or a constant?"""
    return value.buffer.role == "const" or value.buffer.role == "input" and value.buffer.index in fixed


def split_fixed(nodes: Sequence[Node], fixed: Collection[int]) -> tuple[list[Node], list[Node]]:
    """The nodes that give the same in each round, and the others. fixed: the inputs that are the same."""
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
    if not node.outs or not all(v.buffer in made or is_fixed(v, fixed) for v in node.ins):
        return False
    return sum(v.buffer.size for v in node.outs) <= sum(v.buffer.size for v in node.ins)
