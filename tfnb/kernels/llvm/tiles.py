"""Square tiles transposed in registers: native functions of kernel source.

    transpose_tile_32(source, source_step, target, target_step)     16 x 16 elements of 4 bytes
    transpose_tile_64(source, source_step, target, target_step)     8 x 8 elements of 8 bytes
    stream_tile_32(...), stream_tile_64(...)    the same past the caches (streaming.py), to rows that start at lines

source, target: addresses; steps: bytes from one row of a tile to the next. A tile row is one cache line. With n rows in
vectors, log2(n) rounds of interleaving row k with row k + n/2 transpose: 64 shuffles for 16 x 16.
"""
from __future__ import annotations

from functools import partial
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.kernels.llvm.natives import Native
from tfnb.kernels.llvm.streaming import stream

ir = lazy_module("llvmlite.ir")

SIZES = {4: 16, 8: 8}                     # bytes of an element -> rows and columns of a tile


def primitives() -> dict[str, Native]:
    """Return the native functions, by name."""
    plain = {f"transpose_tile_{8 * unit}": _transpose_tile(unit, n, False) for unit, n in SIZES.items()}
    return plain | {f"stream_tile_{8 * unit}": _transpose_tile(unit, n, True) for unit, n in SIZES.items()}


def _transpose_tile(unit: int, n: int, past: bool) -> Native:
    store = stream if past else partial(_store, unit=unit)

    def make(builder: Any, source: Any, source_step: Any, target: Any, target_step: Any) -> None:
        vector = ir.VectorType(ir.IntType(8 * unit), n)
        rows = [_load(builder, _row(builder, source, source_step, i, vector), unit) for i in range(n)]
        half = n // 2
        low = ir.Constant(ir.VectorType(ir.IntType(32), n), [i // 2 + n * (i % 2) for i in range(n)])
        high = ir.Constant(ir.VectorType(ir.IntType(32), n), [half + i // 2 + n * (i % 2) for i in range(n)])
        for _ in range(n.bit_length() - 1):
            pairs = zip(rows[:half], rows[half:], strict=True)
            rows = [builder.shuffle_vector(a, b, mask) for a, b in pairs for mask in (low, high)]
        for i, row in enumerate(rows):
            store(builder, row, _row(builder, target, target_step, i, vector))

    return Native(("int64",) * 4, "void", make)


def _row(builder: Any, address: Any, step: Any, i: int, vector: Any) -> Any:
    """Emit a pointer to row i of a tile."""
    at = builder.add(address, builder.mul(step, ir.Constant(ir.IntType(64), i)))
    return builder.inttoptr(at, vector.as_pointer())


def _store(builder: Any, value: Any, pointer: Any, unit: int) -> None:
    builder.store(value, pointer, align=unit)


def _load(builder: Any, pointer: Any, unit: int) -> Any:
    loaded = builder.load(pointer)
    loaded.align = unit
    return loaded
