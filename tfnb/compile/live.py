"""Leaving out what nobody needs: a node of an op of which only another part is used (the loss, where only its gradient
is), or of a value that nothing but a shape was asked of."""
from __future__ import annotations

from collections.abc import Collection, Sequence

from tfnb.compile.values import Buffer, Call, Node


def live(nodes: Sequence[Node], kept: Collection[Buffer]) -> list[Node]:
    """The nodes whose outputs are `kept`, in memory that outlives the run, or read by such a node; all calls.

    (A call may check values or move a generator on.) A group without any of these would be a kernel without a store.
    """
    found: list[Node] = []
    needed: set[Buffer] = set(kept)
    for node in reversed(nodes):
        if isinstance(node, Call) or any(v.buffer.role != "temp" or v.buffer in needed for v in node.outs):
            needed.update(v.buffer for v in node.ins)
            found.append(node)
    return found[::-1]
