"""Kernel records -> source of CPU kernels.

For example, the source of `x * sigmoid(x)` over vectors:

    FASTMATH = ()
    INDEPENDENT = True


    def kernel(args, begin, end):
        n = end - begin
        a0 = float32_array(args[0] + 4 * begin, n)
        o0 = float32_array(args[1] + 4 * begin, n)
        for j in range(n):
            v0 = a0[j]
            v1 = sigmoid(v0)  # Sigmoid
            v2 = v0 * v1  # Mul
            o0[j] = v2

Loops run over `range(n)` from an array that starts at the first item, since LLVM does not vectorise others; an index
that is multiplied by a stride is unsigned, so that numba does not look for negative ones. Primitives like `sigmoid` are
LLVM instructions in place (intrinsics.py). Kernels are compiled with no fast-math flag at all (FASTMATH): reordering
would ruin the polynomials and what users wrote; where a reduction may be reordered its source says so
(`add_any_order`).

A store may lie in the memory of a load of the same type and steps (INDEPENDENT says that iterations do not meet):
each element is read before it is written, and elements are written in the last pass over a row. Any other overlap of
a store with an operand is an error.
"""
from __future__ import annotations

from tfnb.kernels.cpu.fused.columns import ColumnText
from tfnb.kernels.cpu.fused.rows import RowText
from tfnb.kernels.spec import ColumnKernel, Kernel, Source


def emit(kernel: Kernel) -> Source:
    """Return the source of a kernel module and the meaning of the words of its argument block.

    Equal structure gives equal source, whatever the operands are called. Raises TypeError for a type or a word that
    kernels on the CPU don't have (complex numbers are left to NumPy).
    """
    return ColumnText(kernel).source() if isinstance(kernel, ColumnKernel) else RowText(kernel).source()
