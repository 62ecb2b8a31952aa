"""Float matmul by the tiles of microkernel.py: blocking of C, loop order, and memory.

    launches(call, product, pairs, c, count, moves, epilogue) -> list[Launch]     all of it, for `count` products

Operands are read where they are, with two exceptions, each made by a launch of its own before the product:

* Rows that lie a multiple of a large power of two apart fall on few lines of the caches, and a matrix larger than the
  second cache comes from farther away for each block of C. Where an element of such a B, or of an A that is stored
  transposed, is used often enough (`panels.pays`), the matrix is copied to panels that tiles read from end to end.
  For 1024 x 1024 x 1024 on Zen 5 that takes 2.4% of the time and saves 20%.
* Rows of A that lie a multiple of 4096 bytes apart fall on the same 8 or 12 lines of the first cache; where a tile has
  more rows than that, A is copied to rows that are a little longer (Zen 4, 1024 x 1024 x 1024: 100 -> 108 GFLOP/s).

Such a choice depends on shapes and processor only, and changes no bits. B is stored plain: the compiler has a
transposed one copied, once for all products that use it.

Items are blocks of C, the same ones whatever the number of threads. In an item, for each block of k (about K_BYTES)
and each strip of columns as wide as a tile, tiles go from top to bottom: A's rows and B's strip stay in the second
cache. In a sum of products (`pairs` of operands of equal shapes) a tile stays in registers from pair to pair.

GFLOP/s in float32 on one core, best of many runs of each in turns; peak: registers alone; OpenBLAS: SciPy's;
oneDNN: TensorFlow's.

    AVX-512 EPYC, Zen 5 (two 512-bit units: peak 252)      these tiles    OpenBLAS    oneDNN
    128 x 256 x 784                                                248         104       236
    784 x 256 x 128, A transposed                                  241         100       235
    1024 x 1024 x 1024                                             231          99       224
    784 x 1024 x 1024, A transposed                                221          92       220
    1024 x 1024 x 1024, A transposed                               223          92       215
    2048 x 2048 x 2048                                             224          96       239
    12544 x 32 x 800                                               225          76       165
    32 x 512 x 256                                                 246          87       194
    64 x 1024 x 1024                                               192          90       216

    Zen 4 (two 256-bit units: peak 118), before there were panels
    128 x 256 x 784                                                114          91       108
    784 x 256 x 128, A transposed                                  114          85       108
    1024 x 1024 x 1024                                             107          92       110
    784 x 1024 x 1024, A transposed                                103          76       108
    12544 x 32 x 800                                                98          65        82
    32 x 512 x 256                                                 113         115       112
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from tfnb.kernels.batches import Moves
from tfnb.kernels.cpu.matmul import panels
from tfnb.kernels.launch import Address, Call, Code, Launch, Word
from tfnb.kernels.library.copying import copy_box
from tfnb.kernels.llvm import microkernel
from tfnb.kernels.llvm.microkernel import BYTES, Machine
from tfnb.kernels.sizes import highest, lowest

PARALLEL_FLOPS = 2_000_000                              # a product of fewer is one item (18 us on one core),
ITEM_FLOPS = 1_000_000                                  # of more, items have at least this many
ITEMS = 32                                              # more make no better balance
K_BYTES = 4096                                          # of a row of A, or of its column's width, multiplied at a time
ROWS = 96                                               # most rows in an item: with K_BYTES, 384 KB of A
ROWS_OF_LARGE = 192                                     # where B comes from memory each time
LARGE_BYTES = 6 << 20                                   # of B
LEAST_SIZE = 2                                          # of m and n: a product with a vector is bound by memory
LEAST_WORK = 1 << 18                                    # multiply-adds: with fewer, BLAS takes 2 us more, no compiler
EPILOGUE_COLUMNS = 256                                      # a row of an epilogue takes some 12 ns to begin
LINE = 64                                               # bytes

(C, M, N, K, A_STEP, A_PANEL, B_STEP, B_PANEL, A_MOVE, B_MOVE, C_MOVE, BLOCK_ROWS, BLOCK_COLUMNS, PER_COLUMN,
 PER_MATRIX, DEPTH, COUNT, TOGETHER, ADDEND, EPILOGUE, EPILOGUE_ITEMS, PAIRS) = range(22)  # then A, B, epilogue

SOURCE = f"""
LEVEL = 0

@device
def height(left):
    {{heights}}

@device
def multiply(args, pairs, a, b, c, m, n, base):
    '''Store a block of C; a and b are offsets in the matrices of each pair, base that of what is added, or 0.'''
    a_step, b_step, c_step, k, count = args[{A_STEP}], args[{B_STEP}], args[{N}] * {{size}}, args[{K}], args[{COUNT}]
    together, depth = args[{TOGETHER}], args[{DEPTH}]
    begins = 0
    if base != 0 and count <= together and k <= depth:
        begins = 1
    for first in range(0, count, together):
        for p in range(0, k, depth):
            start = base
            if first + p > 0:
                start = c
            for j in range(0, n, {{width}}):
                i = 0
                while i < m:
                    rows = height(m - i)
                    place = i * c_step + {{size}} * j
                    multiply_by_{{order}}_{{type}}(
                        rows, pairs + 16 * first, min(together, count - first),
                        a + i // {{tall}} * args[{A_PANEL}] + i % {{tall}} * {{a_row}} + p * {{a_column}}, a_step,
                        b + j // {{width}} * args[{B_PANEL}] + p * b_step, b_step, min({{width}}, n - j),
                        c + place, c_step, min(depth, k - p), (start + place) * min(start, 1) + begins)
                    i += rows

def kernel(args, begin, end):
    n = args[{N}]
    pairs = address_of(args) + 8 * {PAIRS}
    for item in range(begin, end):
        matrix, block = item // args[{PER_MATRIX}], item % args[{PER_MATRIX}]
        i, across = block // args[{PER_COLUMN}] * args[{BLOCK_ROWS}], block % args[{PER_COLUMN}]
        j = across * args[{BLOCK_COLUMNS}]
        rows, columns = min(args[{BLOCK_ROWS}], args[{M}] - i), min(args[{BLOCK_COLUMNS}], n - j)
        place = (i * n + j) * {{size}}
        multiply(args, pairs, matrix * args[{A_MOVE}] + i // {{tall}} * args[{A_PANEL}],
                 matrix * args[{B_MOVE}] + j // {{width}} * args[{B_PANEL}],
                 args[{C}] + matrix * args[{C_MOVE}] + place, rows, columns,
                 (args[{ADDEND}] + place) * min(args[{ADDEND}], 1))
        if args[{EPILOGUE}]:
            first = (across * args[{M}] + i) * args[{EPILOGUE_ITEMS}]
            call_kernel(args[{EPILOGUE}], pairs + 16 * args[{COUNT}], first, first + rows * args[{EPILOGUE_ITEMS}])
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
    return {"type": type, "size": size, "tall": machine.rows[0], "width": machine.width(type),
            "order": "row" if by_row else "column", "heights": f"{choice}\n    return {machine.rows[-1]}",
            "a_row": "a_step" if by_row else size, "a_column": size if by_row else "a_step"}


def is_worth_it(product: Product, terms: int = 1) -> bool:
    """Return whether tiles serve this matmul, or a sum or batch of `terms`; else BLAS.

    Depends on shapes and processor only.
    """
    machine = microkernel.machine()
    if product.type not in BYTES or machine is None or not product.k or product.transpose_b:
        return False
    return min(product.m, product.n) >= LEAST_SIZE and terms * product.m * product.n * product.k >= LEAST_WORK


def launches(call: Call, product: Product, pairs: Sequence[tuple[Address, Address]], c: Address, count: int = 1,
             moves: Moves = (0, 0, 0), epilogue: Epilogue | None = None, addend: Address | None = None) -> list[Launch]:
    """Return the launches of `count` matmuls, each the sum of those of `pairs`.

    moves: how many matrices further on the next a, b and c lie (0: it is the same one). addend: a matrix that is added
    to the only one; it may lie in the memory of c. Where k is one block, the sums begin with its elements: the sum of
    several pairs has the bits that adding one after the other gives.
    """
    machine = microkernel.machine()
    assert machine is not None
    m, n, k, size = product.m, product.n, product.k, BYTES[product.type]
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    a, b = _first(call, product, machine, first, count, moves), _second(call, product, machine, second, count, moves)
    rows, columns = blocks(product, machine, len(pairs), epilogue is not None)
    per_column, per_matrix = -(-n // columns), -(-m // rows) * -(-n // columns)
    grain = highest(1, PARALLEL_FLOPS // highest(1, 2 * lowest(rows, m) * lowest(columns, n) * k * len(pairs)))
    together, depth = highest(1, K_BYTES // size // k), _depth(k, size)
    each = a.nbytes, b.nbytes, m * n * size
    reach = [((count - 1) * move + 1) * nbytes for move, nbytes in zip(moves, each, strict=True)]
    places = chain(*((p.reach(reach[0]), q.reach(reach[1])) for p, q in zip(a.places, b.places, strict=True)))
    begin, more = ((Code(epilogue.source), epilogue.row_items), epilogue.words) if epilogue else ((0, 0), ())
    words: tuple[Word, ...] = (
        c.reach(reach[2]), m, n, k, a.step, a.panel, b.step, b.panel,
        *(move * nbytes for move, nbytes in zip(moves, each, strict=True)), rows, columns, per_column, per_matrix,
        depth, len(pairs), together, 0 if addend is None else addend.reach(m * n * size), *begin, *places, *more)
    return [*a.before, *b.before, Launch(SOURCE.format(**names(machine, product.type, not product.transpose_a)), words,
                                         count * per_matrix, grain, "gemm")]


@dataclass(frozen=True, slots=True)
class _Operand:
    """An operand of each pair as tiles read it, in bytes.

    before: launches that copy it; nbytes: of a matrix; step: from one stored row to the next; panel: from the part that
    a tile reads to that of the next tile.
    """

    places: Sequence[Address]
    nbytes: int
    step: int
    panel: int
    before: Sequence[Launch] = ()


def _first(call: Call, product: Product, machine: Machine, places: Sequence[Address], count: int,
           moves: Moves) -> _Operand:
    """Return A: as it is, in panels, or with longer rows."""
    m, k, size, tall = product.m, product.k, BYTES[product.type], machine.rows[0]
    matrices, uses = (count, product.n) if moves[0] else (1, count * product.n)
    if product.transpose_a:
        if panels.pays(k, m, _depth(k, size), size, tall, uses, 1):
            return _Operand(*panels.pack(call, places, product.type, k, m, tall, matrices))
        return _Operand(places, m * k * size, m * size, tall * size)
    step = k * size
    if step % 4096 == 0 and min(m, tall) > microkernel.cache_ways() and product.n >= 4 * machine.width(product.type):
        before, places = _longer(call, product, places, m * matrices)
        return _Operand(places, m * (step + LINE), step + LINE, tall * (step + LINE), before)
    return _Operand(places, m * step, step, tall * step)


def _second(call: Call, product: Product, machine: Machine, places: Sequence[Address], count: int,
            moves: Moves) -> _Operand:
    """Return B: as it is or in panels."""
    k, n, size, width = product.k, product.n, BYTES[product.type], machine.width(product.type)
    matrices, uses = (count, product.m) if moves[1] else (1, count * product.m)
    if panels.pays(k, n, _depth(k, size), size, width, uses, 2):
        return _Operand(*panels.pack(call, places, product.type, k, n, width, matrices))
    return _Operand(places, k * n * size, n * size, width * size)


def _depth(k: int, size: int) -> int:
    """Return how much of k is multiplied at a time: equal parts of about K_BYTES."""
    parts: int = highest(1, (2 * k * size + K_BYTES) // (2 * K_BYTES))
    return -(-k // parts)


def _longer(call: Call, product: Product, places: Sequence[Address],
            rows: int) -> tuple[list[Launch], list[Address]]:
    """Return copies of each A with rows that are one cache line longer."""
    size = BYTES[product.type]
    step = product.k * size + LINE
    copies = [call.scratch(rows * step).reach(rows * step) for _ in places]
    axes = [(rows, product.k, step // size), (product.k, 1, 1)]
    made = [copy_box(call, a, copy, product.type, axes) for a, copy in zip(places, copies, strict=True)]
    return list(chain(*made)), copies


def epilogue_columns(product: Product, terms: int = 1) -> int:
    """Return the width of the column blocks on which an epilogue runs: a divisor of the column count."""
    machine = microkernel.machine()
    assert machine is not None
    columns: int = lowest(product.n, blocks(product, machine, terms, True)[1])
    return columns


def blocks(product: Product, machine: Machine, terms: int = 1, even: bool = False) -> tuple[int, int]:
    """Return the rows and columns of C per item: multiples of a tile's, enough items for many threads.

    even: all items have as many columns, and where there are enough items, at least EPILOGUE_COLUMNS.
    """
    n, width = product.n, machine.width(product.type)
    flops = product.flops * terms
    if flops <= PARALLEL_FLOPS:
        return product.m, n
    wanted = lowest(ITEMS, flops // ITEM_FLOPS)
    if not even:
        across = highest(1, lowest(-(-wanted // -(-product.m // _most_rows(product))), n // width))
        columns = _multiple(-(-n // across), width)
        return _rows(product, machine, wanted, columns), columns
    choices = [c for c in range(width, n, width) if n % c == 0] + [_multiple(n, width)]
    large = [c for c in choices if c >= min(n, EPILOGUE_COLUMNS)]
    for columns in [*large, *(c for c in reversed(choices) if c not in large)]:
        rows = _rows(product, machine, wanted, columns)
        if -(-product.m // rows) * -(-n // columns) >= lowest(wanted, ITEMS // 2):
            return rows, columns
    return _rows(product, machine, wanted, choices[0]), choices[0]


def _rows(product: Product, machine: Machine, wanted: int, columns: int) -> int:
    """Return the rows of blocks with `columns` columns."""
    m, tall, most = product.m, machine.rows[0], _most_rows(product)
    down = highest(-(-m // most), lowest(-(-wanted // -(-product.n // columns)), m // tall))
    return _multiple(-(-m // down), tall)


def _most_rows(product: Product) -> int:
    """Return the most rows of a block."""
    return ROWS_OF_LARGE if product.k * product.n * BYTES[product.type] > LARGE_BYTES else ROWS


def _multiple(size: int, unit: int) -> int:
    return -(-size // unit) * unit
