"""Images turned, cropped and padded: values, nodes and errors as in TensorFlow."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.graph_rows import rows_here, rows_there

IMAGE = np.arange(2 * 4 * 5 * 3, dtype=np.float32).reshape(2, 4, 5, 3)
ONE = IMAGE[0]


def value(tensor, feed=None):
    """What a tensor is, interpreted and compiled (which must be the same)."""
    with tf.Session() as sess:
        first, second = sess.run(tensor, feed), sess.run(tensor, feed)
    np.testing.assert_array_equal(first, second)
    return second


@pytest.mark.parametrize("image", [ONE, IMAGE], ids=["one", "batch"])
def test_turning(image):
    rows, columns = image.ndim - 3, image.ndim - 2
    for given in (tf.constant(image), tf.placeholder_with_default(image, None)):
        assert np.array_equal(value(tf.image.flip_left_right(given)), np.flip(image, columns))
        assert np.array_equal(value(tf.image.flip_up_down(given)), np.flip(image, rows))
        assert np.array_equal(value(tf.image.transpose_image(given)), np.swapaxes(image, rows, columns))
        for k in range(-1, 5):
            if given.shape.ndims is not None:
                assert np.array_equal(value(tf.image.rot90(given, k)), np.rot90(image, k, (rows, columns)))


def test_the_middle():
    assert np.array_equal(value(tf.image.central_crop(IMAGE, 0.5)), IMAGE[:, 1:3, 1:4])
    assert np.array_equal(value(tf.image.central_crop(tf.placeholder_with_default(ONE, [None, None, 3]), 0.5)),
                          ONE[1:3, 1:4])
    assert np.array_equal(value(tf.image.central_crop(ONE, tf.constant(0.5) * 1)), ONE[1:3, 1:4])
    whole = tf.constant(ONE)
    assert tf.image.central_crop(whole, 1.0) is whole


def test_boxes():
    inner = value(tf.image.crop_to_bounding_box(IMAGE, 1, 2, 2, 3))
    assert np.array_equal(inner, IMAGE[:, 1:3, 2:5])
    outer = tf.image.pad_to_bounding_box(ONE, 1, 2, 6, 8)
    assert outer.shape == [6, 8, 3]
    assert np.array_equal(value(outer), np.pad(ONE, [(1, 1), (2, 1), (0, 0)]))


@pytest.mark.parametrize("height, width", [(2, 3), (7, 8), (2, 9), (6, 1), (4, 5)])
def test_crop_or_pad(height, width):
    made = tf.image.resize_image_with_crop_or_pad(ONE, height, width)
    assert made.shape == [height, width, 3]
    grown = np.pad(ONE, [((n - m) // 2 if n > m else 0, n - m - (n - m) // 2 if n > m else 0)
                         for n, m in ((height, 4), (width, 5))] + [(0, 0)])
    top, left = (max(0, -(-(m - n) // 2)) if m > n and (m - n) % 2 == 0 else max(0, (m - n) // 2)
                 for n, m in ((height, 4), (width, 5)))
    assert np.array_equal(value(made), grown[top:top + height, left:left + width])
    unknown = tf.placeholder_with_default(IMAGE, [None, None, None, 3])
    sizes = tf.placeholder_with_default([height, width], [2])
    assert np.array_equal(value(tf.image.resize_with_crop_or_pad(unknown, sizes[0], sizes[1]))[0], value(made))


def test_random_flips_are_flips():
    tf.set_random_seed(5)
    one, many = tf.image.random_flip_left_right(ONE), tf.image.random_flip_up_down(np.tile(IMAGE, [20, 1, 1, 1]))
    with tf.Session() as sess:
        seen = [sess.run([one, many]) for _ in range(20)]
    flipped = [np.array_equal(x, ONE[:, ::-1]) for x, _ in seen]
    assert 0 < sum(flipped) < 20
    assert all(f or np.array_equal(x, ONE) for f, (x, _) in zip(flipped, seen, strict=True))
    turned = [np.array_equal(x, want[::-1]) for _, batch in seen
              for x, want in zip(batch, np.tile(IMAGE, [20, 1, 1, 1]), strict=True)]
    assert 300 < sum(turned) < 500


def test_gradients_go_back_to_where_numbers_came_from():
    x = tf.placeholder_with_default(ONE, [4, 5, 3])
    y = tf.image.flip_left_right(tf.image.crop_to_bounding_box(x, 1, 1, 2, 2)) * [[[1., 2., 3.]], [[4., 5., 6.]]]
    found = value(tf.gradients(y, x)[0])
    want = np.zeros_like(ONE)
    want[1:3, 1:3] = np.arange(1, 7).reshape(2, 1, 3)
    assert np.array_equal(found, want)


SEEDED = """
tf.set_random_seed(3)
x = tf.constant(np.random.RandomState(0).rand(6, 4, 5, 3).astype("f"))
ys = [tf.image.random_flip_left_right(x[0], seed=9), tf.image.random_flip_up_down(x, seed=4),
      tf.image.random_flip_left_right(x, seed=2), tf.image.random_flip_up_down(x[0], seed=8)]
with tf.Session() as sess:
    result = [sess.run(ys) for _ in range(4)]
"""


def test_random_flips_are_tensorflows(oracle):
    scope = {"tf": tf, "np": np}
    exec(SEEDED, scope)
    for ours, theirs in zip(scope["result"], oracle(SEEDED), strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))


NODES = """
x, b = tf.placeholder(tf.float32, [4, 5, 3]), tf.placeholder(tf.uint8, [2, None, None, 3])
u, n = tf.placeholder(tf.float32), tf.placeholder(tf.int32, [])
for y in (x, b, u):
    tf.image.flip_left_right(y); tf.image.flip_up_down(y); tf.image.transpose_image(y)
for y in (x, b):
    tf.image.rot90(y); tf.image.central_crop(y, 0.5); tf.image.rot90(y, n, name="turned")
    tf.image.transpose_image(y, name="t")
    tf.image.resize_image_with_crop_or_pad(y, 3, 9); tf.image.pad_to_bounding_box(y, 0, 0, 9, 9)
    tf.image.crop_to_bounding_box(y, 1, 1, 2, 2); tf.image.resize_image_with_crop_or_pad(y, n, n)
tf.image.crop_to_bounding_box(u, 1, 1, 2, 2); tf.image.resize_image_with_crop_or_pad(u, 3, n)
tf.image.central_crop(x, tf.placeholder(tf.float32, []))
"""


def test_nodes_are_tensorflows(oracle):
    assert rows_here(NODES, tf) == rows_there(NODES, oracle)


ERRORS = {
    "rank": "tf.image.flip_left_right(tf.zeros([2, 2]))",
    "rank of five": "tf.image.flip_left_right(tf.zeros([2, 2, 2, 2, 2]))",
    "empty": "tf.image.rot90(tf.zeros([0, 2, 3]))",
    "too far": "tf.image.crop_to_bounding_box(tf.zeros([4, 4, 3]), 2, 2, 3, 2)",
    "negative": "tf.image.crop_to_bounding_box(tf.zeros([4, 4, 3]), -1, 2, 3, 2)",
    "too small": "tf.image.pad_to_bounding_box(tf.zeros([4, 4, 3]), 2, 2, 4, 9)",
    "nothing": "tf.image.resize_image_with_crop_or_pad(tf.zeros([4, 4, 3]), 0, 9)",
    "fraction": "tf.image.central_crop(tf.zeros([4, 4, 3]), 1.5)",
    "unknown rank": "tf.image.central_crop(tf.placeholder(tf.float32), 0.5)",
    "in the run": "sess.run(tf.image.crop_to_bounding_box(tf.placeholder_with_default(tf.zeros([4, 4, 3]), None), 2, 2,"
                  " 3, 2))",
    "turns": "tf.image.rot90(tf.zeros([4, 4, 3]), [1, 2])",
    "rank in the run": "sess.run(tf.image.flip_left_right(tf.placeholder_with_default(tf.zeros([4, 4]), None)))",
}


def test_errors_are_tensorflows(oracle):
    from tests.differential import differences
    assert differences(oracle, ERRORS) == {}


@pytest.mark.parametrize("snippet, message", [
    (ERRORS["rank"], "must be at least three-dimensional"), (ERRORS["empty"], "inner 3 dims of 'image.shape'"),
    (ERRORS["too far"], "width must be >= target|height must be >= target"),
    (ERRORS["fraction"], r"within \(0, 1\]"), (ERRORS["rank of five"], "either 3 or 4 dimensions"),
])
def test_errors(snippet, message):
    with pytest.raises(ValueError, match=message):
        eval(snippet, {"tf": tf})
