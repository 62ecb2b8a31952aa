"""Matrix products: floats by tiles of our own or by BLAS, integers by a loop (integers.py).

    matmul(call), batch_matmul(call) -> launches    `cpu=` of MatMul (transpose_a, _b) and BatchMatMul, -V2 (adj_x, _y)
    product(a, b, attrs), batch_product(a, b, attrs) -> array       their NumPy forms, by BLAS

Tiles (tiled.py) serve what they can, by `tiled.is_worth_it`; BLAS has the rest: products with a vector (gemv), small
ones, a few rows with a transposed b, and processors without fused multiply-add. Which of them depends on shapes and
processor alone.

BLAS is column-major: a row-major C = A B is its C' = B' A', so its first operand is our b. Products of more than
PARALLEL_FLOPS are cut into panels of columns (or of rows, when there are many more of these), the same ones whatever
the number of threads. Measured on two cores of an AVX-512 EPYC: 64-column panels cost 1 to 9% of the time on one
thread, 16-row panels 75%: hence the least panels below.
"""
from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from tfnb.core.interrupts import leave_if_abandoned
from tfnb.kernels.batches import Attrs, Moves, runs, sizes, transposes
from tfnb.kernels.cpu.matmul import blas, integers, tiled
from tfnb.kernels.cpu.matmul.integers import PRODUCTS_AT_ONCE
from tfnb.kernels.cpu.matmul.tiled import PARALLEL_FLOPS, Epilogue, Product
from tfnb.kernels.launch import Address, Call, Launch, Meta, Word
from tfnb.kernels.scalar.number_types import HALVES, name_of

MOST_PANELS, PANEL_FLOPS = 16, 10 ** 10                 # more panels than that only so that each takes less than 1 s
LEAST_COLUMNS, LEAST_ROWS = 64, 128
LEAST_ROWS_TRANSPOSED = 8                              # of a, for which it pays to transpose b
PREFIX = {"float32": "s", "float64": "d"}

# The argument block of GEMM_SOURCE; BLAS takes the addresses of its words.
(GEMM, TRANS1, TRANS2, M, N, K, LD1, LD2, LDC, ONE, ZERO, FIRST, SECOND, RESULT, STEP1, STEP2, STEPC, M_LAST, N_LAST,
 ITEMS) = range(20)

GEMM_SOURCE = f"""
def kernel(args, begin, end):
    at = address_of(args)
    for i in range(begin, end):
        last = i == args[{ITEMS}] - 1
        call_address(
            args[{GEMM}], at + 8 * {TRANS1}, at + 8 * {TRANS2}, at + 8 * ({M_LAST} if last else {M}),
            at + 8 * ({N_LAST} if last else {N}), at + 8 * {K}, at + 8 * {ONE}, args[{FIRST}] + i * args[{STEP1}],
            at + 8 * {LD1}, args[{SECOND}] + i * args[{STEP2}], at + 8 * {LD2}, at + 8 * {ZERO},
            args[{RESULT}] + i * args[{STEPC}], at + 8 * {LDC})
"""

# The output is zeroed here and BLAS adds to it: with a factor 0 some versions keep a NaN that was there.
GEMV_SOURCE = """
INDEPENDENT = True

def kernel(args, begin, end):
    at = address_of(args)
    y = {type}_array(args[9], args[10])
    for i in range(args[10]):
        y[i] = {type}(0)
    call_address(args[0], at + 8, at + 16, at + 24, at + 40, args[7], at + 32, args[8], at + 48, at + 40, args[9],
                 at + 48)
"""


def matmul(call: Call, epilogue: Epilogue | None = None) -> list[Launch]:
    """Return the launches of MatMul: (m, k) x (k, n) -> (m, n), with `transpose_a`, `transpose_b`.

    Of more inputs, where `block_columns(call)` is not 0: the sum of the products of each two, and of a last
    single input, whose memory the output may have. epilogue: a kernel to run over the blocks of the output while they
    are in the cache; only where there are such.
    """
    wanted = _wanted(call)
    if tiled.is_worth_it(wanted, len(call.inputs) // 2):
        count = len(call.inputs)
        pairs = [(call.input(i), call.input(i + 1)) for i in range(0, count - 1, 2)]
        addend = call.input(count - 1) if count % 2 else None
        return tiled.launches(call, wanted, pairs, call.output(), epilogue=epilogue, addend=addend)
    assert epilogue is None and len(call.inputs) == 2
    return _plain_matmul(call)


def block_columns(call: Call) -> int:
    """Return the width of the column blocks in which tiles compute the output of `matmul`; 0 where tiles don't."""
    wanted, terms = _wanted(call), len(call.inputs) // 2
    return tiled.epilogue_columns(wanted, terms) if tiled.is_worth_it(wanted, terms) else 0


def operations(call: Call) -> int:
    """Return the floating-point operations of `matmul` and `batch_matmul`: 2 for each element of each term."""
    return 2 * prod(call.outputs[0].shape) * _wanted(call).k * (len(call.inputs) // 2)


def straight(call: Call, often: bool = False) -> Attrs | None:
    """Return attrs for the same matmul with b transposed before, if tiles then serve it. often: with the same b."""
    name = "adj_y" if "adj_y" in call.attrs else "transpose_b"
    if call.inputs[0].type not in PREFIX or not call.attrs[name]:
        return None
    wanted = replace(_wanted(call), transpose_b=False)
    count = prod(call.inputs[0].shape[:-2])
    if not often and wanted.m < LEAST_ROWS_TRANSPOSED or not tiled.is_worth_it(wanted, count):
        return None
    return {**call.attrs, name: False}


def batch_matmul(call: Call) -> list[Launch]:
    """Return launches of BatchMatMul, -V2: (..., m, k) x (..., k, n) -> (..., m, n), leading dimensions broadcast."""
    wanted, launches = _wanted(call), []
    if not tiled.is_worth_it(wanted, prod(call.outputs[0].shape[:-2])):
        return _plain_batch(call)
    for (a, b, c), moves, count in _stacks(call, wanted):
        launches += tiled.launches(call, wanted, [(a, b)], c, count, moves)
    return launches


def _wanted(call: Call) -> Product:
    a, b = call.inputs[:2]                              # the rest have the same shapes
    return Product(a.type, *sizes(a.shape[-2:], b.shape[-2:], call.attrs), *transposes(call.attrs))


def _stacks(call: Call, wanted: Product) -> Iterator[tuple[tuple[Address, Address, Address], Moves, int]]:
    """Yield (addresses of the first a, b and c, step to the next ones in matrices, count) of each run of the batch."""
    (a, b), size = call.inputs, call.inputs[0].itemsize
    steps = [wanted.m * wanted.k * size, wanted.k * wanted.n * size, wanted.m * wanted.n * size]
    for count, (i, j, o), moves in runs(call.outputs[0].shape[:-2], a.shape[:-2], b.shape[:-2]):
        where = call.input(0).at(i * steps[0]), call.input(1).at(j * steps[1]), call.output().at(o * steps[2])
        yield where, moves, count


def _plain_matmul(call: Call) -> list[Launch]:
    wanted, where = _wanted(call), (call.input(0), call.input(1), call.output())
    return _launches(wanted, *where) if wanted.type in PREFIX else integers.launch(call, wanted, where, (0, 0, 0), 1)


def _plain_batch(call: Call) -> list[Launch]:
    wanted, size = _wanted(call), call.inputs[0].itemsize
    steps = [wanted.m * wanted.k * size, wanted.k * wanted.n * size, wanted.m * wanted.n * size]
    launches: list[Launch] = []
    for where, moves, count in _stacks(call, wanted):
        if wanted.type not in PREFIX:
            launches += integers.launch(call, wanted, where, moves, count)
            continue
        if wanted.flops <= PARALLEL_FLOPS and wanted.m * wanted.n > 0:
            bytes_ = [move * step for move, step in zip(moves, steps, strict=True)]
            words = _gemm_words(wanted, wanted.m, wanted.n, (bytes_[1], bytes_[0], bytes_[2]), count)
            grain = max(1, PARALLEL_FLOPS // max(1, 2 * wanted.flops))
            reached = [address.reach(((count - 1) * move + 1) * step)
                       for address, move, step in zip(where, moves, steps, strict=True)]
            launches.append(Launch(GEMM_SOURCE, _with_addresses(words, *reached), count, grain, "gemm batch"))
            continue
        for i in range(count):
            launches += _launches(wanted, *(address.at(i * move * step) for address, move, step in
                                            zip(where, moves, steps, strict=True)))
    return launches


def product(a: np.ndarray, b: np.ndarray, attrs: Attrs) -> np.ndarray:
    """Compute the product of two matrices by BLAS. float16 and bfloat16 by float32.

    A compiled program adds in another order where it uses tiles, so the last bits of floats differ.
    """
    m, n, _ = sizes(a.shape, b.shape, attrs)
    return _evaluate(_plain_matmul, a, b, attrs, (m, n))


def bound_product(shapes: Sequence[tuple[int, ...]], dtype: np.dtype[Any], attrs: Attrs
                  ) -> Callable[[np.ndarray, np.ndarray], np.ndarray] | None:
    """Return `product` for matrices of these shapes, where it is one call of NumPy."""
    m, n, _ = sizes(shapes[0], shapes[1], attrs)
    if name_of(dtype) not in PREFIX or not 0 < shapes[0][-1] or m * n * max(shapes[0]) >= PRODUCTS_AT_ONCE:
        return None
    transpose_a, transpose_b = transposes(attrs)
    if transpose_a:
        return (lambda a, b: a.T @ b.T) if transpose_b else (lambda a, b: a.T @ b)
    return (lambda a, b: a @ b.T) if transpose_b else np.matmul


def batch_product(a: np.ndarray, b: np.ndarray, attrs: Attrs) -> np.ndarray:
    """Compute the same for stacks of matrices, broadcast over the leading dimensions."""
    m, n, _ = sizes(a.shape[-2:], b.shape[-2:], attrs)
    return _evaluate(_plain_batch, a, b, attrs, (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), m, n))


def _evaluate(lower: Callable[[Call], list[Launch]], a: np.ndarray, b: np.ndarray, attrs: Attrs,
              shape: tuple[int, ...]) -> np.ndarray:
    if name_of(a.dtype) in HALVES:
        return _evaluate(lower, a.astype(np.float32), b.astype(np.float32), attrs, shape).astype(a.dtype)
    if name_of(a.dtype) not in PREFIX:
        transpose_a, transpose_b = transposes(attrs)
        adjoint = np.conj if attrs.get("adj_x") or attrs.get("adj_y") else np.asarray
        left = adjoint(a.swapaxes(-1, -2)) if transpose_a else a
        return integers.multiply(left, adjoint(b.swapaxes(-1, -2)) if transpose_b else b)
    if 0 < a.shape[-1] and prod(shape) * max(a.shape) < PRODUCTS_AT_ONCE:       # 5 us where a launch takes 60
        transpose_a, transpose_b = transposes(attrs)
        with np.errstate(all="ignore"):
            return np.asarray((a.swapaxes(-1, -2) if transpose_a else a) @ (b.swapaxes(-1, -2) if transpose_b else b))
    a, b, out = np.ascontiguousarray(a), np.ascontiguousarray(b), np.zeros(shape, a.dtype)
    call = Call((Meta(a.dtype.name, a.shape), Meta(b.dtype.name, b.shape)), (Meta(out.dtype.name, shape),), attrs)
    start = {("input", 0): a.ctypes.data, ("input", 1): b.ctypes.data, ("output", 0): out.ctypes.data}
    for launch in lower(call):
        words = [start[w.kind, w.index] + w.offset_bytes if isinstance(w, Address) else w for w in launch.args]
        (_call_gemm if launch.source is GEMM_SOURCE else _call_gemv)(np.array(words, np.int64), launch.items)
    return out


def _launches(wanted: Product, a: Address, b: Address, c: Address) -> list[Launch]:
    m, n, k, size = wanted.m, wanted.n, wanted.k, np.dtype(wanted.type).itemsize
    if m * n == 0:
        return []
    a, b, c = a.reach(m * k * size), b.reach(k * n * size), c.reach(m * n * size)
    if k and (m == 1 or n == 1):
        words = _gemv_words(wanted)
        vector, matrix = (a, b) if m == 1 else (b, a)
        text = GEMV_SOURCE.format(type=wanted.type)
        return [Launch(text, (*words[:7], matrix, vector, c, max(m, n)), 1, 0, "gemv")]
    words, items = _panels(wanted)
    return [Launch(GEMM_SOURCE, _with_addresses(words, a, b, c), items, 1 if items > 1 else 0, "gemm")]


def _with_addresses(words: list[int], a: Address, b: Address, c: Address) -> tuple[Word, ...]:
    return (*words[:FIRST], b, a, c, *words[STEP1:])


def _panels(wanted: Product) -> tuple[list[int], int]:
    """Return the argument block (addresses left 0) and the number of panels."""
    m, n, k, size = wanted.m, wanted.n, wanted.k, np.dtype(wanted.type).itemsize
    rows, columns = m, n
    if wanted.flops > PARALLEL_FLOPS:
        if n >= 2 * LEAST_COLUMNS and m < 4 * n:
            columns = _panel(n, LEAST_COLUMNS, wanted.flops)
        elif m >= 2 * LEAST_ROWS:
            rows = _panel(m, LEAST_ROWS, wanted.flops)
    count = -(-n // columns) if columns < n else -(-m // rows)
    steps = (0, 0, 0)
    if columns < n:
        steps = (columns * (k if wanted.transpose_b else 1) * size, 0, columns * size)
    elif rows < m:
        steps = (0, rows * (1 if wanted.transpose_a else k) * size, rows * n * size)
    words = _gemm_words(wanted, rows, columns, steps, count)
    words[M_LAST] = n - (count - 1) * columns if columns < n else n
    words[N_LAST] = m - (count - 1) * rows if rows < m else m
    return words, count


def _panel(size: int, least: int, flops: int) -> int:
    """Return the columns or rows, of `size`, that go into a panel: a multiple of 16."""
    return max(least, -(-size // max(MOST_PANELS, flops // PANEL_FLOPS)) + 15 & -16)


def _gemm_words(wanted: Product, rows: int, columns: int, steps: tuple[int, int, int], count: int) -> list[int]:
    m, n, k = wanted.m, wanted.n, wanted.k
    words = [0] * 20
    words[GEMM] = blas.function(PREFIX[wanted.type] + "gemm")
    words[TRANS1:TRANS2 + 1] = flag(wanted.transpose_b), flag(wanted.transpose_a)
    words[M:K + 1] = columns, rows, k
    words[LD1] = max(1, k if wanted.transpose_b else n)
    words[LD2] = max(1, m if wanted.transpose_a else k)
    words[LDC] = max(1, n)
    words[ONE] = float_one(wanted.type)
    words[STEP1:STEPC + 1] = steps
    words[M_LAST:ITEMS + 1] = columns, rows, count
    return words


def _gemv_words(wanted: Product) -> list[int]:
    """Return gemv, transpose, rows, columns, row length, 1.0, 1 (as BLAS sees the matrix)."""
    m, n, k = wanted.m, wanted.n, wanted.k
    if m == 1:
        transposed, height, width = (True, k, n) if wanted.transpose_b else (False, n, k)
    else:
        transposed, height, width = (False, m, k) if wanted.transpose_a else (True, k, m)
    return [blas.function(PREFIX[wanted.type] + "gemv"), flag(transposed), height, width, height,
            float_one(wanted.type), 1]


def flag(transpose: bool) -> int:
    """Return BLAS's letter for a matrix that is to be transposed, or not."""
    return ord("T" if transpose else "N")


def float_one(type_: str) -> int:
    """Return 1.0 as the low bytes of a word."""
    return int.from_bytes(struct.pack("<f" if type_ == "float32" else "<d", 1.0), "little")


def _call_gemm(block: np.ndarray, items: int) -> None:
    """Run GEMM_SOURCE's computation from Python."""
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 13)(int(block[GEMM]))
    at = block.ctypes.data
    for i in range(items):
        leave_if_abandoned()
        last = i == items - 1
        call(at + 8 * TRANS1, at + 8 * TRANS2, at + 8 * (M_LAST if last else M), at + 8 * (N_LAST if last else N),
             at + 8 * K, at + 8 * ONE, int(block[FIRST] + i * block[STEP1]), at + 8 * LD1,
             int(block[SECOND] + i * block[STEP2]), at + 8 * LD2, at + 8 * ZERO,
             int(block[RESULT] + i * block[STEPC]), at + 8 * LDC)


def _call_gemv(block: np.ndarray, items: int) -> None:
    """Run GEMV_SOURCE's computation from Python, with an output that is zero."""
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 11)(int(block[0]))
    at, (matrix, vector, out) = block.ctypes.data, block[7:10].tolist()
    call(at + 8, at + 16, at + 24, at + 40, matrix, at + 32, vector, at + 48, at + 40, out, at + 48)
