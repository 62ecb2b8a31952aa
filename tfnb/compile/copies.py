"""Materialization of strided views in row-major order: an elementwise loop, or a tiled transpose across rows."""
from __future__ import annotations

import numpy as np

from tfnb.compile.values import Call, Elementwise, Node, Value, temp
from tfnb.graph.parts.operation import Operation
from tfnb.kernels.cpu.fused.transpose import axes as transpose_axes
from tfnb.kernels.cpu.fused.transpose import transpose
from tfnb.kernels.launch import Call as KernelCall
from tfnb.kernels.launch import Launch
from tfnb.kernels.llvm.tiles import SIZES
from tfnb.kernels.scalar import definition as scalars


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
