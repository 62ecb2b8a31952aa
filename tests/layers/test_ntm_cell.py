"""The neural Turing machine of tf.contrib.rnn beside NumPy, by the equations of Graves et al. (2014)."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

BATCH, STEPS, DEPTH, UNITS, PLACES, WIDTH = 2, 4, 3, 5, 7, 4
INPUTS = np.random.RandomState(0).randn(BATCH, STEPS, DEPTH).astype("f")


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def addressed(memory, last, p, shifts):
    """Weights of a head: sections 3.3.1 and 3.3.2, the convolution as the sum over j of w(j) s(i - j)."""
    key, beta, gate = np.tanh(p[:, :WIDTH]), np.log1p(np.exp(p[:, WIDTH])), sigmoid(p[:, WIDTH + 1])
    shift, gamma = softmax(p[:, WIDTH + 2:-1]), 1 + np.log1p(np.exp(p[:, -1]))
    result = np.zeros((BATCH, PLACES))
    for b in range(BATCH):
        cosine = memory[b] @ key[b] / (np.linalg.norm(memory[b], axis=1) * np.linalg.norm(key[b]) + 1e-8)
        mixed = gate[b] * softmax(beta[b] * cosine) + (1 - gate[b]) * last[b]
        around = np.zeros(PLACES)
        for offset in range(-shifts, shifts + 1):
            around[offset % PLACES] = shift[b, offset % (2 * shifts + 1)]
        for i in range(PLACES):
            result[b, i] = sum(mixed[j] * around[(i - j) % PLACES] for j in range(PLACES))
        result[b] = result[b] ** gamma[b] / (result[b] ** gamma[b]).sum()
    return result


def unrolled(w, readers, writers, shifts, clip):
    """Outputs (batch, time, size), and memory and weights of the last step."""
    def tiled(x):
        return np.repeat(x, BATCH, 0)
    h, memory = np.zeros((BATCH, UNITS)), np.full((BATCH, PLACES, WIDTH), 1e-6)
    reads = [tiled(np.tanh(w[f"initial_read_{i}"])) for i in range(readers)]
    last = [tiled(softmax(w[f"initial_weights_{i}"])) for i in range(readers + writers)]
    size, outputs = WIDTH + 3 + 2 * shifts + 1, []
    for t in range(STEPS):
        x = np.concatenate([INPUTS[:, t], *reads, h], 1)
        h = np.tanh(x @ w["basic_rnn_cell/kernel"] + w["basic_rnn_cell/bias"])
        p = np.clip(h @ w["parameters_kernel"] + w["parameters_bias"], -clip, clip)
        last = [addressed(memory, each, p[:, i * size:(i + 1) * size], shifts) for i, each in enumerate(last)]
        reads = [np.einsum("bn,bnm->bm", each, memory) for each in last[:readers]]
        changes = np.split(p[:, size * (readers + writers):], 2 * writers, 1)
        for each, erase, add in zip(last[readers:], changes[::2], changes[1::2], strict=True):
            memory = memory * (1 - np.einsum("bn,bm->bnm", each, sigmoid(erase)))
            memory = memory + np.einsum("bn,bm->bnm", each, np.tanh(add))
        outputs.append(np.clip(np.concatenate([h, *reads], 1) @ w["output_kernel"] + w["output_bias"], -clip, clip))
    return np.stack(outputs, 1), memory, last


@pytest.mark.parametrize("readers,writers,shifts,clip", [(1, 1, 1, 20), (2, 2, 2, 0.5)])
def test_a_machine_is_that_of_the_paper(readers, writers, shifts, clip):
    cell = tf.contrib.rnn.NTMCell(tf.nn.rnn_cell.BasicRNNCell(UNITS), PLACES, WIDTH, readers, writers, shifts, 2, clip)
    outputs, state = tf.nn.dynamic_rnn(cell, INPUTS, dtype=tf.float32)
    variables = tf.trainable_variables()
    assert None not in tf.gradients(tf.reduce_sum(tf.square(outputs)), variables)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for v in variables:                        # large enough that heads move and values are clipped
            v.load(np.random.RandomState(len(v.op.name)).randn(*v.shape.as_list()).astype("f"), sess)
        weights = {v.op.name.partition("/")[2].partition("/")[2]: sess.run(v) for v in variables}
        for _ in range(2):
            found, end = sess.run([outputs, state])
    wanted, memory, last = unrolled(weights, readers, writers, shifts, clip)
    np.testing.assert_allclose(found, wanted, 2e-4, 2e-5)
    np.testing.assert_allclose(end.M.reshape(memory.shape), memory, 2e-4, 2e-5)
    for one, other in zip(end.w_list, last, strict=True):
        np.testing.assert_allclose(one, other, 2e-4, 2e-5)
    assert end.time == STEPS


def test_gradients_are_finite_differences():
    cell = tf.contrib.rnn.NTMCell(tf.nn.rnn_cell.BasicRNNCell(UNITS, dtype=tf.float64), PLACES, WIDTH, 1, 1,
                                  output_dim=1, dtype=tf.float64)
    outputs, _ = tf.nn.static_rnn(cell, [tf.constant(INPUTS[:, t], tf.float64) for t in range(2)], dtype=tf.float64)
    loss, variables = tf.reduce_sum(tf.square(outputs[-1])), tf.trainable_variables()
    gradients = tf.gradients(loss, variables)
    random = np.random.RandomState(3)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found, start = sess.run([gradients, variables])
        directions = [random.randn(*value.shape) for value in start]
        ends = [sess.run(loss, {v: value + step * direction for v, value, direction in
                                zip(variables, start, directions, strict=True)}) for step in (1e-5, -1e-5)]
    slope = sum((g * direction).sum() for g, direction in zip(found, directions, strict=True))
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 2e-5, 1e-5)


def test_sizes_and_what_is_refused():
    cell = tf.contrib.rnn.NTMCell(tf.nn.rnn_cell.GRUCell(UNITS), PLACES, WIDTH, 2, 1)
    assert cell.output_size is None
    outputs, state = tf.nn.static_rnn(cell, [tf.ones([BATCH, DEPTH])] * 2, dtype=tf.float32)
    assert outputs[-1].shape.as_list() == [BATCH, DEPTH] and cell.output_size == DEPTH
    assert [w.shape.as_list() for w in state.w_list] == [[BATCH, PLACES]] * 3
    assert cell.state_size.M.as_list() == [PLACES * WIDTH] and cell.state_size.read_vector_list == [WIDTH] * 2
    with pytest.raises(ValueError, match="shift_range must be at most .* got 4 with memory_size 7"):
        tf.contrib.rnn.NTMCell(tf.nn.rnn_cell.GRUCell(UNITS), PLACES, WIDTH, 1, 1, shift_range=4)
