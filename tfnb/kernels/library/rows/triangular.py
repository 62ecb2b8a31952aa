"""Triangular systems of many small matrices: one native loop over all of them, where BLAS has a call for each."""
from __future__ import annotations

import numpy as np

from tfnb.core.options import has_compiler
from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, MaybeOne, Static

LEAST = 1024                # elements of all solutions: fewer are not worth a kernel
MOST = 48                   # rows of a matrix: beyond, BLAS's blocks are quicker


@kernel_function(independent=True)
def solve_matrix(a: Array, x: Array, side: int, down: int, across: int, columns: MaybeOne, lower: Static,
                 item: int) -> None:
    """Replace the right side in `x` by the solution. down, across: distances of rows and columns of the matrix."""
    matrix = a[item * side * side:]
    whole = x[item * side * columns:]
    for step in range(side):
        i = step if lower else side - 1 - step
        line = whole[i * columns:]
        for k in range(step):
            j = k if lower else side - 1 - k
            known = whole[j * columns:]
            factor = matrix[i * down + j * across]
            for c in range(columns):
                line[c] = line[c] - factor * known[c]
        pivot = matrix[i * down + i * across]
        for c in range(columns):
            line[c] = line[c] / pivot


def is_worth_it(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether `solved` should solve these systems: real ones, of small matrices as many as right sides."""
    return has_compiler() and a.dtype in (np.float32, np.float64) and a.shape[:-2] == b.shape[:-2] and \
        b.size >= LEAST and 0 < a.shape[-1] <= MOST


def solved(a: np.ndarray, b: np.ndarray, lower: bool, turned: bool) -> np.ndarray:
    """Return the solutions of systems [..., n, n] and [..., n, k]. turned: the matrices are the transposes of `a`.

    lower: of the matrices of the systems, the lower triangle is read, else the upper one.
    """
    side, columns = a.shape[-1], b.shape[-1]
    x = np.array(b, order="C")
    distances = (1, side) if turned else (side, 1)
    solve_matrix.run(x.size // (side * columns), a, x, side, *distances, columns, lower=lower)
    return x
