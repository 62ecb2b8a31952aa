"""Shared parts of the data-movement kernels: copying rows of bytes, filling, reading known inputs."""
from __future__ import annotations

from tfnb.kernels.launch import Address, Launch, Meta, Word

BYTES_PER_CHUNK = 1 << 17                               # what one thread copies at a time
UNITS = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64"}

# Item i: row order[i] of the source (or row i) goes to row i of the target.
COPY_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):
    size = args[2]
    order = int64_array(args[3], 0)
    for i in range(begin, end):
        place = order[i] if args[3] != 0 else i
        source = {unit}_array(args[0] + {bytes} * size * place, size)
        target = {unit}_array(args[1] + {bytes} * size * i, size)
        for j in range(size):
            target[j] = source[j]
"""

# Item i = (outer row); the target's rows are `wide` units apart.
STRIDED_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):
    size, wide = args[2], args[3]
    for i in range(begin, end):
        source = {unit}_array(args[0] + {bytes} * size * i, size)
        target = {unit}_array(args[1] + {bytes} * wide * i, size)
        for j in range(size):
            target[j] = source[j]
"""

FILL_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):
    value = {unit}_array(args[0], 1)[0] if args[0] != 0 else {unit}(0)
    target = {unit}_array(args[1] + {bytes} * begin, end - begin)
    for i in range(end - begin):
        target[i] = value
"""


def copy_rows(source: Address, target: Address, row_bytes: int, rows: int, order: Address | None) -> Launch:
    """Copy `rows` rows; row i comes from row order[i] (int64), or from row i when `order` is None."""
    text, size, unit = by_unit(COPY_TEXT, row_bytes)
    grain = max(1, BYTES_PER_CHUNK // max(1, row_bytes))
    whole = rows * row_bytes                                # of the source too: `order` has no row twice
    args = (source.reach(whole), target.reach(whole), size, 0 if order is None else order.reach(8 * rows))
    return Launch(text, args, rows, grain, "copy rows")


def fill(value: Word, target: Address, out: Meta) -> Launch:
    """Fill with the element at `value` (zero bytes for 0)."""
    if out.itemsize == 16:
        raise NotImplementedError(f"no fill kernel for {out.type}")
    text = FILL_TEXT.format(unit=UNITS[out.itemsize], bytes=out.itemsize)
    value = value.reach(out.itemsize) if isinstance(value, Address) else value
    args = (value, target.reach(out.size * out.itemsize))
    return Launch(text, args, out.size, BYTES_PER_CHUNK // out.itemsize, "fill")


def by_unit(text: str, row_bytes: int, *more: int, index: str = "int64") -> tuple[str, int, int]:
    """Return `text` for the widest unit that divides a row (and `more`), the units per row, the bytes per unit."""
    unit = next(u for u in (8, 4, 2, 1) if all(n % u == 0 for n in (row_bytes, *more)))
    return text.format(unit=UNITS[unit], bytes=unit, index=index), row_bytes // unit, unit
