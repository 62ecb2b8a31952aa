"""options.nan_check: runs that make NaN raise with the op to blame, whenever it happened; what is meant does not."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.options import options


@pytest.fixture(autouse=True)
def _checked():
    options.nan_check = True
    with tf.Graph().as_default():
        yield
    options.nan_check, options.nan_ignore = False, ""


def regression(rate=0.1):
    """w goes down by the slope of sqrt(x * w): NaN as soon as x is 0."""
    x = tf.placeholder(tf.float32, [3], name="x")
    w = tf.Variable(tf.ones([3]), name="w")
    loss = tf.reduce_sum(tf.sqrt(x * w, name="root"), name="loss")
    train = tf.train.MomentumOptimizer(rate, 0.5).minimize(loss)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return x, w, loss, train, session


def batch(i):
    return np.full(3, 1 + i / 100, np.float32)


def test_a_bad_loss_raises_at_once_with_the_op_and_its_line():
    x, _, loss, train, session = regression()
    for i in range(5):
        session.run([loss, train], {x: batch(i)})
    with pytest.raises(tf.errors.InvalidArgumentError, match="NaN comes from 'root' .*tf.sqrt") as caught:
        session.run([loss, train], {x: -batch(0)})
    assert caught.value.report.op.name == "root" and caught.value.op.name == "root"


def test_variables_that_went_bad_in_a_run_before_are_noticed_and_can_be_put_back():
    x, w, _, train, session = regression(0.01)
    for i in range(10):
        session.run(train, {x: batch(i)})
    good, slot = session.run([w, "w/Momentum:0"])
    session.run(train, {x: [1.0, 0.0, 1.0]})                    # the slope of a root at 0
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"1 run ago: .*'gradients/root_grad/SqrtGrad'") as caught:
        session.run([w, train], {x: batch(0)})
    caught.value.report.restore()
    now = session.run([w, "w/Momentum:0"])
    np.testing.assert_array_equal(now[0], good)
    np.testing.assert_array_equal(now[1], slot)
    assert np.isfinite(session.run([w, train], {x: batch(0)})[0]).all()


def test_training_alone_is_checked_now_and_then():
    x, _, _, train, session = regression(1e-4)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\d+ runs ago: .*SqrtGrad"):
        for i in range(300):
            session.run(train, {x: [1.0, 0.0, 1.0] if i == 50 else batch(i % 10)})
    assert i < 200


def test_runs_of_several_kinds_are_done_again_in_their_order():
    x = tf.placeholder(tf.float32, [], name="x")
    w = tf.Variable(1.0, name="w")
    grow, shrink = tf.assign_add(w, tf.log(x, name="log")).op, tf.assign(w, w / 2).op
    other = tf.placeholder(tf.float32, [2])
    session, expected, before = tf.Session(), np.float32(1), None
    session.run(w.initializer)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\d+ runs ago: .*'log'") as caught:
        for i in range(2000):
            if i == 700:
                before = expected
            session.run(grow, {x: -1.0 if i == 700 else 1 + i % 7})
            expected += np.log(np.float32(1 + i % 7))
            if i % 3 == 0 and i < 700:
                session.run(shrink)
                expected /= 2
            session.run(other, {other: [1.0, 2.0]})
            if i % 50 == 0 and i < 700:
                np.testing.assert_allclose(session.run(w), expected, 1e-5)
    assert 700 < i < 1000
    caught.value.report.restore()
    np.testing.assert_allclose(session.run(w), before, 1e-5)


def test_a_batch_array_that_is_filled_anew_is_copied_once_that_shows():
    x, _, loss, train, session = regression()
    feed, start = {x: np.ones(3, np.float32)}, tf.global_variables_initializer()
    for spoiled in range(2):
        for i in range(4):
            feed[x][:] = batch(i)
            session.run([loss, train], feed)
        feed[x][:] = -1
        with pytest.raises(tf.errors.InvalidArgumentError, match="'root'|'w'|'x'") as caught:
            session.run([loss, train], feed)
        assert session._guard._copies and (not spoiled or caught.value.report.op.name == "root")
        session.run(start)


def test_values_that_are_meant_to_be_infinite_are_let_be():
    best = tf.Variable(np.inf, name="best")
    x = tf.placeholder(tf.float32, [], name="x")
    update = tf.assign(best, tf.minimum(best, x))
    with tf.Session() as session:
        session.run(best.initializer)
        assert session.run(best) == np.inf
        session.run(update, {x: 3.0})
        assert session.run(best) == 3.0
    options.nan_ignore = "^mask"
    with tf.Session() as session:
        assert session.run(tf.log(tf.constant([0.0]), name="mask"))[0] == -np.inf
        with pytest.raises(tf.errors.InvalidArgumentError, match="'other'"):
            session.run(tf.log(tf.constant([0.0]), name="other"))


def test_runs_that_take_from_queues_are_checked_too():
    queue = tf.FIFOQueue(10, tf.float32, shapes=[[]])
    v = tf.Variable(1.0, name="v")
    step = tf.assign_add(v, tf.log(queue.dequeue(), name="log"))
    x = tf.placeholder(tf.float32, [None])
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(queue.enqueue_many(x), {x: [1.0, 2.0, -1.0, -1.0]})
        assert session.run(step) == 1.0
        session.run(step)
        with pytest.raises(tf.errors.InvalidArgumentError, match="'log'"):
            session.run(step)


def test_nothing_is_checked_unless_asked_for():
    options.nan_check = False
    with tf.Session() as session:
        assert np.isnan(session.run(tf.log(-1.0)))


def test_python_is_called_once_a_run():
    """Runs with calls of Python are not replayed to find a value that went bad."""
    calls, x = [], tf.placeholder(tf.float32, [], name="x")
    v = tf.Variable(0.0, name="v")
    step = tf.assign_add(v, tf.log(tf.py_func(lambda a: (calls.append(a), a)[1], [x], tf.float32))).op
    with tf.Session() as session:
        session.run(v.initializer)
        for i in range(300):
            session.run(step, {x: -1.0 if i == 40 else 1.0})
    assert len(calls) == 300


def test_host_ops_without_state_are_replayed():
    text = tf.placeholder(tf.string, [], name="text")
    v = tf.Variable(0.0, name="v")
    step = tf.assign_add(v, tf.log(tf.string_to_number(text), name="log")).op
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\d+ runs ago: .*'log'"):
            for i in range(300):
                session.run(step, {text: "-1" if i == 40 else "1"})
    assert 40 < i < 200
