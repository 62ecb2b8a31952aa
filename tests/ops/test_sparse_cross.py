"""Crosses of features, and identities and dense tensors as sparse ones: values and errors as in TensorFlow."""
import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences

SETUP = '''
def sparse(values, dtype=np.int64):
    return tf.SparseTensor([[0, 0], [1, 0], [1, 1]], tf.constant(values), [3, 2])
def dense(texts=False):
    return tf.constant([["x", "y"], ["z", "w"], ["u", "v"]] if texts else np.array([[1, 2], [-3, 4], [5, 6]]))
def columns(*kinds):
    made = {"s": lambda: sparse(["a", "b", "c"]), "i": lambda: sparse(np.array([7, -8, 1 << 40])),
            "t": lambda: dense(True), "d": dense}
    found = [made[kind]() for kind in kinds]
    rows = [c for c in found if isinstance(c, tf.SparseTensor)]
    return ([c.indices for c in rows], [c.values for c in rows], [c.dense_shape for c in rows],
            [c for c in found if not isinstance(c, tf.SparseTensor)])
def run(*fetches):
    sess, found = tf.Session(), None
    for _ in range(2):
        found = [tuple(each) for each in sess.run(fetches)]
    return found
def shapes(sparse):
    return [t.shape.as_list() for t in (sparse.indices, sparse.values, sparse.dense_shape)]
'''
V2 = "run(tf.raw_ops.SparseCrossV2(indices=i, values=v, shapes=s, dense_inputs=d, sep='-'))"
HASHED = "run(*[tf.raw_ops.SparseCrossHashed(indices=i, values=v, shapes=s, dense_inputs=d, num_buckets=n, " \
         "strong_hash=strong, salt=[5, 1 << 50]) for n in (0, 10) for strong in {}])"
SNIPPETS = {
    "strings": "run(tf.sparse.cross([sparse(['a', 'b', 'c']), dense(True)]), tf.sparse.cross([dense(True)]))",
    "separator": "run(tf.sparse.cross([dense(True), sparse(['a', 'b', 'c'])], separator=', '))",
    "hashed": "run(*[tf.sparse.cross_hashed([sparse(['a', 'b', 'c']), dense(), dense()], n) for n in (0, 7, 1000)])",
    "hashed with a key": "run(tf.sparse.cross_hashed([dense(), dense()], 1000, hash_key=5))",
    "hashed of one": "run(tf.sparse.cross_hashed([sparse(np.array([1, 2, 3], np.int32))]))",
    **{f"joined {kinds}": f"i, v, s, d = columns(*{kinds!r})\n{V2}" for kinds in ("si", "td", "sitd", "ss", "d")},
    **{f"hashes {kinds}": f"i, v, s, d = columns(*{kinds!r})\n{HASHED.format('(False, True)')}"
       for kinds in ("si", "t", "ist")},
    "hashes of integers": f"i, v, s, d = columns('s', 'd')\n{HASHED.format('(False,)')}",
    "no list": "tf.sparse.cross(dense())",
    "other batch sizes": "run(tf.sparse.cross([sparse(['a', 'b', 'c']), tf.constant([['x']])]))",
    "of a list": "tf.sparse.cross([['x']])",
    "of a vector": "run(tf.sparse.cross([tf.constant(['x'])]))",
    "shapes": "shapes(tf.sparse.cross([dense(True)]))",
    "from dense": "run(tf.sparse.from_dense([[1, 0], [0, 3]]), tf.sparse.from_dense(['', 'a']), "
                  "tf.sparse.from_dense([True, False]))",
    "eye": "run(tf.sparse.eye(3), tf.sparse.eye(2, 4, tf.int32), tf.sparse.eye(4, 2))",
}


def test_as_tensorflow(oracle):
    assert not differences(oracle, SNIPPETS, SETUP)


def test_integers_are_joined_by_their_digits():
    """TensorFlow 1.15 did so; 2.21 refuses them where it is to join strings."""
    x = tf.SparseTensor([[0, 0]], np.array([-7]), [1, 1])
    with tf.Session() as sess:
        assert sess.run(tf.sparse.cross([x, tf.constant([["a", "b"]])])).values.tolist() == [b"-7_X_a", b"-7_X_b"]


def test_a_row_outside_of_the_batch_is_named():
    x = tf.sparse_placeholder(tf.string)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=r"\[0, 1\), got 1"):
        sess.run(tf.sparse.cross([x]), {x: ([[1, 0]], ["a"], [1, 1])})
