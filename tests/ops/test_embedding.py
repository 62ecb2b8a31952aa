"""embedding_lookup: nodes as TensorFlow's, values over one and several tables, sparse gradients."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.graph_rows import rows_here, rows_there
from tfnb.variables.embedding import embedding_lookup

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


NODES = """
tables = [tf.Variable(tf.ones([n, 2]), name=f"t{n}") for n in (3, 2, 2)]
ids = tf.placeholder(tf.int64, [None, 2], name="ids")
y = tf.nn.embedding_lookup(tables, ids, "STRATEGY", max_norm=NORM)
shape = y.shape.as_list()
"""


@pytest.mark.parametrize("norm", ["None", "1.5"])
@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_nodes_of_several_tables(strategy, norm, oracle):
    code = NODES.replace("STRATEGY", strategy).replace("NORM", norm)
    assert rows_here(code, tf) == rows_there(code, oracle)


@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_training_several_tables(strategy, oracle):
    code = """
w = [tf.Variable(t) for t in tables]
ids = tf.placeholder(tf.int32, [None])
loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(w, ids, strategy)))
train = tf.train.AdagradOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for picks in ([0, 6, 3, 3], [5, 5], [1, 2, 3, 4, 5, 6]):
        sess.run(train, {ids: picks})
    result = sess.run(w)
"""
    tables = [TABLE[i::3] for i in range(3)] if strategy == "mod" else [TABLE[:3], TABLE[3:5], TABLE[5:]]
    scope = {"tf": tf, "tables": tables, "strategy": strategy}
    exec(code, scope)
    for got, want in zip(scope["result"], oracle(code, tables=tables, strategy=strategy), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


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
