"""Composition: the form of an op as elementwise nodes and reductions, which fuse with the ops around it.

The `composition` of an op's record gets the Parts of its node, and its inputs as Values.
"""
from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import Any, Protocol

import numpy as np

from tfnb.compile.copies import COPY, mapped
from tfnb.compile.sized import dependent, one_number
from tfnb.compile.values import Elementwise, Node, Value, free_views, known, temp, uniform
from tfnb.core.shape import Static, broadcast_shapes
from tfnb.graph.parts.operation import Operation
from tfnb.kernels.scalar.decided import decided
from tfnb.kernels.scalar.definition import Scalar, convert
from tfnb.kernels.scalar.number_types import computed_as
from tfnb.kernels.scalar.rowwise import COMBINE
from tfnb.opdef import kinds
from tfnb.ops.declaration.evaluate import numpy_name, scalar_attrs, scalar_type


def elementwise(op: Operation, body: Scalar, ins: list[Value], outs: list[Value]) -> Elementwise:
    """Return the node of an op's definition, less what those of its operands decide that are known numbers."""
    kind, attrs = scalar_type(op), scalar_attrs(op, body)
    numbers = {i: v.known for i, v in enumerate(ins) if v.known is not None and v.buffer.size == 1}
    made = dependent(list(numbers.values()), lambda *arrays: decided(
        body, attrs, kind, {i: array.flat[0] for i, array in zip(numbers, arrays, strict=True)}))
    return Elementwise(op, made, kind, ins, outs, attrs if made is body else ())


def sizes(shapes: Sequence[Static]) -> list[tuple[int, ...]]:
    """Return the shapes of outputs. Raises ValueError for sizes that nothing has told."""
    for shape in shapes:
        if shape is None or None in shape:
            raise ValueError(f"the output would have shape {shape}: a size is negative")
    return [tuple(shape) for shape in shapes]  # type: ignore[arg-type]


class _Tracer(Protocol):
    @property
    def traced(self) -> Any: ...
    @property
    def target(self) -> Any: ...
    def straight(self, op: Operation, value: Value) -> Value: ...
    def call(self, op: Operation, ins: list[Value]) -> list[Value]: ...
    def reduce(self, op: Operation, combine: Any, identity: float | str, x: Value, axes: frozenset[int]) -> Value: ...


class Parts:
    """Builder of an op's nodes. attrs: those of the op."""

    def __init__(self, tracer: _Tracer, op: Operation) -> None:
        self._tracer, self._op, self.attrs = tracer, op, op.attrs
        self._nodes: list[Node] = tracer.traced.nodes

    def map(self, definition: Scalar, *values: Value, **attrs: Any) -> Value:
        """Return a definition of the values, broadcast, in the dtype of the first one. attrs: its keywords."""
        ins = [uniform(self._tracer.straight(self._op, v)) for v in values]
        out = temp(values[0].type, broadcast_shapes([v.shape for v in ins]))
        self._nodes.append(Elementwise(self._op, definition, values[0].type, ins, [out], tuple(attrs.items())))
        return out

    def sum(self, x: Value, axes: Collection[int]) -> Value:
        """Return the sums over axes, which stay as 1."""
        return self._tracer.reduce(self._op, *COMBINE["rowsum"], x, frozenset(axes))

    @staticmethod
    def along(vector: Value, axis: int, rank: int) -> Value:
        """Return a vector as a tensor of a rank whose other axes are 1."""
        view = vector.view
        for i in range(rank):
            view = view if i == axis else view.insert(i)
        return Value(vector.buffer, view, None if vector.known is None else vector.known.reshape(view.shape))

    @classmethod
    def vector(cls, value: Value) -> Value:
        """Return a value of which all axes but one are 1 as a vector."""
        return cls.reshaped(value, prod(value.shape))

    @staticmethod
    def reshaped(value: Value, *sizes: int) -> Value:
        """Return the elements of a value, which lie in one row, in another shape."""
        known = None if value.known is None else value.known.reshape(sizes)
        return Value(value.buffer, value.view.reshape(sizes), known)

    @staticmethod
    def number(number: int, type: str) -> Value:
        """Return a constant of one element, from an integer or Size."""
        return known(one_number(number, type))

    @staticmethod
    def known(array: np.ndarray) -> Value:
        """Return a constant."""
        return known(array)


def called_as(op: Operation, type: str, device: str) -> str:
    """Return the dtype in which a hand-written kernel for a device takes and gives values of a dtype."""
    widened = ("widened",) if device == "cuda" else ("widened", "summed")
    return computed_as(type) if isinstance(op.spec, (kinds.Kernel, kinds.Random)) and op.spec.halves in widened \
        else type


def by_hand(tracer: _Tracer, op: Operation, ins: list[Value]) -> list[Value]:
    """Trace an op written by hand: as views, composed, or by a call; results of widened floats are rounded."""
    views = free_views(op, ins)
    if views is not None:
        return views
    wide = [_converted(tracer, op, v, called_as(op, v.type, tracer.target.device)) for v in ins]
    composition = op.spec.composition if isinstance(op.spec, kinds.Kernel) else None
    made = tracer.call(op, wide) if composition is None else composition(Parts(tracer, op), *wide)
    return [_converted(tracer, op, y, numpy_name(t.dtype.base_dtype)) for y, t in zip(made, op.outputs, strict=True)]


def _converted(tracer: _Tracer, op: Operation, value: Value, type: str) -> Value:
    if value.type == type:
        return value
    return known(convert(value.known, type)) if isinstance(value.known, np.ndarray) else mapped(
        tracer.traced.nodes, op, COPY, value, type)
