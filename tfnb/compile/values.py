"""The intermediate representation of the shape-specialized compiler: buffers, values and nodes.

Every shape is static here. A `Value` is a strided view of a `Buffer`; a value that is known at compile time carries
its array. Nodes compute values from values, and are in topological order; fusion groups them, lowering makes kernels.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import prod
from typing import Any, Literal

import numpy as np

from tfnb.compile.sized import SizedArray, is_even, values_of
from tfnb.graph.parts.operation import Operation
from tfnb.kernels.launch import Call as KernelCall
from tfnb.kernels.launch import Launch, Meta
from tfnb.kernels.scalar.definition import Scalar
from tfnb.kernels.scalar.number_types import HALVES
from tfnb.kernels.scalar.rowwise import Fragment
from tfnb.kernels.view import NeedsCopy, View
from tfnb.opdef import kinds
from tfnb.ops.declaration.evaluate import movement_views


@dataclass(eq=False, slots=True)
class Buffer:
    """A piece of memory: `size` elements of `type` (a NumPy dtype name).

    role: "temp" (in the arena), "input" or "output" (number `index` of the stage), "variable" (of op `owner`),
    "state" (generator state of op `owner`), "const" (the memory of `array`), "scratch"; in a loop
    also "resident" (the head of elements, number `index`), "element" (one of these, which a launch finds anew in each
    iteration), "table" (of the words that name it).
    """

    role: str
    type: str
    size: int
    index: int = -1
    owner: Operation | None = None
    array: Any = None

    @property
    def nbytes(self) -> int:
        """Its size in bytes."""
        return self.size * np.dtype(self.type).itemsize


@dataclass(eq=False, slots=True)
class Value:
    """A view of a buffer; `known` is its array if the value is known at compile time.

    count: the number of its valid rows, where it depends on data (compile/planning/padded.py).
    """

    buffer: Buffer
    view: View
    known: Any = None
    count: Value | None = None

    @property
    def type(self) -> str:
        """The name of its NumPy dtype."""
        return self.buffer.type

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        return self.view.shape

    def is_plain(self) -> bool:
        """Return whether it is a whole buffer in row-major order."""
        return self.view.offset == 0 and self.view.size == self.buffer.size and self.view.is_row_major()


@dataclass(eq=False, slots=True)
class Elementwise:
    """outs = scalar(ins), broadcast to the shape of the outputs. An output in a variable's buffer is an update."""

    op: Operation
    scalar: Scalar | Fragment
    type: str
    ins: list[Value]
    outs: list[Value]
    attrs: tuple[tuple[str, Any], ...] = ()


@dataclass(eq=False, slots=True)
class Reduction:
    """outs[0] = ins[0] combined over `axes`; the output is row-major over the kept axes."""

    op: Operation
    combine: Scalar | Fragment
    identity: float | str
    type: str
    axes: frozenset[int]
    ins: list[Value]
    outs: list[Value]
    finish: Scalar | None = None


@dataclass(eq=False, slots=True)
class Call:
    """A call of a hand-written kernel on row-major inputs. launches: its launches, if not those of the op's own kernel;
    also: other ops that it computes (a sum of matmuls)."""

    op: Operation
    ins: list[Value]
    outs: list[Value]
    state: Buffer | None = None
    attrs: dict[str, Any] = field(default_factory=dict)
    launches: Callable[[KernelCall], Sequence[Launch]] | None = None
    also: tuple[Operation, ...] = ()


Node = Elementwise | Reduction | Call


def node_ops(node: Node) -> tuple[Operation, ...]:
    """Return the ops that a node computes."""
    return (node.op, *node.also) if isinstance(node, Call) else (node.op,)


def kernel_call(node: Call, device: Literal["cpu", "cuda"] = "cpu") -> KernelCall:
    """Return a call's static arguments, as hand-written kernels take them for a device."""
    moved = isinstance(node.op.spec, (kinds.Kernel, kinds.Random)) and node.op.spec.halves == "moved"
    ins, outs = (tuple(_meta(v, moved) for v in values) for values in (node.ins, node.outs))
    return KernelCall(ins, outs, node.attrs, device=device)


def _meta(value: Value, moved: bool) -> Meta:
    """Return what a kernel knows of a value. moved: 16-bit floats are 16-bit integers to it."""
    if moved and value.type in HALVES:
        known = value.known
        return Meta("uint16", value.shape, known.view(np.uint16) if isinstance(known, np.ndarray) else known)
    return Meta(value.type, value.shape, value.known)


def temp(kind: str, shape: Sequence[int]) -> Value:
    """Build a new temporary value."""
    return Value(Buffer("temp", kind, prod(shape)), View.whole(shape))


def known(array: Any) -> Value:
    """Build a compile-time constant, of an array or SizedArray."""
    if isinstance(array, SizedArray):
        return Value(Buffer("const", type_name(array.dtype), array.size, array=array), View.whole(array.shape), array)
    fixed = np.ascontiguousarray(array).reshape(np.shape(array))
    return Value(Buffer("const", type_name(fixed.dtype), fixed.size, array=fixed), View.whole(fixed.shape), fixed)


@cache                                     # NumPy takes 3 us to spell a name
def type_name(dtype: np.dtype) -> str:
    """Return the name of a NumPy dtype."""
    return str(dtype.name)


def uniform(value: Value) -> Value:
    """Return a known value with equal elements as a broadcast scalar, so that it need not be read; others as is."""
    array = value.known
    if array is None or array.size <= 1 or array.dtype.kind not in "fiub":
        return value
    if isinstance(array, SizedArray):
        only = array.one()
        return value if only is None else Value((one := known(only)).buffer, one.view.broadcast(value.shape), array)
    if not is_even(array):
        return value
    one = known(array.reshape(-1)[:1].reshape(()))
    return Value(one.buffer, one.view.broadcast(value.shape), array)


def free_views(op: Operation, ins: Sequence[Value]) -> list[Value] | None:
    """Return the outputs of an op that only restrides its first input, as views; None where it takes a kernel."""
    if not isinstance(op.spec, kinds.Kernel) or op.spec.view is None:
        return None
    try:
        views = movement_views(op, ins[0].view, [values_of(v.known) for v in ins[1:]])
    except NeedsCopy:
        return None
    return [Value(ins[0].buffer, view) for view in views]
