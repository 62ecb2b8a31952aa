"""Matmul of integers, which BLAS has not.

    launch(call, wanted, where, moves, count) -> launches   of one matmul, or of a run of a batch
    multiply(a, b) -> array                                 their NumPy form
"""
from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from tfnb.core.interrupts import leave_if_abandoned
from tfnb.core.options import has_compiler
from tfnb.kernels.batches import Moves
from tfnb.kernels.cpu.matmul.tiled import PARALLEL_FLOPS, Product
from tfnb.kernels.functions.kernel import kernel_function, type_name
from tfnb.kernels.functions.language import Array, MaybeOne, Static, Type
from tfnb.kernels.launch import Address, Call, Launch

PRODUCTS_AT_ONCE = 10 ** 9                              # of NumPy forms: less than a second
LEAST = 4_000                                           # products, for which a call of machine code pays
ROWS = 4                                                # of a, that share each line of b while it is in registers


@kernel_function(independent=True)
def multiply_rows(a: Array, b: Array, c: Array, m: int, n: int, k: int, blocks: int, a_step: int, b_step: int,
                  c_step: int, a_row: int, a_column: MaybeOne, b_row: MaybeOne, b_column: MaybeOne, dots: Static,
                  T: Type, Sum: Type, item: int) -> None:
    """Multiply ROWS rows of a (m, k) by b (k, n); there are `blocks` of them. Steps: to the next matrices, in elements.

    dots: by a dot product for each element, where the columns of b are contiguous; else by sums of lines of b.
    Sum: the widest integers with T's sign: sums of narrower ones would not be vectorized (7 times the time).
    """
    batch = item // blocks
    first = item % blocks * ROWS
    row = a[batch * a_step + first * a_row:]
    matrix = b[batch * b_step:]
    own = c[batch * c_step + first * n:]
    rows = min(ROWS, m - first)
    for j in range(rows * n):
        own[j] = T(0)
    if dots and rows == ROWS:
        for j in range(n):
            column = matrix[j * b_column:]
            one, two, three, four = Sum(0), Sum(0), Sum(0), Sum(0)
            for p in range(k):
                y = column[p * b_row]
                one = Sum(one + Sum(T(row[p * a_column] * y)))
                two = Sum(two + Sum(T(row[a_row + p * a_column] * y)))
                three = Sum(three + Sum(T(row[2 * a_row + p * a_column] * y)))
                four = Sum(four + Sum(T(row[3 * a_row + p * a_column] * y)))
            own[j] = T(one)
            own[n + j] = T(two)
            own[2 * n + j] = T(three)
            own[3 * n + j] = T(four)
    elif rows == ROWS:
        for p in range(k):
            line = matrix[p * b_row:]
            first_x, second_x = row[p * a_column], row[a_row + p * a_column]
            third_x, fourth_x = row[2 * a_row + p * a_column], row[3 * a_row + p * a_column]
            for j in range(n):
                y = line[j * b_column]
                own[j] = T(own[j] + first_x * y)
                own[n + j] = T(own[n + j] + second_x * y)
                own[2 * n + j] = T(own[2 * n + j] + third_x * y)
                own[3 * n + j] = T(own[3 * n + j] + fourth_x * y)
    else:
        for i in range(rows):
            single = own[i * n:]
            for p in range(k):
                line = matrix[p * b_row:]
                x = row[i * a_row + p * a_column]
                for j in range(n):
                    single[j] = T(single[j] + x * line[j * b_column])


def _sum_type(type_: str) -> str:
    return "uint64" if type_.startswith("u") else "int64"


def launch(call: Call, wanted: Product, where: Sequence[Address], moves: Moves, count: int) -> list[Launch]:
    """Return the launch of `count` products. where: the first a, b, c; moves: steps to the next ones, in matrices."""
    m, n, k, size = wanted.m, wanted.n, wanted.k, np.dtype(wanted.type).itemsize
    if m * n * count == 0:
        return []
    steps = [move * elements for move, elements in zip(moves, (m * k, k * n, m * n), strict=True)]
    reached = [address.reach(((count - 1) * step + elements) * size)
               for address, step, elements in zip(where, steps, (m * k, k * n, m * n), strict=True)]
    blocks = -(-m // ROWS)
    return [multiply_rows.launch(
        call, count * blocks, *reached, m, n, k, blocks, *steps, *((1, m) if wanted.transpose_a else (k, 1)),
        *((1, k) if wanted.transpose_b else (n, 1)), dots=wanted.transpose_b, T=wanted.type, Sum=_sum_type(wanted.type),
        grain=max(1, PARALLEL_FLOPS // max(1, 8 * ROWS * n * k)), label="integer gemm")]


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Compute a @ b, of stacks of matrices, some rows at a time: each in less than a second."""
    each_row = prod(np.broadcast_shapes(a.shape[:-2], b.shape[:-2])) * a.shape[-1] * b.shape[-1]
    rows = max(1, PRODUCTS_AT_ONCE // max(1, each_row))
    if rows >= a.shape[-2]:
        return _multiplied(a, b)
    parts = []
    for start in range(0, a.shape[-2], rows):
        leave_if_abandoned()
        parts.append(_multiplied(a[..., start:start + rows, :], b))
    return np.concatenate(parts, -2)


def _multiplied(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    (m, k), n, lead = a.shape[-2:], b.shape[-1], np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if a.dtype.kind not in "iu" or prod(lead) * m * n * k < LEAST or not has_compiler():
        return np.asarray(a @ b)
    a, b = np.broadcast_to(a, (*lead, m, k)), np.broadcast_to(b, (*lead, k, n))
    c, blocks = np.empty((*lead, m, n), a.dtype), -(-m // ROWS)
    multiply_rows.run(prod(lead) * blocks, a, b, c, m, n, k, blocks, m * k, k * n, m * n, k, 1, n, 1,
                      dots=False, T=type_name(c.dtype), Sum=_sum_type(c.dtype.name))
    return c
