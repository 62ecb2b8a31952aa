"""Reduction of the partial sums of an earlier launch's items, in their order."""
from __future__ import annotations

import numpy as np

from tfnb.kernels.launch import Address, Launch

# Item i: row i of `groups` arrays of `rows` x `wide` numbers, the first n of them summed.
SUM_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):
    groups, rows, wide, n = args[2], args[3], args[4], args[5]
    for i in range(begin, end):
        out = {type}_array(args[1] + {bytes} * i * n, 0)
        for group in range(groups):
            source = {type}_array(args[0] + {bytes} * (group * rows + i) * wide, 0)
            if group == 0:
                for j in range(n):
                    out[j] = source[j]
            else:
                for j in range(n):
                    out[j] = out[j] + source[j]
"""


def partial_sums(partial: Address, out: Address, type_: str, groups: int, rows: int, n: int, wide: int = 0,
                 all_rows: int = 0) -> Launch:
    """Sum `groups` arrays of all_rows (or `rows`) rows of wide (or n) elements, one by one, to out (rows x n)."""
    wide = wide or n
    size = np.dtype(type_).itemsize
    text = SUM_TEXT.format(type=type_, bytes=size)
    partial, out = partial.reach(groups * (all_rows or rows) * wide * size), out.reach(rows * n * size)
    return Launch(text, (partial, out, groups, all_rows or rows, wide, n), rows,
                  max(1, (1 << 16) // max(1, groups * wide)), "partial sums")
