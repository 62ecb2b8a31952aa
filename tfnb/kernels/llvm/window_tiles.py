"""Register tiles of outer-product sums: the native functions that convolutions are built from.

    window_tile_float32(pointers, offsets, runs, length, step, b, b_step, b_run, c, c_step, add), and ..._float64
    window_tile_float32_1(...), ... window_tile_float32_TILE(...)               the same for that number of rows
    narrow_tile_float32(...), narrow_tile_float32_1(...), ...                   the same for LANES columns

With TILE rows (`shape(itemsize)`) and WIDTH columns, two vectors of LANES (`lanes`), all addresses and steps in bytes:

    c[i, j] (+)= sum over r < runs, k < length of
        a(pointers[i] + offsets[r] + k * step) * b(b + r * b_run + k * b_step)[j]

pointers, offsets: addresses of int64 words. add: 0 where the sum starts from 0, else it starts from c. The rows of `a`
may lie anywhere and overlap, so windows over an image need not be unfolded. All sums stay in vector registers: on
AVX-512, 14 rows x 2 vectors leave registers for two vectors of b, and a's numbers are broadcast by the load itself.
Measured on Zen 4: 113 to 117 of 118 GFLOP/s a core.
"""
from __future__ import annotations

from functools import cache
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.kernels.llvm import microkernel
from tfnb.kernels.llvm.natives import Native

ir = lazy_module("llvmlite.ir")

VECTORS = 2
SIZES = {"float32": 4, "float64": 8}


@cache
def registers() -> tuple[int, int]:
    """Return the bytes of a vector register of this processor and how many rows of sums it has registers for."""
    found = microkernel.machine()
    if found is None:
        return 16, 6
    return found.bytes, {64: 14, 32: 6, 16: 12}[found.bytes]


def shape(itemsize: int) -> tuple[int, int]:
    """Return TILE and WIDTH: the rows and columns of a tile."""
    nbytes, rows = registers()
    return rows, VECTORS * nbytes // itemsize


def lanes(itemsize: int) -> int:
    """Return the elements of a vector."""
    return registers()[0] // itemsize


def primitives() -> dict[str, Native]:
    """Return the native functions, by name."""
    kinds, most = {"window": VECTORS, "narrow": 1}, registers()[1]
    every = {f"{kind}_tile_{type_}_{rows}": _window_tile(size, rows, vectors) for kind, vectors in kinds.items()
             for type_, size in SIZES.items() for rows in range(1, most + 1)}
    return {**every, **{f"{kind}_tile_{type_}": every[f"{kind}_tile_{type_}_{most}"] for kind in kinds
                        for type_ in SIZES}}


def _window_tile(size: int, rows: int, vectors: int) -> Native:
    return Native(("int64",) * 11, "void", lambda builder, *args: _Tile(builder, size, rows, vectors).make(*args))


class _Tile:
    """The instructions of one tile."""

    def __init__(self, builder: Any, size: int, rows: int, vectors: int) -> None:
        self.builder = builder
        self.word = ir.IntType(64)
        self.number = ir.FloatType() if size == 4 else ir.DoubleType()
        self.rows, self.vectors, self.lanes = rows, vectors, lanes(size)
        self.vector = ir.VectorType(self.number, self.lanes)
        self.size = size
        name, kind = f"llvm.fma.v{self.lanes}f{8 * size}", ir.FunctionType(self.vector, [self.vector] * 3)
        self.fma = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)

    def make(self, pointers: Any, offsets: Any, runs: Any, length: Any, step: Any, b: Any, b_step: Any, b_run: Any,
             c: Any, c_step: Any, add: Any) -> None:
        """Emit two loops, over runs and over the elements of a run; sums pass between iterations in registers."""
        builder = self.builder
        places = [[self._vector(c, i, c_step, v) for v in range(self.vectors)] for i in range(self.rows)]
        from_c = builder.icmp_signed("!=", add, ir.Constant(self.word, 0))
        zero = ir.Constant(self.vector, [0.0] * self.lanes)
        start = [builder.select(from_c, self._load(place), zero) for row in places for place in row]

        def over_run(b: Any, sums: list[Any], run: Any) -> tuple[Any, list[Any]]:
            offset = self._word(offsets, run)
            rows = [builder.add(self._word(pointers, ir.Constant(self.word, i)), offset) for i in range(self.rows)]

            def over_number(b: Any, sums: list[Any], k: Any) -> tuple[Any, list[Any]]:
                return builder.add(b, b_step), self._products(rows, builder.mul(k, step), b, sums)

            return builder.add(b, b_run), self._loop(length, b, sums, over_number)[1]

        _, sums = self._loop(runs, b, start, over_run)
        for place, value in zip([p for row in places for p in row], sums, strict=True):
            builder.store(value, place, align=self.size)

    def _products(self, rows: list[Any], shift: Any, b: Any, sums: list[Any]) -> list[Any]:
        builder = self.builder
        columns = [self._load(self._vector(b, 0, b, v)) for v in range(self.vectors)]
        made = []
        for i, row in enumerate(rows):
            place = builder.inttoptr(builder.add(row, shift), self.number.as_pointer())
            one = builder.load(place)
            one.align = self.size
            wide = builder.insert_element(ir.Constant(self.vector, ir.Undefined), one, ir.Constant(ir.IntType(32), 0))
            mask = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
            every = builder.shuffle_vector(wide, ir.Constant(self.vector, ir.Undefined), mask)
            made += [builder.call(self.fma, [every, column, sums[i * self.vectors + v]])
                     for v, column in enumerate(columns)]
        return made

    def _loop(self, count: Any, b: Any, sums: list[Any], body: Any) -> tuple[Any, list[Any]]:
        """Emit body(b, sums, index) `count` > 0 times; return b and sums as the last iteration leaves them."""
        builder = self.builder
        before, inside = builder.block, builder.append_basic_block("tile")
        builder.branch(inside)
        builder.position_at_end(inside)
        index = builder.phi(self.word)
        kept = [builder.phi(value.type) for value in (b, *sums)]
        after_b, after = body(kept[0], kept[1:], index)
        following = builder.add(index, ir.Constant(self.word, 1))
        for phi, first, later in zip((index, *kept), (ir.Constant(self.word, 0), b, *sums),
                                     (following, after_b, *after), strict=True):
            phi.add_incoming(first, before)
            phi.add_incoming(later, builder.block)
        outside = builder.append_basic_block("after_tile")
        builder.cbranch(builder.icmp_signed("<", following, count), inside, outside)
        builder.position_at_end(outside)
        return after_b, after

    def _word(self, address: Any, index: Any) -> Any:
        builder = self.builder
        at = builder.add(address, builder.mul(index, ir.Constant(self.word, 8)))
        return builder.load(builder.inttoptr(at, self.word.as_pointer()))

    def _vector(self, address: Any, row: int, step: Any, vector: int) -> Any:
        """Emit a pointer to a vector of row `row`."""
        builder = self.builder
        at = builder.add(address, builder.mul(step, ir.Constant(self.word, row))) if row else address
        at = builder.add(at, ir.Constant(self.word, vector * self.lanes * self.size))
        return builder.inttoptr(at, self.vector.as_pointer())

    def _load(self, pointer: Any) -> Any:
        loaded = self.builder.load(pointer)
        loaded.align = self.size
        return loaded
