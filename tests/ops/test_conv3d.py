"""Convolutions and pools over volumes in graphs: gradients, and values, nodes and errors as in TensorFlow."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.graph_rows import rows_here, rows_there

RNG = np.random.default_rng(6)
PROGRAMS = {
    "same": lambda x, w: tf.nn.conv3d(x, w, [1, 1, 1, 1, 1], "SAME"),
    "strides": lambda x, w: tf.nn.conv3d(x, w, [1, 2, 1, 2, 1], "VALID"),
    "dilations": lambda x, w: tf.nn.conv3d(x, w, [1] * 5, "SAME", dilations=[1, 2, 1, 2, 1]),
    "ncdhw": lambda x, w: tf.nn.conv3d(tf.transpose(x, [0, 4, 1, 2, 3]), w, [1] * 5, "SAME", "NCDHW"),
    "transpose": lambda x, w: tf.nn.conv3d_transpose(x, tf.transpose(w, [0, 1, 2, 4, 3]), [2, 6, 10, 8, 2], 2),
    "max": lambda x, w: tf.cast(tf.nn.max_pool3d(tf.cast(x, tf.float32), 2, 2, "SAME"), tf.float64) * tf.reduce_sum(w),
    "avg": lambda x, w: tf.nn.avg_pool3d(x, [2, 3, 2], [1, 2, 1], "SAME") * tf.reduce_sum(w),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_and_their_gradients(name):
    """Along a random direction, by finite differences; interpreted and compiled."""
    x, w = tf.placeholder(tf.float64, [2, 3, 5, 4, 3]), tf.placeholder(tf.float64, [2, 3, 2, 3, 2])
    loss = tf.reduce_sum(tf.square(PROGRAMS[name](x, w)))
    first = tf.gradients(loss, [x, w])
    second = tf.reduce_sum(tf.square(first[0])) * 1e-2 + tf.reduce_sum(tf.square(first[1])) * 1e-4
    values = {x: RNG.permutation(360).reshape(x.shape.as_list()) / 100.0, w: RNG.normal(size=w.shape.as_list())}
    ways = {t: RNG.normal(size=t.shape.as_list()) for t in (x, w)}
    delta = 1e-3 if name == "max" else 1e-6
    with tf.Session() as sess:
        for value in (loss,) if name == "max" else (loss, second):
            along = sum(tf.reduce_sum(g * ways[t]) for t, g in zip((x, w), tf.gradients(value, [x, w]), strict=True))
            ends = [sess.run(value, {t: v + sign * delta * ways[t] for t, v in values.items()}) for sign in (1, -1)]
            for _ in range(3):
                found = sess.run(along, values)
                np.testing.assert_allclose(found, (ends[0] - ends[1]) / (2 * delta), rtol=1e-3)


def test_second_order_of_max_pools():
    x = tf.placeholder(tf.float32, [1, 4, 4, 4, 1])
    y = tf.nn.max_pool3d(x, 2, 2, "VALID")
    once = tf.gradients(y ** 3, x)[0]
    twice = tf.gradients(tf.reduce_sum(once), x)[0]
    value = RNG.permutation(64).reshape(1, 4, 4, 4, 1).astype("f")
    with tf.Session() as sess:
        largest, found = sess.run([tf.gradients(y, x)[0], twice], {x: value})
    np.testing.assert_allclose(found, largest * 6 * value)


VALUES = """
rng = np.random.RandomState(0)
x, w = tf.constant(rng.randn(2, 5, 7, 6, 3).astype("f")), tf.constant(rng.randn(2, 3, 3, 3, 4).astype("f"))
ys = [tf.nn.conv3d(x, w, [1, 1, 1, 1, 1], "SAME"), tf.nn.conv3d(x, w, [1, 2, 1, 3, 1], "VALID"),
      tf.nn.conv3d_transpose(x, tf.transpose(w, [0, 1, 2, 4, 3]), [2, 10, 14, 12, 4], 2),
      tf.nn.convolution(x, w, "SAME"), tf.nn.max_pool3d(x, [1, 3, 2, 2, 1], [1, 2, 1, 1, 1], "SAME"),
      tf.nn.max_pool3d(x, 2, 2, "VALID"), tf.nn.avg_pool3d(x, 3, 2, "SAME"), tf.nn.avg_pool3d(x, [2, 1, 2], 1, "VALID"),
      tf.nn.pool(x, [2, 3, 2], "MAX", "SAME", strides=[1, 2, 1]), tf.nn.pool(x[:, 0], [2, 2], "AVG", "VALID"),
      tf.nn.pool(x[:, 0, 0], [3], "MAX", "SAME", strides=[2]), tf.nn.max_pool_v2(x, 2, 2, "SAME"),
      tf.nn.conv_transpose(x[:, 0], tf.transpose(w[0], [0, 1, 3, 2]), [2, 14, 12, 4], 2),
      tf.nn.max_pool2d(x[0], 2, 2, "SAME")]
outs = ys + [g for y in ys for g in tf.gradients(tf.square(y), [x, w]) if g is not None]
outs.append(tf.gradients(tf.gradients(tf.square(ys[4]), x)[0] ** 2, x)[0])
with tf.Session() as sess:
    result = [[sess.run(out) for out in outs] for _ in range(2)][1]
"""


def test_values_are_tensorflows(oracle):
    scope = {"tf": tf, "np": np}
    exec(VALUES, scope)
    for i, (ours, theirs) in enumerate(zip(scope["result"], oracle(VALUES), strict=True)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=2e-3, err_msg=str(i))


NODES = """
x, w = tf.placeholder(tf.float32, [2, 5, 6, 7, 3]), tf.placeholder(tf.float32, [2, 3, 3, 3, 4])
i4 = tf.placeholder(tf.float32, [2, 6, 7, 4])
ys = [tf.nn.conv3d(x, w, [1, 1, 2, 1, 1], "SAME"), tf.nn.max_pool3d(x, 2, 2, "SAME"), tf.nn.avg_pool3d(x, 2, 2, "SAME"),
      tf.nn.conv3d_transpose(x, tf.ones([2, 3, 3, 4, 3]), [2, 10, 12, 14, 4], [1, 2, 2, 2, 1]),
      tf.nn.convolution(x, w, "SAME"), tf.nn.max_pool2d(i4, 2, 2, "SAME"), tf.nn.avg_pool2d(i4, 2, 2, "SAME"),
      tf.nn.pool(i4, [2, 2], "MAX", "SAME"), tf.nn.pool(i4[0], [2], "AVG", "SAME"),
      tf.nn.pool(x, [2, 2, 2], "AVG", "SAME"),
      tf.nn.conv_transpose(i4, tf.ones([3, 3, 5, 4]), [2, 12, 14, 5], 2), tf.nn.max_pool_v2(x, 2, 2, "SAME", name="v")]
tf.gradients(ys[0], [x, w]); tf.gradients(ys[1], x); tf.gradients(ys[2], x)
"""


def test_nodes_are_tensorflows(oracle):
    assert rows_here(NODES, tf) == rows_there(NODES, oracle)


@pytest.mark.parametrize("snippet, error, message", [
    ("tf.nn.conv3d(z([1, 4, 4, 4, 3]), z([5, 1, 1, 3, 2]), [1] * 5, 'VALID')", ValueError, "subtracting 5 from 4"),
    ("tf.nn.conv3d(z([1, 4, 4, 4, 4]), z([1, 1, 1, 2, 2]), [1] * 5, 'VALID')", ValueError, "no groups here: 4 vs 2"),
    ("tf.nn.conv3d(z([1, 4, 4, 4]), z([1, 1, 1, 4, 2]), [1] * 5, 'VALID')", ValueError, "must be rank 5 but is rank 4"),
    ("tf.nn.max_pool3d(z([1, 4, 4, 4, 3]), 5, 1, 'VALID')", ValueError, "subtracting 5 from 4.*MaxPool3D"),
    ("tf.nn.max_pool3d(z([1, 4, 4, 4, 3]), [1, 2], 1, 'VALID')", ValueError, "length 1, 3 or 5"),
    ("tf.nn.pool(z([1, 4, 4, 3]), [2, 2], 'MIN', 'SAME')", ValueError, "'MAX' or 'AVG'"),
    ("tf.nn.pool(z([1, 4, 4, 3]), [2, 2], 'MAX', 'SAME', [2, 2])", ValueError, "'SAME' padding is not implemented"),
    ("tf.nn.max_pool_v2(z([4, 4]), 2, 2, 'SAME')", ValueError, "rank 3, 4 or 5, not 2"),
    ("tf.nn.conv_transpose(z([4, 4]), z([2]), [4, 4], 2)", ValueError, "length 3, 4 or 5, not 2"),
], ids=range(9))
def test_errors(snippet, error, message):
    with pytest.raises(error, match=f"(?s){message}"):
        eval(snippet, {"tf": tf, "z": lambda shape: np.zeros(shape, "f")})
