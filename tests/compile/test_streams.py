"""Which stores of a program go past the caches: those of large results that a kernel makes row by row."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

ROWS = 1 << 15                                          # of 64 float32: 8 MB, from where on it is worth it
CASES = {
    "rows at cache lines": ([ROWS, 64], lambda x: tf.nn.softmax(x), "stream_element"),
    "rows anywhere": ([ROWS, 65], lambda x: tf.nn.softmax(x), "stream_row"),
    "short rows": ([8 * ROWS, 8], lambda x: tf.nn.softmax(x), None),
    "a smaller result": ([ROWS - 1, 64], lambda x: tf.nn.softmax(x), None),
    "reduced to little": ([ROWS, 64], lambda x: tf.reduce_sum(x, 1), None),
    "rows of two axes": ([64, 64, 8, 64], lambda x: x - tf.reduce_max(x, [1, 3], keepdims=True), None),
    "columns": ([ROWS, 64], lambda x: x - tf.reduce_max(x, 0, keepdims=True), None),
    "no rows": ([ROWS, 64], lambda x: x * 2.0, None),
}


@pytest.mark.parametrize("name", CASES)
def test_streamed_stores(name):
    size, make, way = CASES[name]
    x = tf.placeholder(tf.float32, size)
    y = make(x)
    with tf.Session():
        text = str(tf.explain(y, {x: np.zeros(size, "f")}, sources=True))
    assert "kernel" in text
    assert {word for word in ("stream_element", "stream_row") if word in text} == ({way} if way else set())
