"""Random ops: the numbers of real TensorFlow for the same seeds, run after run; and where seeds come from."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.options import options
from tfnb.ops.random.random_ops import get_seed

PROGRAM = """
tf.set_random_seed(graph_seed) if graph_seed is not None else None
fetches = [
    tf.random_uniform([5, 3], seed=3), tf.random_uniform([7], -2.0, 5.0, seed=3, dtype=tf.float64),
    tf.random_normal([4, 5], seed=1), tf.random_normal([3], 2.0, 0.5, tf.float64, seed=1),
    tf.truncated_normal([9], stddev=0.1, seed=8), tf.random_uniform([10], 0, 100, tf.int32, seed=2),
    tf.random_uniform([10], -5, 2**40, tf.int64, seed=2), tf.random_shuffle(np.arange(12).reshape(6, 2), seed=5),
    tf.multinomial([[0.5, 1.0, -1.0], [0.0, 0.0, 9.0]], 6, seed=4), tf.random_uniform([3], dtype=tf.float16, seed=0),
]
with tf.Session() as sess:
    result = [sess.run(fetches) for _ in range(3)]
"""


@pytest.mark.parametrize("mode", ["never", "always", "second"])
@pytest.mark.parametrize("graph_seed", [None, 0, 7])
def test_numbers_are_tensorflows(oracle, graph_seed, mode, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    theirs = oracle(PROGRAM, graph_seed=graph_seed)
    scope = {"tf": tf, "np": np, "graph_seed": graph_seed}
    exec(PROGRAM, scope)
    for ours, right in zip(scope["result"], theirs, strict=True):
        for y, want in zip(ours, right, strict=True):
            assert y.dtype == want.dtype
            if y.dtype.kind == "f":
                np.testing.assert_array_max_ulp(y, want, 1)
            else:
                np.testing.assert_array_equal(y, want)


def test_seeds():
    assert get_seed(None) == (None, None)
    assert get_seed(5) == (87654321, 5)
    tf.set_random_seed(3)
    assert get_seed(4) == (3, 4)
    tf.constant(1.0), tf.constant(2.0)
    assert get_seed(None) == (3, 2)                  # TensorFlow 1: how many nodes there are
    tf.set_random_seed(0)
    assert get_seed(0) == (0, 2**31 - 1)
    assert get_seed(-3) == (0, 2**31 - 4)


def test_with_a_graph_seed_the_number_of_nodes_is_the_seed():
    tf.set_random_seed(1)
    first = tf.random_normal([2])
    second = tf.random_uniform([2])
    attrs = [next(o for o in tf.get_default_graph().get_operations() if o.type == kind).attrs
             for kind in ("RandomStandardNormal", "RandomUniform")]
    assert [(a["seed"], a["seed2"]) for a in attrs] == [(1, 3), (1, 9)]
    with tf.Session() as one, tf.Session() as two:
        np.testing.assert_array_equal(one.run(first), two.run(first))
        assert (one.run(second) != one.run(second)).any()


def test_without_a_seed_no_two_sessions_agree():
    x = tf.random_uniform([8])
    with tf.Session() as one, tf.Session() as two:
        assert (one.run(x) != two.run(x)).any()


def test_shapes_from_tensors_and_dropout(monkeypatch):
    n = tf.placeholder(tf.int32, [])
    x = tf.placeholder(tf.float32, [None, 4])
    drawn = tf.random_normal([n, 2], seed=1)
    kept = tf.nn.dropout(x, 0.5, seed=1)
    rows = tf.nn.dropout(x, 0.5, noise_shape=[None, 1], seed=2)
    assert drawn.shape.as_list() == [None, 2] and kept.shape.as_list() == [None, 4]
    with tf.Session() as sess:
        for _ in range(3):
            a, b, c = sess.run([drawn, kept, rows], {n: 3, x: np.ones((200, 4))})
            assert a.shape == (3, 2)
            assert set(np.unique(b)) == {0.0, 2.0} and 0.3 < (b > 0).mean() < 0.7
            assert ((c > 0).all(1) | (c == 0).all(1)).all() and 0.3 < (c > 0).mean() < 0.7
    assert tf.nn.dropout(x, 1.0) is x and tf.nn.dropout(x, rate=0.0) is x


def test_categorical_draws_as_tensorflow(oracle):
    code = """
graph = tf.Graph()
with graph.as_default(), tf.Session(graph=graph) as s:
    drawn = [tf.random.categorical(np.log([[0.1, 0.6, 0.3], [0.5, 0.25, 0.25]]), 50, seed=3),
             tf.random.categorical([[1.0, 2.0]], 9, tf.int32, 4, "mine")]
    result = [value.tolist() for value in s.run(drawn)], [op.name for op in graph.get_operations()]
"""
    scope = {"tf": tf, "np": np}
    exec(code, scope)
    assert scope["result"] == oracle(code)


def test_draws_without_a_seed_differ_in_one_run_and_are_the_same_in_every_run_of_a_test():
    drawn, found = tf.random_uniform([], 0, 1000, tf.int32), []
    for _ in range(2):
        with tf.Session() as session:
            found.append(int(session.run(drawn)))
    assert (*found, np.random.randint(1000)) == (283, 966, 382)
