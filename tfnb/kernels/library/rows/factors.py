"""LU decompositions of many small matrices by one call of machine code: LAPACK takes longer to be called.

    factored(x)         (..., n, n) -> both factors in one matrix, the row of x that each row is, whether no pivot is 0
"""
from __future__ import annotations

import numpy as np

from tfnb.core.options import has_compiler
from tfnb.kernels.functions.kernel import kernel_function, type_name
from tfnb.kernels.functions.language import Array, Type, int64

LARGEST = 32                # sides: beyond, LAPACK's blocks pay for the call
LEAST = 4                   # matrices


@kernel_function
def factor_matrix(x: Array, packed: Array, order: Array, singular: Array, n: int, T: Type, Index: Type,
                  item: int) -> None:
    """Factor matrix `item` by Gaussian elimination with the first largest pivot of each column (Doolittle)."""
    source = x[item * n * n:]
    made = packed[item * n * n:]
    rows = order[item * n:]
    for i in range(n * n):
        made[i] = source[i]
    for i in range(n):
        rows[i] = Index(i)
    for k in range(n):
        place, best = k, abs(made[k * n + k])
        for i in range(k + 1, n):
            size = abs(made[i * n + k])
            if size > best:
                place, best = i, size
        if place != k:
            other = rows[k]
            rows[k] = rows[place]
            rows[place] = other
            for j in range(n):
                value = made[k * n + j]
                made[k * n + j] = made[place * n + j]
                made[place * n + j] = value
        pivot = made[k * n + k]
        if pivot == T(0):
            singular[0] = int64(1)
        for i in range(k + 1, n):
            factor = T(made[i * n + k] / pivot)
            made[i * n + k] = factor
            for j in range(k + 1, n):
                made[i * n + j] = T(made[i * n + j] - factor * made[k * n + j])


def is_worth_it(x: np.ndarray) -> bool:
    """Return whether machine code should factor these matrices."""
    return has_compiler() and x.dtype.name in ("float32", "float64") and 0 < x.shape[-1] <= LARGEST \
        and x.size >= LEAST * x.shape[-1] ** 2


def factored(x: np.ndarray, index: np.dtype) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return packed factors, row numbers of dtype `index`, and whether no pivot is 0."""
    n, packed = x.shape[-1], np.empty(x.shape, x.dtype)
    order, singular = np.empty(x.shape[:-1], index), np.zeros(1, np.int64)
    factor_matrix.run(x.size // n**2, x, packed, order, singular, n, T=type_name(x.dtype), Index=type_name(order.dtype))
    return packed, order, not singular[0]
