"""Elementwise kernels write what is only concatenated or stacked where it lies in the result."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.options import options


def copies(ran):
    """Return the numbers of copies of parts in the programs that ran."""
    return {sum("copy_row" in step.source for step in compiled.steps) for compiled in ran}


def check(build, feeds, monkeypatch):
    """Compare the results of compiled runs with those of interpreted ones."""
    fetches = build()
    with tf.Session() as session:
        got = [session.run(fetches, feed) for feed in feeds for _ in range(3)]
    monkeypatch.setattr(options, "compile", "never")
    with tf.Session() as session:
        want = [session.run(fetches, feed) for feed in feeds for _ in range(3)]
    for some, others in zip(got, want, strict=True):
        for one, other in zip(some, others, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def values(*shape, dtype="float32"):
    rng = np.random.default_rng(sum(shape))
    return rng.normal(size=shape).astype(dtype) if np.dtype(dtype).kind == "f" else rng.integers(-9, 9, shape, dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "bool"])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_all_parts(dtype, axis, ran, monkeypatch):
    x = tf.placeholder(dtype, [4, 8, 64])

    def build():
        if dtype == "bool":
            return [tf.concat([tf.logical_not(x), tf.not_equal(x, x[:, ::-1]), x | x[:, :, ::-1]], axis)]
        return [tf.concat([x * x + k for k in range(3)], axis)]
    fed = values(4, 8, 64) > 0 if dtype == "bool" else values(4, 8, 64, dtype=dtype)
    check(build, [{x: fed}], monkeypatch)
    assert copies(ran) == {0}


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_stacks(axis, ran, monkeypatch):
    x = tf.placeholder(tf.float32, [8, 64])
    check(lambda: [tf.stack([tf.sin(x) + k for k in range(4)], axis)], [{x: values(8, 64)}], monkeypatch)
    assert copies(ran) == {4 if axis == 2 else 0}


def test_short_rows_and_odd_places_are_copied(ran, monkeypatch):
    x, y = tf.placeholder(tf.float32, [16, 5]), tf.placeholder(tf.float32, [16, 64])
    check(lambda: [tf.concat([tf.sin(x), tf.cos(x)], 1), tf.concat([tf.sin(x), tf.cos(y)], 1)],
          [{x: values(16, 5), y: values(16, 64)}], monkeypatch)
    assert copies(ran) == {4}


def test_parts_that_others_need(monkeypatch):
    x, y = tf.placeholder(tf.float32, [16, 64]), tf.placeholder(tf.float32, [16, 64])

    def build():
        fetched, read, twice, alone = tf.sin(x), tf.cos(x) * y, tf.tanh(y), tf.exp(-y)
        joined = tf.concat([fetched, read, twice, x, twice, alone, tf.reshape(tf.abs(x), [16, 64])], 1)
        return [joined, fetched, tf.reduce_sum(read, 1), tf.matmul(joined, joined, transpose_b=True)]
    check(build, [{x: values(16, 64), y: values(16, 64)}], monkeypatch)


def test_concatenations_of_concatenations(monkeypatch):
    x = tf.placeholder(tf.float32, [16, 64])

    def build():
        inner = tf.concat([tf.sin(x), tf.cos(x)], 1)
        return [tf.concat([inner * 2.0, tf.concat([tf.exp(x), tf.nn.relu(x)], 1) + 1.0], 0),
                tf.stack(tf.split(tf.concat([inner, -inner], 1) ** 2, 4, 1))]
    check(build, [{x: values(16, 64)}], monkeypatch)


def test_reductions_beside_parts(monkeypatch):
    x = tf.placeholder(tf.float32, [None, 128])

    def build():
        y = tf.nn.softmax(x)
        rows = x - tf.reduce_mean(x, 1, keepdims=True)
        return [tf.concat([y * 2.0, rows, tf.reduce_sum(rows * rows, 1, keepdims=True) + x * 0.0], 1),
                tf.concat([tf.reduce_sum(x, 0, keepdims=True) + x, tf.sin(x)], 0)]
    check(build, [{x: values(n, 128)} for n in (16, 3, 1, 0, 33)], monkeypatch)


def test_sizes_that_change(monkeypatch):
    x, y = tf.placeholder(tf.float32, [None, None]), tf.placeholder(tf.float32, [None, None])

    def build():
        return [tf.concat([tf.sin(x), tf.cos(y), x * 2.0], 1), tf.concat([tf.exp(-y), y + 1.0], 0)]
    feeds = [{x: values(rows, a), y: values(rows, b)} for rows, a, b in
             ((4, 64, 32), (6, 64, 32), (9, 64, 32), (12, 64, 32), (4, 5, 7), (4, 32, 64), (1, 64, 64), (0, 64, 64),
              (8, 0, 32), (130, 160, 96))]
    check(build, feeds, monkeypatch)


def test_a_matmul_with_an_epilogue_writes_a_part(monkeypatch):
    x, w = tf.placeholder(tf.float32, [64, 128]), tf.constant(values(128, 128) / 16)
    check(lambda: [tf.concat([tf.nn.relu(tf.matmul(x, w) + 1.0), tf.tanh(tf.matmul(x, w) * 2.0), x], 1)],
          [{x: values(64, 128)}], monkeypatch)


def test_gradients_of_gates(ran, monkeypatch):
    x, w = tf.placeholder(tf.float32, [32, 128]), tf.constant(values(128, 512) / 16)

    def build():
        i, j, f, o = tf.split(tf.matmul(x, w), 4, 1)
        return tf.gradients(tf.sigmoid(i) * tf.tanh(j) + tf.sigmoid(f) * tf.tanh(o), [x, w])
    check(build, [{x: values(32, 128)}], monkeypatch)
    assert copies(ran) == {0}


@pytest.mark.parametrize("first", [True, False])
def test_a_sum_of_all_elements_stays_in_chunks(first, ran, monkeypatch):
    x = tf.placeholder(tf.float32, [256, 128])

    def build():
        total = tf.reduce_sum(x * 3.0) if first else None
        joined = tf.concat([x * 2.0, tf.sin(x)], 1)
        return [joined, tf.reduce_sum(x * 3.0) if total is None else total]
    check(build, [{x: values(256, 128)}], monkeypatch)
    sums = [step for compiled in ran for step in compiled.steps if any(op.type == "Sum" for op in step.ops)]
    assert sums and max(step.items for step in sums) == 256 * 128 // 8192
