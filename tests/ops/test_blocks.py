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


@pytest.mark.parametrize("shape, block", [((3, 4, 6, 5), [2, 3]), ((50, 2, 2, 1), [2, 2]), ((2, 6), [3]),
                                          ((2, 4, 3), [2])])
def test_whole_blocks_are_a_transpose(shape, block):
    """Nothing is padded: a box is copied, by rows and strides of all lengths."""
    x, m = tf.placeholder(tf.float32, shape), len(block)
    cells = tf.space_to_batch_nd(x, block, [[0, 0]] * m)
    back = tf.batch_to_space_nd(cells, block, [[0, 0]] * m)
    given = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    sizes = [n for size, b in zip(shape[1:1 + m], block, strict=True) for n in (size // b, b)]
    axes = [*range(2, 2 * m + 1, 2), 0, *range(1, 2 * m, 2), *range(2 * m + 1, len(shape) + m)]
    want = given.reshape(shape[0], *sizes, *shape[1 + m:]).transpose(axes)
    with tf.Session() as sess:
        for _ in range(3):
            found, same = sess.run([cells, back], {x: given})
            assert (found.ravel() == want.ravel()).all() and (same == given).all()
