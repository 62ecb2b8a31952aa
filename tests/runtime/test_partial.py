"""Runs in steps. Values and classes of errors are compared with TensorFlow's in test_session_oracle.py."""
from __future__ import annotations

import numpy as np
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


def test_a_branch_that_was_not_taken_has_no_value():
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    off, on = tf.raw_ops.Switch(data=a, pred=a > 0)
    y = on * b
    with tf.Session() as sess:
        for _ in range(3):
            handle = sess.partial_run_setup([off, y], [a, b])
            assert sess.partial_run(handle, off, {a: -2.0}) == -2.0
            with pytest.raises(tf.errors.InvalidArgumentError, match="mul:0' is in a branch that was not taken"):
                sess.partial_run(handle, y, {b: 1.0})


def test_later_runs_share_a_plan_and_are_compiled():
    a, b = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    y = tf.tanh(a) * 2.0
    z = y + tf.exp(b)
    with tf.Session() as sess:
        for n in range(1, 4):
            handle = sess.partial_run_setup([y, z], [a, b])
            first = sess.partial_run(handle, y, {a: np.ones(n)})
            assert np.allclose(first, 2 * np.tanh(1)) and sess.partial_run(handle, z, {b: np.ones(n)}).shape == (n,)
        (_, executor), = sess._executors.values()
        assert [len(runner.programs()) for runner in executor.runners] == [2, 2, 2]     # by feeds: a; b; a and b


def test_a_run_is_over_when_a_step_fails():
    a, b, c = (tf.placeholder(tf.float32, []) for _ in range(3))
    v = tf.Variable(0.0)
    with tf.control_dependencies([v.assign_add(a)]):
        y = tf.check_numerics(a / b, "no number")
    with tf.Session() as sess:
        sess.run(v.initializer)
        handle = sess.partial_run_setup([y, y * c], [a, b, c])
        for feeds in ({a: 1.0, b: 0.0}, {c: 0.0}, {a: 1.0, b: 2.0}):
            with pytest.raises(tf.errors.InvalidArgumentError, match="no number"):
                sess.partial_run(handle, [], feeds)
        assert sess.run(v) == 1.0


def updates():
    a, b = tf.placeholder(tf.float32, [], "a"), tf.placeholder(tf.float32, [], "b")
    v, w = tf.Variable(0.0, name="v"), tf.Variable(0.0, name="w")
    return a, b, v, w, v.assign_add(a), w.assign_add(a * b)


def test_targets_run_in_the_step_that_has_all_they_need():
    """Operations are computed without being fetched, each once, as soon as the feeds behind it are there."""
    a, b, v, w, first, second = updates()
    y = a + 1.0
    with tf.Session() as sess:
        sess.run([v.initializer, w.initializer])
        handle = sess.partial_run_setup([y, first.op, second.op], [a, b])
        assert sess.partial_run(handle, y, {a: 2.0}) == 3.0 and sess.run([v, w]) == [2.0, 0.0]
        assert sess.partial_run(handle, [], {b: 5.0}) == [] and sess.run([v, w]) == [2.0, 10.0]
        assert sess.run([first, second], {a: 1.0, b: 1.0}) == [3.0, 11.0]


def test_targets_alone_are_a_run():
    a, b, v, w, first, second = updates()
    with tf.Session() as sess:
        sess.run([v.initializer, w.initializer])
        handle = sess.partial_run_setup([second.op], [a, b])
        for feed, expected in (({b: 3.0}, 0.0), ({a: 2.0}, 6.0)):
            sess.partial_run(handle, [], feed)
            assert sess.run(w) == expected
        assert sess.run(v) == 0.0                  # what is no target and behind none stays undone


def test_a_pure_target_is_no_reason_to_fail():
    """A target without effects is passed over; one that fails says so in the step that computes it."""
    a, b = tf.placeholder(tf.float32, [], "a"), tf.placeholder(tf.float32, [], "b")
    checked = tf.check_numerics(a / b, "no number", name="checked")
    y = a * b
    with tf.Session() as sess:
        handle = sess.partial_run_setup([y, checked.op], [a, b])
        with pytest.raises(tf.errors.InvalidArgumentError, match="no number"):
            sess.partial_run(handle, y, {a: 1.0, b: 0.0})
        handle = sess.partial_run_setup([y, checked.op], [a, b])
        assert sess.partial_run(handle, y, {a: 1.0, b: 2.0}) == 2.0


def test_a_step_without_fetches_keeps_its_feeds():
    a, b = tf.placeholder(tf.float32, [], "a"), tf.placeholder(tf.float32, [], "b")
    y = a - b
    with tf.Session() as sess:
        handle = sess.partial_run_setup([y], [a, b])
        assert sess.partial_run(handle, [], {a: 5.0}) == []
        with pytest.raises(tf.errors.InvalidArgumentError, match="The feed a:0 has already been fed"):
            sess.partial_run(handle, [], {a: 6.0})
        assert sess.partial_run(handle, y, {b: 3.0}) == 2.0


def test_what_was_not_announced_is_refused_and_changes_nothing():
    a, b, v, w, first, second = updates()
    y, z = a + 1.0, a + 2.0
    with tf.Session() as sess:
        sess.run([v.initializer, w.initializer])
        handle = sess.partial_run_setup([y, first.op], [a])
        with pytest.raises(tf.errors.InvalidArgumentError, match="The feed b:0 was not specified in partial_run_setup"):
            sess.partial_run(handle, y, {a: 1.0, b: 1.0})
        with pytest.raises(tf.errors.InvalidArgumentError, match="The fetch add_1:0 was not specified in"):
            sess.partial_run(handle, z, {a: 1.0})
        assert sess.run(v) == 0.0 and sess.partial_run(handle, y, {a: 1.0}) == 2.0 and sess.run(v) == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="Must specify at least one target"):
            sess.partial_run_setup([], [a])
