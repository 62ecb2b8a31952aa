"""Epilogue fusion: elementwise ops run on each output tile of a matmul while it is in the cache.

A group over the shape of a matmul's output becomes its epilogue: one launch for both. It runs at the group's place in
the schedule, so nothing in between may read the product or change its operands. A product that nothing else reads is
stored in the memory of the epilogue's output.
"""
from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from tfnb.compile.fuse import Group, pattern
from tfnb.compile.products import contraction
from tfnb.compile.values import Buffer, Call, Value, kernel_call
from tfnb.kernels.view import View
from tfnb.opdef import kinds

MOST_WHOLE = 1 << 36    # operations (about 1 s) of a product with an update: an interrupt can't cut this in two


def attach_epilogues(groups: Sequence[Group], kept: Collection[Buffer]) -> list[Group]:
    """Fuse groups into matmuls as epilogues where they can run tile by tile; return all groups in order."""
    found: list[Group | None] = list(groups)
    place = list(range(len(groups)))               # of each group: that of its epilogue, once it has one
    makers: dict[Buffer, list[int]] = {}
    for i, group in enumerate(groups):
        if contraction(group.nodes[0]) is not None:
            makers.setdefault(group.nodes[0].outs[0].buffer, []).append(i)
    touching, writing = _users(groups, True), _users(groups, False)
    for t, epilogue in enumerate(groups):
        candidates = {i for buffer in epilogue.read for i in makers.get(buffer, ()) if place[i] < t}
        for i in sorted(candidates, key=place.__getitem__, reverse=True):
            product = found[i]
            if product is None or not _may_follow(epilogue, product):
                continue
            node = product.nodes[0]
            out = node.outs[0].buffer
            if any(place[i] < place[g] < t for g in
                   (*touching[out], *(g for v in node.ins for g in writing.get(v.buffer, ())))):
                continue                           # something between needs the product, or changes its operands
            product = found[i] = replace(product, epilogue=epilogue)
            product.target = _target(product, out in kept or any(g not in (i, t) for g in touching[out]))
            found[t], place[i] = None, t
            break
    return [group for _, group in sorted(zip(place, found, strict=True), key=lambda pair: pair[0]) if group is not None]


def _users(groups: Sequence[Group], reads: bool) -> dict[Buffer, list[int]]:
    """Return for each buffer the indices of the groups that write to it, or with `reads` also read it."""
    users: dict[Buffer, list[int]] = {}
    for i, group in enumerate(groups):
        for buffer in group.touched(reads):
            users.setdefault(buffer, []).append(i)
    return users


def _may_follow(epilogue: Group, product: Group) -> bool:
    """Return whether the group can be an epilogue of the product, other groups in between apart."""
    node = product.nodes[0]
    form = contraction(node)
    if form is None or not isinstance(node, Call) or product.epilogue is not None:
        return False
    if epilogue.axes is not None or epilogue.is_call:
        return False
    out, operands = node.outs[0], {v.buffer for v in node.ins}
    if out.buffer not in epilogue.read or epilogue.space != out.shape or len(out.shape) != 2:
        return False
    if epilogue.read[out.buffer] != {_plain(epilogue, out.buffer)} or operands & epilogue.written.keys():
        return False
    if any(b.role == "variable" for b in epilogue.written) and _operations(node) > MOST_WHOLE:
        return False
    return form.columns(kernel_call(node)) > 0


def _operations(node: Call) -> int:
    work = node.op.spec.work if isinstance(node.op.spec, kinds.Kernel) else None
    return 0 if work is None else work(kernel_call(node))


def _plain(epilogue: Group, buffer: Buffer) -> object:
    return pattern(epilogue, Value(buffer, View.whole(epilogue.space)), epilogue.space)


def _target(product: Group, wanted: bool) -> Buffer | None:
    """Return an output of the epilogue whose memory can hold the product before, or None. wanted: others read it."""
    epilogue, out = product.epilogue, product.nodes[0].outs[0].buffer
    assert epilogue is not None
    if out.role != "temp" or wanted:
        return None
    plain = _plain(epilogue, out)
    fits = (b for b, found in epilogue.written.items() if found == plain and b.type == out.type
            and b.role in ("temp", "output") and b not in epilogue.read and b.size == out.size)
    return next(fits, None)
