"""embedding_lookup: nodes as TensorFlow's, values over one and several tables, sparse gradients."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.ops.embedding import embedding_lookup

TABLE = np.arange(14, dtype=np.float32).reshape(7, 2)


def test_nodes():
    embedding_lookup(tf.constant(TABLE, name="t"), [1, 2])
    assert [op.name for op in tf.get_default_graph().get_operations()] == [
        "t", "embedding_lookup/ids", "embedding_lookup/axis", "embedding_lookup", "embedding_lookup/Identity"]


@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_several_tables(oracle, strategy):
    ids = np.array([[0, 6, 3], [4, 1, 5]])
    tables = [TABLE[i::3] for i in range(3)] if strategy == "mod" else [TABLE[:3], TABLE[3:5], TABLE[5:]]
    theirs = oracle("x = [tf.constant(t) for t in tables]\n"
                    "result = tf.Session().run(tf.nn.embedding_lookup(x, ids, strategy, max_norm=5.0))",
                    tables=tables, ids=ids, strategy=strategy)
    with tf.Session() as sess:
        ours = sess.run(embedding_lookup([tf.constant(t) for t in tables], ids, strategy, max_norm=5.0))
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_only_the_rows_that_were_looked_up_are_trained():
    table, ids = tf.Variable(TABLE), tf.placeholder(tf.int32, [None])
    loss = tf.reduce_sum(embedding_lookup(table, ids))
    (gradient,) = tf.gradients(loss, table)
    assert isinstance(gradient, tf.IndexedSlices)
    step = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(step, {ids: [1, 4, 1]})
        np.testing.assert_array_equal(sess.run(table) - TABLE, -np.array([0, 2, 0, 0, 1, 0, 0])[:, None] * [1.0, 1.0])


@pytest.mark.parametrize("params, strategy, message", [([], "mod", "empty"), ([TABLE], "mood", "'mood'")])
def test_errors(params, strategy, message):
    with pytest.raises(ValueError, match=message):
        embedding_lookup(params, [0], strategy)
