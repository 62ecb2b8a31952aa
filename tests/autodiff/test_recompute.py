"""tf.recompute_grad: the same values and gradients, by computing the function once more."""
import numpy as np
import pytest

import tfnb as tf


@pytest.mark.parametrize("several", [False, True])
def test_values_and_gradients_are_those_of_the_function(several):
    calls = []

    def layer(x, y):
        calls.append(1)
        w = tf.get_variable("w", [3, 3], tf.float64, tf.random_normal_initializer(seed=1))
        z = tf.tanh(tf.matmul(x, w)) * y
        return [z, z * 2] if several else z
    x, y = tf.placeholder(tf.float64, [2, 3]), tf.placeholder(tf.float64, [3])
    with tf.variable_scope("plain"):
        plain = layer(x, y)
    with tf.variable_scope("again"):
        again = tf.recompute_grad(layer)(x, y)
    made = len(calls)
    first, second = tf.trainable_variables()
    slopes = [tf.gradients(out, [x, y, w]) for out, w in ((plain, first), (again, second))]
    assert len(calls) == made + 1 and len(tf.trainable_variables()) == 2
    feeds = {x: np.random.default_rng(0).normal(size=(2, 3)), y: [1.0, -2.0, 0.5]}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(2):
            a, b = sess.run([[plain, slopes[0]], [again, slopes[1]]], feeds)
            np.testing.assert_allclose(np.asarray(a[0]), np.asarray(b[0]), rtol=1e-12)
            for ours, expected in zip(b[1], a[1], strict=True):
                np.testing.assert_allclose(ours, expected, rtol=1e-12)
