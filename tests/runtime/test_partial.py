"""Runs in steps. Values and classes of errors are compared with TensorFlow's in test_session_oracle.py."""
from __future__ import annotations

import pytest

import tfnb as tf


def test_random_ops_and_updates_run_once():
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    noise = tf.random_uniform([3]) + a
    late = noise * b
    v = tf.Variable(0.0)
    count = v.assign_add(1.0)
    with tf.control_dependencies([count]):
        after = tf.identity(a * b)
    with tf.Session() as sess:
        sess.run(v.initializer)
        handle = sess.partial_run_setup([noise, late, after], [a, b])
        first = sess.partial_run(handle, noise, {a: 1.0})
        second, _ = sess.partial_run(handle, [late, after], {b: 2.0})
        assert (second == 2.0 * first).all() and sess.run(v) == 1.0


def test_a_control_input_waits_for_its_feed():
    a, b = tf.placeholder(tf.float32, [], "a"), tf.placeholder(tf.float32, [], "b")
    with tf.control_dependencies([b * 2.0]):
        y = tf.identity(a, name="y")
    with tf.Session() as sess:
        handle = sess.partial_run_setup([y], [a, b])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Fetch y:0 can't be computed"):
            sess.partial_run(handle, y, {a: 1.0})
        assert sess.partial_run(handle, y, {a: 1.0, b: 1.0}) == 1.0


def test_variables_and_constants_are_fetched_in_any_step():
    a = tf.placeholder(tf.float32, [])
    v, c = tf.Variable(3.0), tf.constant(4.0)
    y = a * v * c
    with tf.Session() as sess:
        sess.run(v.initializer)
        handle = sess.partial_run_setup([v, c, y], [a])
        assert sess.partial_run(handle, [v, c]) == [3.0, 4.0] and sess.partial_run(handle, y, {a: 2.0}) == 24.0


def test_strings_and_updates_that_follow_one_another():
    s, n = tf.placeholder(tf.string, []), tf.placeholder(tf.float32, [])
    v = tf.Variable(1.0)
    first = v.assign_add(n)
    with tf.control_dependencies([first]):
        second = v.assign(first * 10.0)
    joined = tf.string_join([s, tf.as_string(second)])
    with tf.Session() as sess:
        sess.run(v.initializer)
        handle = sess.partial_run_setup([first, second, joined], [s, n])
        assert sess.partial_run(handle, second, {n: 1.0}) == 20.0
        assert sess.partial_run(handle, joined, {s: "v="}).startswith(b"v=20") and sess.run(v) == 20.0


def test_control_flow_is_refused():
    a = tf.placeholder(tf.float32, [])
    y = tf.cond(a > 0, lambda: a, lambda: -a)
    with tf.Session() as sess, pytest.raises(tf.errors.UnimplementedError, match="control flow: 'cond"):
        sess.partial_run_setup([y], [a])
