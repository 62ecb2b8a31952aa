"""What compares images and takes them apart: values, gradients, nodes and errors as in TensorFlow."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences
from tests.graph_rows import rows_here, rows_there

RANDOM = np.random.default_rng(9)
IMAGES = RANDOM.random((2, 12, 13, 3)).astype("f")


def value(fetch, feed=None):
    with tf.Session() as sess:
        return [sess.run(fetch, feed) for _ in range(2)][1]


def test_of_an_image_and_itself():
    x = tf.constant(IMAGES)
    np.testing.assert_allclose(value(tf.image.ssim(x, x, 1.)), [1, 1], rtol=1e-6)
    assert np.isinf(value(tf.image.psnr(x, x, 1.))).all()
    np.testing.assert_allclose(value(tf.image.ssim_multiscale(x, x, 1., [.5, .5], filter_size=5)), [1, 1], rtol=1e-6)


def test_psnr_is_of_the_mean_square():
    found = value(tf.image.psnr(tf.constant(IMAGES), tf.constant(IMAGES + .1), 1.))
    np.testing.assert_allclose(found, [20, 20], rtol=1e-5)
    bytes_ = tf.zeros([4, 4, 3], tf.uint8)
    np.testing.assert_allclose(value(tf.image.psnr(bytes_, bytes_ + 255, 255)), 0, atol=1e-4)


def test_variation_and_slopes():
    x = tf.constant(IMAGES)
    down, along = np.diff(IMAGES, axis=1), np.diff(IMAGES, axis=2)
    np.testing.assert_allclose(value(tf.image.total_variation(x)), np.abs(down).sum((1, 2, 3))
                               + np.abs(along).sum((1, 2, 3)), rtol=1e-5)
    assert value(tf.image.total_variation(x[0])).shape == ()
    dy, dx = value(tf.image.image_gradients(x))
    assert np.array_equal(dy[:, :-1], down) and np.array_equal(dx[:, :, :-1], along) and not dy[:, -1].any()
    ramp = np.arange(20, dtype="f").reshape(1, 4, 5, 1)
    edges = tf.image.sobel_edges(tf.constant(ramp))
    assert edges.shape == [1, 4, 5, 1, 2]
    assert np.array_equal(value(edges)[0, 1:3, 1:4, 0], np.broadcast_to([40, 8], (2, 3, 2)))


def test_patches():
    x = np.arange(1, 26, dtype="f").reshape(1, 5, 5, 1)
    found = tf.image.extract_image_patches(x, [1, 2, 2, 1], [1, 3, 3, 1], [1, 1, 1, 1], "VALID")
    assert found.shape == [1, 2, 2, 4]
    assert value(found)[0].tolist() == [[[1, 2, 6, 7], [4, 5, 9, 10]], [[16, 17, 21, 22], [19, 20, 24, 25]]]


def test_gradient_of_patches():
    """Patches are linear: their gradient is the transpose."""
    x = tf.placeholder(tf.float32, [2, 12, 13, 3])
    for padding in ("SAME", "VALID"):
        y = tf.extract_image_patches(x, [1, 3, 2, 1], [1, 2, 3, 1], [1, 2, 1, 1], padding)
        way = RANDOM.normal(size=y.shape.as_list()).astype("f")
        made, back = value([y, tf.gradients(y, x, [tf.constant(way)])[0]], {x: IMAGES})
        np.testing.assert_allclose((made * way).sum(), (back * IMAGES).sum(), rtol=1e-3)


VALUES = """
random = np.random.RandomState(0)
a = random.rand(2, 3, 40, 37, 3).astype("f")
b = np.clip(a + random.randn(*a.shape) * .1, 0, 1).astype("f")
x, y = tf.placeholder(tf.float32, a.shape), tf.placeholder(tf.float32, b.shape)
one, other = x[0], y[0]
small, integers = tf.cast(x * 255., tf.uint8), tf.cast(y * 255., tf.uint8)
ys = [tf.image.psnr(x, y, 1.), tf.image.ssim(x, y, 1.), tf.image.ssim(one, other, 1., 5, 1., .02, .05),
      tf.image.psnr(small, integers, 255), tf.image.ssim(small, integers, 255),
      tf.image.ssim_multiscale(one, other, 1., [.3, .4], 9), tf.image.ssim_multiscale(x, y, 1., filter_size=2),
      tf.image.total_variation(one), tf.image.sobel_edges(one), *tf.image.image_gradients(one),
      tf.gradients(tf.image.ssim(x, y, 1.), x)[0], tf.gradients(tf.image.psnr(x, y, 1.), x)[0],
      tf.gradients(tf.image.total_variation(one), x)[0], tf.gradients(tf.image.sobel_edges(one) ** 2., x)[0]]
for padding in ("SAME", "VALID"):
    for size, stride, rate in (([3, 3], [1, 1], [1, 1]), ([2, 5], [3, 2], [2, 1]), ([1, 1], [2, 2], [1, 1])):
        p = tf.extract_image_patches(one, [1, *size, 1], [1, *stride, 1], [1, *rate, 1], padding)
        ys += [p, tf.gradients(p * p, x)[0]]
with tf.Session() as sess:
    result = [sess.run(ys, {x: a, y: b}) for _ in range(2)]
"""


def test_values_are_tensorflows(oracle):
    scope = {"tf": tf, "np": np}
    exec(VALUES, scope)
    theirs = oracle(VALUES)
    for step in range(2):
        for i, (one, other) in enumerate(zip(scope["result"][step], theirs[step], strict=True)):
            assert one.shape == other.shape and one.dtype == other.dtype, i
            np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5, err_msg=str(i))


NODES = """
x, y = tf.placeholder(tf.float32, [2, 40, 37, 3]), tf.placeholder(tf.float32, [None, None, None, 3])
tf.image.total_variation(x); tf.image.total_variation(y, name="named"); tf.image.image_gradients(x)
tf.image.psnr(x, y, 1.); tf.image.ssim(y, y, 1.); tf.image.ssim(y, y, 1., return_index_map=True)
tf.image.ssim_multiscale(y, y, 1., [.2, .3, .5])
tf.image.sobel_edges(x)
tf.extract_image_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME")
"""


def test_nodes_are_tensorflows(oracle):
    assert rows_here(NODES, tf) == rows_there(NODES, oracle)


ERRORS = {
    "variation": "tf.image.total_variation(tf.zeros([3, 3]))",
    "slopes": "tf.image.image_gradients(tf.zeros([3, 3, 3]))",
    "sizes": "tf.image.ssim(tf.zeros([12, 12, 3]), tf.zeros([12, 13, 3]), 1.)",
    "batches": "tf.image.psnr(tf.zeros([2, 12, 12, 3]), tf.zeros([3, 12, 12, 3]), 1.)",
    "rank": "tf.image.psnr(tf.zeros([12, 12]), tf.zeros([12, 12]), 1.)",
    "small": "x = tf.placeholder(tf.float32, [5, 5, 3]); sess.run(tf.image.ssim(x, x, 1.), {x: np.zeros([5, 5, 3])})",
    "in the run": "x = tf.placeholder(tf.float32); sess.run(tf.image.psnr(x, tf.zeros([4, 4, 3]), 1.), "
                  "{x: np.zeros([4, 5, 3])})",
    "patch sizes": "tf.extract_image_patches(tf.zeros([1, 5, 5, 1]), [2, 2], [1, 1, 1, 1], [1, 1, 1, 1], 'SAME')",
    "patch padding": "tf.extract_image_patches(tf.zeros([1, 5, 5, 1]), [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'X')",
    "patch rank": "tf.extract_image_patches(tf.zeros([5, 5, 1]), [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'SAME')",
    "patch fit": "tf.extract_image_patches(tf.zeros([1, 5, 5, 1]), [1, 7, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'VALID')",
}


def test_errors_are_tensorflows(oracle):
    assert differences(oracle, ERRORS) == {}


@pytest.mark.parametrize("sizes", [[2, 2], [1, 2, 2, 2], [1, 0, 2, 1]])
def test_lists_that_are_no_windows(sizes):
    with pytest.raises(ValueError, match="ksizes"):
        tf.extract_image_patches(tf.zeros([1, 5, 5, 1]), sizes, [1, 1, 1, 1], [1, 1, 1, 1], "SAME")
