"""Slots of variables whose shape the graph does not know: all optimizers train them as those of known shape."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

OPTIMIZERS = {
    "Momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9), "Adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "Adam": lambda: tf.train.AdamOptimizer(0.1), "RMSProp": lambda: tf.train.RMSPropOptimizer(0.1, centered=True),
    "Adadelta": lambda: tf.train.AdadeltaOptimizer(0.1), "Ftrl": lambda: tf.train.FtrlOptimizer(0.1),
    "ProximalAdagrad": lambda: tf.train.ProximalAdagradOptimizer(0.1),
    "ProximalGradientDescent": lambda: tf.train.ProximalGradientDescentOptimizer(0.1),
    "GradientDescent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "AdagradDA": lambda: tf.train.AdagradDAOptimizer(0.1, tf.train.get_or_create_global_step()),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_trained_as_those_of_known_shape(name):
    found = []
    for known in (False, True):
        with tf.Graph().as_default(), tf.Session() as sess:
            start = tf.placeholder_with_default(np.ones([2, 3], np.float32), [2, 3] if known else None)
            v = tf.Variable(start, validate_shape=known)
            assert v.shape.is_fully_defined() is known
            optimizer = OPTIMIZERS[name]()
            step = optimizer.minimize(tf.reduce_sum(v * v))
            sess.run(tf.global_variables_initializer())
            for _ in range(3):
                sess.run(step)
            slots = [sess.run(optimizer.get_slot(v, slot)) for slot in optimizer.get_slot_names()]
            found.append((sess.run(v), *slots))
    for unknown, known in zip(*found, strict=True):
        assert np.array_equal(unknown, known)


def test_a_moving_average_of_unknown_shape():
    x = tf.placeholder_with_default(np.ones([2, 3], np.float32), None)
    v = tf.Variable(x, validate_shape=False)
    average = tf.train.ExponentialMovingAverage(0.5)
    update = average.apply([v, x])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(v.assign(v * 3.0))
        sess.run(update)
        assert np.array_equal(sess.run(average.average(v)), np.full([2, 3], 2.0))
        assert sess.run(average.average(x)).shape == (2, 3)
