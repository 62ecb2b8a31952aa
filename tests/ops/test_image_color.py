"""Colors of images: values, gradients, nodes and errors as in TensorFlow; compiled as interpreted."""
from __future__ import annotations

import colorsys

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences
from tests.graph_rows import rows_here, rows_there
from tests.modes import run

RANDOM = np.random.default_rng(8)
PIXELS = RANDOM.random((2, 6, 5, 3)).astype("f")
PIXELS[0, 0] = [[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, .5, .5], [.25, .5, .5]]


def both(fetch, feed):
    """What a fetch is when it is interpreted, which it must be compiled too."""
    plain, compiled = run(fetch, feed, "never"), run(fetch, feed, "always")
    np.testing.assert_allclose(compiled, plain, rtol=2e-6, atol=2e-6)
    return plain


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_spaces(dtype):
    x = tf.placeholder(dtype, PIXELS.shape)
    feed, tolerance = {x: PIXELS.astype(dtype)}, 2e-3 if dtype == "float16" else 1e-6
    want = np.array([colorsys.rgb_to_hsv(*map(float, p)) for p in PIXELS.reshape(-1, 3)]).reshape(PIXELS.shape)
    np.testing.assert_allclose(both(tf.image.rgb_to_hsv(x), feed), want, atol=tolerance)
    np.testing.assert_allclose(both(tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(x)), feed), PIXELS, atol=2 * tolerance)
    if dtype == "float32":
        for there, back in ((tf.image.rgb_to_yiq, tf.image.yiq_to_rgb), (tf.image.rgb_to_yuv, tf.image.yuv_to_rgb)):
            np.testing.assert_allclose(both(back(there(x)), feed), PIXELS, atol=1e-4)


def test_hue_and_saturation():
    x = tf.placeholder(tf.float32, PIXELS.shape)
    feed = {x: PIXELS}
    np.testing.assert_allclose(both(tf.image.adjust_hue(x, 1 / 3), feed), np.roll(PIXELS, 1, -1), atol=1e-6)
    np.testing.assert_allclose(both(tf.image.adjust_hue(x, -1 / 3), feed), np.roll(PIXELS, -1, -1), atol=1e-6)
    gray = both(tf.image.adjust_saturation(x, 0.), feed)
    np.testing.assert_allclose(gray, np.repeat(PIXELS.max(-1, keepdims=True), 3, -1), atol=1e-6)
    np.testing.assert_allclose(both(tf.image.adjust_saturation(x, 1.), feed), PIXELS, atol=1e-6)


def test_contrast_and_brightness():
    x = tf.placeholder(tf.float32, PIXELS.shape)
    feed, mean = {x: PIXELS}, PIXELS.mean((1, 2), keepdims=True)
    np.testing.assert_allclose(both(tf.image.adjust_contrast(x, 2.), feed), mean + 2 * (PIXELS - mean), atol=1e-6)
    np.testing.assert_allclose(both(tf.image.adjust_brightness(x, .25), feed), PIXELS + .25, atol=1e-6)
    np.testing.assert_allclose(both(tf.image.adjust_gamma(x, 2., 3.), feed), 3 * PIXELS ** 2, atol=1e-5)


def test_dtypes_have_their_ranges():
    def converted(value, dtype, saturate=False):
        return run(tf.image.convert_image_dtype(value, dtype, saturate), {}, "never").tolist()
    assert converted(np.array([0, 255], "uint8"), tf.float32) == [0, 1]
    assert converted(np.array([0., .5, 1.], "f"), tf.uint8) == [0, 127, 255]
    assert converted(np.array([-1., 2.], "f"), tf.uint8, True) == [0, 255]
    assert converted(np.array([255], "uint8"), tf.uint16) == [255 * 256]
    assert converted(np.array([32767], "int16"), tf.uint8) == [255]
    with pytest.raises(AttributeError, match="floating point or integer"):
        tf.image.convert_image_dtype(tf.constant([True]), tf.float32)


def test_gray():
    x = tf.placeholder(tf.uint8, [None, None, 3])
    image = (PIXELS[0] * 255).astype("uint8")
    gray = tf.image.rgb_to_grayscale(x)
    found = both(gray, {x: image})
    assert gray.shape.as_list() == [None, None, 1]
    assert np.abs(found[..., 0] - image @ [.2989, .587, .114]).max() <= 1
    assert np.array_equal(both(tf.image.grayscale_to_rgb(gray), {x: image}), np.repeat(found, 3, 2))


def test_standardization():
    x = tf.placeholder(tf.uint8, [2, None, 5, 3])
    found = both(tf.image.per_image_standardization(x), {x: (PIXELS * 255).astype("uint8")})
    np.testing.assert_allclose(found.mean((1, 2, 3)), 0, atol=1e-6)
    np.testing.assert_allclose(found.std((1, 2, 3)), 1, atol=1e-6)
    assert not both(tf.image.per_image_standardization(x), {x: np.full([2, 2, 5, 3], 7, "uint8")}).any()


def test_gradient_of_hsv():
    """Along a random direction, by finite differences."""
    x = tf.placeholder(tf.float64, [40, 3])
    weights = RANDOM.normal(size=(40, 3))
    loss = tf.reduce_sum(tf.image.rgb_to_hsv(x) * weights)
    value, way = RANDOM.uniform(.1, .9, (40, 3)), RANDOM.normal(size=(40, 3))
    with tf.Session() as sess:
        ends = [sess.run(loss, {x: value + sign * 1e-7 * way}) for sign in (1, -1)]
        found = [sess.run(tf.gradients(loss, x)[0], {x: value}) for _ in range(2)]
    for grad in found:
        np.testing.assert_allclose((grad * way).sum(), (ends[0] - ends[1]) / 2e-7, rtol=1e-5)
    assert tf.gradients(tf.image.hsv_to_rgb(x), x) == [None]


VALUES = """
tf.set_random_seed(7)
random = np.random.RandomState(0)
x = random.rand(2, 9, 8, 3)
feed, ys = {}, []
for dtype in ("float32", "float16", "uint8", "uint16"):
    t = tf.placeholder(dtype, x.shape)
    feed[t] = x.astype(dtype) if dtype[0] == "f" else (x * (255 if dtype == "uint8" else 65535)).astype(dtype)
    ys += [tf.image.adjust_brightness(t, .2), tf.image.adjust_gamma(t, 2., .7)]
    if dtype == "float16":
        continue
    ys += [tf.image.adjust_contrast(t, 1.7), tf.image.adjust_saturation(t, 1.6),
           tf.image.adjust_hue(t, .3), tf.image.adjust_hue(t, -.8),
           tf.image.adjust_saturation(t, .2), tf.image.rgb_to_grayscale(t), tf.image.per_image_standardization(t),
           tf.image.random_brightness(t, .3, seed=4), tf.image.random_contrast(t, .3, 1.5, seed=3),
           tf.image.random_hue(t, .4, seed=2), tf.image.random_saturation(t, .3, 1.8, seed=1)]
    ys += [tf.image.grayscale_to_rgb(t[..., :1])] if dtype != "uint16" else []
f, h = list(feed)[0], list(feed)[1]
hsv = tf.image.rgb_to_hsv(f)
ys += [hsv, tf.image.hsv_to_rgb(hsv), tf.image.rgb_to_yiq(f), tf.image.yuv_to_rgb(f), tf.image.yiq_to_rgb(f),
       tf.image.rgb_to_hsv(h), tf.image.hsv_to_rgb(h), tf.gradients(hsv * tf.constant([.3, .5, -.2]), f)[0],
       tf.image.adjust_hue(f * 200. - 90., .4), tf.image.adjust_saturation(f * 255., .4)]
with tf.Session() as sess:
    result = [sess.run(ys, feed) for _ in range(2)]
"""


def test_values_are_tensorflows(oracle):
    scope = {"tf": tf, "np": np}
    exec(VALUES, scope)
    theirs = oracle(VALUES)
    for step in range(2):
        for y, a, b in zip(scope["ys"], scope["result"][step], theirs[step], strict=True):
            assert a.dtype == b.dtype
            if a.dtype.kind == "u":
                assert np.abs(a.astype(int) - b.astype(int)).max() <= 1, y.name
            else:
                np.testing.assert_allclose(a, b, rtol=5e-3 if a.dtype == "f2" else 1e-4,
                                           atol=4e-3 if a.dtype == "f2" else 3e-5, err_msg=y.name)


NODES = """
x, b = tf.placeholder(tf.float32, [4, 5, 3]), tf.placeholder(tf.uint8, [2, None, None, 3])
n = tf.placeholder(tf.float32, [])
tf.image.adjust_brightness(x, .2); tf.image.adjust_contrast(x, n); tf.image.adjust_gamma(x, 2.)
tf.image.adjust_gamma(x, n, 2.)
for y in (x, b):
    tf.image.adjust_hue(y, n, name="hue"); tf.image.adjust_saturation(y, 2.)
    tf.image.per_image_standardization(y)
    tf.image.grayscale_to_rgb(y[..., :1]); tf.image.convert_image_dtype(y, tf.float32)
tf.image.convert_image_dtype(x, tf.uint8); tf.image.convert_image_dtype(x, tf.uint8, name="named")
tf.image.convert_image_dtype(b, tf.uint16); tf.image.convert_image_dtype(b, tf.int8)
tf.image.rgb_to_hsv(x); tf.image.hsv_to_rgb(x, name="rgb"); tf.image.rgb_to_yiq(x); tf.image.yuv_to_rgb(x)
tf.image.rgb_to_grayscale(x, name="gray"); tf.image.grayscale_to_rgb(tf.placeholder(tf.float32))
"""


def test_nodes_are_tensorflows(oracle):
    assert rows_here(NODES, tf) == rows_there(NODES, oracle)


ERRORS = {
    "two colors": "tf.image.rgb_to_hsv(tf.zeros([2, 2]))",
    "scalar": "tf.image.rgb_to_hsv(1.)",
    "rank": "tf.image.adjust_hue(tf.zeros([2, 3]), .1)",
    "factor": "tf.image.adjust_contrast(tf.zeros([2, 2, 3]), [1., 2.])",
    "hue": "tf.image.random_hue(tf.zeros([2, 2, 3]), .6)",
    "negative hue": "tf.image.random_hue(tf.zeros([2, 2, 3]), -.1)",
    "brightness": "tf.image.random_brightness(tf.zeros([2, 2, 3]), -1.)",
    "contrast": "tf.image.random_contrast(tf.zeros([2, 2, 3]), 1., .5)",
    "saturation": "tf.image.random_saturation(tf.zeros([2, 2, 3]), -1., .5)",
    "gamma": "tf.image.adjust_gamma(tf.zeros([2, 2, 3]), -1.)",
    "gray": "tf.image.grayscale_to_rgb(tf.zeros([2, 2, 3]))",
    "gray rank": "tf.image.grayscale_to_rgb(tf.zeros([2]))",
    "gray in the run": "sess.run(tf.image.grayscale_to_rgb(tf.placeholder_with_default(tf.zeros([2, 2, 3]), None)))",
    "bool": "tf.image.convert_image_dtype(tf.zeros([2], tf.bool), tf.float32)",
    "to string": "tf.image.convert_image_dtype(tf.zeros([2]), tf.string)",
    "standardization": "tf.image.per_image_standardization(tf.zeros([2, 3]))",
}


def test_errors_are_tensorflows(oracle):
    assert differences(oracle, ERRORS) == {}


def test_four_colors_in_the_run():
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="must be 3 but is 4"):
        sess.run(tf.image.hsv_to_rgb(x), {x: np.zeros([2, 4])})
