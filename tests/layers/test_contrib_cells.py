"""Cells of tf.contrib.rnn and layer normalization beside NumPy: 2.21 has none of them."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

UNITS = 3
INPUTS = np.random.RandomState(0).randn(2, 4, 5).astype("f")


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def normed(x, gamma, beta):
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-12) * gamma + beta


def unrolled(cell, inputs, step, state_parts=2, scope=None):
    """Outputs of dynamic_rnn in a compiled run, and those of step(weights, input, state), from the same weights."""
    outputs, _ = tf.nn.dynamic_rnn(cell, inputs, dtype=tf.float32)
    gradients = tf.gradients(tf.reduce_sum(outputs), tf.trainable_variables())
    assert None not in gradients
    scope = tf.global_variables()[0].op.name.split("/")[1] if scope is None else scope
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        weights = {v.op.name.partition("/")[2].removeprefix(f"{scope}/"): sess.run(v) for v in tf.global_variables()}
        for _ in range(2):
            found = sess.run(outputs)
    state, wanted = (np.zeros([2, UNITS], "f"),) * state_parts, []
    for t in range(4):
        x = tuple(part[:, t] for part in inputs) if isinstance(inputs, tuple) else inputs[:, t]
        output, state = step(weights, x, state)
        wanted.append(output)
    np.testing.assert_allclose(found, np.stack(wanted, 1), 2e-4, 2e-5)
    return weights


@pytest.mark.parametrize("layer_norm", [True, False])
def test_layer_norm_lstm(layer_norm):
    def step(w, x, state):
        gates = np.concatenate([x, state[1]], 1) @ w["kernel"]
        parts = np.split(gates if layer_norm else gates + w["bias"], 4, 1)
        if layer_norm:
            parts = [normed(part, w[f"{scope}/gamma"], w[f"{scope}/beta"])
                     for part, scope in zip(parts, ("input", "transform", "forget", "output"), strict=True)]
        i, j, f, o = parts
        c = state[0] * sigmoid(f + 1) + sigmoid(i) * np.tanh(j)
        c = normed(c, w["state/gamma"], w["state/beta"]) if layer_norm else c
        h = np.tanh(c) * sigmoid(o)
        return h, (c, h)
    weights = unrolled(tf.contrib.rnn.LayerNormBasicLSTMCell(UNITS, layer_norm=layer_norm, norm_gain=0.5), INPUTS, step)
    assert ("bias" in weights) is not layer_norm and weights.get("input/gamma", [0.5])[0] == 0.5


def test_recurrent_dropout():
    cell = tf.contrib.rnn.LayerNormBasicLSTMCell(UNITS, dropout_keep_prob=tf.constant(0.5), dropout_prob_seed=1)
    outputs, _ = tf.nn.dynamic_rnn(cell, tf.constant(INPUTS), dtype=tf.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert not np.array_equal(sess.run(outputs), sess.run(outputs))


@pytest.mark.parametrize("peepholes", [True, False])
def test_phased_lstm(peepholes):
    def affine(w, scope, parts):
        return np.concatenate(parts, 1) @ w[f"{scope}/kernel"] + w[f"{scope}/bias"]

    def step(w, inputs, state):
        (time, x), (c, h) = inputs, state
        take, forget = np.split(sigmoid(affine(w, "mask_gates", [x, h, c] if peepholes else [x, h])), 2, 1)
        new_c = c * forget + take * np.tanh(affine(w, "new_input", [x, h]))
        seen = [x, h, new_c] if peepholes else [x, h]
        new_h = np.tanh(new_c) * sigmoid(affine(w, "output_gate", seen))
        phase = np.mod(time - w["phase"], w["period"]) / w["period"]
        r = w["ratio_on"]
        k = np.where(phase < r / 2, 2 * phase / r, np.where(phase < r, 2 - 2 * phase / r, 0.001 * phase))
        new_c, new_h = k * new_c + (1 - k) * c, k * new_h + (1 - k) * h
        return new_h, (new_c, new_h)
    times = np.array([[0.0, 1.5, 2.0, 7.0], [0.5, 0.7, 3.0, 3.5]], "f")[..., None]
    weights = unrolled(tf.contrib.rnn.PhasedLSTMCell(UNITS, peepholes, ratio_on=0.6, period_init_min=2.0,
                                                     period_init_max=9.0), (times, INPUTS), step)
    assert ((weights["period"] >= 2) & (weights["period"] <= 9)).all()
    assert ((weights["phase"] >= 0) & (weights["phase"] <= 9)).all()


def test_cells_of_one_op_are_those_of_several():
    with tf.Session() as sess:
        for block, plain in ((tf.contrib.rnn.GRUBlockCellV2(UNITS), tf.nn.rnn_cell.GRUCell(UNITS, reuse=True)),
                             (tf.contrib.rnn.LSTMBlockCell(UNITS, 0.5, use_peephole=True),
                              tf.nn.rnn_cell.LSTMCell(UNITS, True, forget_bias=0.5, reuse=True))):
            scope = type(block).__name__
            made, wanted = (tf.nn.dynamic_rnn(cell, tf.constant(INPUTS), dtype=tf.float32, scope=scope)[0]
                            for cell in (block, plain))
            sess.run(tf.global_variables_initializer())
            np.testing.assert_array_equal(*sess.run([made, wanted]))
    with pytest.raises(ValueError, match="expected num_units or cell_size"):
        tf.contrib.rnn.GRUBlockCellV2()


def test_layer_norm_of_images():
    images = np.random.RandomState(1).randn(2, 3, 3, 4).astype("f")
    layer_norm = tf.contrib.layers.layer_norm
    for first, axes in ((1, (1, 2, 3)), (-1, (3,)), (3, (3,))):
        made = layer_norm(images, begin_norm_axis=first, activation_fn=tf.nn.relu, outputs_collections="out")
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            found = sess.run(made)
        mean, variance = images.mean(axes, keepdims=True), images.var(axes, keepdims=True)
        np.testing.assert_allclose(found, np.maximum(0, (images - mean) / np.sqrt(variance + 1e-12)), 1e-4, 1e-5)
    assert [v.op.name for v in tf.trainable_variables()][:2] == ["LayerNorm/beta", "LayerNorm/gamma"]
    assert len(tf.get_collection("out")) == 3 and tf.trainable_variables()[0].shape.as_list() == [4]
    assert len(tf.contrib.framework.get_model_variables()) == 6
    for bad, options, match in ((tf.placeholder(tf.float32), {}, "undefined rank"),
                                (images, {"begin_norm_axis": 4}, r"must be < rank\(inputs\) \(4\)"),
                                (tf.placeholder(tf.float32, [2, None]), {}, "not fully defined")):
        with pytest.raises(ValueError, match=match):
            layer_norm(bad, **options)
