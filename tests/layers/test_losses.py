"""tf.losses: numbers, graphs, collections, all reductions, beside TensorFlow."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.graph_rows import rows_here, rows_there

PAIRS = ["absolute_difference", "hinge_loss", "huber_loss", "log_loss", "mean_pairwise_squared_error",
         "mean_squared_error", "sigmoid_cross_entropy", "softmax_cross_entropy"]
CALLS = {name: f"tf.losses.{name}(y, p" for name in PAIRS} | {
    "cosine_distance": "tf.losses.cosine_distance(y, p, 1",
    "sparse_softmax_cross_entropy": "tf.losses.sparse_softmax_cross_entropy(tf.constant([2, 0, 1]), p"}
GIVEN = "y = tf.constant([[0., 1., 0.], [1., 0., 0.], [1., 0., 1.]])\n" \
        "p = tf.constant([[.2, .9, .3], [.7, .4, .5], [.6, .1, .8]])\n"
# One weight for each example where there is one loss for each example.
PER_EXAMPLE = {"softmax_cross_entropy", "sparse_softmax_cross_entropy"}


def programs():
    for name, call in CALLS.items():
        column = "[.5, 0., 2.]" if name in PER_EXAMPLE else "[[.5], [0.], [2.]]"
        yield f"{name}", call + ")"
        yield f"{name} weighted", call + f", weights=tf.constant({column}))"
        yield f"{name} scalar", call + ", weights=tf.constant(3.))"
    reduced = "tf.losses.mean_squared_error(y, p, weights=[[1.], [0.], [2.]], reduction=tf.losses.Reduction."
    for key in ("NONE", "SUM", "MEAN", "SUM_OVER_BATCH_SIZE", "SUM_BY_NONZERO_WEIGHTS"):
        yield key, f"{reduced}{key})"
    for name in ("softmax_cross_entropy", "sigmoid_cross_entropy"):
        yield f"{name} smooth", f"tf.losses.{name}(y, p, label_smoothing=.1, scope='mine')"
    yield "squeezed", "tf.losses.sparse_softmax_cross_entropy([[2], [0], [1]], p, weights=[[1.], [0.], [1.]])"
    yield "total", ("tf.losses.huber_loss(y, p, delta=.2), tf.losses.add_loss(tf.constant(2.)), "
                    "tf.losses.get_regularization_loss(), tf.losses.get_total_loss()")


PROGRAMS = list(programs())
TAIL = """
with tf.Session() as sess:
    tensors = [t for t in (made if isinstance(made, tuple) else [made]) if t is not None]
    result = ([v.tolist() for v in sess.run(tensors)], [t.name for t in tf.losses.get_losses()])
"""


@pytest.mark.parametrize("what, call", PROGRAMS, ids=[what for what, _ in PROGRAMS])
def test_values_and_collections_are_tensorflows(what, call, oracle):
    scope = {"tf": tf}
    exec(GIVEN + f"made = {call}" + TAIL, scope)
    values, names = oracle(GIVEN + f"made = {call}" + TAIL)
    assert scope["result"][1] == names
    for ours, theirs in zip(scope["result"][0], values, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("what, call", PROGRAMS, ids=[what for what, _ in PROGRAMS])
def test_graphs_are_tensorflows(what, call, oracle):
    theirs = rows_there(GIVEN + call, oracle)
    for ours, their in zip(rows_here(GIVEN + call, tf), theirs, strict=True):
        assert ours[0] == their[0] and ours[2:] == their[2:], (ours, their)


def test_weights_are_checked_when_the_graph_runs():
    p, w = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    loss = tf.losses.mean_squared_error(tf.zeros_like(p), p, w)
    with tf.Session() as sess:
        assert sess.run(loss, {p: [[1, 2], [3, 4]], w: [[1], [0]]}) == 2.5
        assert sess.run(loss, {p: [[1, 2], [3, 4]], w: 2.0}) == 15
        with pytest.raises(tf.errors.InvalidArgumentError, match="weights can not be broadcast"):
            sess.run(loss, {p: [[1, 2], [3, 4]], w: [1, 2]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="weights can not be broadcast"):
            sess.run(loss, {p: [[1, 2], [3, 4]], w: [[1, 2, 3]]})


@pytest.mark.parametrize("make", [
    lambda: tf.losses.mean_squared_error(None, tf.ones([2])),
    lambda: tf.losses.mean_squared_error(tf.ones([3]), tf.ones([2])),
    lambda: tf.losses.mean_squared_error(tf.ones([2]), tf.ones([2]), reduction="sum"),
    lambda: tf.losses.mean_squared_error(tf.ones([2, 2]), tf.ones([2, 2]), weights=[1., 2.]),
    lambda: tf.losses.mean_squared_error(tf.ones([2, 2]), tf.ones([2, 2]), weights=[[1., 2., 3.]]),
    lambda: tf.losses.cosine_distance(tf.ones([2]), tf.ones([2])),
])
def test_errors(make):
    with pytest.raises(ValueError):
        make()


def test_losses_train():
    x = np.linspace(-1, 1, 64, dtype=np.float32)[:, None]
    loss = tf.losses.mean_squared_error(3 * x + 1, tf.layers.dense(tf.constant(x), 1))
    step = tf.train.GradientDescentOptimizer(0.3).minimize(tf.losses.get_total_loss())
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(100):
            sess.run(step)
        assert sess.run(loss) < 1e-6
