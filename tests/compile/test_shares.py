"""Threads share fused kernels of some microseconds where they share a matmul: the same results in smaller chunks."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.options import options

ROWS, COLUMNS = 512, 64


def layers(x, w):
    """A layer norm between two matmuls, and its gradients: map, row and column kernels."""
    h = tf.matmul(x, w)
    mean = tf.reduce_mean(h, 1, keepdims=True)
    h = (h - mean) * tf.rsqrt(tf.reduce_mean(tf.square(h - mean), 1, keepdims=True) + 1e-3)
    y = tf.tanh(tf.matmul(h, w)) * tf.exp(-tf.square(h))
    return [y, tf.nn.softmax(y), *tf.gradients(y, [x, w]), tf.reduce_sum(tf.sin(y) * h, 0), tf.reduce_max(y + h, 0)]


@pytest.mark.parametrize("rows, columns", [(ROWS, COLUMNS), (1000, 72), (300, 200)])
def test_the_same_results_with_one_thread_and_two(rows, columns, ran, monkeypatch):
    rng = np.random.default_rng(rows)
    x, w = tf.placeholder(tf.float32, [rows, columns]), tf.placeholder(tf.float32, [columns, columns])
    feed = {x: rng.normal(size=(rows, columns)).astype("f"), w: rng.normal(size=(columns, columns)).astype("f") / 8}
    fetches, got = layers(x, w), []
    monkeypatch.setattr(options, "compile", "always")
    for threads in (1, 2):
        with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=threads)) as session:
            got += [session.run(fetches, feed) for _ in range(3)]
    for some in got[1:]:
        for one, other in zip(some, got[0], strict=True):
            np.testing.assert_array_equal(one, other)
    monkeypatch.setattr(options, "compile", "never")
    with tf.Session() as session:
        for one, other in zip(got[0], session.run(fetches, feed), strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-4)
    shared = {type(step.kernel).__name__ for compiled in ran for step in compiled.steps
              if step.kernel is not None and step.items > step.grain > 0}
    assert shared >= {"RowKernel", "ColumnKernel"}


def test_no_thread_is_woken_for_elementwise_ops_alone(ran, monkeypatch):
    x = tf.placeholder(tf.float32, [ROWS, COLUMNS])
    y = tf.tanh(tf.sin(x)) * tf.exp(x)
    monkeypatch.setattr(options, "compile", "always")
    with tf.Session() as session:
        for _ in range(3):
            session.run([y, tf.reduce_sum(y, 0)], {x: np.ones((ROWS, COLUMNS), "f")})
    assert ran and [(s.items, s.grain) for compiled in ran for s in compiled.steps if s.items > s.grain > 0] == []
