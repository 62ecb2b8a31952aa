"""Float matmul by the tiles of microkernel.py: blocking of C, loop order, and memory.

    launches(call, product, pairs, c, count, moves, epilogue) -> list[Launch]     all of it, for `count` products

Operands are read where they are. Copying panels of them into the order of their use, which is what BLAS libraries do,
costs 3 to 12% here and gains nothing, with one exception, made by a launch of its own before the product: rows of A
that lie a multiple of 4096 bytes apart fall on the same few lines of the first cache, which a tile of 12 rows overruns.
Such an A is copied to rows that are a little longer (100 -> 108 GFLOP/s for 1024 x 1024 x 1024). B is stored plain:
the compiler has a transposed one copied, once for all products that use it.

Items are blocks of C, the same ones whatever the number of threads. In an item, for each block of k (K_BYTES) and each
strip of columns as wide as a tile, tiles go from top to bottom: A's rows and B's strip stay in the second cache. In a
sum of products (`pairs` of operands of equal shapes) a tile stays in registers from pair to pair.

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

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from tfnb.kernels.launch import Address, Call, Code, Launch, Word
from tfnb.kernels.library.copying import copy_box
from tfnb.kernels.llvm import microkernel
from tfnb.kernels.llvm.microkernel import BYTES, Machine

PARALLEL_FLOPS = 2_000_000                              # a product of fewer is one item (18 us on one core),
ITEM_FLOPS = 1_000_000                                  # of more, items have at least this many
ITEMS = 32                                              # more make no better balance
K_BYTES = 4096                                          # of a row of A, or of its column's width, multiplied at a time
ROWS = 96                                               # most rows in an item: with K_BYTES, 384 KB of A
LEAST_ROWS = 8                                          # with fewer, B is hardly used again once it is there
LEAST_WORK = 1 << 18                                    # multiply-adds: BLAS is as fast for fewer, and compiled already
EPILOGUE_COLUMNS = 256                                      # a row of an epilogue takes some 12 ns to begin
LINE = 64                                               # bytes
CACHE_WAYS = 8                                          # lines that fit where addresses 4096 bytes apart meet

(C, M, N, K, A_STEP, B_STEP, A_MOVE, B_MOVE, C_MOVE, BLOCK_ROWS, BLOCK_COLUMNS, PER_COLUMN, PER_MATRIX, COUNT, TOGETHER,
 EPILOGUE, EPILOGUE_ITEMS, PAIRS) = range(18)               # then the addresses of each A and B, the epilogue's words

SOURCE = f"""
@device
def height(left):
    {{heights}}

@device
def multiply(pairs, count, together, a, a_step, b, b_step, c, c_step, m, n, k):
    '''Store a block of C; a and b are offsets in the matrices of each pair.'''
    for first in range(0, count, together):
        for p in range(0, k, {{depth}}):
            for j in range(0, n, {{width}}):
                i = 0
                while i < m:
                    rows = height(m - i)
                    multiply_by_{{order}}_{{type}}(
                        rows, pairs + 16 * first, min(together, count - first), a + i * {{a_row}} + p * {{a_column}},
                        a_step, b + p * b_step + {{size}} * j, b_step, min({{width}}, n - j),
                        c + i * c_step + {{size}} * j, c_step, min({{depth}}, k - p), first + p)
                    i += rows

def kernel(args, begin, end):
    n, k, a_step, b_step, count = args[{N}], args[{K}], args[{A_STEP}], args[{B_STEP}], args[{COUNT}]
    pairs = address_of(args) + 8 * {PAIRS}
    for item in range(begin, end):
        matrix, block = item // args[{PER_MATRIX}], item % args[{PER_MATRIX}]
        i, across = block // args[{PER_COLUMN}] * args[{BLOCK_ROWS}], block % args[{PER_COLUMN}]
        j = across * args[{BLOCK_COLUMNS}]
        rows, columns = min(args[{BLOCK_ROWS}], args[{M}] - i), min(args[{BLOCK_COLUMNS}], n - j)
        multiply(pairs, count, args[{TOGETHER}], matrix * args[{A_MOVE}] + i * {{a_row}}, a_step,
                 matrix * args[{B_MOVE}] + j * {{size}}, b_step,
                 args[{C}] + matrix * args[{C_MOVE}] + (i * n + j) * {{size}}, n * {{size}}, rows, columns, k)
        if args[{EPILOGUE}]:
            first = (across * args[{M}] + i) * args[{EPILOGUE_ITEMS}]
            call_kernel(args[{EPILOGUE}], pairs + 16 * count, first, first + rows * args[{EPILOGUE_ITEMS}])
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
        """Floating-point operations: multiplications and additions."""
        return 2 * self.m * self.n * self.k


@dataclass(frozen=True, slots=True)
class Epilogue:
    """Epilogue: another kernel, run on each block of C as soon as it is computed, while it is in the cache.

    Its items are the rows of `epilogue_columns` columns each (row_items = 1), those of the first columns first: item
    j * m + i is row i of block j; or, where blocks have all columns, elements (row_items = n). words: its argument
    block, in which C stands as an address like any other.
    """

    source: str
    words: tuple[Word, ...]
    row_items: int


def names(machine: Machine, type: str, by_row: bool) -> dict[str, object]:
    """Return the values that format the sources above. by_row: A's rows are contiguous (else its columns are)."""
    size = BYTES[type]
    choice = "\n    ".join(f"if left >= {rows}:\n        return {rows}" for rows in machine.rows[:-1])
    return {"type": type, "size": size, "depth": K_BYTES // size, "width": machine.width(type),
            "order": "row" if by_row else "column", "heights": f"{choice}\n    return {machine.rows[-1]}",
            "a_row": "a_step" if by_row else size, "a_column": size if by_row else "a_step"}


def is_worth_it(product: Product, terms: int = 1) -> bool:
    """Return whether tiles serve this matmul, or a sum of `terms`; else BLAS. Depends on shapes and processor only."""
    machine = microkernel.machine()
    if product.type not in BYTES or machine is None or product.m < LEAST_ROWS or not product.k or product.transpose_b:
        return False
    if terms * product.m * product.n * product.k < LEAST_WORK:
        return False
    return 4 * product.n >= 3 * _multiple(product.n, machine.lanes(product.type))


def launches(call: Call, product: Product, pairs: Sequence[tuple[Address, Address]], c: Address, count: int = 1,
             moves: tuple[int, int, int] = (0, 0, 0), epilogue: Epilogue | None = None) -> list[Launch]:
    """Return the launches of `count` matmuls, each the sum of those of `pairs`.

    moves: how many matrices further on the next a, b and c lie (0: it is the same one).
    """
    machine = microkernel.machine()
    assert machine is not None
    m, n, k, size = product.m, product.n, product.k, BYTES[product.type]
    a_step, before = (m if product.transpose_a else k) * size, list[Launch]()
    if not product.transpose_a and a_step % 4096 == 0 and m > CACHE_WAYS and n >= 4 * machine.width(product.type):
        a_rows = m * (count if moves[0] else 1)
        before, pairs = _longer(call, product, pairs, a_rows)
        a_step += LINE
    a_bytes = (k if product.transpose_a else m) * a_step
    rows, columns = blocks(product, machine, len(pairs), epilogue is not None)
    per_column, per_matrix = -(-n // columns), -(-m // rows) * -(-n // columns)
    grain = max(1, PARALLEL_FLOPS // max(1, 2 * min(rows, m) * min(columns, n) * k * len(pairs)))
    together = max(1, K_BYTES // size // k)
    each = a_bytes, k * n * size, m * n * size
    reach = [((count - 1) * move + 1) * nbytes for move, nbytes in zip(moves, each, strict=True)]
    pairs, c = [(a.reach(reach[0]), b.reach(reach[1])) for a, b in pairs], c.reach(reach[2])
    begin, more = ((Code(epilogue.source), epilogue.row_items), epilogue.words) if epilogue else ((0, 0), ())
    words: tuple[Word, ...] = (
        c, m, n, k, a_step, n * size, moves[0] * a_bytes, moves[1] * k * n * size, moves[2] * m * n * size,
        rows, columns, per_column, per_matrix, len(pairs), together, *begin, *chain(*pairs), *more)
    return [*before, Launch(SOURCE.format(**names(machine, product.type, not product.transpose_a)), words,
                            count * per_matrix, grain, "gemm")]


def _longer(call: Call, product: Product, pairs: Sequence[tuple[Address, Address]],
            rows: int) -> tuple[list[Launch], list[tuple[Address, Address]]]:
    """Return copies of each A with rows that are one cache line longer, and the pairs with these."""
    size = BYTES[product.type]
    step = product.k * size + LINE
    copies = [call.scratch(rows * step).reach(rows * step) for _ in pairs]
    axes = [(rows, product.k, step // size), (product.k, 1, 1)]
    made = [copy_box(call, a, copy, product.type, axes) for (a, _), copy in zip(pairs, copies, strict=True)]
    return list(chain(*made)), [(copy, b) for copy, (_, b) in zip(copies, pairs, strict=True)]


def epilogue_columns(product: Product, terms: int = 1) -> int:
    """Return the width of the column blocks on which an epilogue runs: a divisor of the column count."""
    machine = microkernel.machine()
    assert machine is not None
    return min(product.n, blocks(product, machine, terms, True)[1])


def blocks(product: Product, machine: Machine, terms: int = 1, even: bool = False) -> tuple[int, int]:
    """Return the rows and columns of C per item: multiples of a tile's, enough items for many threads.

    even: all items have as many columns, and where there are enough items, at least EPILOGUE_COLUMNS.
    """
    n, width = product.n, machine.width(product.type)
    flops = product.flops * terms
    if flops <= PARALLEL_FLOPS:
        return product.m, n
    wanted = min(ITEMS, flops // ITEM_FLOPS)
    if not even:
        across = max(1, min(-(-wanted // -(-product.m // ROWS)), n // width))
        columns = _multiple(-(-n // across), width)
        return _rows(product, machine, wanted, columns), columns
    choices = [c for c in range(width, n, width) if n % c == 0] + [_multiple(n, width)]
    large = [c for c in choices if c >= min(n, EPILOGUE_COLUMNS)]
    for columns in [*large, *(c for c in reversed(choices) if c not in large)]:
        rows = _rows(product, machine, wanted, columns)
        if -(-product.m // rows) * -(-n // columns) >= min(wanted, ITEMS // 2):
            return rows, columns
    return _rows(product, machine, wanted, choices[0]), choices[0]


def _rows(product: Product, machine: Machine, wanted: int, columns: int) -> int:
    """Return the rows of blocks with `columns` columns."""
    m, tall = product.m, machine.rows[0]
    down = max(-(-m // ROWS), min(-(-wanted // -(-product.n // columns)), m // tall))
    return _multiple(-(-m // down), tall)


def _multiple(size: int, unit: int) -> int:
    return -(-size // unit) * unit
