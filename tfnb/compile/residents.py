"""Compilation of TensorArray and stack ops in loop bodies: kernels that read, write, push and pop.

The elements of each lie in one buffer, of which the program gets the header (resources/rows.py). A program is
specialized to one element shape for each buffer: that of the elements present when the loop begins, or else of the
first write.

    count_accesses(nodes, residents)
                                leaves out pushes of one value and pops of equal elements: the loop counts them
    schedule_accesses(nodes)    reads and pops first, writes and pushes last: fusion makes a kernel of each part of the
                                elementwise nodes that such calls stand between
    copy_moved(nodes), in_place(once, steps, nodes, residents)
                                launches make what is pushed or written, and read what is popped, where the element
                                lies: one points the argument words that name a value at it, and none copies it
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from tfnb.compile.copies import COPY
from tfnb.compile.lower import Step, renamed
from tfnb.compile.reach import STATUS, Ref
from tfnb.compile.values import Buffer, Call, Elementwise, Node, Value, known, temp
from tfnb.graph.parts.operation import Operation
from tfnb.kernels.launch import Address, Code, Launch
from tfnb.kernels.library import elements as kernels
from tfnb.kernels.view import View
from tfnb.ops.declaration.evaluate import numpy_name
from tfnb.resources.rows import HEAD_WORDS

_SCALAR = View.whole(())
LEAST_BYTES = 512        # of an element that is used in place: copying a smaller one takes less time than two launches
_NO_FLOW = np.zeros((), np.float32)                # flows order ops, and have no other meaning


class Element(NamedTuple):
    """Static properties of the elements behind an input: dtype (None: any), shape (None: there are none), whether
    repeated writes accumulate, and the bytes of a value that all are equal to, where that matters."""

    type: str | None
    shape: tuple[int, ...] | None
    sums: bool
    alike: bytes | None = None


@dataclass(slots=True)
class Resident:
    """An element buffer that a program uses: that of stage input `input`, or of the gradients `source` of it.

    alike: the value that all elements are equal to when the loop begins; pushed: the bytes of each pushed value that is
    loop-invariant, None for others. counted: the number of equal elements that an iteration pushes on a stack (popped:
    below 0), where only their number changes and no kernel does that; else 0. element: the one that is pushed then.
    """

    input: int
    source: bytes | None
    type: str | None
    shape: tuple[int, ...] | None
    sums: bool
    alike: bytes | None = None
    pushed: set[bytes | None] = field(default_factory=set)
    counted: int = 0
    element: np.ndarray | None = None


@dataclass(slots=True)
class Residents:
    """The element buffers of one program. nodes: the list to which their nodes are appended."""

    nodes: list[Node]
    found: list[Resident] = field(default_factory=list)
    _places: dict[tuple[int, bytes | None], int] = field(default_factory=dict)

    def enter(self, index: int, element: Element) -> Value:
        """Return the handle that is input number `index`, registered with its static properties."""
        made = self._value(index, None, element.type, element.shape, element.sums)
        self.found[made.buffer.index].alike = element.alike
        return made

    def _value(self, index: int, source: bytes | None, type: str | None, shape: tuple[int, ...] | None,
               sums: bool) -> Value:
        number = self._places.setdefault((index, source), len(self.found))
        if number == len(self.found):
            self.found.append(Resident(index, source, type, shape, sums))
        return Value(Buffer("resident", "int64", HEAD_WORDS, index=number), _SCALAR)

    def access(self, op: Operation, ins: Sequence[Value]) -> list[Value]:
        """Trace an op on a handle and return its outputs. Raises ValueError for elements of unequal dtype or shape."""
        handle = ins[0]
        if handle.buffer.role != "resident":
            raise ValueError("its handle is not one of a TensorArray or stack")
        return _ACCESS[op.spec.element](self, op, handle, *ins[1:])

    def _of(self, handle: Value, type: str, shape: tuple[int, ...] | None = None) -> Resident:
        """Return the element buffer of a handle, unified with the dtype and shape of one of its elements."""
        of = self.found[handle.buffer.index]
        of.type, of.shape = of.type or type, of.shape if of.shape is not None else shape
        if of.type != type or of.shape is None or shape not in (None, of.shape):
            raise ValueError(f"elements {of.type}{of.shape}, but one is {type}{shape}")
        return of

    def _call(self, op: Operation, kernel: Callable[..., Any], handle: Value, ins: Sequence[Value],
              outs: Sequence[Value]) -> None:
        launches = partial(kernel, number=handle.buffer.index)
        self.nodes.append(Call(op, [*ins, handle], [*outs, handle], launches=launches))

    def read(self, op: Operation, handle: Value, index: Value, flow: Value) -> list[Value]:
        """Read the element at `index`. The kernel stops the tape where there is none."""
        of = self._of(handle, numpy_name(op.outputs[0].dtype))
        out = temp(of.type, of.shape)                   # type: ignore[arg-type]
        self._call(op, kernels.read, handle, [index], [out])
        return [out]

    def write(self, op: Operation, handle: Value, index: Value, value: Value, flow: Value) -> list[Value]:
        """Write `value` at `index`; the output is the flow, a constant."""
        of = self._of(handle, value.type, value.shape)
        self._call(op, partial(kernels.write, add=of.sums), handle, [index, value], [])
        return [known(_NO_FLOW)]

    def size(self, op: Operation, handle: Value, flow: Value) -> list[Value]:
        """Return the number of elements: an int32 scalar."""
        out = temp("int32", ())
        self._call(op, kernels.size, handle, [], [out])
        return [out]

    def gradient(self, op: Operation, handle: Value, flow: Value) -> list[Value]:
        """Return the handle of the array of gradients. Raises ValueError for gradients of gradients."""
        of = self.found[handle.buffer.index]
        if of.source is not None or of.sums:
            raise ValueError("there is no second order of gradients")
        return [self._value(of.input, op.attrs["source"], of.type, of.shape, True), known(_NO_FLOW)]

    def push(self, op: Operation, handle: Value, value: Value) -> list[Value]:
        """Push `value`; the output is `value`."""
        of = self._of(handle, value.type, value.shape)
        of.pushed.add(None if value.known is None else value.known.tobytes())
        self._call(op, kernels.push, handle, [value], [])
        return [value]

    def pop(self, op: Operation, handle: Value) -> list[Value]:
        """Pop the top element: a constant where all pushed values are equal."""
        of = self._of(handle, numpy_name(op.outputs[0].dtype))
        out = temp(of.type, of.shape)                   # type: ignore[arg-type]
        self._call(op, kernels.pop, handle, [], [out])
        if of.alike is not None:
            return [known(np.frombuffer(of.alike, of.type).reshape(out.shape))]
        return [out]


_ACCESS: dict[str, Callable[..., list[Value]]] = {
    "read": Residents.read, "write": Residents.write, "size": Residents.size, "gradient": Residents.gradient,
    "push": Residents.push, "pop": Residents.pop}


def count_accesses(nodes: Sequence[Node], residents: Sequence[Resident]) -> list[Node]:
    """Drop the accesses to stacks whose elements are all equal to one known value: those of a loop's shapes, mostly.

    Their residents are `counted`. A stack that is both pushed and popped keeps its accesses.
    """
    access = {number: set[str]() for number in range(len(residents))}
    uses: Counter[int] = Counter()
    for node in nodes:
        for value in node.ins:
            if value.buffer.role == "resident":
                access[value.buffer.index].add(node.op.spec.element)
                uses[value.buffer.index] += 1
    for number, resident in enumerate(residents):
        if access[number] == {"pop"} and resident.alike is not None:
            resident.counted = -uses[number]
        elif access[number] == {"push"} and len(resident.pushed) == 1 and None not in resident.pushed:
            only, = resident.pushed
            assert only is not None and resident.type is not None and resident.shape is not None
            resident.counted = uses[number]
            resident.element = np.frombuffer(only, resident.type).reshape(resident.shape)
    counted = {number for number, resident in enumerate(residents) if resident.counted}
    return [node for node in nodes
            if not any(v.buffer.role == "resident" and v.buffer.index in counted for v in node.ins)]


_EARLY, _LATE = ("read", "pop"), ("write", "push")


def schedule_accesses(nodes: Sequence[Node]) -> list[Node]:
    """Return the nodes in another topological order; nodes without such calls keep theirs.

    Accesses to one buffer of which one writes stay in order: those of one stack, reads of a variable and its updates.
    """
    classes = [_class(node) for node in nodes]
    if not any(classes):
        return list(nodes)
    followers: list[list[int]] = [[] for _ in nodes]
    missing = [0] * len(nodes)
    for i, earlier in enumerate(_dependencies(nodes)):
        missing[i] = len(earlier)
        for j in earlier:
            followers[j].append(i)
    ready = [(classes[i], i) for i in range(len(nodes)) if not missing[i]]
    heapify(ready)
    found = []
    while ready:
        i = heappop(ready)[1]
        found.append(nodes[i])
        for j in followers[i]:
            missing[j] -= 1
            if not missing[j]:
                heappush(ready, (classes[j], j))
    return found


def _class(node: Node) -> int:
    access = getattr(node.op.spec, "element", None) if isinstance(node, Call) and node.launches is not None else None
    return -1 if access in _EARLY else int(access in _LATE)


def _dependencies(nodes: Sequence[Node]) -> list[set[int]]:
    """Return for each node the earlier ones that it depends on, by the buffers that both use."""
    written: dict[Buffer, int] = {}
    readers: dict[Buffer, list[int]] = {}
    found = []
    for i, node in enumerate(nodes):
        earlier = {written[v.buffer] for v in (*node.ins, *node.outs) if v.buffer in written}
        for value in node.outs:
            earlier.update(readers.pop(value.buffer, ()))
            written[value.buffer] = i
        for value in node.ins:
            readers.setdefault(value.buffer, []).append(i)
        found.append(earlier - {i})
    return found


def copy_moved(nodes: Sequence[Node]) -> list[Node]:
    """Insert a copy before each push and write of a value that has memory of its own: a loop variable, mostly.

    The copy is one store more of a kernel that makes or reads the value, and lies where the element does (`in_place`).
    """
    found: list[Node] = []
    for node in nodes:
        if isinstance(node, Call) and _class(node) == 1:
            i = len(node.ins) - 2                  # before the handle
            value = node.ins[i]
            if value.buffer.role in ("input", "output") and value.is_plain() and value.buffer.nbytes >= LEAST_BYTES:
                copy = temp(value.type, value.shape)
                found.append(Elementwise(node.op, COPY, value.type, [value], [copy]))
                node = replace(node, ins=[*node.ins[:i], copy, *node.ins[i + 1:]])
        found.append(node)
    return found


class _Move(NamedTuple):
    """A step that pushes, pops or writes an element; the head of the elements; the buffer of the value; what it does;
    the address of the index, if it writes."""

    step: Step
    head: Ref
    buffer: Buffer
    access: str
    at: Ref | None = None

    def by(self, launch: Launch) -> Step:
        """Return another launch of its op, with the head, the table of words that name the element, and the index as
        inputs."""
        inputs = self.head, Ref(Buffer("table", "int64", 1, self.head.buffer.index)), self.at

        def word(arg: int | Address | Code) -> int | Ref | Code:
            if not isinstance(arg, Address):
                return arg
            found = Ref(STATUS) if arg.kind == "status" else inputs[arg.index]
            assert found is not None
            return found
        return replace(self.step, source=launch.source, args=tuple(map(word, launch.args)))

    @property
    def pointer(self) -> Step:
        """The launch that points words at the element."""
        number = self.head.buffer.index
        return self.by(kernels.written(self.buffer.nbytes, number) if self.access == "write" else
                       kernels.pointed(self.buffer.nbytes, number, self.access == "pop"))


def in_place(once: Sequence[Step], steps: Sequence[Step], nodes: Sequence[Node],
             residents: Sequence[Resident]) -> list[Step]:
    """Return the steps of an iteration with elements in place, where a value is a buffer that lives in it.

    A pop points words at the element where it stood, a push and a write before all other steps; where a push stood the
    element is counted. once: steps that are not of each iteration; nodes: those that the steps are made of.
    """
    uses = Counter(arg.buffer.index for step in steps for arg in step.args
                   if isinstance(arg, Ref) and arg.buffer.role == "resident")
    made = Counter(v.buffer for node in nodes for v in node.outs)
    outside = {arg.buffer for step in once for arg in step.args if isinstance(arg, Ref)}
    moves = {i: move for i, step in enumerate(steps) if (move := _move(step, residents)) is not None
             and uses[move.head.buffer.index] == 1 and made[move.buffer] == 1 and move.buffer not in outside}
    several = Counter(move.buffer for move in moves.values())
    moves = {i: move for i, move in moves.items() if several[move.buffer] == 1}
    places = {move.buffer: Ref(Buffer("element", move.buffer.type, move.buffer.size, move.head.buffer.index))
              for move in moves.values()}
    found = [move.pointer for move in moves.values() if move.access != "pop"]
    for i, step in enumerate(steps):
        if i not in moves:
            found.append(renamed(step, places))
        elif moves[i].access != "write":
            found.append(moves[i].pointer if moves[i].access == "pop" else moves[i].by(kernels.counted()))
    return found


def _move(step: Step, residents: Sequence[Resident]) -> _Move | None:
    """Return a step as the move of a value in the arena that is worth it, or None."""
    access, head = getattr(step.ops[-1].spec, "element", None) if step.ops else None, next(iter(step.args), None)
    if access not in ("push", "pop", "write") or not isinstance(head, Ref) or head.buffer.role != "resident":
        return None                                # the copy of a value that is pushed is of the same op
    index, value = step.args[1] if access == "write" else None, step.args[1 + (access == "write")]
    assert isinstance(value, Ref) and (index is None or isinstance(index, Ref))
    if index is not None and (index.buffer.role != "input" or residents[head.buffer.index].sums):
        return None                                # it is known before all other steps, and nothing is added
    buffer = value.buffer
    fits = buffer.role == "temp" and not value.offset and buffer.nbytes >= LEAST_BYTES
    return _Move(step, head, buffer, access, index) if fits else None
