"""The optimizers of tf.contrib.opt against their papers' formulas in NumPy, whole variables and rows."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.options import options

opt = tf.contrib.opt
START = np.array([[1.0, -2.0], [3.0, 0.5], [-1.0, 2.0], [0.25, -0.75]])
PICKED = [2, 0, 2]
SCALE = np.array([[1.0, -3.0], [2.0, 0.5], [-1.0, 4.0]])
STEPS = 4


def gradient(w, sparse):
    """The gradient of the loss below by all of w; the rows that have one."""
    if not sparse:
        return 2 * w, slice(None)
    grad = np.zeros_like(w)
    np.add.at(grad, PICKED, 2 * SCALE * w[PICKED])
    return grad, sorted(set(PICKED))


def moving(old, new, decay):
    return decay * old + (1 - decay) * new


def ada_max(s, g, rows, t):
    s.m[rows] = moving(s.m[rows], g[rows], 0.9)
    s.v[rows] = np.maximum(0.99 * s.v[rows], abs(g[rows]))
    s.w[rows] -= 0.1 / (1 - 0.9 ** t) * s.m[rows] / (s.v[rows] + 1e-8)


def adam(s, g, rows, t):
    s.m[rows], s.v[rows] = moving(s.m[rows], g[rows], 0.9), moving(s.v[rows], g[rows] ** 2, 0.99)
    s.w[rows] -= 0.1 * np.sqrt(1 - 0.99 ** t) / (1 - 0.9 ** t) * s.m[rows] / (np.sqrt(s.v[rows]) + 1e-8)


def adam_w(s, g, rows, t):
    s.w[rows] -= 0.01 * s.w[rows]
    adam(s, g, slice(None), t)


def nadam(s, g, rows, t):
    s.m, s.v = moving(s.m, g, 0.9), moving(s.v, g ** 2, 0.99)
    ahead = moving(s.m, g, 0.9)[rows]
    s.w[rows] -= 0.1 * np.sqrt(1 - 0.99 ** t) / (1 - 0.9 ** t) * ahead / (np.sqrt(s.v[rows]) + 1e-8)


def momentum_w(s, g, rows, t):
    s.w[rows] -= 0.01 * s.w[rows]
    s.m[rows] = 0.9 * s.m[rows] + g[rows]
    s.w[rows] -= 0.05 * (g[rows] + 0.9 * s.m[rows])


def add_sign(s, g, rows, t):
    s.m = moving(s.m, g, 0.8)
    s.w -= 0.1 * (0.5 + (1 - t / 10) * np.sign(g) * np.sign(s.m)) * g


def power_sign(s, g, rows, t):
    s.m = moving(s.m, g, 0.8)
    s.w -= 0.1 * 2.0 ** (np.sign(g) * np.sign(s.m)) * g


def lars(s, g, rows, t):
    rate = 1.0
    if not isinstance(rows, list):
        weights, slope = np.linalg.norm(s.w), np.linalg.norm(g)
        rate = 0.1 * weights / (slope + 0.5 * weights + 0.25)
    s.m[rows] = 0.9 * s.m[rows] + rate * g[rows]
    s.w[rows] -= s.m[rows]


OPTIMIZERS = {
    "AdaMax": (lambda: opt.AdaMaxOptimizer(0.1, beta2=0.99), ada_max),
    "LazyAdam": (lambda: opt.LazyAdamOptimizer(0.1, beta2=0.99), adam),
    "Nadam": (lambda: opt.NadamOptimizer(0.1, beta2=0.99), nadam),
    "AdamW": (lambda: opt.AdamWOptimizer(0.01, 0.1, beta2=0.99), adam_w),
    "AdamW, extended": (lambda: opt.extend_with_decoupled_weight_decay(tf.train.AdamOptimizer)(
        weight_decay=lambda: 0.01, learning_rate=0.1, beta2=0.99), adam_w),
    "MomentumW": (lambda: opt.MomentumWOptimizer(0.01, 0.05, 0.9, use_nesterov=True), momentum_w),
    "AddSign": (lambda: opt.AddSignOptimizer(
        0.1, 0.5, 0.8, sign_decay_fn=lambda step: 0.9 - tf.cast(step, tf.float32) / 10), add_sign),
    "PowerSign": (lambda: opt.PowerSignOptimizer(0.1, base=2.0, beta=0.8), power_sign),
    "LARS": (lambda: opt.LARSOptimizer(1.0, weight_decay=0.5, eeta=0.1, epsilon=0.25), lars),
}


class State:
    def __init__(self):
        self.w, self.m, self.v = START.copy(), np.zeros_like(START), np.zeros_like(START)


def loss_of(w, sparse):
    return tf.reduce_sum(tf.square(tf.gather(w, PICKED)) * SCALE) if sparse else tf.reduce_sum(tf.square(w))


@pytest.mark.parametrize("mode", ["never", "second"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_formulas(name, sparse, mode, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    make, formula = OPTIMIZERS[name]
    state = State()
    step = tf.train.create_global_step()
    w = tf.Variable(START, name="w")
    optimizer = make()
    train = optimizer.minimize(loss_of(w, sparse), global_step=step)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for t in range(1, STEPS + 1):
            sess.run(train)
            formula(state, *gradient(state.w, sparse), t)
            np.testing.assert_allclose(sess.run(w), state.w, rtol=1e-5, atol=1e-6)     # 0.99 is a float32
        for slot in optimizer.get_slot_names():
            wanted = state.v if slot == "v" else state.m
            np.testing.assert_allclose(sess.run(optimizer.get_slot(w, slot)), wanted, rtol=1e-5, atol=1e-7)


def trained(train, *wanted):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train)
        return sess.run(list(wanted))


def test_only_some_variables_decay():
    v, w, u = (tf.Variable(1.0, name=name) for name in "vwu")
    optimizer = opt.MomentumWOptimizer(0.5, 0.0, 0.9)
    assert trained(optimizer.minimize(v + w, decay_var_list=[w]), v, w) == [1.0, 0.125]
    assert trained(optimizer.apply_gradients([(1.0, v), (1.0, u)], decay_var_list=[u]), v, u) == [1.0, 0.125]
    assert trained(optimizer.minimize(v + w), v, w) == [0.125, 0.125]


def test_lars_skips_variables_by_name():
    bias, kernel = tf.Variable([3.0, 4.0], name="bias"), tf.Variable([3.0, 4.0], name="kernel")
    optimizer = opt.LARSOptimizer(1.0, momentum=0.0, weight_decay=0.0, eeta=0.1, skip_list=["bias"])
    train = optimizer.minimize(bias[0] + kernel[0])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        np.testing.assert_allclose(sess.run([bias, kernel]), [[2.0, 4.0], [2.5, 4.0]])
    with pytest.raises(ValueError, match="weight_decay should be positive: -1"):
        opt.LARSOptimizer(1.0, weight_decay=-1)


def test_accumulators_that_regularization_does_not_move():
    v = tf.Variable([1.0, 2.0])
    optimizer = opt.RegAdagradOptimizer(0.1)
    with optimizer.avoid_updating_slots():
        pulled = [optimizer.minimize(loss) for loss in (tf.reduce_sum(v), tf.reduce_sum(tf.gather(v, [1])))]
    value, accumulator = trained(pulled, v, optimizer.get_slot(v, "accumulator"))
    np.testing.assert_allclose(accumulator, [0.1, 0.1])
    np.testing.assert_allclose(value, [1 - 0.3 / np.sqrt(0.1), 2 - 0.6 / np.sqrt(0.1)], rtol=1e-5)
    seen = optimizer.minimize(tf.reduce_sum(v))
    np.testing.assert_allclose(trained(seen, optimizer.get_slot(v, "accumulator"))[0], [3.1, 3.1])


def test_averages_are_saved_in_the_place_of_variables(tmp_path):
    v = tf.Variable(10.0, name="v")
    optimizer = opt.MovingAverageOptimizer(tf.train.MomentumOptimizer(1.0, 0.0), average_decay=0.5)
    with pytest.raises(RuntimeError, match="before swapping_saver"):
        optimizer.swapping_saver()
    train = optimizer.minimize(v)
    assert train.name == "train_with_avg" and optimizer.get_slot_names() == ["momentum"]
    saver, plain = optimizer.swapping_saver(), tf.train.Saver([v])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        path = saver.save(sess, str(tmp_path / "model"))
        plain.restore(sess, path)
        assert sess.run(v) == 9.5
    assert tf.train.load_variable(path, "v/ExponentialMovingAverage") == 9.0


@pytest.mark.parametrize("axes", [[0], [1]])
def test_rows_or_all_of_a_variable_are_clipped(axes):
    v = tf.Variable([[4.0, 6.0], [3.0, 8.0]])
    optimizer = opt.VariableClippingOptimizer(tf.train.GradientDescentOptimizer(0.0), {v: axes}, 1.0)
    dense, sparse = optimizer.minimize(tf.reduce_sum(v)), optimizer.minimize(tf.reduce_sum(tf.gather(v, [0])))
    with tf.Session() as sess:
        for train, all_rows in ((dense, True), (sparse, 0 in axes)):
            sess.run(tf.global_variables_initializer())
            sess.run(train)
            start = np.array([[4.0, 6.0], [3.0, 8.0]])
            clipped = start / np.maximum(np.linalg.norm(start, axis=axes[0], keepdims=True), 1.0)
            if not all_rows:
                clipped[1] = start[1]
            np.testing.assert_allclose(sess.run(v), clipped, rtol=1e-6)
