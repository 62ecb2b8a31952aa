"""What nobody needs is not computed."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.options import options


def network():
    x, labels = tf.placeholder(tf.float32, [None, 5]), tf.placeholder(tf.float32, [None, 3])
    w = tf.Variable(np.linspace(-1, 1, 15).reshape(5, 3).astype("f"))
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=tf.matmul(x, w)))
    return x, labels, w, loss, tf.train.GradientDescentOptimizer(0.5).minimize(loss)


@pytest.mark.parametrize("rows", [1, 2, 7])
def test_a_training_step_without_its_loss(rows, monkeypatch):
    """With one row, the loss that nobody asked for was a kernel of its own, with nothing to store."""
    x, labels, w, _, train = network()
    feed = {x: np.linspace(-2, 1, rows * 5).reshape(rows, 5), labels: np.eye(3)[np.arange(rows) % 3]}
    found = []
    for mode in ("never", "always"):
        monkeypatch.setattr(options, "compile", mode)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(train, feed)
            found.append(sess.run(w))
    np.testing.assert_allclose(*found, rtol=1e-5, atol=1e-6)


def test_the_loss_is_computed_only_where_it_is_fetched():
    x, labels, _, loss, train = network()
    feed = {x: np.ones([4, 5]), labels: np.eye(3)[[0, 1, 2, 0]]}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        alone, both = tf.explain(train, feed, sess), tf.explain([loss, train], feed, sess)
    assert ":log(" not in alone
    assert ":log(" in both
