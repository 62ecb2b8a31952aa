"""Further cells of tf.contrib.rnn beside NumPy (2.21 has none of them), and the one-op LSTM and GRU of TensorFlow."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.layers.test_contrib_cells import INPUTS, UNITS, sigmoid, unrolled

rnn = tf.contrib.rnn


def relu(x):
    return np.maximum(x, 0)


def joined(w, *parts):
    return np.concatenate(parts, 1) @ w["kernel"] + w["bias"]


def ugrnn(w, x, state):
    g, c = np.split(joined(w, x, state), 2, 1)
    g = sigmoid(g + 1)
    h = g * state + (1 - g) * np.tanh(c)
    return h, h


def intersection(w, x, state):
    x = x @ w["in_projection/kernel"] + w["in_projection/bias"]
    gh, h, gy, y = np.split(joined(w, x, state), 4, 1)
    gh, gy = sigmoid(gh + 1), sigmoid(gy + 1)
    return gy * x + (1 - gy) * relu(y), gh * state + (1 - gh) * np.tanh(h)


def nas(w, x, state):
    c, m = state
    x, y = np.split(x @ w["kernel"], 8, 1), np.split(m @ w["recurrent_kernel"], 8, 1)
    one = [f(x[i] * y[i] if i == 3 else x[i] + y[i]) for i, f in enumerate(
        (sigmoid, relu, sigmoid, relu, np.tanh, sigmoid, np.tanh, sigmoid))]
    two = [np.tanh(one[0] * one[1]), np.tanh(one[2] + one[3]), np.tanh(one[4] * one[5]), sigmoid(one[6] + one[7])]
    c = np.tanh(two[0] + c) * two[1]
    m = np.tanh(c * np.tanh(two[2] + two[3]))
    return m, (c, m)


def sru(w, x, state):
    new, f, r, passed = np.split(x @ w["kernel"], 4, 1)
    f, r = np.split(sigmoid(np.concatenate([f, r], 1) + w["bias"]), 2, 1)
    c = f * state + (1 - f) * new
    return r * np.tanh(c) + (1 - r) * passed, c


def independent(w, x, state):
    h = np.tanh(x @ w["kernel_w"] + state * w["kernel_u"] + w["bias"])
    return h, h


def indy(w, x, state):
    c, h = state
    i, j, f, o = np.split(x @ w["kernel_w"] + np.tile(h, 4) * w["kernel_u"] + w["bias"], 4, 1)
    c = c * sigmoid(f + 1) + sigmoid(i) * np.tanh(j)
    h = np.tanh(c) * sigmoid(o)
    return h, (c, h)


def coupled(w, x, state):
    c, h = state
    j, f, o = np.split(np.concatenate([x, h], 1) @ w["W_0"] + w["B"], 3, 1)
    f = sigmoid(f + w["W_F_diag"] * c + 1)
    c = f * c + (1 - f) * np.tanh(j)
    h = sigmoid(o + w["W_O_diag"] * c) * np.tanh(c)
    return h, (c, h)


CELLS = {"ugrnn": (lambda: rnn.UGRNNCell(UNITS), ugrnn),
         "intersection": (lambda: rnn.IntersectionRNNCell(UNITS, num_in_proj=UNITS), intersection),
         "nas": (lambda: rnn.NASCell(UNITS), nas), "sru": (lambda: rnn.SRUCell(UNITS), sru),
         "indrnn": (lambda: rnn.IndRNNCell(UNITS), independent), "indy": (lambda: rnn.IndyLSTMCell(UNITS), indy),
         "coupled": (lambda: rnn.CoupledInputForgetGateLSTMCell(UNITS, use_peepholes=True), coupled)}


@pytest.mark.parametrize("name", CELLS)
def test_cells_are_their_formulas(name):
    make, step = CELLS[name]
    parts = 2 if name in ("nas", "indy", "coupled") else 1
    unrolled(make(), INPUTS, step if parts == 2 else lambda w, x, state: step(
        w, x, state[0] if isinstance(state, tuple) else state), parts)


def test_highway_and_attention_to_the_past():
    def highway(w, x, state):
        h = np.tanh(np.concatenate([x, state], 1) @ w["basic_rnn_cell/kernel"] + w["basic_rnn_cell/bias"])
        carry = sigmoid(x @ w["carry_w"] + w["carry_b"])
        return x * carry + h * (1 - carry), h
    unrolled(rnn.HighwayWrapper(tf.nn.rnn_cell.BasicRNNCell(5)), INPUTS, lambda w, x, state: highway(
        w, x, np.zeros([2, 5], "f") if isinstance(state, tuple) else state), scope="")
    tf.reset_default_graph()

    def attention(w, x, state):
        h, attended, window = state if len(state) == 3 else (*state, np.zeros((2, 4, UNITS), "f"))
        x = np.concatenate([x, attended], 1) @ w["kernel"] + w["bias"]
        h = np.tanh(np.concatenate([x, h], 1) @ w["basic_rnn_cell/kernel"] + w["basic_rnn_cell/bias"])
        y = h @ w["attention/kernel"] + w["attention/bias"]
        score = (w["attention/attn_v"] * np.tanh(window @ w["attention/attn_w"][0, 0] + y[:, None])).sum(2)
        weights = np.exp(score) / np.exp(score).sum(1, keepdims=True)
        attended = (weights[:, :, None] * window).sum(1)
        output = np.concatenate([h, attended], 1) @ w["attn_output_projection/kernel"] \
            + w["attn_output_projection/bias"]
        return output, (h, attended, np.concatenate([window[:, 1:], output[:, None]], 1))
    unrolled(rnn.AttentionCellWrapper(tf.nn.rnn_cell.BasicRNNCell(UNITS), attn_length=4), INPUTS, attention)


def test_a_convolutional_lstm_of_one_pixel_is_an_lstm():
    cell = rnn.Conv2DLSTMCell(input_shape=[1, 1, 5], output_channels=UNITS, kernel_shape=[1, 1], skip_connection=True)
    outputs, _ = tf.nn.dynamic_rnn(cell, tf.constant(INPUTS[:, :, None, None]), dtype=tf.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        weights = {v.op.name.rpartition("/")[2]: sess.run(v) for v in tf.global_variables()}
        for _ in range(2):
            found = sess.run(outputs)[:, :, 0, 0]
    c, h = np.zeros((2, UNITS)), np.zeros((2, UNITS))
    for t in range(4):
        i, j, f, o = np.split(np.concatenate([INPUTS[:, t], h], 1) @ weights["kernel"][0, 0] + weights["biases"], 4, 1)
        c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(j)
        h = np.tanh(c) * sigmoid(o)
        np.testing.assert_allclose(found[:, t, :UNITS], h, 1e-4, 1e-5)
        np.testing.assert_allclose(found[:, t, UNITS:], INPUTS[:, t], 1e-6)
    with pytest.raises(ValueError, match="Invalid kernel_shape"):
        rnn.Conv1DLSTMCell(input_shape=[8, 3], output_channels=4, kernel_shape=[3, 3])


LSTM = """
x, w, b = (tf.constant(a) for a in (x, w, b))
peep = tf.zeros([3])
_, cs, _, _, _, _, h = tf.raw_ops.BlockLSTM(seq_len_max=4, x=x, cs_prev=tf.zeros([2, 3]), h_prev=tf.zeros([2, 3]), w=w,
                                            wci=peep, wcf=peep, wco=peep, b=b, forget_bias=1.0, cell_clip=-1.0)
with tf.Session() as sess:
    result = sess.run([h, cs[-1]])
"""
GRU = """
with tf.Session() as sess:
    result = sess.run(tf.raw_ops.GRUBlockCell(x=x, h_prev=h, w_ru=w_ru, w_c=w_c, b_ru=b_ru, b_c=b_c))[3]
"""


@pytest.mark.parametrize("lengths", [None, [4, 2]])
def test_fused_lstm_is_the_one_of_tensorflow(oracle, lengths):
    x = INPUTS.transpose(1, 0, 2)
    fused = rnn.LSTMBlockFusedCell(UNITS)
    outputs, state = fused(tf.constant(x), dtype=tf.float32, sequence_length=lengths)
    turned, _ = rnn.TimeReversedFusedRNN(fused)(tf.constant(x), dtype=tf.float32, sequence_length=lengths)
    assert [v.op.name for v in tf.global_variables()] == ["lstm_fused_cell/kernel", "lstm_fused_cell/bias"]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(2):
            found, c, backwards = sess.run([outputs, state.c, turned])
        w, b = sess.run(tf.global_variables())
    for values, reads in ((found, x), (backwards, x[::-1])):
        h, cs = oracle(LSTM, x=reads, w=w, b=b)
        if values is backwards:
            h = h[::-1]
        rows = 2 if lengths is None else 1
        np.testing.assert_allclose(values[:, :rows], h[:, :rows], 1e-4, 1e-5)
        if lengths is None and values is found:
            np.testing.assert_allclose(c, cs, 1e-4, 1e-5)
    if lengths:
        assert (found[2:, 1] == 0).all() and (backwards[2:, 1] == 0).all()


def test_gru_block_cell_is_the_one_of_tensorflow(oracle):
    cell, rng = rnn.GRUBlockCell(UNITS), np.random.RandomState(3)
    x, h = rng.randn(2, 5).astype("f"), rng.randn(2, UNITS).astype("f")
    output, _ = cell(tf.constant(x), tf.constant(h))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        weights = {v.op.name.rpartition("/")[2]: sess.run(v) for v in tf.global_variables()}
        np.testing.assert_allclose(sess.run(output), oracle(GRU, x=x, h=h, **weights), 1e-5, 1e-6)


@pytest.mark.parametrize("dynamic", [True, False])
def test_stacks_of_bidirectional_networks(dynamic):
    cells = [[tf.nn.rnn_cell.GRUCell(UNITS) for _ in range(2)] for _ in range(2)]
    if dynamic:
        outputs, first, last = rnn.stack_bidirectional_dynamic_rnn(*cells, INPUTS, dtype=tf.float32)
    else:
        steps, first, last = rnn.stack_bidirectional_rnn(*cells, tf.unstack(INPUTS, axis=1), dtype=tf.float32)
        outputs = tf.stack(steps, 1)
    names = [v.op.name for v in tf.global_variables()]
    layer = "cell_0/bidirectional_rnn" if dynamic else "cell_0"
    assert names[0] == f"stack_bidirectional_rnn/{layer}/fw/gru_cell/gates/kernel" and len(names) == 16
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(2):
            found, ends, starts = sess.run([outputs, first, last])
    np.testing.assert_allclose(found[:, -1, :UNITS], ends[1], 1e-6)
    np.testing.assert_allclose(found[:, 0, UNITS:], starts[1], 1e-6)
    with pytest.raises(ValueError, match="same depth"):
        rnn.stack_bidirectional_rnn(cells[0], cells[1][:1], [])
