"""Matrix products on a GPU: a block of threads makes a square tile of the product, through shared memory.

The always-there fallback: no tensor cores, no library. Each thread keeps `per` x `per` sums in registers and reads
each number from shared memory once for `per` products.
"""
from __future__ import annotations

from dataclasses import dataclass

TEXT = """def kernel(a, b, c, m, n, k, a_row, a_column, b_row, b_column):
    left = cuda.shared.array({area}, {type})
    right = cuda.shared.array({area}, {type})
    sums = cuda.local.array({sums}, {type})
    across = (n + {tile} - 1) // {tile}
    row, column = cuda.blockIdx.x // across * {tile}, cuda.blockIdx.x % across * {tile}
    thread = cuda.threadIdx.x
    y, x = thread // {side} * {per}, thread % {side} * {per}
    for i in range({sums}):
        sums[i] = {type}(0)
    for start in range(0, k, {depth}):
        for e in range(thread, {area}, {threads}):
            i, p = e // {depth}, e % {depth}
            inside = row + i < m and start + p < k
            left[e] = a[(row + i) * a_row + (start + p) * a_column] if inside else {type}(0)
            p, j = e // {tile}, e % {tile}
            inside = column + j < n and start + p < k
            right[e] = b[(start + p) * b_row + (column + j) * b_column] if inside else {type}(0)
        cuda.syncthreads()
        for p in range({depth}):
            for i in range({per}):
                value = left[(y + i) * {depth} + p]
                for j in range({per}):
                    sums[i * {per} + j] += value * right[p * {tile} + x + j]
        cuda.syncthreads()
    for i in range({per}):
        for j in range({per}):
            if row + y + i < m and column + x + j < n:
                c[(row + y + i) * n + column + x + j] = sums[i * {per} + j]
"""


@dataclass(frozen=True, slots=True)
class Tiling:
    """A block makes `tile` x `tile` numbers, `per` x `per` a thread, over `depth` of the inner dimension at a time."""

    tile: int = 64
    depth: int = 16
    per: int = 4

    @property
    def threads(self) -> int:
        """The threads of a block."""
        return (self.tile // self.per) ** 2

    def blocks(self, m: int, n: int) -> int:
        """The blocks that cover a product of m x n."""
        return -(-m // self.tile) * -(-n // self.tile)


def matmul_text(type: str, tiling: Tiling = Tiling()) -> str:  # noqa: B008  (frozen)
    """The kernel c = a b for flat arrays of `type`; element (i, p) of a is at i * a_row + p * a_column, likewise b."""
    return TEXT.format(type=type, tile=tiling.tile, depth=tiling.depth, per=tiling.per, area=tiling.tile * tiling.depth,
                       sums=tiling.per ** 2, side=tiling.tile // tiling.per, threads=tiling.threads)


def argument_types(type: str) -> list[tuple[str, bool]]:
    """The dtype of each argument, and whether it is an array: what `device.ptx` asks for."""
    return [(type, True)] * 3 + [("int64", False)] * 7
