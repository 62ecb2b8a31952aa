"""Reductions over the first, middle and last axes, with what is fused around them: compiled beside interpreted."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests import modes

AXES = ([1], [2], [1, 2], [0, 1], [0, 2], [1, 3], [0, 1, 2], [0, 3])


def programs(x, v, axes):
    return [tf.reduce_mean(x, axes, keepdims=True), tf.reduce_min(x * 2.0 - v, axes), tf.nn.moments(x, axes)[1],
            (x - tf.reduce_mean(x, axes, keepdims=True)) * 2.0, tf.reduce_any(x > 0.9, axes),
            tf.reduce_sum(x, axes) * tf.reduce_max(x, axes) + 1.0,
            tf.reduce_sum(tf.square(x) * tf.reduce_sum(x, 3, keepdims=True), axes)]


@pytest.mark.parametrize("shape", [(3, 7, 9, 16), (2, 1, 6, 20), (0, 3, 4, 8)])
def test_reductions(shape):
    random = np.random.default_rng(1)
    fed, feeds = tf.placeholder(tf.float32, shape), {}
    feeds[fed] = random.random(shape, np.float32)
    v = tf.constant(random.random(shape[3], np.float32))
    wanted = [t for axes in AXES for t in programs(fed, v, axes)]
    for tensor, found, plain in zip(wanted, modes.run(wanted, feeds), modes.run(wanted, feeds, "never"), strict=True):
        assert found.shape == plain.shape
        np.testing.assert_allclose(found, plain, rtol=3e-5, atol=1e-5, err_msg=tensor.name)


def test_a_middle_axis_is_reduced_along_its_rows():
    """A loop over adjacent elements, in which LLVM finds vectors."""
    x = tf.placeholder(tf.float32, [4, 32, 32, 16])
    with tf.Session() as sess:
        text = tf.explain(tf.reduce_max(x, [1, 2]), {x: np.zeros(x.shape.as_list(), np.float32)}, sess, sources=True)
    assert "for item in range(begin, end):" in text and "for j in range(n):" in text and "_step" not in text
