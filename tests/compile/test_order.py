"""What runs, and in which order."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.compile.planning.order import order, prune
from tfnb.core.options import options
from tfnb.ops.declaration.raw import raw
from tfnb.runtime.session import Session


def names(ops):
    return [op.name for op in ops]


def test_only_what_is_needed():
    a = tf.constant(1.0, name="a")
    b = tf.add(a, 1.0, name="b")
    tf.add(a, 2.0, name="c")
    assert set(names(prune([b], [], ()))) == {"a", "b", "b/y"}


def test_nothing_behind_a_fed_tensor():
    a = tf.constant(1.0, name="a")
    b = tf.square(a, name="b")
    c = tf.square(b, name="c")
    assert names(prune([c], [], {b})) == ["c"]


def test_pure_ops_are_not_computed_for_a_control_input():
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    product = tf.matmul(x, x, name="product")
    with tf.control_dependencies([product]):
        y = tf.square(x, name="y")
    assert set(names(prune([y], [], {x}))) == {"y"}


def test_effects_behind_pure_ops_do_run_first():
    v = tf.Variable(1.0)
    double = tf.identity(v.assign(v * 2)) + 0.0
    with tf.control_dependencies([double]):
        y = tf.identity(v.value())
    with Session() as sess:
        sess.run(v.initializer)
        for want in (2.0, 4.0, 8.0):
            assert sess.run(y) == want


def test_ops_that_check_values_run_for_a_control_input():
    x = tf.placeholder(tf.float32, [2])
    with tf.control_dependencies([tf.check_numerics(x, "bad")]):
        y = tf.constant(1.0)
    with Session() as sess:
        assert sess.run(y, {x: [1, 2]}) == 1
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
                sess.run(y, {x: [1, np.nan]})


def test_targets_run():
    params = tf.constant([1.0, 2.0])
    index = tf.placeholder(tf.int32, [])
    op = tf.gather(params, index).op
    with Session() as sess:
        for _ in range(2):
            assert sess.run(op, {index: 1}) is None
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(op, {index: 2})


def test_reads_come_before_updates():
    v = tf.Variable(3.0)
    update = v.assign_add(1.0)
    before = v + 0.0
    with Session() as sess:
        sess.run(v.initializer)
        for i in range(3):
            assert sess.run([before, update.op])[0] == 3 + i


def test_order_is_by_inputs_then_by_creation():
    a = tf.constant(1.0, name="a")
    late = tf.negative(a, name="late")
    c = tf.constant(2.0, name="c")
    d = tf.add(c, late, name="d")
    ops = prune([d], [], ())
    assert names(order(ops, ())) == ["a", "late", "c", "d"]


def test_two_ops_of_one_variable_share_its_memory(monkeypatch):
    monkeypatch.setattr(options, "compile", "always")
    v = tf.Variable([1.0, 2.0], name="v")
    twin = raw.VariableV2(shape=[2], dtype=tf.float32, shared_name="v", name="twin")
    update = v.assign_add([10.0, 10.0])
    with tf.control_dependencies([update]):
        after = tf.identity(twin) * 1.0
    with Session() as sess:
        sess.run(v.initializer)
        assert sess.run(after).tolist() == [11, 12]
        assert sess.run(after).tolist() == [21, 22]


def test_a_read_after_an_update_sees_it_across_host_calls():
    v = tf.Variable(1.0)
    update = tf.assign_add(v, tf.py_func(lambda: np.float32(2.0), [], tf.float32))
    with tf.control_dependencies([update]):
        after = v * 10.0
    before = v * 10.0
    with tf.Session() as session:
        session.run(v.initializer)
        assert [session.run([before, after]) for _ in range(3)] == [[10, 30], [30, 50], [50, 70]]


def test_host_calls_that_are_ready_are_one_stage():
    """Of two reads, each with an op behind it, the second does not wait for the first one's op."""
    made = tf.TensorArray(tf.float32, size=2, clear_after_read=False).unstack([[1.0, 2.0], [3.0, 4.0]])
    a, b = made.read(0), made.read(1)
    y = tf.tanh(a) + tf.exp(b)
    with Session() as session:
        kinds = [stage.on_device for stage in session.plan(y).stages]
        np.testing.assert_allclose(session.run(y), np.tanh([1, 2]) + np.exp([3, 4]), rtol=1e-6)
    assert kinds[-2:] == [False, True] and kinds.count(True) <= 2


def test_in_the_round_of_a_loop_too():
    w = tf.Variable([0.5, 0.6, 0.7])
    _, h = tf.while_loop(lambda i, h: i < 9, lambda i, h: (i + 1, tf.tanh(h * w)), [0, tf.ones([3])])
    slope = tf.gradients(tf.reduce_sum(h), w)[0]
    with Session() as session:
        session.run(w.initializer)
        first = session.run(slope)
        loops = [stage.loop for stage in session.plan(slope).stages if stage.loop is not None]
        again = [session.run(slope) for _ in range(3)]
    assert [sum(not stage.on_device for stage in loop.step.stages) for loop in loops] == [1, 1]
    for value in again:
        np.testing.assert_allclose(value, first, rtol=1e-6)
