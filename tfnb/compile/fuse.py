"""Operator fusion: nodes over one iteration space are grouped into one kernel.

A group is a set of nodes over one iteration space (the full shape), with reductions over one set of its axes. Inside,
a value is full-level (one for each point of the space) or row-level (one for each point of the kept axes). Nodes come
in topological order and join the group of their latest producer, or open a new one at the end; groups run in the
order in which they were opened, so a group is convex by construction: every input from outside was computed by an
earlier group.
"""
from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod

from tfnb.compile.values import Buffer, Call, Elementwise, Node, Reduction, Value
from tfnb.kernels.view import View

MAX_NODES = 192          # a longer kernel takes seconds to compile and gains nothing
MAX_BUFFERS = 48
CHUNK = 8192             # elements of a whole reduction that one item combines: fixed, whatever the threads

Pattern = tuple[tuple[int, ...], int]      # strides over the space (0 where its size is 1), offset


@dataclass(eq=False, slots=True)
class Group:
    """A fusion group: nodes that become one kernel. axes: the reduced axes, None before the first reduction joins.

    epilogue: of a matmul, the group that runs on each of its output tiles; target: the output of the epilogue whose
    memory holds the product before (compile/epilogues.py).
    """

    space: tuple[int, ...]
    axes: frozenset[int] | None = None
    nodes: list[Node] = field(default_factory=list)
    written: dict[Buffer, Pattern] = field(default_factory=dict)
    read: dict[Buffer, set[Pattern]] = field(default_factory=dict)
    epilogue: Group | None = None
    target: Buffer | None = None

    @property
    def is_call(self) -> bool:
        """Whether the group is a single hand-written kernel, with which nothing is fused."""
        return isinstance(self.nodes[0], Call)

    def touched(self, reads: bool = True) -> set[Buffer]:
        """Return the buffers that the group and its epilogue write, and with `reads` also those that they read."""
        nodes = self.nodes + (self.epilogue.nodes if self.epilogue else [])
        return {v.buffer for node in nodes for v in (node.ins + node.outs if reads else node.outs)}

    def kept(self) -> tuple[int, ...]:
        """Return the sizes of the kept axes: the space without the reduced ones."""
        return tuple(n for i, n in enumerate(self.space) if i not in (self.axes or ()))

    def is_row_level(self, shape: Sequence[int]) -> bool:
        """Return whether `shape` is that of the kept axes, with or without the reduced ones as 1."""
        if self.axes is None:
            return False
        ones = tuple(1 if i in self.axes else n for i, n in enumerate(self.space))
        return tuple(shape) in (self.kept(), ones)

    def is_whole(self) -> bool:
        """Return whether this is a reduction to a scalar, over more than one chunk."""
        return self.axes is not None and prod(self.kept()) == 1 and prod(self.space) > CHUNK

    def is_columns(self) -> bool:
        """Return whether this is a column reduction: the leading axes are reduced, and trailing ones are kept."""
        if self.axes is None or not self.axes:
            return False
        big = [i for i, n in enumerate(self.space) if n > 1]
        kept = [i for i in big if i not in self.axes]
        reduced = [i for i in big if i in self.axes]
        return bool(kept and reduced) and max(reduced) < min(kept)


def pattern(group: Group, value: Value, shape: Sequence[int]) -> Pattern:
    """Return the access pattern, over the group's space, of a value that a node of `shape` reads or writes.

    Raises ValueError if no strides express it.
    """
    return _walk(value.view, tuple(shape), group.space, group.axes)


@lru_cache(maxsize=4096)
def _walk(view: View, shape: tuple[int, ...], space: tuple[int, ...], axes: frozenset[int] | None) -> Pattern:
    view = view.broadcast(shape)
    if shape != space:
        if axes is not None and shape == tuple(n for i, n in enumerate(space) if i not in axes):
            view = _insert(view, space, axes)
        view = view.broadcast(space)
    return tuple(0 if n == 1 else s for n, s in zip(space, view.strides, strict=True)), view.offset


def _insert(view: View, space: tuple[int, ...], axes: frozenset[int]) -> View:
    strides = iter(view.strides)
    return View(tuple(1 if i in axes else n for i, n in enumerate(space)),
                tuple(0 if i in axes else next(strides) for i in range(len(space))), view.offset)


def fuse(nodes: Sequence[Node]) -> list[Group]:
    """Group nodes in topological order into kernels; return the groups in execution order.

    A node joins a group that computes none of its inputs only if both use the same memory, or if the group's space has
    one element.
    """
    groups: list[Group] = []
    last_write: dict[Buffer, int] = {}
    last_read: dict[Buffer, int] = {}
    users: dict[Buffer, set[int]] = {}             # which groups read or write a buffer, but for calls
    small: list[int] = []                          # the groups over one element
    for node in nodes:
        after = _earliest(node, last_write, last_read)
        sharing = {after, *small}.union(*(users.get(v.buffer, ()) for v in node.ins if v.buffer.size > 1))
        where = None if isinstance(node, Call) else next(
            (i for i in sorted(sharing) if i >= max(after, 0) and _joins(node, groups[i])), None)
        if where is None:
            groups.append(Group(node.ins[0].shape if isinstance(node, Reduction) or not node.outs
                                else node.outs[0].shape))
            where = len(groups) - 1
            if prod(groups[where].space) <= 1:
                small.append(where)
        _enter(node, groups[where])
        if not isinstance(node, Call):
            for value in (*node.ins, *node.outs):
                users.setdefault(value.buffer, set()).add(where)
        for value in node.ins:
            last_read[value.buffer] = max(where, last_read.get(value.buffer, 0))
        for value in node.outs:
            last_write[value.buffer] = where
    return groups


def _earliest(node: Node, last_write: dict[Buffer, int], last_read: dict[Buffer, int]) -> int:
    """Return the first group this node may run in: after its producers (read after write), and after readers and
    writers of the memory that it overwrites (write after read, write after write)."""
    after = [last_write.get(v.buffer, -1) for v in node.ins]
    after += [max(last_write.get(v.buffer, -1), last_read.get(v.buffer, -1)) for v in node.outs]
    return max(after, default=-1)


def _joins(node: Elementwise | Reduction, group: Group) -> bool:
    """Return whether `node` can be fused into `group`: size limits, iteration space, access patterns."""
    if group.is_call or len(group.nodes) >= MAX_NODES:
        return False
    if len(group.written) + len(group.read) + len(node.ins) + len(node.outs) > MAX_BUFFERS:
        return False
    if isinstance(node, Reduction):
        return _reduction_joins(node, group)
    shape = node.outs[0].shape
    if shape == group.space:
        if group.axes is not None and not _full_after_reduction(node, group):
            return False
        if group.is_whole() and not all(v.view.is_row_major() for v in node.outs):
            return False
    elif not group.is_row_level(shape):
        return False
    elif not _row_inputs(node, group):
        return False
    return _patterns_agree(node, group, shape)


def _reduction_joins(node: Reduction, group: Group) -> bool:
    if node.ins[0].shape != group.space or (group.axes is not None and group.axes != node.axes):
        return False
    trial = Group(group.space, node.axes)
    if trial.is_whole() and not all(_is_vector(found, group) for found in group.written.values()):
        return False
    if group.axes is not None and (trial.is_whole() or trial.is_columns()) and _reads_row_level(node, group):
        return False
    return _patterns_agree(node, group, group.space)


def _is_vector(found: Pattern, group: Group) -> bool:
    """Return whether what the group writes is one vector: chunks of a reduction to a scalar are parts of one."""
    return View(group.space, found[0]).is_row_major()


def _reads_row_level(node: Node, group: Group) -> bool:
    """Return whether the node reads, at full level, a result of a reduction of this group."""
    return any(v.buffer in group.written and _is_row_buffer(group, v.buffer) for v in node.ins)


def _is_row_buffer(group: Group, buffer: Buffer) -> bool:
    strides = group.written[buffer][0]
    return all(strides[i] == 0 for i in group.axes or ()) and buffer.size == prod(group.kept())


def _full_after_reduction(node: Elementwise, group: Group) -> bool:
    """Return whether a full-level node can join a group with reductions.

    Chunked and column reductions make no second pass over the full space: there it must not depend on a reduction.
    """
    if group.is_whole() or group.is_columns():
        return not _depends_on_reduction(node, group)
    return True


def _depends_on_reduction(node: Node, group: Group) -> bool:
    tainted: set[Buffer] = set()
    for earlier in group.nodes:
        if isinstance(earlier, Reduction) or any(v.buffer in tainted for v in earlier.ins):
            tainted.update(v.buffer for v in earlier.outs)
    return any(v.buffer in tainted for v in node.ins)


def _row_inputs(node: Elementwise, group: Group) -> bool:
    """Return whether all inputs of a row-level node are row-level in this group."""
    return not any(v.buffer in group.written and not _is_row_buffer(group, v.buffer) for v in node.ins)


def _patterns_agree(node: Node, group: Group, shape: Sequence[int]) -> bool:
    """Return whether every dependence between node and group is at one point of the space: no stencil, no shift."""
    for value in node.ins:
        if value.buffer in group.written:
            if value.type != value.buffer.type or _pattern(group, value, shape) != group.written[value.buffer]:
                return False
    axes = node.axes if isinstance(node, Reduction) else None
    for value in node.outs:
        touched = group.read.get(value.buffer)
        if touched is None and value.buffer not in group.written:
            continue
        trial = group if axes is None else Group(group.space, axes)
        own = _pattern(trial, value, value.shape)
        if (touched and touched != {own}) or group.written.get(value.buffer, own) != own:
            return False
    return True


def _pattern(group: Group, value: Value, shape: Sequence[int]) -> Pattern | None:
    try:
        return pattern(group, value, shape)
    except ValueError:
        return None


def _enter(node: Node, group: Group) -> None:
    group.nodes.append(node)
    if isinstance(node, Call):
        return
    if isinstance(node, Reduction):
        group.axes = node.axes
    shape = group.space if isinstance(node, Reduction) else node.outs[0].shape
    for value in node.ins:
        if value.buffer not in group.written:
            found = _pattern(group, value, shape)
            assert found is not None, f"{node.op.name}: {value.shape} does not walk over {group.space}"
            group.read.setdefault(value.buffer, set()).add(found)
    for value in node.outs:
        found = _pattern(group, value, value.shape)
        assert found is not None, f"{node.op.name}: {value.shape} is not of {group.space}"
        group.written[value.buffer] = found


def stored(groups: Sequence[Group], kept: Collection[Buffer]) -> set[Buffer]:
    """Return the buffers that must be materialized: `kept` ones, those that another group reads, all that are not
    temporary. The others live in registers of their kernel."""
    made: dict[Buffer, Group] = {}
    needed: set[Buffer] = set(kept)
    for group in groups:
        for node in group.nodes:
            needed.update(v.buffer for v in node.ins if v.buffer in made and made[v.buffer] is not group)
            made.update((v.buffer, group) for v in node.outs)
            needed.update(v.buffer for v in node.outs if v.buffer.role != "temp" or group.is_call)
    return needed

