"""Graphs of our ops and their gradients, exported, give the same numbers in real TensorFlow."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

X = np.random.default_rng(2).normal(size=(6, 4)).astype(np.float32)
RUN = """
graph = tf.GraphDef.FromString(data)
fetched = tf.import_graph_def(graph, return_elements=names, name="")
result = tf.Session().run(fetched, {feed: x})
"""


def layers(x):
    h = tf.nn.relu(tf.matmul(x, tf.ones([4, 3]) * 0.1) + [0.1, 0.2, 0.3])
    h = tf.nn.elu(tf.nn.bias_add(h, [0.5, -0.5, 0.0])) + tf.nn.softplus(h) * tf.tanh(h)
    return tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.one_hot([0, 1, 2, 0, 1, 2], 3), logits=h)


def sparse(x):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1, 2, 3, 0, 1], logits=x / 2.0)


def arrays(x):
    a, b = tf.split(x, 2)
    c = tf.concat([a[:, ::-1], tf.reverse(b, [0])], 1)
    d = tf.stack([c, 2.0 * c], axis=1)
    e = tf.pad(tf.transpose(d, [1, 0, 2]), [[0, 0], [1, 0], [0, 2]])
    return tf.tile(tf.gather(e, [1, 0, 1]), [1, 2, 1])[:, 1:3, tf.newaxis] ** 2 + tf.unstack(x)[0][1]


def reductions(x):
    mean, variance = tf.nn.moments(x, [0])
    y = tf.nn.batch_normalization(x, mean, variance, None, 2.0, 1e-3)
    return tf.reduce_logsumexp(y, 1) + tf.reduce_prod(x, 1) * tf.norm(x, axis=1) - tf.reduce_max(y, axis=1)


def logistic(x):
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.to_float(x > 0), logits=x) + tf.cumsum(tf.abs(x), 1)


def scales(x):
    clipped, norm = tf.clip_by_global_norm([x, tf.sigmoid(x)], 1.0)
    return tf.where(x > 0, clipped[0], clipped[1]) * norm + tf.maximum(x, 0.1) * tf.squared_difference(x, x[:1])


@pytest.mark.parametrize("program", [layers, sparse, arrays, reductions, logistic, scales])
@pytest.mark.parametrize("batch", [6, None])
def test_values_and_gradients(oracle, program, batch):
    x = tf.placeholder(tf.float32, [batch, 4], name="x")
    if batch is None and program is arrays:
        x.set_shape([6, 4])
    y = program(x)
    dx = tf.gradients(y, x)[0]
    ddx = tf.gradients(tf.reduce_sum(dx * dx), x)[0]
    fetches = [t for t in (y, dx, ddx) if t is not None]
    data = tf.get_default_graph().as_graph_def().SerializeToString()
    theirs = oracle(RUN, data=data, names=[t.name for t in fetches], feed=x.name, x=X)
    with tf.Session() as sess:
        for _ in range(2):
            for ours, want in zip(sess.run(fetches, {x: X}), theirs, strict=True):
                np.testing.assert_allclose(ours, want, rtol=2e-4, atol=2e-5)
