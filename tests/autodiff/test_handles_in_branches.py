"""Gradients of resource variables that only a branch of a conditional reads."""
from __future__ import annotations

import numpy as np

import tfnb as tf


def test_a_variable_read_in_branches_has_a_gradient_on_either_side():
    with tf.Graph().as_default(), tf.Session() as sess:
        v, p = tf.Variable(2.0, use_resource=True), tf.placeholder(tf.bool, [])
        both = tf.gradients(tf.cond(p, lambda: v * 2.0, lambda: v * 3.0), v)[0]
        one = tf.gradients(tf.cond(p, lambda: v * v, lambda: 1.0), v)[0]
        table = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=True)
        rows = tf.cond(p, lambda: tf.reduce_sum(tf.gather(table, [1])), lambda: 1.0)
        step = tf.train.GradientDescentOptimizer(1.0).minimize(rows, var_list=[table])
        sess.run(tf.global_variables_initializer())
        for _ in range(2):                                  # interpreted, then compiled
            assert sess.run([both, one], {p: True}) == [2.0, 4.0]
            assert sess.run([both, one], {p: False}) == [3.0, 0.0]
        for fed, want in ((True, [2.0, 3.0]), (False, [2.0, 3.0]), (True, [1.0, 2.0])):
            sess.run(step, {p: fed})
            np.testing.assert_array_equal(sess.run(table), [[1.0, 2.0], want])


def test_a_variable_read_in_a_branch_inside_of_a_loop():
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(2.0, use_resource=True)

        def body(i, a):
            return i + 1, a + tf.cond(i > 1, lambda: v * a, lambda: a)
        _, made = tf.while_loop(lambda i, a: i < 4, body, [0, 1.0])      # 4 (1 + v)^2
        slope = tf.gradients(made, v)[0]
        sess.run(v.initializer)
        assert [sess.run(slope) for _ in range(2)] == [24.0, 24.0]
