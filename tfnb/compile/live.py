"""Dead-code elimination on nodes: drops those whose outputs nobody reads.

They come from ops of which only another output is used (the loss, where only its gradient is), and from values of which
only the shape is used."""
from __future__ import annotations

from collections.abc import Collection, Sequence

from tfnb.compile.values import Buffer, Call, Node


def live(nodes: Sequence[Node], kept: Collection[Buffer]) -> list[Node]:
    """Return the live nodes: those whose outputs are `kept`, outlive the run or are read by a live node, and all calls.

    A call may have effects: it checks values, or advances a generator. A group of dead nodes would be a kernel without
    a store.
    """
    found: list[Node] = []
    needed: set[Buffer] = set(kept)
    for node in reversed(nodes):
        if isinstance(node, Call) or any(v.buffer.role != "temp" or v.buffer in needed for v in node.outs):
            needed.update(v.buffer for v in node.ins)
            found.append(node)
    return found[::-1]
