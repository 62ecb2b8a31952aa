"""Source of column kernels: reductions over dimension 0, side by side for all columns.

    n = end - begin
    n0 = args[2]
    x0 = float32_array(args[3] + 4 * begin, n)              # the accumulators: a scratch vector
    for j in range(n):
        x0[j] = float32(0.0)
    for i in range(n0):
        a0 = float32_array(args[0] + 4 * (i * args[4] + begin), n)
        for j in range(n):
            x0[j] = add_any_order(x0[j], a0[j])
    for j in range(n):
        o0[j] = x0[j]

Where little is computed, several rows are taken at once, and their terms added by pairs: 8 or 16 times fewer roundings
in a row, and none of them waits for another.

With a dimension more before these all of it stands in a loop over the items, which are that dimension's elements.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tfnb.kernels.block import Block, Reduction, fill
from tfnb.kernels.cpu.fused.operands import Arguments, Place, places
from tfnb.kernels.cpu.fused.rows import indented, source_text
from tfnb.kernels.cpu.fused.sources import has_source, template
from tfnb.kernels.plan import plan
from tfnb.kernels.printer import Printer, literal
from tfnb.kernels.scalar.number_types import dtype_of
from tfnb.kernels.scalar.primitives import is_costly
from tfnb.kernels.spec import ColumnKernel, Source

FEW, LEAST = 6, 1                         # values of a walk that takes several rows at once, and of one that takes MOST
AT_ONCE, MOST = 8, 16                     # of them: a loop over few columns costs more to begin than to run
REORDERED = frozenset(("add_any_order", "mul_any_order"))
ROWS, COLUMNS = 1, 2                      # bits: what a value varies with


class ColumnText:
    """Writes one column kernel."""

    def __init__(self, kernel: ColumnKernel) -> None:
        self.outer = kernel.outer
        self.block = Block(has_source)
        values = fill(self.block, kernel)
        self.args = Arguments()
        self.loads, self.stores = places(kernel.loads, kernel.stores, self.args)
        self.varies, ready = _analysis(self.block, self.loads, kernel.outer)
        self.value = {place.array: values[place.operand.name] for place in self.stores}
        self.full = [p for p in self.stores if self._moves(p)]
        self.row = [p for p in self.stores if not self._moves(p)]
        self.passes = plan(self.block, ready, [self.value[p.array] for p in self.full],
                           [self.value[p.array] for p in self.row])
        self.printer = Printer(self.block, lambda v: "int32(i)" if v.primitive == "column" else template(v))
        self.texts = {i: place.load("j", -1) for i, place in enumerate(self.loads)}

    def source(self) -> Source:
        """Return the kernel's source and the layout of its argument block."""
        whole = f"n = {self.args.text('size', 1 + self.outer) if self.outer else 'end - begin'}"
        lines = [whole, f"n0 = {self.args.text('size', self.outer)}"]
        fixed = [p for p in (*self.loads, *self.stores) if not self._moves(p)]
        lines += [line for p in (*self.loads, *self.stores) for line in p.step_line(self.args, 1 + self.outer)]
        lines += [self._view(place) for place in fixed] + [self._scratch(r) for r in self._reductions()]
        known = {i: f"{v.type}(n0)" for i, v in enumerate(self.block.values) if v.primitive == "count"}
        lines += self.printer.lines(self._front(self.passes.values, 0, set(self.passes.ends)), known, self.texts)
        for p in range(1, self.passes.count + 1):
            lines += self._pass(p, dict(known))
        if self.row:
            lines += self._finish(known)
        if self.outer:
            lines = ["for item in range(begin, end):", *indented(lines)]
        return Source(source_text(lines), tuple(self.args.layout))

    def _moves(self, place: Place) -> bool:
        """Return whether the place moves from row to row."""
        return place.operand.steps[self.outer] != "0"

    def _pass(self, p: int, known: dict[int, str]) -> list[str]:
        """Return the lines of one walk over all rows: several at a time where that is all the columns' loop lacks."""
        reductions, roots = self.passes.reductions[p], self.passes.roots[p]
        start = [_keep(r, literal(r.identity, r.type)) for r in reductions]
        known |= {r.result: _kept(r) for before in range(1, p) for r in self.passes.reductions[before]}
        wanted = self.block.needed(roots, {**known, **{r.acc: "" for r in reductions}})
        stores = self.full if p == self.passes.count else []
        used = {self.block.values[v].data for v in wanted if self.block.values[v].primitive == "load"}
        moving = [q for q in (*(load for i, load in enumerate(self.loads) if i in used), *stores) if self._moves(q)]
        few = len(wanted) - len(moving) <= FEW and not stores and not any(
            self.block.values[v].primitive == "column" or is_costly(self.block.values[v].primitive) for v in wanted)
        lines = ["for j in range(n):", *indented(start)] if start else []
        if few:
            many = MOST if len(wanted) - len(moving) <= LEAST else AT_ONCE
            lines += [f"whole = n0 - n0 % {many}", f"for i in range(0, whole, {many}):",
                      *indented(self._rows(p, known, moving, wanted, [f"(i + {k})" for k in range(many)]))]
        loop = f"for i in range({'whole, ' if few else ''}n0):"
        return [*lines, loop, *indented(self._rows(p, known, moving, wanted, ["i"], stores))]

    def _rows(self, p: int, known: dict[int, str], moving: Sequence[Place], wanted: Sequence[int],
              rows: Sequence[str], stores: Sequence[Place] = ()) -> list[str]:
        """Return the lines of a walk over rows (their indices) at once."""
        reductions, roots = self.passes.reductions[p], self.passes.roots[p]
        now = {r.acc: _kept(r) for r in reductions}
        term = {r.acc: found for r in reductions if len(rows) > 1 and (found := self._term(r)) is not None}
        terms: dict[int, list[str]] = {acc: [] for acc in term}
        ends = [root for root in roots if not any(r.update == root and r.acc in term for r in reductions)]
        ends += term.values()
        before: list[str] = []
        inner: list[str] = []
        for number, row in enumerate(rows):
            end = f"_{number}" if len(rows) > 1 else ""
            places = [replace(place, array=place.array + end) for place in moving]
            texts = self.texts | {i: self.texts[i].replace(f"{load.array}[", f"{load.array}{end}[")
                                  for i, load in enumerate(self.loads) if load in moving}
            own = known | now
            before += [self._view(place, row) for place in places]
            before += self.printer.lines(self._front(wanted, ROWS, set(roots)), own, texts)
            inner += self.printer.lines(ends, own, texts)
            for acc, value in term.items():
                terms[acc].append(own[value])
            now |= {r.acc: own[r.update] for r in reductions if r.acc not in term}
        now |= {r.acc: self._tree(terms[r.acc], r) for r in reductions if r.acc in term}
        inner += [_keep(r, now[r.acc]) for r in reductions]
        inner += [place.store("j", -1, own[self.value[place.array]]) for place in stores]
        return [*before, "for j in range(n):", *indented(inner)]

    def _term(self, reduction: Reduction) -> int | None:
        """Return the value that a sum or product adds at each row; None if its update is not of that form."""
        update = self.block.values[reduction.update]
        if update.primitive not in REORDERED or update.args.count(reduction.acc) != 1:
            return None
        term = next(arg for arg in update.args if arg != reduction.acc)
        return None if reduction.acc in self.block.needed([term], {}) else term

    def _tree(self, terms: list[str], reduction: Reduction) -> str:
        """Return the combination of the terms of several rows, by pairs, with the accumulator: its rounding errors grow
        with the logarithm of the rows at once."""
        both = template(self.block.values[reduction.update]).format
        while len(terms) > 1:
            terms = [both(*pair) for pair in zip(terms[::2], terms[1::2], strict=True)]
        return both(_kept(reduction), terms[0])

    def _finish(self, known: dict[int, str]) -> list[str]:
        """Return the lines behind the reductions: once for each column."""
        known |= {r.result: _kept(r) for r in self._reductions()}
        values = [self.value[place.array] for place in self.row]
        lines = self.printer.lines(values, known, self.texts)
        lines += [place.store("j", -1, known[self.value[place.array]]) for place in self.row]
        return ["for j in range(n):", *indented(lines)]

    def _front(self, values: Sequence[int] | frozenset[int], level: int, roots: set[int]) -> list[int]:
        """Return the values at a level (0: the same everywhere, ROWS: one for each row) that others use."""
        used = {arg for v in values if self.varies[v] & ~level for arg in self.block.values[v].args} | roots
        return [v for v in sorted(values) if self.varies[v] == level and v in used]

    def _reductions(self) -> list[Reduction]:
        return [r for p in sorted(self.passes.reductions) for r in self.passes.reductions[p]]

    def _view(self, place: Place, row: str = "i") -> str:
        indices = [("item", 0), (row, 1)] if self.outer else [(row, 0), ("begin", 1)]
        return place.view(self.args, indices, "n" if place.operand.steps[-1] != "0" else "1")

    def _scratch(self, reduction: Reduction) -> str:
        size, address = dtype_of(reduction.type).itemsize, self.args.text("scratch", reduction.name)
        first = "item * n" if self.outer else "begin"
        offset = first if size == 1 else f"{size} * {first}"
        type = reduction.type.replace("bool", "uint8")
        return f"{_array(reduction)} = {type}_array({address} + {offset}, n)"


def _array(reduction: Reduction) -> str:
    return f"x{reduction.number}"


def _kept(reduction: Reduction) -> str:
    """Return the source of a column's accumulator. Booleans are bytes in memory."""
    return f"({_array(reduction)}[j] != uint8(0))" if reduction.type == "bool" else f"{_array(reduction)}[j]"


def _keep(reduction: Reduction, value: str) -> str:
    """Return the line that sets a column's accumulator."""
    return f"{_array(reduction)}[j] = {f'uint8({value})' if reduction.type == 'bool' else value}"


def _analysis(block: Block, loads: Sequence[Place], outer: int) -> tuple[list[int], list[int]]:
    """Return the dimensions that each value varies with, and the passes after which it can be computed."""
    varies: list[int] = []
    ready: list[int] = []
    for value in block.values:
        own = 0
        for arg in value.args:
            own |= varies[arg]
        if value.primitive == "load":
            rows, columns = loads[value.data].operand.steps[outer:]
            own = (ROWS if rows != "0" else 0) | (COLUMNS if columns != "0" else 0)
        elif value.primitive in ("acc", "reduced"):
            own = ROWS | COLUMNS if value.primitive == "acc" else COLUMNS
        elif value.primitive == "column":
            own = ROWS
        varies.append(own)
        after = max((ready[arg] for arg in value.args), default=0)
        ready.append(1 + ready[block.reductions[value.data].update] if value.primitive == "reduced" else after)
    return varies, ready
