"""Sums of outer products in registers, against NumPy."""
from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tfnb.kernels.cpu.conv import conv
from tfnb.kernels.launch import Call, Code, Meta
from tfnb.kernels.llvm import jit, window_tiles

SOURCE = """
def kernel(args, begin, end):
    window_tile_{type}(args[0], args[1], args[2], args[3], args[4], args[5], args[6], args[7], args[8], args[9],
                       args[10])
"""


@pytest.mark.parametrize("type_", ["float32", "float64"])
@pytest.mark.parametrize("runs, length, step, add", [(1, 1, 1, 0), (3, 5, 1, 0), (2, 4, 3, 1), (1, 7, 2, 1)])
def test_tiles(type_, runs, length, step, add):
    rng = np.random.default_rng(0)
    size = np.dtype(type_).itemsize
    rows, width = window_tiles.shape(size)
    a = rng.integers(-9, 9, 500).astype(type_)
    b = rng.integers(-9, 9, (runs * length, width + 3)).astype(type_)
    c = rng.integers(-9, 9, (rows, width + 2)).astype(type_)
    starts, offsets = rng.integers(0, 300, rows), rng.integers(0, 100, runs)
    places = starts[:, None, None] + offsets[:, None] + step * np.arange(length)
    want = c.copy()
    want[:, :width] = add * c[:, :width] + a[places].reshape(rows, -1) @ b[:, :width]
    pointers, shifts = a.ctypes.data + size * starts, size * offsets
    block = np.array([pointers.ctypes.data, shifts.ctypes.data, runs, length, step * size, b.ctypes.data, b.strides[0],
                      length * b.strides[0], c.ctypes.data, c.strides[0], add], np.int64)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
        jit.address(SOURCE.format(type=type_)))(block.ctypes.data, 0, 1)
    np.testing.assert_array_equal(c, want)


def test_a_sum_that_starts_from_zero_forgets_what_was_there():
    rows, width = window_tiles.shape(4)
    a, b, c = np.ones(rows, "f"), np.ones((1, width), "f"), np.full((rows, width), np.nan, "f")
    pointers, shifts = np.full(rows, a.ctypes.data), np.zeros(1, np.int64)
    block = np.array([pointers.ctypes.data, shifts.ctypes.data, 1, 1, 4, b.ctypes.data, 4 * width, 0,
                      c.ctypes.data, 4 * width, 0], np.int64)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
        jit.address(SOURCE.format(type="float32")))(block.ctypes.data, 0, 1)
    np.testing.assert_array_equal(c, 1)


def test_convolutions_of_all_shapes_are_the_same_kernels():
    """Only what they call differs: with padding and without, of whole and of half tiles."""
    found: dict[str, set[str]] = {}
    for images, size, n, padding in ((1, 64, 20, "SAME"), (1, 64, 32, "VALID"), (2, 48, 7, "SAME")):
        call = Call((Meta("float32", (images, size, size, 5)), Meta("float32", (3, 3, 5, n))),
                    (Meta("float32", (images, *[size if padding == "SAME" else size - 2] * 2, n)),),
                    {"strides": [1, 1, 1, 1], "padding": padding.encode(), "data_format": b"NHWC",
                     "dilations": [1, 1, 1, 1], "explicit_paddings": []})
        launch = conv.convolve(call)[-1]
        found.setdefault(launch.source, set()).update(word.source for word in launch.args if isinstance(word, Code))
    (tiles,) = found.values()
    assert len(tiles) == 2
