"""What is computed from a product of matrices, element by element, is computed from each block of it as it is made.

A group over the shape of a product becomes the tail of the product: one launch for both. It runs where the group ran,
so nothing in between may need the product or change its operands. A product that nobody else reads is first stored in
the memory of the tail's output.
"""
from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from tfnb.compile.fuse import Group, pattern
from tfnb.compile.products import contraction
from tfnb.compile.values import Buffer, Call, Value, kernel_call
from tfnb.kernels.view import View


def attach_tails(groups: Sequence[Group], kept: Collection[Buffer]) -> list[Group]:
    """The groups, with those that can follow a product block by block as its `tail`."""
    found = list(groups)
    for tail in groups:
        place = found.index(tail)
        for i in reversed(range(place)):
            if tail.axes is None and not tail.is_call and _may_follow(tail, found[i], found[i + 1:place]):
                product = replace(found[i], tail=tail)
                product.target = _target(product, [g for g in groups if g not in (found[i], tail)], kept)
                found[i:place + 1] = [*found[i + 1:place], product]
                break
    return found


def _may_follow(tail: Group, product: Group, between: Sequence[Group]) -> bool:
    """Can the product wait for its tail, and run together with it?"""
    node = product.nodes[0]
    form = contraction(node)
    if form is None or not isinstance(node, Call) or product.tail is not None:
        return False
    out, operands = node.outs[0], {v.buffer for v in node.ins}
    if out.buffer not in tail.read or tail.space != out.shape or len(out.shape) != 2:
        return False
    if tail.read[out.buffer] != {_plain(tail, out.buffer)} or operands & tail.written.keys():
        return False
    for group in between:
        if out.buffer in group.touched() or operands & group.touched(reads=False):
            return False
    return form.columns(kernel_call(node)) > 0


def _plain(tail: Group, buffer: Buffer) -> object:
    return pattern(tail, Value(buffer, View.whole(tail.space)), tail.space)


def _target(product: Group, others: Sequence[Group], kept: Collection[Buffer]) -> Buffer | None:
    """An output of the tail in the place of which the product may be stored before."""
    tail, out = product.tail, product.nodes[0].outs[0].buffer
    assert tail is not None
    if out.role != "temp" or out in kept or any(out in group.touched() for group in others):
        return None
    plain = _plain(tail, out)
    fits = (b for b, found in tail.written.items() if found == plain and b.type == out.type
            and b.role in ("temp", "output") and b not in tail.read and b.size == out.size)
    return next(fits, None)
