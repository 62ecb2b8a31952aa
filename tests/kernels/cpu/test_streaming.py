"""Rows that are stored past the caches hold what plainly stored ones do, wherever they lie."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.options import options
from tfnb.kernels.llvm import streaming
from tfnb.kernels.spec import Operand, RowKernel

# ruff: noqa: F821


def rows(emitted, streams, type="float32"):
    """y = x less its row's mean; with streams, the way rows of y are stored."""
    body = (emitted.reduce(lambda acc, x: acc + x, 0, type, "x", "s"),
            emitted.stmt(lambda x, s: x - s / 2, type, "x s", "y"))
    return RowKernel(1, 1, (Operand("x", type, ("s", "1")),), body, (Operand("y", type, ("s", "1"), streams=streams),))


@pytest.mark.parametrize("columns", [1, 15, 16, 33, 1000, 2048])
@pytest.mark.parametrize("shift", [0, 1, 5, 15])
@pytest.mark.parametrize("type", ["float32", "float64", "int32"])
def test_whole_rows(emitted, columns, shift, type):
    x = np.random.RandomState(0).randint(-9, 9, [7, columns]).astype(type)
    made = {}
    for streams in ("", "row"):
        memory = np.full(7 * columns + 64, 77, type)
        out = memory[shift:shift + 7 * columns].reshape(7, columns)
        emitted.run(rows(emitted, streams, type), {"x": x}, {"y": out})
        made[streams] = memory
    np.testing.assert_array_equal(made["row"], made[""])            # and nothing beside the rows was touched


@pytest.mark.parametrize("columns", [16, 64, 1040])
def test_elements_of_aligned_rows(emitted, columns):
    x = np.random.RandomState(0).randn(7, columns).astype("f")
    memory = np.full(7 * columns + 32, 77, "f")
    first = -memory.ctypes.data // 4 % 16
    out = memory[first:first + 7 * columns].reshape(7, columns)
    emitted.run(rows(emitted, "element"), {"x": x}, {"y": out})
    plain = np.empty_like(x)
    emitted.run(rows(emitted, ""), {"x": x}, {"y": plain})
    np.testing.assert_array_equal(out, plain)
    assert (memory[:first] == 77).all() and (memory[first + 7 * columns:] == 77).all()


def test_which_results_are_streamed():
    assert streaming.pays(4096, streaming.LEAST) and not streaming.pays(4096, streaming.LEAST - 1)
    assert not streaming.pays(128, 1 << 30) and not streaming.pays(streaming.BUFFER + 4, 1 << 30)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("width", [1024, 1023])
def test_softmax_of_a_large_matrix(monkeypatch, threads, width):
    """Fetched (rows at any address) and used by another kernel (rows at cache lines)."""
    monkeypatch.setattr(options, "compile", "always")
    monkeypatch.setattr(options, "threads", threads)
    value = np.random.RandomState(1).randn(2200, width).astype("f")
    x = tf.placeholder(tf.float32, value.shape)
    y = tf.nn.softmax(x)
    with tf.Session() as sess:
        fetched, total = sess.run([y, tf.reduce_sum(tf.matmul(y, tf.ones([width, 1])))], {x: value})
    wide = np.exp(value.astype("d") - value.max(1, keepdims=True))
    np.testing.assert_allclose(fetched, wide / wide.sum(1, keepdims=True), rtol=2e-6)
    assert total == pytest.approx(2200, rel=1e-5)
