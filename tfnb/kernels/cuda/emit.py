"""Kernel records -> source of CUDA kernels.

The arguments are flat arrays (loads a0, a1, ..., stores o0, ...), then the size of each loop (n0, n1, ...), then the
strides that are neither 0 nor 1 (a0_s1: of a0 in dimension 1), in elements. (An index below 0 would count from the
end of an array, so what is read backwards has a positive stride and an index that falls.) A sum of each row, in blocks
of 128 threads:

    def kernel(a0, o0, n0, n1, a0_s0):
        lane = cuda.threadIdx.x
        part0 = cuda.shared.array(4, float32)
        fours = a0_s0 % 4 == 0 and aligned(a0)
        for i in range(cuda.blockIdx.x, n0, cuda.gridDim.x):
            whole = n1 // 4 * 4 if fours else 0
            acc0 = float32(0)
            for q in range(4 * lane, whole, 512):
                x0 = load4(a0, i * a0_s0 + q)
                for k in range(4):
                    j = q + k
                    v0 = acc0 + x0[k]  # Sum
                    acc0 = v0
            for j in range(whole + lane, n1, 128):
                v1 = a0[i * a0_s0 + j]
                v2 = acc0 + v1  # Sum
                acc0 = v2
            half = 16
            while half > 0:
                q0 = cuda.shfl_xor_sync(0xffffffff, acc0, half)
                v3 = acc0 + q0
                acc0 = v3
                half = half // 2
            if lane % 32 == 0:
                part0[lane // 32] = acc0
            cuda.syncthreads()
            acc0 = part0[0]
            for w in range(1, 4):
                q0 = part0[w]
                v4 = acc0 + q0
                acc0 = v4
            cuda.syncthreads()
            if lane == 0:
                o0[i] = acc0

Maps have a thread for each four elements, rows (or chunks of a vector) a block each, columns a thread each; all walk
on by the size of the grid. Neighbours are loaded and stored four at a time where rows begin at multiples of four
elements and buffers at multiples of 16 bytes; the second loop does what remains, or all. A warp sums by shuffles, and
the threads then read the sums of all warps, in one order: no atomics, and every run gives the same bits. Row kernels
must be launched with exactly `threads` threads a block; with 32 or less they need no shared memory and no barrier.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tfnb.kernels.block import Block, Reduction, fill
from tfnb.kernels.cuda.geometry import THREADS, WARP
from tfnb.kernels.cuda.sources import cast, has_source, stored, template
from tfnb.kernels.nest import nest
from tfnb.kernels.plan import Passes, plan
from tfnb.kernels.printer import Printer, constructor, literal
from tfnb.kernels.spec import ColumnKernel, Kernel, MapKernel, Operand, RowKernel, Source, Word

LANES = 4                              # elements that a thread loads and stores at once
NONE: Mapping[int, str] = {}


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
        return f"{self.array}[{self.offset(indices)}]"

    def offset(self, indices: Sequence[str]) -> str:
        """Return the source of an element's place in the array."""
        terms = []
        for dimension, (index, step) in enumerate(zip(indices, self.operand.steps, strict=True)):
            if step != "0":
                place = f"(n{dimension} - 1 - {index})" if step == "b" else index
                terms.append(place if step == "1" else f"{place} * {self.array}_s{dimension}")
        return " + ".join(terms) or "0"

    @property
    def runs(self) -> bool:
        """Whether neighbours in the last dimension are neighbours in memory."""
        return self.operand.steps[-1:] == ("1",)


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
        self.printer = Printer(self.block, template, cast)
        places = [*self.loads, *self.stores]
        words: list[tuple[str, Word]] = [(p.array, (p.side, p.operand.name)) for p in places]
        words += [(f"n{d}", ("size", d)) for d in range(self.rank)]
        words += [(f"{p.array}_s{d}", ("step", p.side, p.operand.name, d))
                  for p in places for d, step in enumerate(p.operand.steps) if step in "sb"]
        self.parameters = [name for name, _ in words]
        self.layout = tuple(word for _, word in words)

    # --- maps ---

    def elements(self) -> list[str]:
        """Return the lines of a kernel with a thread for each element, or four."""
        kernel = self.kernel
        indices = [f"i{d}" for d in range(self.rank)] if self.rank > 1 else ["i"] * self.rank
        total = " * ".join(f"n{d}" for d in range(self.rank)) or "1"
        split = _split("i", indices, 0) if self.rank > 1 else []
        start, fours = "cuda.grid(1)", []
        if in_fours(kernel):
            start = "4 * whole + cuda.grid(1)"
            known = dict(self.known)
            rows = [f"n{self.rank - 1} % 4 == 0"] * (self.rank > 1)
            body = ["i = 4 * q", *split, *self._four(indices, self.stores, lambda loads: self._compute(
                [self._value(p) for p in self.stores], indices, loads))]
            fours = [*self._quads(self.stores), f"whole = {total} // 4 if {self._fit(rows, self.stores)} else 0",
                     "for q in range(cuda.grid(1), whole, cuda.gridsize(1)):", *_indented(body)]
            self.known = known
        body = [*split, *self._compute([self._value(p) for p in self.stores], indices)]
        body += [f"{p.index(indices)} = {self.known[self._value(p)]}" for p in self.stores]
        return [*fours, f"for i in range({start}, {total}, cuda.gridsize(1)):", *_indented(body)]

    # --- four elements at a time ---

    def _quads(self, stores: Sequence[_Place]) -> list[str]:
        """Return the declarations of the elements to be stored, which are registers in the end."""
        return [f"y{i} = cuda.local.array(4, {constructor(stored(p.operand.type))})" for i, p in enumerate(stores)]

    def _fit(self, conditions: Sequence[str], stores: Sequence[_Place]) -> str:
        """Return the condition under which all that is read and written in fours lies at multiples of four."""
        places = [p for p in (*self.loads, *stores) if p.runs]
        strides = [f"{p.array}_s{d} % 4 == 0" for p in places for d, step in enumerate(p.operand.steps) if step in "sb"]
        return " and ".join([*conditions, *strides, *(f"aligned({p.array})" for p in places)])

    def _four(self, indices: Sequence[str], stores: Sequence[_Place],
              compute: Callable[[dict[int, str]], list[str]], before: Sequence[str] = ()) -> list[str]:
        """Return the lines that load four elements, compute each, and store them."""
        loads = {i: f"x{i}[k]" for i, p in enumerate(self.loads) if p.runs}
        lines = [f"x{i} = load4({p.array}, {p.offset(indices)})" for i, p in enumerate(self.loads) if p.runs]
        each = [*before, *compute(loads), *(f"y{i}[k] = {self.known[self._value(p)]}" for i, p in enumerate(stores))]
        lines += ["for k in range(4):", *_indented(each)]
        return lines + [f"store4({p.array}, {p.offset(indices)}, {', '.join(f'y{i}[{k}]' for k in range(4))})"
                        for i, p in enumerate(stores)]

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
        first, last, body = "0", size, _split("i", outer, 0) if kernel.outer > 1 else []
        if kernel.chunk:
            count, first, last = f"(n0 + {kernel.chunk - 1}) // {kernel.chunk}", "start", "stop"
            body += [f"start = {kernel.chunk} * i", f"stop = min(start + {kernel.chunk}, n0)"]
        self._count(size)
        fours = kernel.inner == 1 and kernel.chunk % LANES == 0 and any(p.runs for p in self.loads) and _run(
            [p.operand for p in self.loads], [p.operand for p in full])
        if fours:
            body.append("whole = start + (stop - start) // 4 * 4 if fours else start" if kernel.chunk else
                        f"whole = {size} // 4 * 4 if fours else 0")
        start = _split("j", inner, kernel.outer) if kernel.inner > 1 else []
        for p in range(1, passes.count + 1):
            stores, known = full if p == passes.count else [], dict(self.known)
            body += [f"{_acc(r)} = {literal(r.identity, r.type)}" for r in passes.reductions[p]]
            if fours:
                lines = self._four([*outer, "q"], stores, lambda loads, p=p: self._pass(  # type: ignore[misc]
                    passes, p, [*outer, "j"], [], loads), ["j = q + k"])
                body += [f"for q in range({_sum(first, '4 * lane')}, whole, {4 * self.threads}):", *_indented(lines)]
                self.known = dict(known)
            lines = self._pass(passes, p, [*outer, *inner], stores)
            self.known = known | {r.result: _acc(r) for r in passes.reductions[p]}
            body += [f"for j in range({_sum('whole' if fours else first, 'lane')}, {last}, {self.threads}):",
                     *_indented([*start, *lines]), *self._tree(passes.reductions[p])]
        body += self._last(row, [*outer, *("0" for _ in inner)], "i" if kernel.chunk else "")
        heads = ["lane = cuda.threadIdx.x"]
        if self.threads > WARP:
            heads += [f"part{r.number} = cuda.shared.array({self.threads // WARP}, {constructor(r.type)})"
                      for found in passes.reductions.values() for r in found]
        if fours:
            heads += [*self._quads(full), f"fours = {self._fit([], full)}"]
        return [*heads, f"for i in range(cuda.blockIdx.x, {count}, cuda.gridDim.x):", *_indented(body)]

    def _tree(self, reductions: Sequence[Reduction]) -> list[str]:
        """Combine the partial results of all threads of a block: by shuffles in each warp, then those of the warps."""
        if not reductions:
            return []
        warps = self.threads // WARP
        lines = [f"half = {min(self.threads, WARP) // 2}", "while half > 0:"]
        for r in reductions:
            lines += _indented([f"q{r.number} = {_shuffled(_acc(r), r.type)}", *self._combined(r)])
        lines += ["    half = half // 2"]
        if warps < 2:
            return lines
        lines += ["if lane % 32 == 0:", *(f"    part{r.number}[lane // 32] = {_acc(r)}" for r in reductions),
                  "cuda.syncthreads()", *(f"{_acc(r)} = part{r.number}[0]" for r in reductions),
                  f"for w in range(1, {warps}):"]
        for r in reductions:
            lines += _indented([f"q{r.number} = part{r.number}[w]", *self._combined(r)])
        return [*lines, "cuda.syncthreads()"]

    def _combined(self, r: Reduction) -> list[str]:
        """Return the lines that combine a partial result with another one, q."""
        partial = [self.block.add("partial", (), r.type, 2 * r.number + side) for side in (0, 1)]
        known = self.known | dict(zip(partial, (_acc(r), f"q{r.number}"), strict=True))
        result = r.combine(self.block, *partial)
        return [*self.printer.lines([result], known, {}), f"{_acc(r)} = {known[result]}"]

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

    def _pass(self, passes: Passes, p: int, indices: Sequence[str], stores: Sequence[_Place],
              loads: Mapping[int, str] | None = None) -> list[str]:
        """Return the body of the loop over the elements of a row. loads: the source of what is loaded already."""
        reductions = passes.reductions[p]
        self.known.update({r.acc: _acc(r) for r in reductions})
        lines = self._compute(passes.roots[p], indices, loads or {})
        lines += [f"{_acc(r)} = {self.known[r.update]}" for r in reductions]
        return [*lines, *(f"{place.index(indices)} = {self.known[self._value(place)]}" for place in stores)]

    def _compute(self, roots: Sequence[int], indices: Sequence[str], loaded: Mapping[int, str] = NONE) -> list[str]:
        loads = {i: place.index(indices) for i, place in enumerate(self.loads)}
        return self.printer.lines(roots, self.known, loads | dict(loaded))

    def _count(self, size: str) -> None:
        """Name the element count of a reduction, as a value of each type that uses it."""
        self.known.update({i: f"{v.type}({size})" for i, v in enumerate(self.block.values) if v.primitive == "count"})

    def _value(self, place: _Place) -> int:
        return self.values[place.operand.name]


def _acc(reduction: Reduction) -> str:
    return f"acc{reduction.number}"


def in_fours(kernel: Kernel) -> bool:
    """Return whether the kernel is a map whose operands may be loaded and stored four elements at a time."""
    return isinstance(kernel, MapKernel) and _run(kernel.loads, kernel.stores)


def _run(loads: Sequence[Operand], stores: Sequence[Operand]) -> bool:
    """Return whether neighbours in the last dimension are neighbours in memory, or one element that all share."""
    return all(o.steps[-1:] in (("0",), ("1",)) for o in loads) and all(o.steps[-1:] == ("1",) for o in stores)


def _sum(first: str, second: str) -> str:
    return second if first == "0" else f"{first} + {second}"


def _shuffled(name: str, type: str) -> str:
    """Return the source of a thread's value for another lane; shuffles have 32 or 64 bits."""
    if type in ("float32", "float64", "int32", "int64"):
        return f"cuda.shfl_xor_sync(0xffffffff, {name}, half)"
    wide = "int64" if type == "uint64" else "int32"
    return f"{constructor(type)}(cuda.shfl_xor_sync(0xffffffff, {wide}({name}), half))"


def _split(flat: str, indices: Sequence[str], first: int) -> list[str]:
    """Return the index in each dimension from a flat one; the dimensions are numbered from `first`."""
    lines, rest = [], flat
    for d in range(len(indices) - 1, 0, -1):
        lines += [f"{indices[d]} = {rest} % n{first + d}", f"rest_{flat} = {rest} // n{first + d}"]
        rest = f"rest_{flat}"
    return [*lines, f"{indices[0]} = {rest}"]
