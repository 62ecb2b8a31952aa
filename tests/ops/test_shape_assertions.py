"""`tf.debugging.assert_shapes`, and names of tf.data: as in TensorFlow."""
from __future__ import annotations

import pytest

import tfnb as tf
from tests.differential import differences

SETUP = """
A, ones = tf.debugging.assert_shapes, np.ones
x, y, z = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [None, 3]), tf.zeros([4, 3])
sess = tf.Session()
def tried(shapes, feed=None):
    return outcome(lambda: sess.run(A(shapes), feed or {}))
"""
SNIPPETS = {
    "in a run": """
pairs, ends = [(x, ("N", 3)), (y, ("N", "M"))], [(x, (..., "Q")), (y, ("N", "Q"))]
[tried(pairs, {x: ones((2, 3)), y: ones((2, 3))}), tried(pairs, {x: ones((2, 3)), y: ones((1, 3))}),
 tried(pairs, {x: ones(2), y: ones((2, 3))}), tried(ends, {x: ones((2, 5, 3)), y: ones((1, 3))}),
 tried(ends, {x: ones((2, 5, 2)), y: ones((1, 3))}), tried([(x, ()), (y, ("N", None))], {x: 1.0, y: ones((1, 3))}),
 tried([(z, ("N", 3)), (y, ("N", "M"))], {y: ones((4, 3))}),
 tried([(z, ("N", 3)), (y, ("N", "M"))], {y: ones((1, 3))})]""",
    "before a run": """
[tried(shapes) for shapes in (
    [(z, ("N", 4))], [(z, ("N", "N"))], [(z, ("N",))], [(z, ("N", 3)), (z, ("N", None))], [(z, (4, 3)), (y, (4, 5))],
    [], [(z, ("*", "b", "c"))], [(z, (..., "a", "b", "c"))], [(z, (4, "."))], [(z, ())], [(z, (...,))], [(z, (4, ...))],
    [(z[0, 0], ())], [(z[0], 3)], {}, [(z, tf.TensorShape([4, 3]))])]""",
}


@pytest.mark.slow
def test_as_in_tensorflow(oracle):
    assert not differences(oracle, SNIPPETS, SETUP, modes=("never", "always"))


def test_names_of_data():
    assert (tf.data.AUTOTUNE, tf.data.INFINITE_CARDINALITY, tf.data.UNKNOWN_CARDINALITY) == (-1, -1, -2)
    assert tf.data.ThreadingOptions is tf.data.experimental.ThreadingOptions
    dataset = tf.data.Dataset.range(4).apply(tf.data.experimental.map_and_batch_with_legacy_function(tf.square, 2))
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(element).tolist() == [0, 1]
