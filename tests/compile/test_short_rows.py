"""Rows of few elements beside one that serves all of them: laid out in tiles, with the values of the plain loops."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests import modes


def programs(x, row, flags):
    return [tf.tanh(x * row + row), tf.where(tf.logical_and(flags, x > row), x, row + 0.0 * x),
            tf.cast(x, tf.float64) - tf.cast(row, tf.float64), tf.maximum(x, row) * tf.reduce_max(row)]


@pytest.mark.parametrize("shape", [(1001, 3), (64, 1, 7), (130, 100), (65, 10)])
def test_compiled_as_interpreted(shape):
    random = np.random.default_rng(1)
    x, row = tf.placeholder(tf.float32, shape), tf.placeholder(tf.float32, shape[-1:])
    flags = tf.constant(random.random(shape[-1]) < 0.5)
    wanted = programs(x, row, flags)
    feeds = {x: random.normal(size=shape).astype("f"), row: random.normal(size=shape[-1]).astype("f")}
    for tensor, found, plain in zip(wanted, modes.run(wanted, feeds), modes.run(wanted, feeds, "never"), strict=True):
        np.testing.assert_allclose(found, plain, rtol=1e-6, err_msg=tensor.name)


def source(shape, other):
    x, y = tf.placeholder(tf.float32, shape), tf.placeholder(tf.float32, other)
    with tf.Session() as sess:
        feeds = {each: np.zeros(each.shape.as_list(), np.float32) for each in (x, y)}
        return tf.explain(x * y + 1.0, feeds, sess, sources=True)


def test_which_rows_are_tiled():
    assert "period" in source([200, 3], [3])
    for shape, other in (([200, 64], [64]), ([200, 3], [200, 1]), ([200, 3], [1]), ([20, 3], [3]), ([200, 129], [129])):
        assert "period" not in source(shape, other), (shape, other)


def test_an_update_in_place_reads_its_row_before():
    v = tf.Variable(np.arange(300, dtype=np.float32).reshape(100, 3))
    update = v.assign(v * tf.constant([1.0, 2.0, 3.0]) - v[0])
    with tf.Session() as sess:
        sess.run(v.initializer)
        expected = np.arange(300, dtype=np.float32).reshape(100, 3)
        for _ in range(4):
            expected = expected * np.array([1, 2, 3], np.float32) - expected[0]
            np.testing.assert_array_equal(sess.run(update), expected)
