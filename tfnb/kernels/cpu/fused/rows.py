"""Source of row kernels and of maps: a loop over rows, passes over each row."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tfnb.kernels.block import Block, fill
from tfnb.kernels.cpu.fused.operands import Arguments, Place, places
from tfnb.kernels.cpu.fused.sources import has_source, template
from tfnb.kernels.nest import depth_of, frontier, nest
from tfnb.kernels.plan import plan
from tfnb.kernels.printer import Printer, literal
from tfnb.kernels.scalar.number_types import dtype_of
from tfnb.kernels.scalar.primitives import is_costly
from tfnb.kernels.spec import MapKernel, Operand, RowKernel, Source

PERIODS = 512            # elements of a tile of repeated rows: a fraction of a row buffer
HEAD = ["FASTMATH = ()", "INDEPENDENT = True", "", "", "def kernel(args, begin, end):"]


def indented(lines: Iterable[str], levels: int = 1) -> list[str]:
    """Indent the lines."""
    return [" " * (4 * levels) + line for line in lines]


def source_text(lines: Sequence[str]) -> str:
    """Return the source of a kernel module from the lines of its body."""
    return "\n".join([*HEAD, *indented(lines), ""])


@dataclass(frozen=True)
class Ending:
    """A line at the end of the innermost loop, from the source of a value."""

    value: int
    line: Callable[[str], str]


class RowText:
    """Writes one kernel. mode: "rows" (items are rows), "chunks" (of a vector), "span" (items are elements) or "tiles".

    tiles: as spans, of several short rows at once. Loads that serve every row are laid out for as many in a buffer, so
    that the innermost loop is long enough for vectors.
    """

    def __init__(self, kernel: MapKernel | RowKernel) -> None:
        loads, stores = kernel.loads, kernel.stores
        self.chunk = 0
        if isinstance(kernel, RowKernel):
            self.outer, self.inner, self.chunk = kernel.outer, kernel.inner, kernel.chunk
            self.mode = "chunks" if kernel.chunk else "rows"
        else:
            self.outer, self.inner, self.mode = max(0, kernel.rank - 1), 1, "rows" if kernel.rank > 1 else "span"
            self.mode = "tiles" if kernel.repeated else self.mode
        self.repeated = kernel.repeated if isinstance(kernel, MapKernel) else ()
        if isinstance(kernel, MapKernel) and kernel.rank == 0:
            loads, stores = _with_a_dimension(loads), _with_a_dimension(stores)
        self.block = Block(has_source)
        values = fill(self.block, kernel)
        self.nest = nest(self.block, loads, self.outer, self.inner)
        self.args = Arguments()
        self.loads, self.stores = places(loads, stores, self.args)
        row = [p for p in self.stores if self._is_row_level(p)]
        self.value = {place.array: values[place.operand.name] for place in self.stores}
        full = [p for p in self.stores if p not in row]
        self.row_stores, self.full_stores = row, full
        self.passes = plan(self.block, self.nest.passes, [self.value[p.array] for p in full],
                           [self.value[p.array] for p in row])
        self.last = self.outer + self.inner - 1
        self.sizes = {d: "n" if d == self.last and self.mode != "rows" else f"n{d}" for d in range(self.last + 1)}
        self.texts = {i: place.load("j", self.last) for i, place in enumerate(self.loads)}
        self.printer = Printer(self.block, lambda v: self._column() if v.primitive == "column" else template(v))
        self.known: dict[int, str] = {}
        self.kept = self._kept() if self.mode == "rows" and self.inner == 1 else {}

    def _kept(self) -> dict[int, tuple[int, Place]]:
        """Return costly values that several passes need: the pass that computes each, and the store that holds it."""
        free = [p for p in self.full_stores if p.operand.private and p.operand.steps[self.last] == "1"]
        found: dict[int, tuple[int, Place]] = {}
        for p in range(1, self.passes.count):
            later = {v for q in range(p + 1, self.passes.count + 1)
                     for v in self.block.needed(self.passes.roots[q], found)}
            for v in sorted(later & set(self.block.needed(self.passes.roots[p], found)), reverse=True):
                value = self.block.values[v]
                if free and is_costly(value.primitive) and self.nest.depths[v] == self.nest.full \
                        and value.type == free[-1].operand.type:
                    found[v] = (p, _readable(free.pop()))
        return found

    def source(self) -> Source:
        """Return the kernel's source and the layout of its argument block."""
        if self.mode == "span":
            lines = ["n = end - begin", *self._start(), *self._row()]
        elif self.mode == "tiles":
            lines = [f"period = {self.args.text('size', 1)}", f"rows = int64(uint64({PERIODS}) // uint64(period))",
                     *self._tiles(), *self._start(),
                     "for tile in range(int64(uint64(end - begin + rows - 1) // uint64(rows))):",
                     *indented(["first = begin + tile * rows", "n = min(rows, end - first) * period", *self._row()])]
        else:
            start = self._start()
            lines = [*start, "for row in range(end - begin):", *indented([*self._indices(), *self._row()])]
            lines += ["stream_end()"] if any(p.operand.streams for p in self.stores) else []
        return Source(source_text(lines), tuple(self.args.layout))

    # --- outside of the rows ---

    def _start(self) -> list[str]:
        """Return the loop-invariant lines: sizes, strides, fixed arrays, values that are the same for all rows."""
        if self.mode == "chunks":
            sizes = [f"size = {self.args.text('size', 0)}"]
        elif self.mode == "rows":
            wanted = range(1 if self.outer else 0, self.last + 1)
            sizes = [f"n{d} = {self.args.text('size', d)}" for d in wanted]
        else:
            sizes = []
        steps = [line for place in (*self.loads, *self.stores) for line in place.step_line(self.args, self.last)]
        values = self._level(0, self.passes.values, None)
        for p in self._buffered():
            type = p.operand.type.replace("bool", "uint8")
            steps += [f"{p.array}_row = row_buffer()", f"{p.array} = {type}_array({p.array}_row, n{self.last})"]
        return [*sizes, *steps, *self._views(0, self._used_arrays(self.passes.values, True)), *values]

    def _tiles(self) -> list[str]:
        """Return the lines that repeat each repeated row in a buffer."""
        lines: list[str] = []
        for place in self.loads:
            if place.operand.name in self.repeated:
                type, array = place.operand.type.replace("bool", "uint8"), place.array
                size = dtype_of(type).itemsize
                lines += [f"{array}_once = {type}_array({place.address(self.args, [])}, period)",
                          f"{array}_row = row_buffer()", f"{array} = {type}_array({array}_row, rows * period)",
                          "for k in range(rows):",
                          f"    {array}_to = {type}_array({array}_row + {size} * (k * period), period)",
                          "    for j in range(period):", f"        {array}_to[j] = {array}_once[j]"]
        return lines

    def _indices(self) -> list[str]:
        """Return the index in each outer dimension, from the number of the row."""
        if self.mode == "chunks":
            return [f"start = {self.chunk} * (begin + row)", f"n = min({self.chunk}, size - start)"]
        if self.outer <= 1:
            return ["i0 = begin + row"] if self.outer else []
        lines = ["rest = uint64(begin + row)"]
        for d in range(self.outer - 1, 0, -1):
            lines += [f"i{d} = int64(rest % uint64(n{d}))", f"rest = rest // uint64(n{d})"]
        return [*lines, "i0 = int64(rest)"]

    # --- one row ---

    def _row(self) -> list[str]:
        lines = [] if self.mode == "span" else self._views(1, self._used_arrays(self.passes.values, True))
        if self.inner and self.nest.full > 1:
            self.known.update({i: self._count(v.type) for i, v in enumerate(self.block.values)
                               if v.primitive == "count"})
        lines += self._level(1, self.passes.values, 0)
        for p in range(1, self.passes.count + 1):
            lines += self._pass(p)
            lines += self._level(1, self.passes.values, p)
        lines += self.printer.lines([self.value[p.array] for p in self.row_stores], self.known, self.texts)
        lines += [p.store("0", self.last, self.known[self.value[p.array]]) for p in self.row_stores]
        return lines + [self._stream(p) for p in self.stores if p.operand.streams == "row"]

    def _buffered(self) -> list[Place]:
        """Return the arrays that are a buffer of one row: of stores streamed by rows, and of values that are kept."""
        kept = [place for _, place in self.kept.values() if place not in self.stores]
        return [p for p in self.stores if p.operand.streams == "row"] + kept

    def _stream(self, place: Place) -> str:
        """Return the line that copies a finished row from its buffer to its destination."""
        size = dtype_of(place.operand.type).itemsize
        address = place.address(self.args, [(f"i{d}", d) for d in range(self.last)])
        return f"stream_row({address}, {place.array}_row, {size} * n{self.last})"

    def _pass(self, p: int) -> list[str]:
        """Return the lines of one walk over the elements of a row."""
        keep = [v for v, (q, _) in self.kept.items() if q == p]
        reductions, roots = self.passes.reductions[p], [*keep, *self.passes.roots[p]]
        names = {r.result: f"acc{self.block.values[r.result].data}" for r in reductions}
        known = self.known | {r.acc: names[r.result] for r in reductions}
        known |= {v: place.load("j", self.last) for v, (q, place) in self.kept.items() if q < p}
        wanted = self.block.needed(roots, known)
        stores = self.full_stores if p == self.passes.count else []
        ends = [Ending(r.update, f"{names[r.result]} = {{}}".format) for r in reductions]
        ends += [Ending(v, partial(self.kept[v][1].store, "j", self.last)) for v in keep]
        ends += [Ending(self.value[place.array], partial(place.store, "j", self.last)) for place in stores]
        self.known.update(names)
        start = [f"{names[r.result]} = {literal(r.identity, r.type)}" for r in reductions]
        arrays = self._used_arrays(wanted, p == self.passes.count)
        return start + self._loop(2, wanted, roots, known, ends, arrays)

    def _loop(self, depth: int, wanted: Sequence[int], roots: Sequence[int], known: dict[int, str],
              ends: Sequence[Ending], arrays: Sequence[Place]) -> list[str]:
        """Return the loop at a depth and all in it."""
        dimension = self.outer + depth - 2
        index = "j" if depth == self.nest.full else f"j{dimension}"
        header = f"for {index} in range({self.sizes[dimension]}):"
        if depth < self.nest.full:
            front = frontier(self.block, wanted, self.nest.depths, depth, roots)
            lines = self._views(depth, arrays) + self.printer.lines(front, known, self.texts)
            return [header, *indented(lines + self._loop(depth + 1, wanted, roots, known, ends, arrays))]
        lines = self.printer.lines(roots, known, self.texts)
        return [header, *indented([*lines, *(end.line(known[end.value]) for end in ends)])]

    # --- parts of these ---

    def _level(self, depth: int, wanted: Iterable[int], ready: int | None) -> list[str]:
        """Return the lines at this depth (0 or 1) for deeper ones; ready: only values known after that many passes."""
        front = frontier(self.block, sorted(wanted), self.nest.depths, depth, self.passes.ends)
        chosen = [v for v in front if v not in self.known and (ready is None or self.nest.passes[v] == ready)]
        return self.printer.lines(chosen, self.known, self.texts)

    def _views(self, depth: int, arrays: Sequence[Place]) -> list[str]:
        """Return lines that make the arrays which move with the loop at this depth and none between it and the last."""
        return [self._view(place) for place in arrays
                if self._view_depth(place) == depth and place.operand.streams != "row"
                and place.operand.name not in self.repeated]

    def _view_depth(self, place: Place) -> int:
        if self.mode in ("chunks", "tiles"):
            return 1 if place.operand.steps[0] != "0" or place in self.row_stores else 0
        return depth_of(place.operand.steps[:-1], self.outer)

    def _view(self, place: Place) -> str:
        moves = place.operand.steps[self.last] != "0"
        if self.mode == "chunks" and place in self.row_stores:
            return place.at(self.args, "begin + row", "1")
        if self.mode == "rows":
            indices = [(f"i{d}" if d < self.outer else f"j{d}", d) for d in range(self.last)]
        else:
            indices = [({"span": "begin", "tiles": "first * period"}.get(self.mode, "start"), 0)]
        return place.view(self.args, indices, self.sizes[self.last] if moves else "1")

    def _used_arrays(self, values: Iterable[int], with_stores: bool) -> list[Place]:
        used = {self.block.values[v].data for v in values if self.block.values[v].primitive == "load"}
        return [p for i, p in enumerate(self.loads) if i in used] + (self.stores if with_stores else [])

    def _is_row_level(self, place: Place) -> bool:
        return self.mode not in ("span", "tiles") and all(step == "0" for step in place.operand.steps[self.outer:])

    def _column(self) -> str:
        """Return the index of an element in its row."""
        text = "start + j" if self.mode == "chunks" else "j"
        for d in range(self.outer, self.last):
            text += f" + j{d}" + "".join(f" * n{e}" for e in range(d + 1, self.last + 1))
        return f"int32({text})"

    def _count(self, type: str) -> str:
        """Return the element count of a row, as a value of a type."""
        return f"{type}({' * '.join(self.sizes[d] for d in range(self.outer, self.last + 1))})"


def _readable(place: Place) -> Place:
    """Return the place that keeps the values of a row until they are stored at `place`."""
    if place.operand.streams != "element":
        return place
    return Place("store", f"{place.array}_kept", replace(place.operand, streams=""))


def _with_a_dimension(operands: Iterable[Operand]) -> tuple[Operand, ...]:
    return tuple(Operand(operand.name, operand.type, ("0",)) for operand in operands)
