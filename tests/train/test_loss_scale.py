"""Loss scales: values by steps, steps that are left out, half precision that learns."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

experimental = tf.train.experimental


def test_the_scale_falls_and_grows_and_bad_steps_are_left_out():
    with tf.Graph().as_default(), tf.Session() as sess:
        x, v = tf.placeholder(tf.float32), tf.Variable(1.0)
        scale = experimental.DynamicLossScale(8.0, increment_period=2, multiplier=4.0)
        step = tf.train.get_or_create_global_step()
        optimizer = experimental.MixedPrecisionLossScaleOptimizer(tf.train.MomentumOptimizer(0.1, 0.5), scale)
        train = optimizer.minimize(v * x, global_step=step)
        sess.run(tf.global_variables_initializer())
        found = []
        for value in (1, np.inf, 1, 1, np.nan, 1, 1):
            sess.run(train, {x: value})
            found.append([*sess.run([scale(), v, step])])
    wanted = [[8, 0.9, 1], [2, 0.9, 1], [2, 0.75, 2], [8, 0.575, 3], [2, 0.575, 3], [2, 0.3875, 4], [8, 0.19375, 5]]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    assert experimental.DynamicLossScale.from_config(scale.get_config()).multiplier == 4


def test_gradients_that_vanish_in_half_precision_are_kept():
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(1.0)
        table = tf.Variable(np.ones([3, 2]), dtype=tf.float32)
        small = tf.cast(v, tf.float16) * np.float16(1e-4) * np.float16(1e-4)
        plain, = tf.gradients(small, v)
        optimizer = experimental.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), 1024)
        (scaled, _), = optimizer.compute_gradients(tf.cast(small, tf.float32), [v])
        (sparse, _), = optimizer.compute_gradients(tf.reduce_sum(tf.gather(table, [1])), [table])
        sess.run(tf.global_variables_initializer())
        assert sess.run(plain) == 0 and sess.run(scaled) == pytest.approx(1e-8, rel=0.01)
        assert sess.run(sparse).values.tolist() == [[1, 1]]


def test_arguments_are_checked():
    gradient_descent = tf.train.GradientDescentOptimizer(0.1)
    for call, match in ((lambda: experimental.FixedLossScale(0.5), "at least one, got 0.5"),
                        (lambda: experimental.MixedPrecisionLossScaleOptimizer(gradient_descent, "fast"), "'dynamic'"),
                        (lambda: experimental.MixedPrecisionLossScaleOptimizer("sgd", 2), "instance of Optimizer")):
        with pytest.raises(ValueError, match=match):
            call()
