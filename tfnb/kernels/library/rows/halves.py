"""Conversion between float16 and float32 in one native pass: NumPy converts element by element.

    widened(x)              16-bit floats as float32; other arrays as they are
    rounded(x, dtype)       float32 as the 16-bit float `dtype`; other arrays cast
    sequence(...)           an arithmetic sequence of float16, each operation rounded

Of bfloat16 NumPy's own conversion serves.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.options import has_compiler
from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Type
from tfnb.kernels.scalar.number_types import wide

LEAST = 1024                # elements: fewer are not worth a kernel


@kernel_function(independent=True)
def convert_elements(x: Array, out: Array, count: int, T: Type, item: int) -> None:
    """Convert `count` elements."""
    for i in range(count):
        out[i] = T(x[i])


def widened(x: np.ndarray) -> np.ndarray:
    """Return 16-bit floats as float32, other arrays as they are."""
    if x.dtype != np.float16 or x.size < LEAST or not has_compiler():
        return wide(x)
    out = np.empty(x.shape, np.float32)
    convert_elements.run(1, x, out, x.size, T="float32")
    return out


def rounded(x: np.ndarray, dtype: Any) -> np.ndarray:
    """Return an array as `dtype`."""
    if dtype != np.float16 or x.dtype != np.float32 or x.size < LEAST or not has_compiler():
        return x.astype(dtype, copy=False)
    out = np.empty(x.shape, np.float16)
    convert_elements.run(1, x, out, x.size, T="float16")
    return out


def sequence(start: np.ndarray, delta: np.ndarray, count: int) -> np.ndarray:
    """Return start + i * delta for `count` values of i, float16; start, delta: of one element."""
    places = widened(rounded(np.arange(count, dtype=np.float32), np.float16))
    products = rounded(places * np.float32(delta.item()), np.float16)
    return rounded(widened(products) + np.float32(start.item()), np.float16)
