"""Blocks of space in channels and in the batch: both layouts, unknown shapes, and real TensorFlow."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.modes import compiling

IMAGES = np.random.default_rng(0).normal(size=(2, 4, 6, 8)).astype(np.float32)


@pytest.mark.parametrize("mode", ["never", "always"])
def test_channels_first_is_channels_last_transposed(mode):
    x = tf.placeholder(tf.float32)
    first = tf.transpose(x, [0, 3, 1, 2])
    depth = tf.space_to_depth(first, 2, data_format="NCHW")
    both = [tf.transpose(depth, [0, 2, 3, 1]), tf.space_to_depth(x, 2),
            tf.transpose(tf.depth_to_space(first, 2, data_format="NCHW"), [0, 2, 3, 1]), tf.depth_to_space(x, 2),
            tf.depth_to_space(depth, 2, data_format="NCHW"), first]
    with tf.Session() as sess, compiling(mode):
        a, b, c, d, back, same = sess.run(both, {x: IMAGES})
    assert a.shape == (2, 2, 3, 32) and c.shape == (2, 8, 12, 2)
    assert (a == b).all() and (c == d).all() and (back == same).all()


BUILD = """
x = tf.constant(images)
made = [tf.space_to_depth(x, 2), tf.depth_to_space(x, 2), tf.space_to_batch_nd(x, [2, 3], [[1, 1], [0, 3]]),
        tf.space_to_batch(x, [[0, 0], [2, 0]], 4), tf.space_to_batch_nd(x, [3], [[1, 1]]), tf.space_to_batch_nd(
        x, np.zeros([0], np.int32), np.zeros([0, 2], np.int32)), tf.space_to_batch(x, [[2, 0], [1, 1]], block_shape=2)]
made += [tf.batch_to_space(made[3], [[0, 0], [2, 0]], 4), tf.batch_to_space_nd(made[2], [2, 3], [[0, 2], [2, 1]]),
         tf.batch_to_space_nd(x[:, :0], [2], [[0, 0]])]
grads = tf.gradients([made[0], made[1] * made[1], made[2] * 2.0, made[8] * made[8]], x)
result = tf.Session().run(made + grads), [y.shape.as_list() for y in made], [y.op.type for y in made]
"""


@pytest.mark.slow
def test_real_tensorflow_gives_the_same(oracle):
    names = {"tf": tf, "np": np, "images": IMAGES}
    exec(BUILD, names)
    (ours, *static), (theirs, *wanted) = names["result"], oracle("import numpy as np\n" + BUILD, images=IMAGES)
    assert static == wanted
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("build", [
    lambda x: tf.space_to_depth(x, 3), lambda x: tf.depth_to_space(x, 3), lambda x: tf.space_to_depth(x[0], 2),
    lambda x: tf.space_to_batch(x, [[0, 1], [0, 0]], 2), lambda x: tf.batch_to_space(x, [[0, 0], [0, 0]], 2),
    lambda x: tf.batch_to_space_nd(x, [2], [[5, 4]]), lambda x: tf.space_to_batch_nd(x, [0], [[0, 0]]),
    lambda x: tf.space_to_batch_nd(x, [2], [[-2, 0]]), lambda x: tf.space_to_batch_nd(x, [2, 2], [[0, 0]]),
    lambda x: tf.space_to_depth(x, 2, data_format="NCHW_VECT_C")])
def test_sizes_that_do_not_fit_are_refused(build):
    with pytest.raises(ValueError):
        build(tf.ones([2, 4, 6, 8]))
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess, pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        sess.run(build(x), {x: IMAGES})
