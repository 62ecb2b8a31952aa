"""Copies: strided views in row-major order, by an elementwise loop, or by a tiled transpose across rows; and parts of
a concatenation that need none, as elementwise nodes write them where they lie in the result."""
from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from tfnb.compile.reach import Ref
from tfnb.compile.spaces import SHORT_ROW, VECTORS
from tfnb.compile.values import Buffer, Call, Elementwise, Node, Value, kernel_call, temp
from tfnb.graph.parts.operation import Operation
from tfnb.kernels.cpu.fused.transpose import axes as transpose_axes
from tfnb.kernels.cpu.fused.transpose import transpose
from tfnb.kernels.launch import Call as KernelCall
from tfnb.kernels.launch import Launch
from tfnb.kernels.library import elements
from tfnb.kernels.library.joining import Part, joined
from tfnb.kernels.llvm.streaming import LINE
from tfnb.kernels.llvm.tiles import SIZES
from tfnb.kernels.scalar import definition as scalars
from tfnb.kernels.view import NeedsCopy, View
from tfnb.opdef import kinds


def copy(x):                                       # type: ignore[no-untyped-def]
    """Return the element unchanged: the identity, or a conversion, as a scalar definition."""
    return x


COPY = scalars.read(copy)


def by_tiles(value: Value) -> bool:
    """Return whether the tiled transpose (kernels/cpu/fused/transpose.py) copies this view faster than a loop."""
    return not value.view.is_row_major() and np.dtype(value.type).itemsize in SIZES \
        and transpose_axes(value.shape, value.view.strides) is not None


def copy_node(op: Operation, value: Value, out: Value, tiled: bool = True) -> Node:
    """Build the node that copies a view to row-major order. tiled: allow a tiled transpose where it is faster."""
    if not tiled or not by_tiles(value):
        return Elementwise(op, COPY, value.type, [value], [out])
    unit, view = np.dtype(value.type).itemsize, value.view

    def launches(call: KernelCall) -> list[Launch]:
        return transpose(call.input(0), call.output(0), unit, view.shape, view.strides)
    return Call(op, [value], [out], launches=launches)


def mapped(nodes: list[Node], op: Operation, scalar: scalars.Scalar, x: Value, kind: str) -> Value:
    """Append a node that maps a scalar definition over `x`, and return its output, of dtype `kind`."""
    out = temp(kind, x.shape)
    nodes.append(Elementwise(op, scalar, kind, [x], [out]))
    return out


def join_in_place(nodes: Sequence[Node], kept: Collection[Buffer]) -> tuple[list[Node], dict[Buffer, Ref]]:
    """Let elementwise nodes and reads of elements write what is only concatenated, or stacked, where it lies there.

    Returns the nodes, in which such a value has a buffer of its own, and the place of each of these buffers in the
    result's (for `lower.renamed`): the call still follows the nodes, and copies the other parts.
    """
    readers = Counter(v.buffer for node in nodes for v in node.ins)
    makers = {v.buffer: (i, k) for i, node in enumerate(nodes) for k, v in enumerate(node.outs)}
    found = list(nodes)
    places: dict[Buffer, Ref] = {}
    for i, node in enumerate(nodes):
        spec = node.op.spec
        if not isinstance(node, Call) or node.launches is not None or not isinstance(spec, kinds.Kernel) \
                or spec.joins is None:
            continue
        left, ins = [], list(node.ins)
        for part in spec.joins(kernel_call(node)):
            value = node.ins[part.input]
            only = readers[value.buffer] == 1 and value.buffer in makers and value.buffer not in kept
            maker, out = makers[value.buffer] if only else (i, 0)
            view = _place(found[maker], value, part)
            if view is None:
                left.append(part)
                continue
            before, buffer = found[maker], Buffer("temp", value.type, _extent(view))
            made = Value(buffer, view.reshape(before.outs[out].shape))
            outs = [*before.outs[:out], made, *before.outs[out + 1:]]
            found[maker] = replace(before, outs=outs)
            if isinstance(before, Call):
                assert isinstance(before.launches, partial)
                found[maker] = replace(before, outs=outs, launches=partial(before.launches, place=made.view))
            ins[part.input] = Value(buffer, view)
            places[buffer] = Ref(node.outs[0].buffer, part.place.offset * np.dtype(value.type).itemsize)
        if ins != node.ins:
            found[i] = replace(node, ins=ins, launches=partial(joined, parts=left))
    return found, places


def _place(maker: Node, value: Value, part: Part) -> View | None:
    """Return the view by which a node may write a part of a result, from where this begins; None if it shouldn't."""
    reads = isinstance(maker, Call) and isinstance(maker.launches, partial) and maker.launches.func is elements.read
    if not reads and not isinstance(maker, Elementwise) or value.buffer.role != "temp" or not value.is_plain():
        return None
    made = next(v for v in maker.outs if v.buffer is value.buffer)
    aligned = part.place.offset * np.dtype(value.type).itemsize % LINE == 0      # as stores past the caches need it
    if not value.view.size or not aligned or not made.is_plain():
        return None
    try:
        view = View(part.place.shape, part.place.strides).reshape(value.shape)
        written = view.reshape(made.shape)
        if reads:
            elements.rows_of(written)
    except NeedsCopy:
        return None
    row = 1
    for size, step in zip(reversed(view.shape), reversed(view.strides), strict=True):
        if size != 1 and step != row:
            return view if row > SHORT_ROW or row % VECTORS == 0 else None
        row *= size
    return view


def _extent(view: View) -> int:
    """Return the number of elements from the first of a view to its last."""
    extent: int = 1 + sum((n - 1) * step for n, step in zip(view.shape, view.strides, strict=True))
    return extent
