"""Optimizers: what a step does to variables and slots, arguments, errors."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

W, G, RATE = np.array([1.0, -2.0, 3.0]), np.array([0.5, 1.0, -2.0]), 0.1


def descend(state, t):
    state["w"] = state["w"] - RATE * G


def momentum(nesterov):
    def step(state, t):
        state["m"] = state.get("m", 0.0) * 0.9 + G
        state["w"] = state["w"] - RATE * (G + 0.9 * state["m"] if nesterov else state["m"])
    return step


def adam(state, t):
    state["m"] = 0.9 * state.get("m", 0.0) + 0.1 * G
    state["v"] = 0.999 * state.get("v", 0.0) + 0.001 * G * G
    rate = RATE * np.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
    state["w"] = state["w"] - rate * state["m"] / (np.sqrt(state["v"]) + 1e-8)


def adagrad(state, t):
    state["a"] = state.get("a", 0.1) + G * G
    state["w"] = state["w"] - RATE * G / np.sqrt(state["a"])


def rmsprop(centered):
    def step(state, t):
        state["ms"] = 0.9 * state.get("ms", 1.0) + 0.1 * G * G
        state["mg"] = 0.9 * state.get("mg", 0.0) + 0.1 * G
        spread = state["ms"] - (state["mg"] ** 2 if centered else 0.0)
        state["mom"] = 0.5 * state.get("mom", 0.0) + RATE * G / np.sqrt(spread + 1e-10)
        state["w"] = state["w"] - state["mom"]
    return step


OPTIMIZERS = {
    "gradient descent": (lambda: tf.train.GradientDescentOptimizer(RATE), descend, {}),
    "momentum": (lambda: tf.train.MomentumOptimizer(RATE, 0.9), momentum(False), {"momentum": "m"}),
    "Nesterov": (lambda: tf.train.MomentumOptimizer(RATE, 0.9, use_nesterov=True), momentum(True), {"momentum": "m"}),
    "Adam": (lambda: tf.train.AdamOptimizer(RATE), adam, {"m": "m", "v": "v"}),
    "Adagrad": (lambda: tf.train.AdagradOptimizer(RATE), adagrad, {"accumulator": "a"}),
    "RMSProp": (lambda: tf.train.RMSPropOptimizer(RATE, momentum=0.5), rmsprop(False),
                {"momentum": "mom", "rms": "ms"}),
    "RMSProp, centered": (lambda: tf.train.RMSPropOptimizer(RATE, momentum=0.5, centered=True), rmsprop(True),
                          {"mg": "mg", "momentum": "mom", "rms": "ms"}),
}


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps(name, dtype):
    make, step, slots = OPTIMIZERS[name]
    w = tf.Variable(W, dtype=dtype, name="w")
    optimizer = make()
    train = optimizer.minimize(tf.reduce_sum(w * tf.constant(G, dtype)))
    assert optimizer.get_slot_names() == sorted(slots)
    state = {"w": W}
    tolerance = 2e-6            # the numbers of an optimizer are float32 constants: 1 - 0.999 is off by 1e-5 of itself
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for t in range(1, 4):
            sess.run(train)
            step(state, t)
            np.testing.assert_allclose(sess.run(w), state["w"], rtol=20 * tolerance)
        for slot, key in slots.items():
            value = sess.run(optimizer.get_slot(w, slot))
            np.testing.assert_allclose(value, state[key], rtol=50 * tolerance, err_msg=slot)


def make_two():
    w, u = tf.Variable([1.0, 2.0], name="w"), tf.Variable([3.0, 4.0], name="u")
    return w, u, tf.reduce_sum(w * w + u)


def test_slots_and_variables():
    w, u, loss = make_two()
    optimizer = tf.train.AdamOptimizer()
    optimizer.minimize(loss)
    assert optimizer.get_slot(w, "m").name == "w/Adam:0" and optimizer.get_slot(w, "v").name == "w/Adam_1:0"
    assert optimizer.get_slot(w, "nothing") is None and optimizer.get_name() == "Adam"
    assert [v.op.name for v in optimizer.variables()] == [
        "beta1_power", "beta2_power", "u/Adam", "u/Adam_1", "w/Adam", "w/Adam_1"]
    assert tf.trainable_variables() == [w, u]
    assert tf.get_default_graph().get_collection("train_op")[0].name == "Adam"


def test_what_minimize_returns():
    w, u, loss = make_two()
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(1.0).minimize(loss, global_step=step, name="train")
    assert isinstance(train, tf.Operation) and train.name == "train" and train.type == "AssignAdd"
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(train) is None
        assert sess.run([step, w, u])[0] == 1 and tf.train.global_step(sess, step) == 1
        assert sess.run(w).tolist() == [-1, -2] and sess.run(u).tolist() == [2, 3]


def test_var_list_and_changed_gradients():
    w, u, loss = make_two()
    optimizer = tf.train.GradientDescentOptimizer(0.5)
    pairs = optimizer.compute_gradients(loss, var_list=[u])
    assert [v for _, v in pairs] == [u]
    train = optimizer.apply_gradients([(g * 2.0, v) for g, v in pairs] + [(None, w)])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        assert sess.run(u).tolist() == [2, 3] and sess.run(w).tolist() == [1, 2]


def test_rates_may_be_tensors_and_functions():
    w, _, loss = make_two()
    rate = tf.placeholder(tf.float32, [])
    trains = [tf.train.GradientDescentOptimizer(r).minimize(loss, var_list=[w]) for r in (rate, lambda: 0.5)]
    with tf.Session() as sess:
        sess.run(w.initializer)
        sess.run(trains[0], {rate: 0.25})
        assert sess.run(w).tolist() == [0.5, 1]
        sess.run(trains[1])
        assert sess.run(w).tolist() == [0, 0]


def test_constraints():
    w = tf.Variable([1.0, 5.0], constraint=lambda x: tf.maximum(x, 0.5))
    train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(w) * 2.0)
    with tf.Session() as sess:
        sess.run(w.initializer)
        for _ in range(2):
            sess.run(train)
        assert sess.run(w).tolist() == [0.5, 1]


def test_rows_of_a_gather_train_a_table():
    table = tf.Variable([[1.0], [2.0], [3.0]])
    loss = tf.reduce_sum(tf.gather(table, [0, 2, 2]))
    train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    with tf.Session() as sess:
        sess.run(table.initializer)
        sess.run(train)
        assert sess.run(table).ravel().tolist() == [0, 2, 1]


def test_in_another_graph():
    graph = tf.Graph()
    with graph.as_default():
        w, _, loss = make_two()
    train = tf.train.AdamOptimizer().minimize(loss, var_list=[w])
    assert train.graph is graph and not tf.get_default_graph().get_operations()


def test_slots_are_made_again_once_their_cell_is_run_again():
    w, _, loss = make_two()
    optimizer = tf.train.AdamOptimizer()
    graph = tf.get_default_graph()
    graph.owner = "cell"
    first = optimizer.minimize(loss)
    graph.detach(graph.ops_of("cell"), owners=["cell"])
    assert optimizer.variables() == [] and optimizer.get_slot(w, "m") is None
    second = optimizer.minimize(loss)
    assert second is not first and second.name == first.name
    assert [v.op.name for v in optimizer.variables()][-1] == "w/Adam_1"


@pytest.mark.parametrize("make, error, match", [
    (lambda o, w, i, x: o.minimize(x), ValueError, "No gradients provided"),
    (lambda o, w, i, x: o.minimize(w, var_list=[i]), ValueError, "No gradients provided"),
    (lambda o, w, i, x: o.minimize(tf.cast(w, tf.int32)), ValueError, "Invalid type .*int32"),
    (lambda o, w, i, x: o.minimize(w, gate_gradients=5), ValueError, "gate_gradients"),
    (lambda o, w, i, x: o.compute_gradients(w, var_list=[3]), TypeError, "not a tf.Variable"),
    (lambda o, w, i, x: o.compute_gradients(w, var_list=[]), ValueError, "No variables to optimize"),
    (lambda o, w, i, x: o.apply_gradients([]), ValueError, "No variables provided"),
    (lambda o, w, i, x: o.apply_gradients([(None, w)]), ValueError, "No gradients provided"),
    (lambda o, w, i, x: o.apply_gradients([3]), TypeError, "unpack"),
    (lambda o, w, i, x: o.apply_gradients([(object(), w)]), TypeError, "Gradient must be"),
    (lambda o, w, i, x: o.apply_gradients([(x, x)]), NotImplementedError, "Tensor"),
    (lambda o, w, i, x: o.apply_gradients([(tf.constant([1.0]), w)]), ValueError, "ApplyGradientDescent"),
    (lambda o, w, i, x: o.apply_gradients([(tf.constant([1, 2]), w)]), TypeError, "int32"),
    (lambda o, w, i, x: tf.train.Optimizer(False, ""), ValueError, "name"),
    (lambda o, w, i, x: tf.train.AdagradOptimizer(0.1, 0.0), ValueError, "positive"),
])
def test_errors(make, error, match):
    w, i, x = tf.Variable([1.0, 2.0], name="w"), tf.Variable([1, 2], name="i"), tf.placeholder(tf.float32, [2])
    with pytest.raises(error, match=match):
        make(tf.train.GradientDescentOptimizer(0.1), w, i, x)
