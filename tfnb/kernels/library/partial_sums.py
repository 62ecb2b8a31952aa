"""Reduction of the partial sums of an earlier launch's items, in their order."""
from __future__ import annotations

import numpy as np

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array
from tfnb.kernels.launch import Address, Call, Launch


@kernel_function(independent=True)
def sum_groups(partial: Array, out: Array, groups: int, rows: int, wide: int, n: int, item: int) -> None:
    """Sum the first n elements of row `item` of `groups` arrays of rows x wide."""
    target = out[item * n:]
    for group in range(groups):
        source = partial[(group * rows + item) * wide:]
        if group == 0:
            for j in range(n):
                target[j] = source[j]
        else:
            for j in range(n):
                target[j] = target[j] + source[j]


def partial_sums(call: Call, partial: Address, out: Address, type_: str, groups: int, rows: int, n: int, wide: int = 0,
                 all_rows: int = 0) -> Launch:
    """Sum `groups` arrays of all_rows (or `rows`) rows of wide (or n) elements, one by one, to out (rows x n)."""
    wide, all_rows, size = wide or n, all_rows or rows, np.dtype(type_).itemsize
    return sum_groups.launch(call, rows, partial.reach(groups * all_rows * wide * size).of(type_),
                             out.reach(rows * n * size).of(type_), groups, all_rows, wide, n, cost=groups * wide,
                             label="partial sums")
