"""Register tiles of matmul as LLVM vector code, fitted to the processor: native functions of kernel source.

    multiply_by_row_TYPE(rows, pairs, count, a, a_step, b, b_step, columns, c, c_step, k, base)
    multiply_by_column_TYPE(rows, pairs, count, a, a_step, b, b_step, columns, c, c_step, k, base)

C = A B, or C = D + A B if `base`, the address of D, is not 0 (it may be that of C), summed over `count` pairs of A and
B, for a tile of C: at `pairs` stand the addresses of each A and B, which lie `a` and `b` further on; `rows` is one of
`Machine.rows`, `columns` is at most `Machine.width`, k at least 1. If `base` is odd, D is one byte before it and the
sums begin with its elements: their bits are the same whether pairs are added in one call or in several. All arguments
are int64: addresses, sizes, and steps in bytes from one row to the next. By row, the rows of A lie `a_step` apart; by
column, its columns do (A is stored transposed).

While k runs the tile stays in registers: at each step a row of B is a few vectors, and each element of a column of A is
spread over a vector and multiplied with them. An element of C is one chain of fused multiply-adds, so its bits depend
on k alone, not on where in a tile it lies. Lanes beyond the last column are masked: neither loaded nor stored.

Measured on one core of an AVX-512 EPYC (Zen 4), operands in its cache: tiles of 12, 8, 4, 2 and 1 rows of 32 floats
run at 115, 114, 108, 101 and 62 GFLOP/s, by row and by column alike. On Zen 5, whose units are twice as wide, 12 rows
run at 242 of 252. Unrolling k gains nothing. Asking for rows of B ahead of time costs nothing there, and gains 5 to 10%
where they come from farther away. Asking for the lines of C before the loop over k gains 2 to 9%, most where its rows
lie a multiple of 4096 bytes apart.
"""
from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.core.options import has_compiler
from tfnb.kernels.llvm.natives import Native, declared

ir = lazy_module("llvmlite.ir")
llvm = lazy_module("llvmlite.binding")

BYTES = {"float32": 4, "float64": 8}
LINE = 64                                               # bytes of a cache line
AHEAD = 64                                              # steps of k from asking for a row of B to reading it

# LLVM's names of processors whose first cache has 48 KB in 12 ways; others have 8, or lines elsewhere.
TWELVE_WAYS = frozenset("znver5 icelake-client icelake-server tigerlake rocketlake sapphirerapids emeraldrapids "
                        "graniterapids graniterapids-d diamondrapids".split())


@dataclass(frozen=True, slots=True)
class Machine:
    """Tile parameters of a processor.

    bytes: of a vector; rows: the row counts that a tile may have (falling, down to 1); vectors: per row of a tile;
    masks: a masked load costs no more than a plain one.
    """

    bytes: int
    rows: tuple[int, ...]
    vectors: int
    masks: bool

    def lanes(self, type: str) -> int:
        """Return the elements of a vector."""
        return self.bytes // BYTES[type]

    def width(self, type: str) -> int:
        """Return the columns of a tile."""
        return self.vectors * self.lanes(type)


# Of 32 registers (16 with AVX2), 24 (12) hold the tile; the rest is for a row of B and elements of A.
AVX512 = Machine(64, (12, 8, 4, 2, 1), 2, True)
AVX2 = Machine(32, (6, 4, 2, 1), 2, False)
NEON = Machine(16, (12, 8, 4, 2, 1), 2, False)


def processor_features() -> str:
    """Return the instruction sets of this processor, as LLVM spells them; what each has where LLVM reports none."""
    try:
        found = str(llvm.get_host_cpu_features().flatten())
    except RuntimeError:
        found = ""
    return found or ("+neon" if is_arm() else "")


def is_arm() -> bool:
    """Return whether this is a 64-bit ARM processor: all have NEON, of which macOS tells LLVM nothing."""
    return platform.machine().lower() in ("aarch64", "arm64")


@cache
def converts_halves() -> bool:
    """Return whether this processor converts 16-bit floats itself: LLVM would call functions that nothing has."""
    if not has_compiler():
        return False
    return is_arm() or "+f16c" in processor_features().split(",")


@cache
def machine() -> Machine | None:
    """Return the tiles for this processor; None if it has no fused multiply-add over vectors that we know of."""
    return machine_of(processor_features())


def machine_of(features: str) -> Machine | None:
    """Return the tiles for a processor with these features ("+avx2,-avx512f,...")."""
    have = {name[1:] for name in features.split(",") if name.startswith("+")}
    if "avx512f" in have:
        return AVX512
    if {"avx2", "fma"} <= have:
        return AVX2
    return NEON if "neon" in have else None


@cache
def cache_ways() -> int:
    """Return the lines that fit in the first cache whose addresses are 4096 bytes apart."""
    return 12 if llvm.get_host_cpu_name() in TWELVE_WAYS else 8


def primitives() -> dict[str, Native]:
    """Return the native functions by name, for this processor; none where it has no tiles."""
    found = machine()
    if found is None:
        return {}
    return {f"multiply_by_{'row' if by_row else 'column'}_{type}": _word(found, type, by_row)
            for type in BYTES for by_row in (True, False)}


def _word(machine: Machine, type: str, by_row: bool) -> Native:
    """Return a switch to the function that is made for a count of rows and vectors."""
    def make(builder: Any, rows: Any, *args: Any) -> None:
        *places, columns, c, c_step, k, base = args         # places: from pairs to b_step
        word, lanes, most = ir.IntType(64), machine.lanes(type), machine.vectors
        vectors = builder.udiv(builder.add(columns, word(lanes - 1)), word(lanes))
        partial = builder.zext(builder.icmp_unsigned("!=", builder.urem(columns, word(lanes)), word(0)), word)
        number = builder.add(builder.mul(rows, word(4 * most)), builder.mul(vectors, word(2)))
        if not machine.masks:
            number = builder.add(number, partial)
        after = builder.append_basic_block("multiplied")
        switch = builder.switch(number, after)
        for tile in _tiles(machine, type, by_row):
            block = builder.append_basic_block("multiply")
            plain = machine.masks or not tile.masked
            switch.add_case(word(4 * most * tile.rows + 2 * tile.vectors + (not plain)), block)
            builder.position_at_end(block)
            builder.call(_Maker(tile).function(builder.module), [*places, c, c_step, k, columns, base])
            builder.branch(after)
        builder.position_at_end(after)

    return Native(("int64",) * 12, "void", make)


# --- the function of one tile -------------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True)
class Tile:
    """A tile of rows x vectors. masked: some lanes of a row's last vector may be left out."""

    machine: Machine
    type: str
    by_row: bool
    rows: int
    vectors: int
    masked: bool

    @property
    def is_tall(self) -> bool:
        """Whether it asks for memory ahead of time: smaller ones have no time to spare."""
        return self.rows >= self.machine.rows[0] // 2

    @property
    def name(self) -> str:
        """Its function's name within a kernel."""
        order = "row" if self.by_row else "column"
        return f"multiply_{self.type}_{order}_{self.rows}_{self.vectors}{'_masked' if self.masked else ''}"


def _tiles(machine: Machine, type: str, by_row: bool) -> list[Tile]:
    return [Tile(machine, type, by_row, rows, vectors, masked) for rows in machine.rows
            for vectors in range(1, machine.vectors + 1) for masked in ((True,) if machine.masks else (False, True))]


@dataclass
class _Maker:
    """Writes the function of a tile: (pairs, count, a, a_step, b, b_step, c, c_step, k, columns, base)."""

    tile: Tile
    lanes: int = field(init=False)
    scalar: Any = field(init=False)
    vector: Any = field(init=False)
    mask: Any = None
    builder: Any = None

    def __post_init__(self) -> None:
        self.lanes = self.tile.machine.lanes(self.tile.type)
        self.scalar = ir.FloatType() if self.tile.type == "float32" else ir.DoubleType()
        self.vector = ir.VectorType(self.scalar, self.lanes)

    def function(self, module: Any) -> Any:
        """Return the function in a module, made there at the first call."""
        if self.tile.name in module.globals:
            return module.globals[self.tile.name]
        word = ir.IntType(64)
        made = ir.Function(module, ir.FunctionType(ir.VoidType(), [word] * 11), self.tile.name)
        made.linkage = "internal"
        made.attributes.add("noinline")
        self._write(made)
        return made

    def _write(self, made: Any) -> None:
        pairs, count, a, a_step, b, b_step, c, c_step, k, columns, base = made.args
        word = ir.IntType(64)
        entry, begun, pair, loop, after, done, adding, storing = (
            made.append_basic_block(name)
            for name in ("entry", "begun", "pair", "loop", "after", "done", "adding", "storing"))
        builder = self.builder = ir.IRBuilder(entry)
        self.mask = self._mask(columns) if self.tile.masked else None
        if self.tile.is_tall:
            nbytes = self.tile.vectors * self.tile.machine.bytes
            for i in range(self.tile.rows):
                self._fetch(builder.add(c, builder.mul(c_step, word(i))), nbytes, write=True)
        zeros = [self._zero()] * (self.tile.rows * self.tile.vectors)
        is_begun = builder.trunc(base, ir.IntType(1))
        builder.cbranch(is_begun, begun, pair)
        builder.position_at_end(begun)
        source = builder.sub(base, word(1))
        loaded = [self._load(place, number) for place, number, _ in self._places(source, c_step, zeros)]
        builder.branch(pair)
        builder.position_at_end(pair)
        at, pairs_left, *before = phis = self._phis([pairs, count, *zeros], entry)
        _again(phis, [pairs, count, *loaded], begun)
        first_a, first_b = (builder.add(builder.load(builder.inttoptr(place, word.as_pointer())), offset)
                            for place, offset in ((at, a), (builder.add(at, word(8)), b)))
        builder.branch(loop)
        builder.position_at_end(loop)
        phis = self._phis([first_a, first_b, k, *before], pair)
        sums = self._step(phis[0], a_step, phis[1], b_step, phis[3:])
        a_next = builder.add(phis[0], word(BYTES[self.tile.type]) if self.tile.by_row else a_step)
        left = builder.sub(phis[2], word(1))
        _again(phis, [a_next, builder.add(phis[1], b_step), left, *sums], loop)
        builder.cbranch(builder.icmp_unsigned("!=", left, word(0)), loop, after)
        builder.position_at_end(after)
        left = builder.sub(pairs_left, word(1))
        _again([at, pairs_left, *before], [builder.add(at, word(16)), left, *sums], after)
        builder.cbranch(builder.icmp_unsigned("!=", left, word(0)), pair, done)
        builder.position_at_end(done)
        has_base = builder.icmp_unsigned("!=", base, word(0))
        builder.cbranch(builder.and_(has_base, builder.not_(is_begun)), adding, storing)
        for block in (adding, storing):
            builder.position_at_end(block)
            sources = self._places(base, c_step, sums) if block is adding else ()
            totals = [builder.fadd(self._load(place, number), value) for place, number, value in sources] or sums
            for place, number, value in self._places(c, c_step, totals):
                self._store(value, place, number)
            builder.ret_void()

    def _phis(self, start: Sequence[Any], block: Any) -> list[Any]:
        """Emit phi nodes that begin as these values, coming from a block."""
        phis = [self.builder.phi(value.type) for value in start]
        _again(phis, start, block)
        return phis

    def _step(self, a: Any, a_step: Any, b: Any, b_step: Any, sums: Sequence[Any]) -> list[Any]:
        """Emit one more step of k, a row of B times a column of A; return the sums."""
        builder, word, tile = self.builder, ir.IntType(64), self.tile
        if tile.is_tall:
            later = builder.add(b, builder.mul(b_step, word(AHEAD)))
            self._fetch(later, tile.vectors * tile.machine.bytes)
            if not tile.by_row:
                self._fetch(builder.add(a, builder.mul(a_step, word(AHEAD))), BYTES[tile.type])
        row = [self._load(builder.add(b, word(j * tile.machine.bytes)), j) for j in range(tile.vectors)]
        fma = self._intrinsic("fma", self.vector, [self.vector] * 3)
        out = []
        for i in range(tile.rows):
            move = builder.mul(a_step, word(i)) if tile.by_row else word(i * BYTES[tile.type])
            element = builder.load(builder.inttoptr(builder.add(a, move), self.scalar.as_pointer()))
            x = self._spread(element)
            out += [builder.call(fma, [x, y, sums[i * tile.vectors + j]]) for j, y in enumerate(row)]
        return out

    def _fetch(self, address: Any, nbytes: int, write: bool = False) -> None:
        """Prefetch cache lines that will be read soon: processors foresee no steps from page to page."""
        builder, count = self.builder, ir.IntType(32)
        pointer = ir.IntType(8).as_pointer()
        prefetch = declared(builder.module, "llvm.prefetch.p0", ir.VoidType(), [pointer, count, count, count])
        for offset in range(0, nbytes, LINE):
            place = builder.inttoptr(builder.add(address, ir.IntType(64)(offset)), pointer)
            builder.call(prefetch, [place, count(int(write)), count(3), count(1)])

    def _places(self, c: Any, c_step: Any, sums: Sequence[Any]) -> list[tuple[Any, int, Any]]:
        """Return (address, which vector of its row, value) of each vector of the tile."""
        builder, word, vectors = self.builder, ir.IntType(64), self.tile.vectors
        rows = [builder.add(c, builder.mul(c_step, word(i))) for i in range(self.tile.rows)]
        return [(builder.add(row, word(j * self.tile.machine.bytes)), j, sums[i * vectors + j])
                for i, row in enumerate(rows) for j in range(vectors)]

    def _mask(self, columns: Any) -> Any:
        """Emit the mask of the valid lanes of a row's last vector."""
        builder, lane = self.builder, ir.IntType(32)
        left = builder.sub(columns, ir.IntType(64)((self.tile.vectors - 1) * self.lanes))
        numbers = ir.Constant(ir.VectorType(lane, self.lanes), list(range(self.lanes)))
        return builder.icmp_signed("<", numbers, self._spread(builder.trunc(left, lane)))

    def _spread(self, value: Any) -> Any:
        """Emit a vector with `value` in each lane."""
        builder, index = self.builder, ir.IntType(32)
        nothing = ir.Constant(ir.VectorType(value.type, self.lanes), ir.Undefined)
        first = builder.insert_element(nothing, value, index(0))
        return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(index, self.lanes), [0] * self.lanes))

    def _zero(self) -> Any:
        return ir.Constant(self.vector, [0.0] * self.lanes)

    def _load(self, address: Any, number: int) -> Any:
        """Emit the load of vector `number` of a row."""
        pointer, align = self.builder.inttoptr(address, self.vector.as_pointer()), BYTES[self.tile.type]
        if not self._partial(number):
            made = self.builder.load(pointer)
            made.align = align
            return made
        count = ir.IntType(32)
        call = self._intrinsic("masked.load", self.vector, [pointer.type, count, self.mask.type, self.vector], ".p0")
        return self.builder.call(call, [pointer, count(align), self.mask, self._zero()])

    def _store(self, value: Any, address: Any, number: int) -> None:
        pointer, align = self.builder.inttoptr(address, self.vector.as_pointer()), BYTES[self.tile.type]
        if not self._partial(number):
            self.builder.store(value, pointer, align=align)
            return
        count = ir.IntType(32)
        call = self._intrinsic("masked.store", ir.VoidType(), [self.vector, pointer.type, count, self.mask.type], ".p0")
        self.builder.call(call, [value, pointer, count(align), self.mask])

    def _partial(self, number: int) -> bool:
        return self.tile.masked and number == self.tile.vectors - 1

    def _intrinsic(self, name: str, result: Any, operands: Sequence[Any], end: str = "") -> Any:
        kind = f"v{self.lanes}f{8 * BYTES[self.tile.type]}"
        return declared(self.builder.module, f"llvm.{name}.{kind}{end}", result, operands)


def _again(phis: Sequence[Any], values: Sequence[Any], block: Any) -> None:
    """Set the incoming values of phi nodes from a block."""
    for phi, value in zip(phis, values, strict=True):
        phi.add_incoming(value, block)
