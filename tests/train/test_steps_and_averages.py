"""The global step, decays of the learning rate, moving averages."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf


def test_global_step():
    assert tf.train.get_global_step() is None
    step = tf.train.create_global_step()
    assert (step.op.name, step.dtype.base_dtype, step.trainable) == ("global_step", tf.int64, False)
    assert tf.train.get_global_step() is step is tf.train.get_or_create_global_step()
    with pytest.raises(ValueError, match="already exists"):
        tf.train.create_global_step()
    graph = tf.Graph()
    assert tf.train.get_or_create_global_step(graph).graph is graph
    graph.add_to_collection("global_step", 3)
    with pytest.raises(RuntimeError, match="Multiple"):
        tf.train.get_global_step(graph)


@pytest.mark.parametrize("value", [1.0, [1]])
def test_what_is_no_global_step(value):
    with pytest.raises(TypeError):
        tf.train.assert_global_step(tf.constant(value))
    tf.get_default_graph().add_to_collection("global_step", tf.Variable(value))
    with pytest.raises(TypeError):
        tf.train.get_global_step()


STEPS = [0, 1, 10, 15, 20, 25]
DECAYS = {
    "exponential": (lambda s: tf.train.exponential_decay(0.5, s, 10, 0.9), lambda s: 0.5 * 0.9 ** (s / 10)),
    "staircase": (lambda s: tf.train.exponential_decay(0.5, s, 10, 0.9, True), lambda s: 0.5 * 0.9 ** (s // 10)),
    "natural": (lambda s: tf.train.natural_exp_decay(0.5, s, 10, 0.9), lambda s: 0.5 * np.exp(-0.9 * s / 10)),
    "inverse time": (lambda s: tf.train.inverse_time_decay(0.5, s, 10, 0.9), lambda s: 0.5 / (1 + 0.9 * s / 10)),
    "polynomial": (lambda s: tf.train.polynomial_decay(0.5, s, 20, 0.1, 2.0),
                   lambda s: 0.4 * (1 - min(s, 20) / 20) ** 2 + 0.1),
    "cycle": (lambda s: tf.train.polynomial_decay(0.5, s, 10, 0.1, 1.0, True),
              lambda s: 0.4 * (1 - s / (10 * max(1, np.ceil(s / 10)))) + 0.1),
    "cosine": (lambda s: tf.train.cosine_decay(0.5, s, 20, 0.2),
               lambda s: 0.5 * (0.8 * 0.5 * (1 + np.cos(np.pi * min(s, 20) / 20)) + 0.2)),
    "piecewise": (lambda s: tf.train.piecewise_constant(s, [10, 20], [0.5, 0.2, 0.1]),
                  lambda s: 0.5 if s <= 10 else 0.2 if s <= 20 else 0.1),
}


@pytest.mark.parametrize("name", DECAYS)
def test_decays(name):
    make, formula = DECAYS[name]
    step = tf.placeholder(tf.int64, [])
    rate = make(step)
    assert rate.dtype == tf.float32 and rate.shape.as_list() == []
    with tf.Session() as sess:
        got = [sess.run(rate, {step: s}) for s in STEPS]
    np.testing.assert_allclose(got, [formula(s) for s in STEPS], rtol=2e-6)


@pytest.mark.parametrize("make", [tf.train.exponential_decay, tf.train.natural_exp_decay, tf.train.inverse_time_decay])
def test_decays_need_a_step(make):
    with pytest.raises(ValueError, match="global_step"):
        make(0.1, None, 10, 0.9)


@pytest.mark.parametrize("boundaries, values", [([1], [1.0]), ([1.5], [1.0, 2.0])])
def test_piecewise_errors(boundaries, values):
    with pytest.raises(ValueError):
        tf.train.piecewise_constant(tf.constant(1), boundaries, values)


def test_moving_averages_of_variables():
    v = tf.Variable([1.0, 2.0], name="v")
    other = tf.Variable(1.0, trainable=False, name="other")
    average = tf.train.ExponentialMovingAverage(0.9)
    assert average.average_name(v) == "v/ExponentialMovingAverage" and average.average(v) is None
    move = average.apply([v])
    shadow = average.average(v)
    assert shadow.op.name == average.average_name(v) == "v/ExponentialMovingAverage" and not shadow.trainable
    assert tf.moving_average_variables() == [v]
    assert average.variables_to_restore() == {"v/ExponentialMovingAverage": v, "other": other}
    with pytest.raises(ValueError, match="already computed"):
        average.apply([v])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(shadow).tolist() == [1, 2]
        sess.run(v.assign([3.0, 4.0]))
        sess.run(move)
        np.testing.assert_allclose(sess.run(shadow), [1.2, 2.2], rtol=1e-6)


def test_moving_averages_move_faster_at_first():
    v, count = tf.Variable(0.0), tf.Variable(3, trainable=False)
    average = tf.train.ExponentialMovingAverage(0.9, num_updates=count)
    move = average.apply([v])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(v.assign(1.0))
        sess.run(move)
        assert sess.run(average.average(v)) == pytest.approx(1 - 4 / 13)


@pytest.mark.parametrize("debias", [False, True])
def test_moving_averages_of_tensors(debias):
    x = tf.placeholder(tf.float32, [])
    t = x * 1.0
    average = tf.train.ExponentialMovingAverage(0.5, zero_debias=debias)
    move = average.apply([t])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        got = []
        for value in (2.0, 4.0):
            sess.run(move, {x: value})
            got.append(sess.run(average.average(t)))
    assert got == pytest.approx([2.0, 10 / 3] if debias else [1.0, 2.5])


def test_moving_averages_refuse_integers():
    with pytest.raises(TypeError, match="half, float, or double"):
        tf.train.ExponentialMovingAverage(0.5).apply([tf.Variable(1)])


def test_a_supervisor_takes_a_global_step_of_one_element(tmp_path):
    step = tf.Variable([3], trainable=False, dtype=tf.int64, name="step")
    tf.add_to_collection(tf.GraphKeys.GLOBAL_STEP, step)
    supervisor = tf.train.Supervisor(logdir=str(tmp_path))
    with supervisor.managed_session() as sess:
        assert supervisor.global_step is step and tf.train.global_step(sess, step) == 3
