"""Operands of matmul copied to panels, in the order in which tiles read them.

    pays(rows, columns, depth, size, width, uses, room)     whether copying pays
    pack(call, sources, type, rows, columns, width, count)  the copies, and the launches that make them

A matrix of rows x columns becomes panels of `width` columns, one after the other: element (i, j) is at
[j // width, i, j % width]. The last panel is as wide as the others; what is beyond the last column is left as it was.
"""
from __future__ import annotations

from collections.abc import Sequence

from tfnb.kernels.launch import Address, Call, Launch
from tfnb.kernels.llvm.microkernel import BYTES
from tfnb.kernels.sizes import lowest

ROWS = 8                                                # copied at a time: more fall on one line of the first cache
GRAIN_BYTES = 1 << 17
WAY_BYTES = 1 << 16                                     # of the second cache: addresses so far apart share a line
CACHE_BYTES = 1 << 20                                   # of it
LEAST_USES, LEAST_USES_PLAIN = 64, 512                  # of an element, for which its copy pays

SOURCE = """
def kernel(args, begin, end):
    rows, columns, blocks = args[2], args[3], args[4]
    panels = (columns + {width} - 1) // {width}
    rest = columns % {width}
    for item in range(begin, end):
        matrix, first = item // blocks, item % blocks * {rows}
        last = min(first + {rows}, rows)
        source = args[0] + matrix * rows * columns * {size}
        target = args[1] + matrix * panels * rows * {line}
        for panel in range(columns // {width}):
            for row in range(first, last):
                copy_bytes(target + (panel * rows + row) * {line}, source + row * columns * {size} + panel * {line},
                           {line})
        for row in range(first, last):
            for j in range(0, rest * {size}, {size}):
                copy_bytes(target + ((panels - 1) * rows + row) * {line} + j,
                           source + ((row + 1) * columns - rest) * {size} + j, {size})
"""


def pays(rows: int, columns: int, depth: int, size: int, width: int, uses: int, room: int) -> bool:
    """Return whether a copy of a matrix (elements of `size` bytes) pays.

    depth: the rows of which a tile's columns should stay in the second cache; room: the caches' worth of lines that
    they may want; uses: multiplications with each element. Rows whose distance has a large power of two as a factor
    fall on few lines of a cache.
    """
    step = columns * size
    crowded = lowest(rows, depth) * min(step & -step, WAY_BYTES) >= room * CACHE_BYTES
    return columns > width and (crowded and uses >= LEAST_USES
                                or rows * step > 2 * CACHE_BYTES and uses >= LEAST_USES_PLAIN)


def pack(call: Call, sources: Sequence[Address], type: str, rows: int, columns: int, width: int,
         count: int) -> tuple[list[Address], int, int, int, list[Launch]]:
    """Copy `count` matrices at each source to panels.

    Return the copies, the bytes of a copied matrix, of a row of a panel and of a panel, and the launches.
    """
    size, blocks, line = BYTES[type], -(-rows // ROWS), width * BYTES[type]
    nbytes = -(-columns // width) * rows * line
    copies = [call.scratch(count * nbytes).reach(count * nbytes) for _ in sources]
    source = SOURCE.format(width=width, size=size, line=line, rows=ROWS)
    made = [Launch(source, (at.reach(count * rows * columns * size), copy, rows, columns, blocks), count * blocks,
                   max(1, GRAIN_BYTES // (ROWS * columns * size)), "panels")
            for at, copy in zip(sources, copies, strict=True)]
    return copies, nbytes, line, rows * line, made
