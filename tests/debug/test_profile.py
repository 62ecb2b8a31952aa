"""Showing what a run does, and timing it."""
from __future__ import annotations

import re

import numpy as np
import pytest

import tfnb as tf
from tfnb.debug import timing
from tfnb.debug.profile import profile


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


def test_explain_names_each_buffer_alike_in_groups_memory_and_launches():
    x, w, loss, train = network()
    with tf.Session() as sess:
        sess.run(w.initializer)
        text = tf.explain(train, {x: np.ones([5, 4])})
    buffers = re.findall(r"^buffer (t\d+): ([\d,]+) bytes, arena at ([\d,]+)", text, re.MULTILINE)
    assert buffers
    arena = int(re.search(r"arena ([\d,]+) bytes", text)[1].replace(",", ""))
    launches = [line for line in text.splitlines() if re.match(r"k\d+\[", line)]
    for name, size, place in buffers:
        assert int(size.replace(",", "")) + int(place.replace(",", "")) <= arena
        assert any(re.search(rf"\b{name}\b", line) for line in launches)
    assert re.search(r"^buffer w: 48 bytes, variable", text, re.MULTILINE)


def test_explain_times_what_has_run_compiled_with_these_shapes(monkeypatch):
    monkeypatch.setattr(timing, "MEASURED", 0.01)
    x, w, loss, train = network()
    feed = {x: np.ones([5, 4])}
    noisy = tf.reduce_sum(w + tf.random_normal([4, 3], seed=1))
    with tf.Session() as sess:
        sess.run(w.initializer)
        for _ in range(2):
            assert "GB/s" not in tf.explain(train, feed)
            sess.run(train, feed)
        assert "GB/s" not in tf.explain(train, {x: np.ones([6, 4])})
        before = sess.run(w)
        text = tf.explain(train, feed)
        assert "GB/s" in text and "GFLOP/s" in text
        np.testing.assert_array_equal(sess.run(w), before)
        drawn = [sess.run(noisy) for _ in range(2)]
        tf.explain(noisy)
        drawn.append(sess.run(noisy))
    with tf.Session() as sess:
        sess.run(w.initializer)
        for _ in range(2):
            sess.run(train, feed)
        np.testing.assert_array_equal([sess.run(noisy) for _ in range(3)], drawn)


def test_explain_shows_later_stages_when_they_have_run():
    x = tf.placeholder(tf.float32, [None])
    y = tf.tanh(tf.py_func(lambda a: a[:2], [x * 2.0], tf.float32)) + 1.0
    with tf.Session() as sess:
        assert "known when it has run compiled" in tf.explain(y, {x: np.ones(5)})
        for _ in range(2):
            sess.run(y, {x: np.ones(5)})
        assert ":float32[2] = Tanh" in tf.explain(y, {x: np.ones(5)})
        found = profile(y, {x: np.ones(5)}, runs=2)
    assert found.untimed == 1 and {t for launch in found.launches for t in launch.types} == {"Mul", "Tanh", "AddV2"}


@pytest.mark.parametrize("make, operations", [
    (lambda: tf.matmul(tf.ones([3, 4]) * V(), tf.ones([5, 4]) * V(), transpose_b=True), 2 * 3 * 4 * 5),
    (lambda: tf.matmul(tf.ones([2, 3, 4]) * V(), tf.ones([2, 4, 5]) * V()), 2 * 2 * 3 * 4 * 5),
    (lambda: tf.nn.conv2d(tf.ones([2, 6, 6, 3]) * V(), tf.ones([3, 3, 3, 8]) * V(), [1, 2, 2, 1], "VALID"),
     2 * 2 * 2 * 2 * 8 * 3 * 3 * 3),
    (lambda: tf.tanh(tf.ones([3]) * V()), 0)])
def test_operations_of_launches(make, operations):
    y = make()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found = profile(y, runs=1)
    assert sum(launch.operations for launch in found.launches) == operations


def V():
    return tf.Variable(2.0)


def test_profile_says_what_it_cannot():
    with tf.Session(), pytest.raises(ValueError, match="no kernels"):
        profile(tf.py_func(lambda: np.float32(1), [], tf.float32))
    x, w, loss, train = network()
    with tf.Session(), pytest.raises(tf.errors.FailedPreconditionError):
        profile(loss, {x: np.ones([5, 4])})


def test_explain_begins_with_where_the_time_goes():
    x, w, loss, train = network()
    feed = {x: np.ones([5, 4])}
    with tf.Session() as sess:
        sess.run(w.initializer)
        first = tf.explain([loss, train], feed).splitlines()
        assert re.match(r"x:0 -> loss:0, GradientDescent: \d+ ops in 1 stage of kernels; \d+ are constant", first[0])
        assert first[1].startswith("not timed: run it twice")
        assert not any(line.strip().startswith("Const") for line in first)
        for _ in range(2):
            sess.run([loss, train], feed)
        before = sess.run(w)
        lines = tf.explain([loss, train], feed).splitlines()
        np.testing.assert_array_equal(sess.run(w), before)
    assert lines[1].startswith("a run takes ")
    rows = lines[3:lines.index("")]
    assert sum(float(row.split("%")[0]) for row in rows) == pytest.approx(100, abs=1)
    assert sum("MatMul" in row and "kernel" in row for row in rows) == 2


def test_explain_marks_host_calls_and_loops():
    x = tf.placeholder(tf.string, [None], name="x")
    n = tf.string_to_number(x)
    total = tf.while_loop(lambda i, s: i < 7, lambda i, s: (i + 1, s + tf.reduce_sum(n)), [0, 0.0])[1]
    feed = {x: ["1.5", "2"]}
    with tf.Session() as sess:
        for _ in range(2):
            sess.run(total, feed)
        text = tf.explain(total, feed)
    assert re.search(r"% +[\d.]+ us +1  host call  StringToNumber \(StringToNumber\)", text)
    assert re.search(r"% +[\d.]+ us +7  loop ", text)
    assert "1 host call: Python between kernels" in text


def test_explain_runs_what_has_an_effect_only_if_told_to():
    calls = []
    x = tf.placeholder(tf.float32, [2])
    y = tf.py_func(lambda a: calls.append(1) or a, [x * 2.0], tf.float32, name="mine") + 1.0
    items = tf.data.Dataset.range(1000).make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        for _ in range(2):
            sess.run(y, {x: [1, 2]})
            sess.run(items)
        assert "effect of PyFunc 'mine'" in tf.explain(y, {x: [1, 2]}) and len(calls) == 2
        assert "host call  PyFunc (mine)" in tf.explain(y, {x: [1, 2]}, effects=True) and len(calls) > 2
        assert "effect of IteratorGetNext" in tf.explain(items)
        assert sess.run(items) == 2
