"""Distances of sequences, as in TensorFlow."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences

SETUP = """
def sparse(rows, shape):
    places = [(i, j, k) for i, row in enumerate(rows) for j, text in enumerate(row) for k in range(len(text))]
    return tf.SparseTensor(np.array(places, np.int64).reshape(-1, 3), [x for row in rows for text in row for x in text],
                           shape)
guess = sparse([["abc", "", "xyz"], ["kitten", "aa", ""]], [2, 3, 6])
truth = sparse([["abd", "q", ""], ["sitting", "", ""]], [2, 3, 7])
"""
CASES = {
    "parts": "sess.run(tf.edit_distance(guess, truth))",
    "counts": "sess.run(tf.edit_distance(guess, truth, normalize=False))",
    "longer": "sess.run(tf.edit_distance(sparse([['a'], ['b'], ['c']], [3, 1, 2]), truth, False))",
    "shape": "tf.edit_distance(guess, truth).shape.as_list()",
    "dense": "tf.edit_distance(guess, tf.constant([1]))",
    "ranks": "sess.run(tf.edit_distance(guess, tf.SparseTensor([[0, 0]], ['a'], [1, 1])))",
    "name": "tf.edit_distance(guess, truth).op.name",
}


def test_distances_are_tensorflows(oracle):
    assert differences(oracle, CASES, SETUP) == {}


def test_distances():
    one = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 2, 3], [2, 2])
    other = tf.SparseTensor([[0, 0], [0, 1], [0, 2], [1, 0]], [1, 5, 2, 3], [2, 3])
    with tf.Session() as sess:
        assert sess.run(tf.edit_distance(one, other, normalize=False)).tolist() == [1, 0]


def test_sequences_in_any_order_beside_tensorflow(oracle):
    setup = """
r = np.random.RandomState(3)
def sparse(count, kind):
    places = np.unique(r.randint(0, [5, 3, 9], (count, 3)), axis=0)
    values = r.randint(0, 3, len(places))
    return tf.SparseTensor(places, {"s": np.array([b"a", b"b", b"c"], object)[values], "f": np.float32(
        [1, 2, np.nan])[values], "i": values}[kind], [5, 3, 9])
"""
    snippets = {f"{kind} {normalize}": f"\n---\nsess.run(tf.edit_distance(sparse(60, {kind!r}), sparse(50, {kind!r}), "
                f"normalize={normalize}))" for kind in "sfi" for normalize in (True, False)}
    assert not differences(oracle, snippets, setup)


def test_an_index_beyond_the_shape():
    wrong = tf.SparseTensor(np.int64([[0, 0], [-1, 0]]), [1, 2], [2, 1])
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=r"within \[2\], got \[-1\]"):
        session.run(tf.edit_distance(wrong, tf.SparseTensor(np.int64([[0, 0]]), [1], [2, 1])))
