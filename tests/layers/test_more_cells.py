"""Cells of tf.contrib.rnn with groups, normalized weights, grids of frequencies, beside their formulas in NumPy."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.layers.test_contrib_cells import INPUTS, normed, sigmoid

rnn = tf.contrib.rnn
UNITS = 4
X = np.random.RandomState(1).randn(2, 4, 6).astype("f")


def lstm(gates, c, seen=(0.0, 0.0, 0.0), after=lambda c: c):
    i, j, f, o = gates
    c = after(sigmoid(f + 1 + seen[0] * c) * c + sigmoid(i + seen[1] * c) * np.tanh(j))
    return c, sigmoid(o + seen[2] * c) * np.tanh(c)


def diagonals(w):
    return [w[f"w_{gate}_diag"] for gate in "fio"]


def groups(w, x, state):
    parts = [np.split(np.concatenate([a, b], 1) @ w[f"group{k}/kernel"], 4, 1)
             for k, (a, b) in enumerate(zip(np.split(x, 2, 1), np.split(state[1], 2, 1), strict=True))]
    c, h = lstm([np.concatenate(gate, 1) + w[f"bias_{name}"] for name, gate in zip(
        "ijfo", zip(*parts, strict=True), strict=True)], state[0])
    h = h @ w["projection/kernel"]
    return h, (c, h)


def layer_norm(w, x, state):
    parts = [normed(part, w[f"{scope}/gamma"], w[f"{scope}/beta"]) for part, scope in zip(
        np.split(np.concatenate([x, state[1]], 1) @ w["kernel"], 4, 1), ("input", "transform", "forget", "output"),
        strict=True)]
    c, h = lstm(parts, state[0], diagonals(w), lambda c: np.clip(normed(c, w["state/gamma"], w["state/beta"]), -1, 1))
    return h, (c, h)


def unit(kernel, length):
    return kernel / np.sqrt((kernel ** 2).sum(0)) * length


def weight_norm(w, x, state):
    w = {name.removeprefix("wn_lstm_cell/"): value for name, value in w.items()}
    kernel = np.concatenate([unit(w["kernel"][:6], w["norm_0"]), unit(w["kernel"][6:], w["norm_1"])])
    gates = np.split(np.concatenate([x, state[1]], 1) @ kernel + w["bias"], 4, 1)
    c, h = lstm(gates, state[0], diagonals(w))
    h = np.clip(h @ unit(w["projection/kernel"], w["projection/norm_0"]), -0.1, 0.1)
    return h, (c, h)


def indy_gru(w, x, state):
    r, u = np.split(sigmoid(x @ w["gates/kernel_w"] + np.tile(state, 2) * w["gates/kernel_u"] + w["gates/bias"]), 2, 1)
    new = np.tanh(x @ w["candidate/kernel"] + r * state * w["candidate/kernel_u"] + w["candidate/bias"])
    return u * state + (1 - u) * new, u * state + (1 - u) * new


def minimal(w, x, state):
    seen = np.tanh(x @ w["kernel"][:6])
    u = sigmoid(np.concatenate([seen, state], 1) @ w["kernel"][6:] + w["bias"])
    return u * state + (1 - u) * seen, u * state + (1 - u) * seen


def chaos_free(w, x, state):
    gates, seen = (x @ w["kernel"])[:, :2 * UNITS], (x @ w["kernel"])[:, 2 * UNITS:]
    theta, eta = np.split(sigmoid(state @ w["recurrent_kernel"] + gates + w["bias"]), 2, 1)
    h = theta * np.tanh(state) + (1 - eta) * np.tanh(seen)
    return h, h


def windows(w, x, state):
    m, made = np.zeros([2, UNITS], "f"), []
    for k in range(3):
        c, h = state[:, 2 * k * UNITS:(2 * k + 1) * UNITS], state[:, (2 * k + 1) * UNITS:(2 * k + 2) * UNITS]
        gates = np.split(np.concatenate([x[:, 2 * k:2 * k + 2], h, m], 1) @ w["W_0"] + w["B"], 4, 1)
        c, m = lstm(gates, c, [w[f"W_{gate}_diag"] for gate in "FIO"])
        made += [c, m]
    return np.concatenate(made[1::2], 1), np.concatenate(made, 1)


def grid(w, x, state, is_shared=False, is_coupled=False, prefix="", order=(0, 1, 2)):
    m_freq = c_freq = np.zeros([2, UNITS], "f")
    outputs, states = [], []
    for k, place in enumerate(order):
        c_time, m_time = state[2 * k:2 * k + 2]
        seen, found = np.concatenate([x[:, 2 * place:2 * place + 2], m_time, m_freq], 1), {}
        for name, letter in (("freq", "f"), ("time", "t")):
            own, letter = ("freq", "f") if is_shared else (name, letter)
            parts = np.split(seen @ w[f"{prefix}W_{letter}_0_0"] + w[f"{prefix}B_{letter}_0"], 4 - is_coupled, 1)

            def peep(gate, a, b, own=own):
                key = f"{prefix}W_{gate}_diag_{own}"
                return w[f"{key}f_0"] * a + w[f"{key}t_0"] * b if f"{key}f_0" in w else 0
            enter = sigmoid(parts[0] + peep("I", c_freq, c_time))
            forget = 1 - enter if is_coupled else sigmoid(parts[2] + 1 + peep("F", c_freq, c_time))
            found[name] = enter * np.tanh(parts[1]), forget, parts[-1], peep
        c_freq, c_time = (found[name][1] * c + found[name][0] for name, c in (("freq", c_freq), ("time", c_time)))
        m_freq, m_time = (sigmoid(found[name][2] + found[name][3]("O", c_freq, c_time)) * np.tanh(c)
                          for name, c in (("freq", c_freq), ("time", c_time)))
        states += [c_time, m_time]
        outputs += [m_time, m_freq]
    return np.concatenate(outputs, 1), tuple(states)


def both_ways(w, x, state):
    there, states = grid(w, x, state[:6], prefix="fwd/")
    back, more = grid(w, x, state[6:], prefix="bwd/", order=(2, 1, 0))
    return np.concatenate([there, back], 1), states + more


FREQUENCIES = {"feature_size": 2, "frequency_skip": 2, "num_frequency_blocks": [3]}
CELLS = {
    "groups": (lambda: rnn.GLSTMCell(UNITS, num_proj=2, number_of_groups=2), groups),
    "layer norm": (lambda: rnn.LayerNormLSTMCell(UNITS, True, 1.0, layer_norm=True, norm_gain=0.5), layer_norm),
    "weight norm": (lambda: rnn.WeightNormLSTMCell(UNITS, use_peepholes=True, num_proj=3, proj_clip=0.1), weight_norm),
    "indy gru": (lambda: rnn.IndyGRUCell(UNITS), indy_gru), "minimal": (lambda: rnn.MinimalRNNCell(UNITS), minimal),
    "chaos-free": (lambda: rnn.CFNCell(UNITS), chaos_free),
    "grid": (lambda: rnn.GridLSTMCell(UNITS, True, **FREQUENCIES), grid),
    "coupled grid": (lambda: rnn.GridLSTMCell(UNITS, True, True, couple_input_forget_gates=True, **FREQUENCIES),
                     lambda w, x, state: grid(w, x, state, True, True)),
    "both ways": (lambda: rnn.BidirectionalGridLSTMCell(UNITS, **FREQUENCIES), both_ways),
}


def test_cells_are_their_formulas():
    """All in one graph and one run."""
    tf.set_random_seed(1)
    fed, made = tf.placeholder(tf.float32, [2, 4, 6]), {}
    for k, (make, _) in enumerate(CELLS.values()):
        with tf.variable_scope(f"v{k}", initializer=tf.glorot_uniform_initializer() if k < 6 else
                               tf.random_normal_initializer(stddev=0.5)):
            made[k] = tf.nn.static_rnn(make(), tf.unstack(fed, axis=1), dtype=tf.float32)[0]
    variables = {v.op.name: v for v in tf.global_variables()}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        weights = sess.run(variables)
        found = sess.run(made, {fed: X})
    for k, (name, (make, step)) in enumerate(CELLS.items()):
        own = {key.split("/", 3)[3]: value for key, value in weights.items() if key.startswith(f"v{k}/")}
        sizes = make().state_size
        state = np.zeros([2, sizes], "f") if isinstance(sizes, int) else tuple(np.zeros([2, n], "f") for n in sizes)
        for t in range(4):
            wanted, state = step(own, X[:, t], state)
            np.testing.assert_allclose(found[k][t], wanted, 1e-4, 1e-5, err_msg=name)


def test_windows_of_frequencies():
    tf.set_random_seed(1)
    cell, before = rnn.TimeFreqLSTMCell(UNITS, True, feature_size=2, frequency_skip=2), np.random.RandomState(0).randn(
        2, 6 * UNITS).astype("f")
    output, state = cell(tf.constant(X[:, 0]), tf.constant(before))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        weights = {v.op.name.rpartition("/")[2]: sess.run(v) for v in tf.global_variables()}
        found = sess.run([output, state])
    for ours, wanted in zip(found, windows(weights, X[:, 0], before), strict=True):
        np.testing.assert_allclose(ours, wanted, 1e-4, 1e-5)


@pytest.mark.parametrize("match, call", [
    ("num_units must be divisible", lambda: rnn.GLSTMCell(5, number_of_groups=2)),
    ("input size .5. must be divisible", lambda: rnn.GLSTMCell(4, number_of_groups=2)(
        tf.constant(INPUTS[:, 0]), (tf.zeros([2, 4]),) * 2)),
    ("Must specify num_frequency_blocks", lambda: rnn.GridLSTMCell(4)),
    ("requires 2 but gets 3", lambda: rnn.GridLSTMCell(4, feature_size=2, frequency_skip=2, num_frequency_blocks=[2])(
        tf.constant(X[:, 0]), (tf.zeros([2, 4]),) * 4)),
    ("feature_size", lambda: rnn.TimeFreqLSTMCell(4)(tf.constant(X[:, 0]), tf.zeros([2, 8])))])
def test_what_is_refused(match, call):
    with pytest.raises(ValueError, match=match):
        call()
