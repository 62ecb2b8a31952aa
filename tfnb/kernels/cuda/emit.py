"""Kernel records -> source of CUDA kernels.

The arguments are flat arrays (loads a0, a1, ..., stores o0, ...), then the size of each loop (n0, n1, ...), then the
strides that are neither 0 nor 1 (a0_s1: of a0 in dimension 1), in elements. (An index below 0 would count from the end
of an array, so what is read backwards has a positive stride and an index that falls.) A row sum looks like this:

    def kernel(a0, o0, n0, n1, a0_s0):
        lane = cuda.threadIdx.x
        part0 = cuda.shared.array(128, float32)
        for i in range(cuda.blockIdx.x, n0, cuda.gridDim.x):
            acc0 = float32(0)
            for j in range(lane, n1, 128):
                v0 = a0[i * a0_s0 + j]
                v1 = acc0 + v0  # Sum
                acc0 = v1
            part0[lane] = acc0
            cuda.syncthreads()
            half = 64
            while half > 0:
                if lane < half:
                    p0 = part0[lane]
                    q0 = part0[lane + half]
                    v2 = p0 + q0
                    part0[lane] = v2
                cuda.syncthreads()
                half = half // 2
            acc0 = part0[0]
            cuda.syncthreads()
            if lane == 0:
                o0[i] = acc0

Maps have a thread for each element, rows (or chunks of a vector) a block each, columns a thread each; all walk on by
the size of the grid. Row kernels must be launched with exactly `threads` threads a block.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tfnb.kernels.block import Block, Reduction, fill
from tfnb.kernels.cuda.geometry import THREADS
from tfnb.kernels.cuda.sources import has_source, template
from tfnb.kernels.nest import nest
from tfnb.kernels.plan import Passes, plan
from tfnb.kernels.printer import Printer, constructor, literal
from tfnb.kernels.spec import ColumnKernel, Kernel, Operand, RowKernel, Source, Word


def emit(kernel: Kernel, threads: int = THREADS) -> Source:
    """Return the source of a kernel (a function `kernel`) and the meaning of its arguments.

    threads: how many threads a block has in row kernels, a power of 2. Equal structure gives equal source, whatever the
    operands are called. Raises TypeError for a type or a word that kernels don't have.
    """
    writer = _Writer(kernel, threads)
    if isinstance(kernel, ColumnKernel):
        body = writer.columns()
    else:
        body = writer.rows() if isinstance(kernel, RowKernel) else writer.elements()
    return Source("\n".join([f"def kernel({', '.join(writer.parameters)}):", *_indented(body), ""]), writer.layout)


def argument_types(kernel: Kernel, source: Source) -> list[tuple[str, bool]]:
    """Return the dtype of each argument, and whether it is an array."""
    of: dict[Word, str] = {("load", o.name): o.type for o in kernel.loads}
    of |= {("store", o.name): o.type for o in kernel.stores}
    return [(of[word], True) if word in of else ("int64", False) for word in source.layout]


def _indented(lines: Iterable[str], levels: int = 1) -> list[str]:
    return [" " * (4 * levels) + line for line in lines]


@dataclass
class _Place:
    side: str
    array: str
    operand: Operand

    def index(self, indices: Sequence[str]) -> str:
        """Return the source of the element at an index in each dimension."""
        terms = []
        for dimension, (index, step) in enumerate(zip(indices, self.operand.steps, strict=True)):
            if step != "0":
                place = f"(n{dimension} - 1 - {index})" if step == "b" else index
                terms.append(place if step == "1" else f"{place} * {self.array}_s{dimension}")
        return f"{self.array}[{' + '.join(terms) or '0'}]"


@dataclass
class _Writer:
    """Writes one kernel."""

    kernel: Kernel
    threads: int
    known: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kernel = self.kernel
        self.block = Block(has_source)
        self.values = fill(self.block, kernel)
        self.loads = [_Place("load", f"a{i}", operand) for i, operand in enumerate(kernel.loads)]
        self.stores = [_Place("store", f"o{i}", operand) for i, operand in enumerate(kernel.stores)]
        self.rank = max((len(operand.steps) for operand in (*kernel.loads, *kernel.stores)), default=0)
        self.printer = Printer(self.block, template)
        places = [*self.loads, *self.stores]
        words: list[tuple[str, Word]] = [(p.array, (p.side, p.operand.name)) for p in places]
        words += [(f"n{d}", ("size", d)) for d in range(self.rank)]
        words += [(f"{p.array}_s{d}", ("step", p.side, p.operand.name, d))
                  for p in places for d, step in enumerate(p.operand.steps) if step in "sb"]
        self.parameters = [name for name, _ in words]
        self.layout = tuple(word for _, word in words)

    # --- maps ---

    def elements(self) -> list[str]:
        """Return the lines of a kernel with a thread for each element."""
        indices = [f"i{d}" for d in range(self.rank)] if self.rank > 1 else ["i"] * self.rank
        total = " * ".join(f"n{d}" for d in range(self.rank)) or "1"
        body = _split("i", indices, 0) if self.rank > 1 else []
        body += self._compute([self._value(p) for p in self.stores], indices)
        body += [f"{p.index(indices)} = {self.known[self._value(p)]}" for p in self.stores]
        return [f"for i in range(cuda.grid(1), {total}, cuda.gridsize(1)):", *_indented(body)]

    # --- rows ---

    def rows(self) -> list[str]:
        """Return the lines of a kernel with a block for each row, or for each chunk of a vector."""
        kernel = self.kernel
        assert isinstance(kernel, RowKernel)
        full = [p for p in self.stores if any(step != "0" for step in p.operand.steps[kernel.outer:])]
        row = [p for p in self.stores if p not in full]
        passes = plan(self.block, nest(self.block, kernel.loads, kernel.outer, kernel.inner).passes,
                      [self._value(p) for p in full], [self._value(p) for p in row])
        outer = [f"i{d}" for d in range(kernel.outer)] if kernel.outer > 1 else ["i"] * kernel.outer
        inner = [f"j{d}" for d in range(kernel.outer, self.rank)] if kernel.inner > 1 else ["j"]
        count = " * ".join(f"n{d}" for d in range(kernel.outer)) or "1"
        size = " * ".join(f"n{d}" for d in range(kernel.outer, self.rank))
        first, last, body = "lane", size, _split("i", outer, 0) if kernel.outer > 1 else []
        if kernel.chunk:
            count, first, last = f"(n0 + {kernel.chunk - 1}) // {kernel.chunk}", "start + lane", "stop"
            body += [f"start = {kernel.chunk} * i", f"stop = min(start + {kernel.chunk}, n0)"]
        self._count(size)
        header = f"for j in range({first}, {last}, {self.threads}):"
        start = _split("j", inner, kernel.outer) if kernel.inner > 1 else []
        for p in range(1, passes.count + 1):
            known = dict(self.known)
            lines = self._pass(passes, p, [*outer, *inner], full if p == passes.count else [])
            self.known = known | {r.result: _acc(r) for r in passes.reductions[p]}
            body += [f"{_acc(r)} = {literal(r.identity, r.type)}" for r in passes.reductions[p]]
            body += [header, *_indented([*start, *lines])]
            body += [line for r in passes.reductions[p] for line in self._tree(r)]
        body += self._last(row, [*outer, *("0" for _ in inner)], "i" if kernel.chunk else "")
        shared = [f"part{r.number} = cuda.shared.array({self.threads}, {constructor(r.type)})"
                  for found in passes.reductions.values() for r in found]
        return ["lane = cuda.threadIdx.x", *shared, f"for i in range(cuda.blockIdx.x, {count}, cuda.gridDim.x):",
                *_indented(body)]

    def _tree(self, r: Reduction) -> list[str]:
        """Combine the partial results of all threads of a block."""
        part, names = f"part{r.number}", (f"p{r.number}", f"q{r.number}")
        partial = [self.block.add("partial", (), r.type, 2 * r.number + side) for side in (0, 1)]
        known = self.known | dict(zip(partial, names, strict=True))
        result = r.combine(self.block, *partial)
        lines = [f"{names[0]} = {part}[lane]", f"{names[1]} = {part}[lane + half]",
                 *self.printer.lines([result], known, {}), f"{part}[lane] = {known[result]}"]
        return [f"{part}[lane] = {_acc(r)}", "cuda.syncthreads()", f"half = {self.threads // 2}", "while half > 0:",
                *_indented(["if lane < half:", *_indented(lines), "cuda.syncthreads()", "half = half // 2"]),
                f"{_acc(r)} = {part}[0]", "cuda.syncthreads()"]

    def _last(self, row: Sequence[_Place], indices: Sequence[str], place: str) -> list[str]:
        """Return the lines by which one thread stores the row-level results."""
        if not row:
            return []
        lines = self._compute([self._value(p) for p in row], indices)
        lines += [f"{f'{p.array}[{place}]' if place else p.index(indices)} = {self.known[self._value(p)]}" for p in row]
        return ["if lane == 0:", *_indented(lines)]

    # --- columns ---

    def columns(self) -> list[str]:
        """Return the lines of a kernel with a thread for each column."""
        full = [p for p in self.stores if p.operand.steps[0] != "0"]
        row = [p for p in self.stores if p not in full]
        ready = nest(self.block, self.kernel.loads, 0, 2).passes
        passes = plan(self.block, ready, [self._value(p) for p in full], [self._value(p) for p in row])
        self._count("n0")
        body: list[str] = []
        for p in range(1, passes.count + 1):
            known = dict(self.known)
            lines = self._pass(passes, p, ["i", "j"], full if p == passes.count else [])
            self.known = known | {r.result: _acc(r) for r in passes.reductions[p]}
            body += [f"{_acc(r)} = {literal(r.identity, r.type)}" for r in passes.reductions[p]]
            body += ["for i in range(n0):", *_indented(lines)]
        body += self._compute([self._value(p) for p in row], ["0", "j"])
        body += [f"{p.index(['0', 'j'])} = {self.known[self._value(p)]}" for p in row]
        return ["for j in range(cuda.grid(1), n1, cuda.gridsize(1)):", *_indented(body)]

    # --- parts of these ---

    def _pass(self, passes: Passes, p: int, indices: Sequence[str], stores: Sequence[_Place]) -> list[str]:
        """Return the body of the loop over the elements of a row."""
        reductions = passes.reductions[p]
        self.known.update({r.acc: _acc(r) for r in reductions})
        lines = self._compute(passes.roots[p], indices)
        lines += [f"{_acc(r)} = {self.known[r.update]}" for r in reductions]
        return [*lines, *(f"{place.index(indices)} = {self.known[self._value(place)]}" for place in stores)]

    def _compute(self, roots: Sequence[int], indices: Sequence[str]) -> list[str]:
        loads = {i: place.index(indices) for i, place in enumerate(self.loads)}
        return self.printer.lines(roots, self.known, loads)

    def _count(self, size: str) -> None:
        """Name the element count of a reduction, as a value of each type that uses it."""
        self.known.update({i: f"{v.type}({size})" for i, v in enumerate(self.block.values) if v.primitive == "count"})

    def _value(self, place: _Place) -> int:
        return self.values[place.operand.name]


def _acc(reduction: Reduction) -> str:
    return f"acc{reduction.number}"


def _split(flat: str, indices: Sequence[str], first: int) -> list[str]:
    """Return the index in each dimension from a flat one; the dimensions are numbered from `first`."""
    lines, rest = [], flat
    for d in range(len(indices) - 1, 0, -1):
        lines += [f"{indices[d]} = {rest} % n{first + d}", f"rest_{flat} = {rest} // n{first + d}"]
        rest = f"rest_{flat}"
    return [*lines, f"{indices[0]} = {rest}"]
