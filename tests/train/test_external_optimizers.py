"""Minimization outside of the graph: `tf.contrib.opt.ScipyOptimizerInterface`."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf


@pytest.fixture
def sess():
    with tf.Session() as made:
        yield made


def test_variables_of_several_shapes_and_what_callbacks_see(sess):
    a, b = tf.Variable(tf.ones([2, 2])), tf.Variable(5.0)
    unused, goal = tf.Variable([1.0]), tf.placeholder(tf.float32, [])
    loss = tf.reduce_sum((a - [[1.0, 2.0], [3.0, 4.0]]) ** 2) + (b - goal) ** 2
    losses, steps = [], []
    optimizer = tf.contrib.opt.ScipyOptimizerInterface(loss, [a, b, unused], options={"maxiter": 100})
    sess.run(tf.global_variables_initializer())
    optimizer.minimize(sess, feed_dict={goal: -2.0}, fetches=[loss, b], step_callback=steps.append,
                       loss_callback=lambda *values: losses.append(values))
    np.testing.assert_allclose(sess.run(a), [[1, 2], [3, 4]], atol=1e-3)
    assert sess.run(b) == pytest.approx(-2.0, abs=1e-3) and sess.run(unused).tolist() == [1.0]
    assert losses[0] == (63.0, 5.0) and losses[-1][0] < 1e-5 and steps[-1].shape == (6,)


def test_constraints(sess):
    v = tf.Variable([3.0, 3.0])
    optimizer = tf.contrib.opt.ScipyOptimizerInterface(
        tf.reduce_sum(v ** 2), equalities=[v[0] - v[1] - 1.0], inequalities=[v[1] - 0.5], method="SLSQP")
    sess.run(v.initializer)
    with sess.as_default():
        optimizer.minimize()
    np.testing.assert_allclose(sess.run(v), [1.5, 0.5], atol=1e-4)


def test_arguments_that_are_given_another_way(sess):
    v = tf.Variable(1.0)
    sess.run(v.initializer)
    with pytest.raises(ValueError, match="bounds itself"):
        tf.contrib.opt.ScipyOptimizerInterface(v ** 2, bounds=[(0, 1)]).minimize(sess)
    with pytest.raises(NotImplementedError, match="_minimize"):
        tf.contrib.opt.ExternalOptimizerInterface(v ** 2).minimize(sess)
