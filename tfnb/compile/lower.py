"""Lowering: from fusion groups to kernels (loop nest, operands, body) and the arguments of their launches."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from tfnb.compile.fuse import CHUNK, Group, Pattern, pattern
from tfnb.compile.reach import STATUS, Places, Ref
from tfnb.compile.sized import one_number
from tfnb.compile.spaces import SHORT_ROW, VECTORS, axis_order, blocks_of_columns, collapse, walks_columns
from tfnb.compile.target import CPU, Target
from tfnb.compile.values import Buffer, Call, Elementwise, Reduction, Value, kernel_call, node_ops
from tfnb.graph.parts.operation import Operation
from tfnb.kernels.cpu.matmul.tiled import Epilogue
from tfnb.kernels.launch import Address, Code
from tfnb.kernels.llvm import streaming
from tfnb.kernels.sizes import highest
from tfnb.kernels.spec import ColumnKernel, Kernel, MapKernel, Operand, Reduce, RowKernel, Source, Stmt
from tfnb.opdef import kinds
from tfnb.ops.declaration.validate import misused

GRAIN = 32768            # elements that one thread takes at a time; fixed, so results never depend on threads
LEAST_ROWS, MOST_REPEATED = 64, 6


@dataclass(frozen=True, slots=True)
class Step:
    """One kernel launch. source: the kernel's; args: argument words; ops: those that it computes.

    items, grain: the number of work items, and of those that a thread takes at a time; on a GPU blocks and threads a
    block. operations: arithmetic operations of all launches of its op (kinds.Kernel: work), or 0; writes: whether it
    writes to a variable or to the state of a generator; kernel: the record of a fused kernel for the CPU.
    """

    source: str
    args: tuple[int | Ref | Code, ...]
    items: int
    grain: int
    ops: tuple[Operation, ...]
    operations: int = 0
    writes: bool = False
    kernel: Kernel | None = None


def lower(groups: Sequence[Group], stored: set[Buffer], target: Target = CPU) -> list[Step]:
    """Lower all groups to launches on a target, in order. stored: the buffers that must be materialized."""
    steps: list[Step] = []
    for group in groups:
        loops = _Loops(group, stored, target)
        if group.is_call:
            steps += _lower_call(group, stored, target)
        elif group.axes is None:
            steps.append(loops.map())
        elif group.is_whole():
            steps += loops.chunks()
        elif group.is_columns() and walks_columns(group, target.least_columns):
            steps.append(loops.columns())
        elif target.blocked and (step := loops.blocks_of_columns()) is not None:
            steps.append(step)
        else:
            steps.append(loops.rows())
    return steps


def renamed(step: Step, places: Mapping[Buffer, Ref]) -> Step:
    """Return the step with other memory for some buffers."""
    if not any(isinstance(arg, Ref) and arg.buffer in places for arg in step.args):
        return step
    return replace(step, args=tuple(
        replace(arg, buffer=places[arg.buffer].buffer, offset=places[arg.buffer].offset + arg.offset)
        if isinstance(arg, Ref) and arg.buffer in places else arg for arg in step.args))


class _Loops:
    """Builder of a group's kernel: named operands, the body, and the addresses of the operands."""

    def __init__(self, group: Group, stored: set[Buffer], target: Target = CPU) -> None:
        self.group = group
        self.stored = stored
        self.target = target
        self.names: dict[Buffer, str] = {}
        self.loads: dict[tuple[Buffer, Pattern], str] = {}
        self.scratch: dict[str, Buffer] = {}
        self.body: list[Stmt | Reduce] = []
        self.addresses: dict[tuple[str, str], Ref] = {}
        self.ops = tuple(dict.fromkeys(node.op for node in group.nodes))

    def map(self) -> Step:
        """Build a map kernel: no reduction."""
        self._fill(self.group.nodes)
        stores = self._stores(self.group.written)
        sizes, loads, kept, _ = self._operands(stores, list(range(len(self.group.space))), 0)
        rank = len(sizes)
        repeated = self._repeated(sizes) if self.target.blocked and rank == 2 else ()
        if repeated:
            loads, kept = (tuple(replace(o, steps=o.steps[1:]) for o in each) for each in (loads, kept))
            kernel = MapKernel(1, loads, tuple(s for s in self.body if isinstance(s, Stmt)), kept, repeated)
            return self._step(kernel, sizes, sizes[0], _grain(sizes[1]))
        kernel = MapKernel(rank, loads, tuple(s for s in self.body if isinstance(s, Stmt)), kept)
        items = prod(sizes) if rank <= 1 else prod(sizes[:-1])
        return self._step(kernel, sizes, items, GRAIN if rank <= 1 else _grain(sizes[-1]))

    def _repeated(self, sizes: Sequence[int]) -> tuple[str, ...]:
        """Return the loads of one short row that serve every row, where all else has its rows one behind another.

        None of them (an empty tuple) where rows fill vectors, or are too few to be worth tiles.
        """
        rows, size = sizes
        if size > SHORT_ROW or rows < LEAST_ROWS or size % VECTORS == 0:
            return ()
        ways = {(side, name): (steps[0], steps[1]) for (side, name), steps in self.strides.items()}
        once = tuple(name for (side, name), steps in ways.items() if side == "load" and steps == (0, 1))
        rest = [steps in ((size, 1), *[(0, 0)] * (side == "load")) for (side, name), steps in ways.items()
                if side == "store" or name not in once]
        return once if all(rest) and len(once) <= MOST_REPEATED else ()

    def blocks(self, columns: int) -> Step:
        """Build a map kernel over a matrix in blocks of `columns` columns: the epilogue of a blocked matmul."""
        height, width = self.group.space
        if columns == width and (whole := _Loops(self.group, self.stored).map()).items > height:
            return whole
        self._fill(self.group.nodes)
        stores = self._stores(self.group.written)
        strides = [[across * columns, down, across] for (down, across), _ in self._patterns(stores)]
        skip = int(columns == width)
        loads, kept = self._named(stores, [steps[skip:] for steps in strides])
        kernel = MapKernel(3 - skip, loads, tuple(s for s in self.body if isinstance(s, Stmt)), kept)
        return self._step(kernel, [width // columns, height, columns][skip:], height * width // columns, 0)

    def rows(self) -> Step:
        """Build a row reduction: one result (or row of results) for each point of the kept axes."""
        self._fill(self.group.nodes)
        order, lead = axis_order(self.group)
        sizes, loads, stores, outer = self._operands(self._stores(self.group.written), order, lead)
        if outer == len(sizes):                    # nothing to reduce over but axes of size 1 or none at all
            sizes, loads, stores = [*sizes, 1], _pad(loads), _pad(stores)
        inner = highest(1, prod(sizes[outer:]))
        if len(sizes) - outer == 1 and self.target.blocked:
            stores = self._streams(stores, inner)
        kernel = RowKernel(outer, len(sizes) - outer, loads, tuple(self.body), stores)
        return self._step(kernel, sizes, prod(sizes[:outer]), _grain(inner))

    def _streams(self, stores: Sequence[Operand], row: int) -> tuple[Operand, ...]:
        """Mark as streaming (non-temporal) the stores that are too large for the caches. row: elements in a row."""
        buffers = {self.names[b]: b for b in self.group.written}

        def way(store: Operand) -> str:
            """Return how a store bypasses the caches: "element" by element, by "row", or "" if it does not."""
            buffer, size = buffers[store.name], np.dtype(store.type).itemsize
            if store.steps[-1] != "1" or buffer.role not in ("temp", "output") \
                    or not streaming.pays(row * size, buffer.nbytes):
                return ""
            steps = self.strides["store", store.name][:-1]
            aligned = all(step * size % streaming.LINE == 0 for step in steps)
            return "element" if aligned else "row"

        return tuple(replace(store, streams=way(store)) for store in stores)

    def columns(self) -> Step:
        """Build a column reduction: it reduces the leading axes, vectorised over the kept ones."""
        self._fill(self.group.nodes)
        order, lead = axis_order(self.group, columns=True)
        sizes, loads, stores, _ = self._operands(self._stores(self.group.written), order, lead)
        for stmt in self.body:
            if isinstance(stmt, Reduce):
                self.scratch[stmt.result] = Buffer("temp", stmt.type, sizes[1])
        kernel = ColumnKernel(loads, tuple(self.body), stores)
        return self._step(kernel, sizes, sizes[1], highest(64, _grain(sizes[0])))

    def blocks_of_columns(self) -> Step | None:
        """Build a reduction of middle axes as column reductions side by side; None where the space is none of those."""
        patterns = [p for found in self.group.read.values() for p in found] + list(self.group.written.values())
        if blocks_of_columns(self.group, patterns) is None:
            return None
        self._fill(self.group.nodes)
        stores = self._stores(self.group.written)
        found = blocks_of_columns(self.group, self._patterns(stores))
        assert found is not None, "operands of a group collapse to fewer loops than all it touches"
        sizes, strides = found
        loads, kept = self._named(stores, strides)
        for stmt in self.body:
            if isinstance(stmt, Reduce):
                self.scratch[stmt.result] = Buffer("temp", stmt.type, sizes[0] * sizes[2])
        kernel = ColumnKernel(loads, tuple(self.body), kept, 1)
        return self._step(kernel, sizes, sizes[0], _grain(sizes[1] * sizes[2]))

    def chunks(self) -> list[Step]:
        """Build a two-stage reduction to a scalar: one kernel reduces fixed chunks, a second combines the partial
        results and computes the row-level nodes."""
        group, total = self.group, prod(self.group.space)
        count = -(-total // CHUNK)
        first, last = _split(group)
        self._fill(first, finish=False)
        partial = {stmt.result: Buffer("temp", stmt.type, count) for stmt in self.body if isinstance(stmt, Reduce)}
        reductions = [node for node in first if isinstance(node, Reduction)]
        full = {b: p for b, p in group.written.items() if any(b is v.buffer for n in first for v in n.outs)
                and not any(b is n.outs[0].buffer for n in reductions)}
        order, lead = axis_order(group)
        stores = self._stores(full)
        sizes, loads, kept, outer = self._operands(stores, order, lead)
        if outer or len(sizes) != 1:
            return [self.rows_whole()]
        row = [Operand(name, buffer.type, ("0",)) for name, buffer in partial.items()]
        for name, buffer in partial.items():
            self.addresses["store", name] = Ref(buffer)
        kernel = RowKernel(0, 1, loads, tuple(self.body), (*kept, *row), chunk=CHUNK)
        step = self._step(kernel, sizes, count, _grain(CHUNK))
        return [step, self._combine(last, reductions, partial, count)]

    def rows_whole(self) -> Step:
        """Build a reduction to a scalar over memory that is not one vector, as a single row: the slow path."""
        return _Loops(self.group, self.stored, self.target).rows()

    def _combine(self, nodes: Sequence[Elementwise], reductions: Sequence[Reduction], partial: dict[str, Buffer],
                 count: int) -> Step:
        last = _Loops(Group((count,), frozenset({0})), self.stored, self.target)
        last.ops = self.ops
        for node, (name, buffer) in zip(reductions, partial.items(), strict=True):
            last.names[buffer] = name = last._load(buffer, ((1,), 0))
            last._reduce(node, name, prod(self.group.space), finish=True)
        for row in nodes:
            last._stmt(row, [last._row_name(v) for v in row.ins])
        every: list[Elementwise | Reduction] = [*reductions, *nodes]
        made = [v.buffer for n in every for v in n.outs if v.buffer in self.stored]
        stores = last._stores({b: ((0,), 0) for b in dict.fromkeys(made)})
        sizes, loads, kept, outer = last._operands(stores, [0], 0)
        if not sizes:
            sizes, loads, kept = [1], _pad(loads), _pad(kept)
        return last._step(RowKernel(0, 1, loads, tuple(last.body), kept), sizes, 1, 0)

    def _row_name(self, value: Value) -> str:
        return self.names.get(value.buffer) or self._load(value.buffer, ((0,), value.view.offset))

    def _fill(self, nodes: Sequence[Elementwise | Reduction | Call], finish: bool = True) -> None:
        for node in nodes:
            assert not isinstance(node, Call)
            shape = self.group.space if isinstance(node, Reduction) else node.outs[0].shape
            args = [self._name(v, shape) for v in node.ins]
            if isinstance(node, Reduction):
                self._reduce(node, args[0], prod(self.group.space[i] for i in node.axes), finish)
            else:
                self._stmt(node, args)

    def _stmt(self, node: Elementwise, args: list[str]) -> None:
        results = tuple(f"r{len(self.body)}_{i}" for i in range(len(node.outs)))
        self.body.append(Stmt(node.scalar, node.type, tuple(args), results, tuple(v.type for v in node.outs),
                              node.attrs, node.op.type))
        self.names.update((v.buffer, name) for v, name in zip(node.outs, results, strict=True))

    def _reduce(self, node: Reduction, arg: str, count: int, finish: bool) -> None:
        result = f"r{len(self.body)}"
        self.body.append(Reduce(node.combine, node.identity, node.type, arg, result, label=node.op.type))
        if finish and node.finish is not None:
            n = one_number(count, node.type)
            name = self._load(Buffer("const", node.type, 1, array=n), (tuple(0 for _ in self.group.space), 0))
            self.body.append(Stmt(node.finish, node.type, (result, name), (f"{result}_f",), (node.type,)))
            result = f"{result}_f"
        self.names[node.outs[0].buffer] = result

    def _name(self, value: Value, shape: Sequence[int]) -> str:
        if value.buffer in self.names:
            return self.names[value.buffer]
        return self._load(value.buffer, pattern(self.group, value, shape))

    def _load(self, buffer: Buffer, found: Pattern) -> str:
        name = self.loads.setdefault((buffer, found), f"x{len(self.loads)}")
        self.addresses["load", name] = Ref(buffer, found[1] * np.dtype(buffer.type).itemsize)
        return name

    def _stores(self, written: dict[Buffer, Pattern]) -> list[tuple[Buffer, Pattern]]:
        kept = [(b, p) for b, p in written.items() if b in self.stored]
        for buffer, (_, offset) in kept:
            self.addresses["store", self.names[buffer]] = Ref(buffer, offset * np.dtype(buffer.type).itemsize)
        return kept

    def _operands(self, stores: list[tuple[Buffer, Pattern]], order: Sequence[int],
                  lead: int) -> tuple[list[int], tuple[Operand, ...], tuple[Operand, ...], int]:
        """Return the sizes of the loops, the loads and the stores over them, and the number of outer loops."""
        sizes, strides, border = collapse(self.group.space, self._patterns(stores), order, lead)
        return sizes, *self._named(stores, strides), border

    def _patterns(self, stores: list[tuple[Buffer, Pattern]]) -> list[Pattern]:
        return [p for _, p in self.loads] + [p for _, p in stores]

    def _named(self, stores: list[tuple[Buffer, Pattern]],
               strides: Sequence[list[int]]) -> tuple[tuple[Operand, ...], tuple[Operand, ...]]:
        """Return the operands for the loads and the stores, with these strides over the loops."""
        types = [b.type for b, _ in self.loads] + [b.type for b, _ in stores]
        names = [*self.loads.values(), *(self.names[b] for b, _ in stores)]
        made = [Operand(n, t, tuple(_step_kind(s, self.target) for s in steps))
                for n, t, steps in zip(names, types, strides, strict=True)]
        count = len(self.loads)
        loaded = {b for b, _ in self.loads}
        private = [replace(o, private=b not in loaded) for o, (b, _) in zip(made[count:], stores, strict=True)]
        self.strides = {("load" if i < count else "store", n): s
                        for i, (n, s) in enumerate(zip(names, strides, strict=True))}
        return tuple(made[:count]), tuple(private)

    def _step(self, kernel: Kernel, sizes: Sequence[int], items: int, grain: int) -> Step:
        source = self.target.emit(kernel, sizes)
        return Step(source.code, tuple(self._word(word, sizes) for word in source.layout),
                    *self.target.grid(kernel, sizes, items, grain), self.ops,
                    writes=any(b.role == "variable" for b in self.group.written),
                    kernel=kernel if self.target.blocked else None)

    def _word(self, word: tuple[object, ...], sizes: Sequence[int]) -> int | Ref:
        match word:
            case ("size", int(dim)):
                return sizes[dim]
            case ("scratch", str(name)):
                return Ref(self.scratch[name])
            case ("step", str(side), str(name), int(dim)):
                step = self.strides[side, name][dim]
                return step if self.target.walks_back else abs(step)
            case (str(side), str(name)):
                return self._lowest(self.addresses[side, name], self.strides.get((side, name), ()), sizes)
        raise AssertionError(f"unknown argument word {word}")


    def _lowest(self, ref: Ref, steps: Sequence[int], sizes: Sequence[int]) -> Ref:
        """Return the base address of an operand; with negative strides on a target that has none, its lowest one."""
        if self.target.walks_back or min(steps, default=0) >= 0:
            return ref
        back = sum((n - 1) * step for n, step in zip(sizes, steps, strict=False) if step < 0)
        return Ref(ref.buffer, ref.offset + back * np.dtype(ref.buffer.type).itemsize)


def _grain(elements: int) -> int:
    """Return the number of items that a thread takes at a time. elements: of an item."""
    grain: int = highest(1, GRAIN // highest(1, elements))
    return grain


def _step_kind(stride: int, target: Target) -> str:
    if stride < 0 and not target.walks_back:
        return "b"
    return str(stride) if stride in (0, 1) else "s"


def _pad(operands: Sequence[Operand]) -> tuple[Operand, ...]:
    return tuple(replace(o, steps=(*o.steps, "0")) for o in operands)


def _split(group: Group) -> tuple[list[Elementwise | Reduction], list[Elementwise]]:
    """Split a group into the nodes up to the reductions (full-level) and the row-level ones after them."""
    after: set[Buffer] = set()
    first: list[Elementwise | Reduction] = []
    last: list[Elementwise] = []
    for node in group.nodes:
        assert not isinstance(node, Call)
        late = isinstance(node, Elementwise) and (node.outs[0].shape != group.space
                                                  or any(v.buffer in after for v in node.ins))
        if isinstance(node, Elementwise) and late:
            last.append(node)
        else:
            first.append(node)
        if late or isinstance(node, Reduction):
            after.update(v.buffer for v in node.outs)
    return first, last


def _lower_call(group: Group, stored: set[Buffer], target: Target) -> list[Step]:
    """Lower a hand-written kernel to launches, with its epilogue if it has one."""
    node = group.nodes[0]
    assert isinstance(node, Call)
    call, ops = kernel_call(node, target.device), node_ops(node)
    spec = node.op.spec
    lowered: Any = node.launches or target.launches(spec)
    follow: Sequence[int | Ref | Code] = ()
    if group.epilogue is not None:
        assert isinstance(spec, kinds.Kernel)
        columns = spec.contraction.columns(call)
        step = _Loops(group.epilogue, stored).blocks(columns)
        follow, ops = step.args, (*ops, *step.ops)
        words, row_items = tuple(Address("epilogue", i) for i in range(len(follow))), step.items * columns
        lowered = partial(lowered, epilogue=Epilogue(step.source, words, row_items // prod(group.epilogue.space)))
    try:
        launches = lowered(call)
    except (ValueError, OverflowError, MemoryError) as error:
        raise misused(node.op, error, [v.shape for v in node.ins]) from error
    place = Places(node, call, follow, group.target, target.blocked)
    work = spec.work if isinstance(spec, kinds.Kernel) and node.launches is None else None
    operations = work(call) if work is not None else 0
    writes = node.state is not None or any(v.buffer.role == "variable" for v in node.outs) or (
        group.epilogue is not None and any(b.role == "variable" for b in group.epilogue.written))
    return [Step(launch.source, place.words(launch), launch.items, launch.grain,
                 ops if launch is launches[-1] else (node.op,), operations, writes) for launch in launches]


__all__ = ["Ref", "STATUS", "Source", "Step", "lower"]
