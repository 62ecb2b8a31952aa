"""Images in other sizes: values, gradients, nodes and errors as in TensorFlow; compiled as interpreted."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences
from tests.graph_rows import rows_here, rows_there
from tests.modes import run
from tfnb.core.options import options

RULES = {"legacy": {}, "corners": {"align_corners": True}, "centers": {"half_pixel_centers": True}}
METHODS = ["bilinear", "nearest_neighbor", "bicubic", "area"]
RANDOM = np.random.default_rng(3)
SMALL = np.array([[0, 10], [20, 40]], np.float32).reshape(1, 2, 2, 1)


def resized(method, images, size, rules="legacy"):
    if method == "area" and rules == "centers":
        pytest.skip("no such attr")
    return getattr(tf.image, f"resize_{method}")(images, size, **RULES[rules])


@pytest.mark.parametrize("method, rules, want", [
    ("bilinear", "legacy", [[0, 5, 10, 10], [10, 17.5, 25, 25], [20, 30, 40, 40], [20, 30, 40, 40]]),
    ("bilinear", "centers", [[0, 2.5, 7.5, 10], [5, 8.125, 14.375, 17.5], [15, 19.375, 28.125, 32.5],
                             [20, 25, 35, 40]]),
    ("nearest_neighbor", "legacy", np.repeat(np.repeat(SMALL[0, :, :, 0], 2, 0), 2, 1)),
    ("area", "legacy", np.repeat(np.repeat(SMALL[0, :, :, 0], 2, 0), 2, 1)),
])
def test_twice_as_large(method, rules, want):
    for mode in ("always", "never"):
        x = tf.placeholder(tf.float32, [1, 2, 2, 1])
        found = run(resized(method, x, [4, 4], rules), {x: SMALL}, mode)
        np.testing.assert_allclose(found[0, :, :, 0], want)


def test_corners_keep_their_values():
    x = RANDOM.normal(size=(2, 4, 5, 3)).astype("f")
    for method in METHODS[:3]:
        y = run(resized(method, x, [9, 11], "corners"))
        for i in (0, -1):
            for j in (0, -1):
                np.testing.assert_allclose(y[:, i, j], x[:, i, j], rtol=1e-6)


def test_area_is_the_mean():
    x = RANDOM.normal(size=(2, 6, 9, 3)).astype("f")
    want = x.reshape(2, 2, 3, 3, 3, 3).mean((2, 4))
    np.testing.assert_allclose(run(tf.image.resize_area(x, [2, 3])), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "uint8", "float64"])
@pytest.mark.parametrize("method", METHODS)
def test_compiled_is_interpreted(method, dtype):
    x = (RANDOM.random((3, 6, 7, 3)) * 200).astype(dtype)
    t = tf.placeholder(dtype, x.shape)
    fetches = []
    for rules in RULES if method != "area" else ["legacy", "corners"]:
        for size in ([6, 7], [3, 2], [1, 1], [13, 20], [4, 30]):
            y = resized(method, t, size, rules)
            fetches += [y] if dtype == "uint8" or method == "area" else [y, tf.gradients(y * y, t)[0]]
    for a, b in zip(run(fetches, {t: x}), run(fetches, {t: x}, "never"), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-3)


def test_many_channels_and_large_results():
    x = RANDOM.random((2, 40, 50, 7)).astype("f")
    t = tf.placeholder("float32", x.shape)
    y = tf.image.resize_bilinear(t, [500, 500])
    assert np.array_equal(run(y, {t: x}), run(y, {t: x}, "never"))


@pytest.mark.parametrize("method", METHODS[:3])
@pytest.mark.parametrize("rules", RULES)
def test_gradients(method, rules):
    """A resize is linear: its gradient is its transpose."""
    for size in ([3, 4], [11, 9]):
        x = RANDOM.normal(size=(2, 5, 6, 3)).astype("f")
        way = RANDOM.normal(size=(2, *size, 3)).astype("f")
        t = tf.placeholder(tf.float32, x.shape)
        y = resized(method, t, size, rules)
        grad = tf.gradients(y, t, [tf.constant(way)])[0]
        for mode in ("always", "never"):
            made, back = run([y, grad], {t: x}, mode)
            np.testing.assert_allclose((made * way).sum(), (x * back).sum(), rtol=1e-3, atol=1e-3)


def test_of_unknown_size():
    t, size = tf.placeholder(tf.float32, [None, None, None, 3]), tf.placeholder(tf.int32, [2])
    y = tf.image.resize_images(t, size)
    g = tf.gradients(y, t)[0]
    assert y.shape.as_list() == [None, None, None, 3]
    with tf.Session() as sess:
        for n in (4, 9, 4):
            made, back = sess.run([y, g], {t: np.ones([2, 3, n, 3]), size: [n, 5]})
            assert made.shape == (2, n, 5, 3) and np.allclose(made, 1) and abs(back.sum() - made.size) < 1e-3


def test_resize_images():
    one = tf.constant(RANDOM.random((6, 8, 3)).astype("f"))
    assert tf.image.resize_images(one, [3, 3]).shape == [3, 3, 3]
    assert tf.image.resize_images(one, [3, 3], tf.image.ResizeMethod.AREA).op.inputs[0].op.type == "ResizeArea"
    assert tf.image.resize_images(one, [3, 3], "nearest").op.inputs[0].op.type == "ResizeNearestNeighbor"
    assert tf.image.resize_images(one, 3, 2, 1).op.inputs[0].op.type == "ResizeNearestNeighbor"      # of r0.7
    assert tf.image.resize_images(one, 3, 2).shape == [3, 2, 3]
    assert tf.image.resize_images(one, [3, 4], preserve_aspect_ratio=True).shape == [3, 4, 3]
    same = tf.expand_dims(one, 0)
    assert tf.image.resize_images(same, [6, 8]) is same
    assert run(tf.image.resize_images(one, [30, 4], preserve_aspect_ratio=True)).shape == (3, 4, 3)
    padded = run(tf.image.resize_image_with_pad(tf.ones([4, 8, 1]), 6, 6))
    assert padded.shape == (6, 6, 1) and padded.sum() == 18 and padded[1:4].all()


VALUES = '''
random = np.random.RandomState(0)
x = (random.rand(2, 7, 9, 3) * 255).astype("f")
feed, ys = {}, []
for dtype in ("float32", "uint8", "float64", "int32", "float16"):
    t = tf.placeholder(dtype, x.shape)
    feed[t] = x.astype(dtype)
    for size in ([7, 9], [3, 4], [14, 18], [10, 5], [1, 1], [23, 31]):
        for rules in ({}, dict(align_corners=True), dict(half_pixel_centers=True)):
            for name in ("bilinear", "nearest_neighbor", "bicubic", "area"):
                if name != "area" or "half_pixel_centers" not in rules:
                    y = getattr(tf.image, "resize_" + name)(t, size, **rules)
                    ys.append(y)
                    if dtype in ("float32", "float64") and name != "area":
                        ys.append(tf.gradients(y * y, t)[0])
    ys.append(tf.image.resize_image_with_pad(t, 20, 11))
    ys.append(tf.image.resize_images(t, [30, 20], preserve_aspect_ratio=True))
with tf.Session() as sess:
    result = [sess.run(ys, feed) for _ in range(2)][1]
'''


def test_values_are_tensorflows(oracle):
    scope = {"tf": tf, "np": np}
    exec(VALUES, scope)
    for y, ours, theirs in zip(scope["ys"], scope["result"], oracle(VALUES), strict=True):
        assert ours.dtype == theirs.dtype
        if "Bilinear:" in y.name or "Neighbor:" in y.name:
            assert np.array_equal(ours, theirs), y.name
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=2e-6 * np.abs(theirs).max(), err_msg=y.name)


NODES = """
x, b = tf.placeholder(tf.float32, [4, 5, 3]), tf.placeholder(tf.float32, [2, None, None, 3])
n = tf.placeholder(tf.int32, [])
y = tf.image.resize_images(x, [8, 8]); tf.gradients(y, x)
y = tf.image.resize_images(b, [8, 8], tf.image.ResizeMethod.NEAREST_NEIGHBOR); tf.gradients(y, b)
y = tf.image.resize_images(b, tf.stack([n, 4]), 2, name="named"); tf.gradients(y, b)
tf.image.resize_images(b, [8, 8], 3, preserve_aspect_ratio=True)
tf.image.resize_images(x, [8, 8], preserve_aspect_ratio=True)
tf.image.resize_image_with_pad(x, 8, 8); tf.image.resize_image_with_pad(b, 8, 8)
tf.image.resize_bilinear(b, [3, 3], name="other"); tf.image.resize_area(b, [3, 3])
tf.image.resize_nearest_neighbor(b, [3, 3]); tf.image.resize_bicubic(b, [3, 3])
y = tf.image.resize_nearest_neighbor(tf.expand_dims(x, 0), [3, 3]); tf.gradients(y, x)
"""


def test_nodes_are_tensorflows(oracle):
    assert rows_here(NODES, tf) == rows_there(NODES, oracle)


ERRORS = {
    "rank": "tf.image.resize_images(tf.zeros([2, 2]), [2, 2])",
    "no rank": "tf.image.resize_images(tf.placeholder(tf.float32), [2, 2])",
    "three": "tf.image.resize_images(tf.zeros([2, 2, 3]), [2, 2, 2])",
    "size": "tf.image.resize_images(tf.zeros([2, 2, 3]), 'a')",
    "method": "tf.image.resize_images(tf.zeros([2, 2, 3]), [1, 1], 9)",
    "rank of op": "tf.image.resize_bilinear(tf.zeros([2, 2, 3]), [1, 1])",
    "size of op": "tf.image.resize_bilinear(tf.zeros([1, 2, 2, 3]), [1, 1, 3])",
    "zero": "sess.run(tf.image.resize_bilinear(tf.zeros([1, 2, 2, 3]), [0, 1]))",
    "negative": "sess.run(tf.image.resize_bicubic(tf.zeros([1, 2, 2, 3]), tf.placeholder_with_default([-1, 1], [2])))",
    "no pixels": "sess.run(tf.image.resize_bicubic(tf.zeros([1, 0, 2, 3]), [1, 1]))",
    "both rules": "sess.run(tf.image.resize_bilinear(tf.zeros([1, 2, 2, 3]), [1, 1], True, None, True))",
    "dtype": "tf.image.resize_bilinear(tf.zeros([1, 2, 2, 3], tf.bool), [1, 1])",
    "rank in the run": "sess.run(tf.image.resize_area(tf.placeholder_with_default(tf.zeros([2, 2]), None), [1, 1]))",
}


def test_errors_are_tensorflows(oracle):
    assert differences(oracle, ERRORS) == {}


@pytest.mark.parametrize("mode", ["always", "never"])
@pytest.mark.parametrize("name, message", [("zero", "must be positive"), ("no pixels", "of non-zero size"),
                                           ("both rules", "align_corners must be False")])
def test_errors_in_the_run(name, message, mode, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        eval(ERRORS[name], {"tf": tf, "sess": sess})
