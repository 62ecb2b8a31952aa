"""tf.contrib.cudnn_rnn: cells by their formulas, layers by loops in NumPy, names of variables."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

TIME, BATCH, DEPTH, UNITS = 4, 2, 3, 5


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, state, w):
    i, j, f, o = np.split(np.concatenate([x, state[0]], 1) @ w["kernel"] + w["bias"], 4, 1)
    c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(j)
    return sigmoid(o) * np.tanh(c), c


def gru(x, state, w):
    r, u = np.split(sigmoid(np.concatenate([x, state[0]], 1) @ w["gates/kernel"] + w["gates/bias"]), 2, 1)
    a, b = (v @ w[f"candidate/{n}_projection/kernel"] + w[f"candidate/{n}_projection/bias"]
            for n, v in (("input", x), ("hidden", state[0])))
    return ((1 - u) * np.tanh(a + r * b) + u * state[0],)


def simple(fn):
    return lambda x, state, w: (fn(np.concatenate([x, state[0]], 1) @ w["kernel"] + w["bias"]),)


KINDS = {"CudnnLSTM": ("cudnn_compatible_lstm_cell", lstm, 2), "CudnnGRU": ("cudnn_compatible_gru_cell", gru, 1),
         "CudnnRNNTanh": ("basic_rnn_cell", simple(np.tanh), 1),
         "CudnnRNNRelu": ("basic_rnn_cell", simple(lambda x: np.maximum(x, 0)), 1)}


def run(step, xs, state, weights):
    outputs = []
    for x in xs:
        state = step(x, state, weights)
        outputs.append(state[0])
    return np.stack(outputs), state


@pytest.mark.parametrize("direction", ["unidirectional", "bidirectional"])
@pytest.mark.parametrize("name", KINDS)
def test_layers_are_those_of_the_formulas(name, direction):
    cell, step, parts = KINDS[name]
    both, random = direction == "bidirectional", np.random.RandomState(2)
    x = tf.placeholder(tf.float32, [TIME, BATCH, DEPTH])
    layer = getattr(tf.contrib.cudnn_rnn, name)(2, UNITS, direction=direction)
    start = random.normal(size=(parts, 2 * (1 + both), BATCH, UNITS)).astype(np.float32)
    outputs, states = layer(x, tuple(start), training=False)
    again, _ = layer(tf.transpose(x, [1, 0, 2]), tuple(start), time_major=False)
    scope = f"cudnn_{layer.rnn_mode}/" + ("stack_bidirectional_rnn/cell_{}/bidirectional_rnn/{}/" if both else
                                          "rnn/multi_rnn_cell/cell_{}/") + f"{cell}/"
    with tf.Session() as sess:
        sess.run([v.assign(random.normal(size=v.shape.as_list()) / 2) for v in layer.trainable_variables])
        values = {v.op.name: sess.run(v) for v in layer.variables}
        data = random.normal(size=x.shape.as_list()).astype(np.float32)
        found, last, other = sess.run([outputs, states, again], {x: data})
    want, ends = data, []
    for i in range(2):
        done = []
        for k, way in enumerate(("fw", "bw")[:1 + both]):
            begin = scope.format(i, way)
            weights = {n.removeprefix(begin): v for n, v in values.items() if n.startswith(begin)}
            ys, end = run(step, want[::-1] if k else want, start[:, i * (1 + both) + k], weights)
            done.append(ys[::-1] if k else ys)
            ends.append(end)
        want = np.concatenate(done, 2)
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(other, want.transpose(1, 0, 2), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(np.array(last), np.array(ends).swapaxes(0, 1), rtol=1e-4, atol=1e-5)


def test_dropout_is_between_layers_and_in_training_alone():
    layer = tf.contrib.cudnn_rnn.CudnnGRU(2, UNITS, dropout=0.5, seed=3, name="mine")
    x = tf.ones([TIME, BATCH, DEPTH])
    made = [layer(x, training=training)[0] for training in (True, False, False)]
    assert layer.variables[0].op.name.startswith("mine/rnn/multi_rnn_cell/cell_0/")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        trained, first, second = sess.run(made)
    assert (first == second).all() and not np.allclose(trained, first)


@pytest.mark.parametrize(("given", "told"), [
    ({"direction": "up"}, "got 'up'"), ({"input_mode": "skip_input"}, "got 'skip_input'"),
    ({"dropout": 1.0}, "got 1.0")])
def test_other_arguments_are_refused(given, told):
    with pytest.raises(ValueError, match=told):
        tf.contrib.cudnn_rnn.CudnnLSTM(1, 2, **given)


@pytest.mark.parametrize("name", KINDS)
def test_matrices_of_gates_are_initialized_apart(name):
    shapes = []

    def initializer(shape, dtype=None, partition_info=None):
        shapes.append(list(shape))
        return tf.ones(shape, dtype) * len(shapes)
    layer = getattr(tf.contrib.cudnn_rnn, name)(1, UNITS, kernel_initializer=initializer)
    layer(tf.ones([TIME, BATCH, DEPTH]))
    gates = {"CudnnLSTM": 4, "CudnnGRU": 3}.get(name, 1)
    assert sorted(shapes) == sorted([[DEPTH, UNITS], [UNITS, UNITS]] * gates)
