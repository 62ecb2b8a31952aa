"""Showing what a run does, and timing it."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.runtime.profile import profile


def network():
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    w = tf.Variable(np.ones([4, 3], "f"), name="w")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w)), name="loss")
    return x, w, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def test_explain_shows_plan_groups_and_launches():
    x, w, loss, train = network()
    with tf.Session() as sess:
        sess.run(w.initializer)
        text = tf.explain(train, {x: np.ones([5, 4])}, sources=True)
    assert "stage 0 (device)" in text and "MatMul" in text and "def kernel" in text and "arena" in text
    assert "w:float32[4, 3]" in text


def test_profile_times_launches_and_changes_nothing():
    x, w, loss, train = network()
    feed = {x: np.ones([5, 4])}
    with tf.Session() as sess:
        sess.run(w.initializer)
        before = sess.run(w)
        found = profile(train, feed, runs=3)
        np.testing.assert_array_equal(sess.run(w), before)
        assert sum("MatMul" in launch.types for launch in found.launches) == 2
        assert found.seconds >= 0 and "GB/s" in repr(found)


def test_profile_says_what_it_cannot():
    x, w, loss, train = network()
    summary = tf.summary.scalar("l", loss)
    with tf.Session() as sess:
        sess.run(w.initializer)
        with pytest.raises(ValueError, match="host stages"):
            profile(summary, {x: np.ones([5, 4])})
    with tf.Session() as sess, pytest.raises(tf.errors.FailedPreconditionError):
        profile(loss, {x: np.ones([5, 4])})
