"""Products of float matrices by the tiles of microkernel.py: how C is cut, in which order, and over what memory.

    launches(call, product, a, b, c, count, moves, tail) -> list[Launch]     all of it, for `count` products
    MULTIPLY.format(...)     text of a helper function that multiplies what it is given, for other kernels: see `names`

Operands are read where they are. Copying panels of them into the order of their use, which is what BLAS libraries do,
costs 3 to 12% here and gains nothing, with two exceptions, made by launches of their own before the product:

* B stored transposed is transposed (transpose.py);
* rows of A that lie a multiple of 4096 bytes apart fall on the same few lines of the first cache, which a tile of 12
  rows overruns: such an A is copied to rows that are a little longer (100 -> 108 GFLOP/s for 1024 x 1024 x 1024).

Items are blocks of C, the same ones whatever the number of threads. In an item, for each block of k (K_BYTES) and each
strip of columns as wide as a tile, tiles go from top to bottom: A's rows and B's strip stay in the second cache.

GFLOP/s in float32 on one core of an AVX-512 EPYC (Zen 4, two 256-bit units), best of many runs of each in turns:

    m x n x k, A and B stored plain or transposed    these tiles    SciPy's OpenBLAS    TensorFlow's oneDNN
    128 x 256 x 784                                          114                  91                    108
    784 x 256 x 128, A transposed                            114                  85                    108
    128 x 784 x 256, B transposed                            109                  91                    104
    1024 x 1024 x 1024                                       107                  92                    110
    784 x 1024 x 1024, A transposed                          103                  76                    108
    12544 x 32 x 800                                          98                  65                     82
    32 x 512 x 256                                           113                 115                    112
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfnb.kernels.cpu import microkernel
from tfnb.kernels.cpu.microkernel import BYTES, Machine
from tfnb.kernels.cpu.transpose import axes, transpose
from tfnb.kernels.launch import Address, Call, Code, Launch, Word

PARALLEL_FLOPS = 2_000_000                              # a product of fewer is one item (18 us on one core),
ITEM_FLOPS = 1_000_000                                  # of more, items have at least so many
ITEMS = 32                                              # more make no better balance
K_BYTES = 4096                                          # of a row of A, or of its column's width, multiplied at a time
ROWS = 96                                               # most rows in an item: with K_BYTES, 384 KB of A
LEAST_ROWS, LEAST_ROWS_TRANSPOSED = 8, 24               # with fewer, B is hardly used again once it is there
LEAST_WORK = 1 << 18                                    # multiply-adds: BLAS is as fast for fewer, and compiled already
CACHE_WAYS = 8                                          # lines that fit where addresses 4096 bytes apart meet

# C = A B, or C += A B if `more`: m, n >= 0, k >= 1; steps in bytes. `height`: the tallest tile that fits.
MULTIPLY = """
@device
def height(left):
    {heights}

@device
def multiply(a, a_step, b, b_step, c, c_step, m, n, k, more):
    for p in range(0, k, {depth}):
        for j in range(0, n, {width}):
            i = 0
            while i < m:
                rows = height(m - i)
                multiply_by_{order}_{type}(rows, a + i * {a_row} + p * {a_column}, a_step, b + p * b_step + {size} * j,
                                           b_step, min({width}, n - j), c + i * c_step + {size} * j, c_step,
                                           min({depth}, k - p), p + more)
                i += rows
"""

(A, B, C, M, N, K, A_STEP, B_STEP, A_MOVE, B_MOVE, C_MOVE, BLOCK_ROWS, BLOCK_COLUMNS, PER_COLUMN, PER_MATRIX, TAIL,
 TAIL_ITEMS, TAIL_WORDS) = range(18)

TEXT = f"""
def kernel(args, begin, end):
    n, k, a_step, b_step = args[{N}], args[{K}], args[{A_STEP}], args[{B_STEP}]
    for item in range(begin, end):
        matrix, block = item // args[{PER_MATRIX}], item % args[{PER_MATRIX}]
        i, j = block // args[{PER_COLUMN}] * args[{BLOCK_ROWS}], block % args[{PER_COLUMN}] * args[{BLOCK_COLUMNS}]
        rows, columns = min(args[{BLOCK_ROWS}], args[{M}] - i), min(args[{BLOCK_COLUMNS}], n - j)
        multiply(args[{A}] + matrix * args[{A_MOVE}] + i * {{a_row}}, a_step,
                 args[{B}] + matrix * args[{B_MOVE}] + j * {{size}}, b_step,
                 args[{C}] + matrix * args[{C_MOVE}] + (i * n + j) * {{size}}, n * {{size}}, rows, columns, k, 0)
        if args[{TAIL}]:
            first = (matrix * args[{M}] + i) * args[{TAIL_ITEMS}]
            call_kernel(args[{TAIL}], address_of(args) + 8 * {TAIL_WORDS}, first, first + rows * args[{TAIL_ITEMS}])
"""

COPY_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):
    n = args[2]
    for i in range(begin, end):
        source, target = {type}_array(args[0] + i * n * {size}, n), {type}_array(args[1] + i * args[3], n)
        for j in range(n):
            target[j] = source[j]
"""


@dataclass(frozen=True, slots=True)
class Product:
    """One product of an m x k by a k x n matrix (as they are after transposing)."""

    type: str
    m: int
    n: int
    k: int
    transpose_a: bool
    transpose_b: bool

    @property
    def flops(self) -> int:
        """Multiplications and additions."""
        return 2 * self.m * self.n * self.k


@dataclass(frozen=True, slots=True)
class Tail:
    """Another kernel, to run over each block of C as soon as it is there, while it is in the cache.

    Its items are rows of C (row_items = 1) or elements (row_items = n), counted through all matrices; it gets whole
    rows. words: its argument block, in which C stands as an address like any other.
    """

    text: str
    words: tuple[Word, ...]
    row_items: int


def names(machine: Machine, type: str, by_row: bool) -> dict[str, object]:
    """What the texts above are formatted with. by_row: A's rows are contiguous (else its columns are)."""
    size = BYTES[type]
    choice = "\n    ".join(f"if left >= {rows}:\n        return {rows}" for rows in machine.rows[:-1])
    return {"type": type, "size": size, "depth": K_BYTES // size, "width": machine.width(type),
            "order": "row" if by_row else "column", "heights": f"{choice}\n    return {machine.rows[-1]}",
            "a_row": "a_step" if by_row else size, "a_column": size if by_row else "a_step"}


def is_worth_it(product: Product, count: int = 1) -> bool:
    """Do tiles serve this product (else BLAS does)? It depends on its shape and on the processor alone."""
    machine = microkernel.machine()
    if product.type not in BYTES or machine is None or product.m < LEAST_ROWS or not product.k:
        return False
    if product.m * product.n * product.k < LEAST_WORK:
        return False
    if 4 * product.n < 3 * _multiple(product.n, machine.lanes(product.type)):
        return False
    return not product.transpose_b or (
        product.m >= LEAST_ROWS_TRANSPOSED and axes(*_transposed(product, count)) is not None)


def launches(call: Call, product: Product, a: Address, b: Address, c: Address, count: int = 1,
             moves: tuple[int, int, int] = (0, 0, 0), tail: Tail | None = None) -> list[Launch]:
    """`count` products; moves: how many matrices further on the next a, b and c lie (0: it is the same one)."""
    machine = microkernel.machine()
    assert machine is not None
    m, n, k, size = product.m, product.n, product.k, BYTES[product.type]
    a_step, a_bytes, before = (m if product.transpose_a else k) * size, m * k * size, []
    if product.transpose_b:
        shape, strides = _transposed(product, count if moves[1] else 1)
        source, b = b, call.scratch(size * int(np.prod(shape)))
        before += transpose(source, b, size, shape, strides)
    if not product.transpose_a and a_step % 4096 == 0 and m > CACHE_WAYS and n >= 4 * machine.width(product.type):
        source, a_step, rows = a, a_step + 64, m * (count if moves[0] else 1)
        a_bytes, a = m * a_step, call.scratch(rows * a_step)
        before.append(Launch(COPY_TEXT.format(type=product.type, size=size), (source, a, k, a_step), rows,
                             max(1, (1 << 17) // a_step), "longer rows"))
    rows, columns = blocks(product, machine, whole_rows=tail is not None)
    per_column, per_matrix = -(-n // columns), -(-m // rows) * -(-n // columns)
    grain = max(1, PARALLEL_FLOPS // max(1, 2 * min(rows, m) * min(columns, n) * k))
    ending = (Code(tail.text), tail.row_items, *tail.words) if tail else (0, 0)
    found = names(machine, product.type, not product.transpose_a)
    words = (a, b, c, m, n, k, a_step, n * size, moves[0] * a_bytes, moves[1] * k * n * size, moves[2] * m * n * size,
             rows, columns, per_column, per_matrix, *ending)
    return [*before, Launch((MULTIPLY + TEXT).format(**found), words, count * per_matrix, grain, "gemm")]


def _transposed(product: Product, count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """B as it is wanted, as a view of B as it is: shape and strides in elements."""
    return (count, product.k, product.n), (product.k * product.n, 1, product.k)


def blocks(product: Product, machine: Machine, whole_rows: bool) -> tuple[int, int]:
    """How many rows and columns of C an item has: multiples of a tile's, enough items for many threads."""
    m, n, tall, width = product.m, product.n, machine.rows[0], machine.width(product.type)
    if product.flops <= PARALLEL_FLOPS:
        return m, n
    wanted = min(ITEMS, product.flops // ITEM_FLOPS)
    down = -(-m // ROWS)
    across = 1 if whole_rows else max(1, min(-(-wanted // down), n // width))
    down = max(down, min(-(-wanted // across), m // tall))
    return _multiple(-(-m // down), tall), _multiple(-(-n // across), width)


def _multiple(size: int, unit: int) -> int:
    return -(-size // unit) * unit
