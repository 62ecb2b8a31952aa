"""User-defined item kernels: plain Python, first and later runs agree; shapes, borders, numba, errors."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

import tfnb as tf

RNG = np.random.default_rng(0)


def median_filter():
    @tf.custom.kernel("image: T -> smooth: T")
    def median_filter(image, smooth, i, j, *, radius: int = 1):
        """Median of the square around each pixel."""
        half = (2 * radius + 1) * (2 * radius + 1) // 2
        for a in range(-radius, radius + 1):
            for b in range(-radius, radius + 1):
                value = image[i + a, j + b]
                below, equal = 0, 0
                for c in range(-radius, radius + 1):
                    for d in range(-radius, radius + 1):
                        other = image[i + c, j + d]
                        if other < value:
                            below += 1
                        elif other == value:
                            equal += 1
                if below <= half < below + equal:
                    smooth[i, j] = value
    return median_filter


def runs(fetches, feeds=None):
    with tf.Session() as sess:
        first, *others = [sess.run(fetches, feeds) for _ in range(3)]
    for other in others:
        np.testing.assert_array_equal(other, first)
    return first


@pytest.mark.parametrize("radius", [1, 2])
@pytest.mark.parametrize("type_", ["float32", "int32", "uint8"])
def test_median_filter(type_, radius):
    op = median_filter()
    image = (RNG.random((9, 7)) * 50).astype(type_)
    want = ndimage.median_filter(image, 2 * radius + 1, mode="nearest")
    fed = tf.placeholder(type_)
    np.testing.assert_array_equal(runs(op(image, radius=radius)), want)
    np.testing.assert_array_equal(runs(op(fed, radius=radius), {fed: image}), want)
    np.testing.assert_array_equal(op.python(image, radius=radius), want)


def test_shapes():
    op = median_filter()
    assert op(tf.placeholder(tf.float32, [None, 3])).shape.as_list() == [None, 3]
    assert op(tf.placeholder(tf.float32)).shape.as_list() == [None, None]
    with pytest.raises(ValueError, match="rank 2 but is rank 1"):
        op(tf.zeros([3]))
    fed = tf.placeholder(tf.float32)
    y = op(fed)
    with tf.Session() as sess:
        for value in (np.zeros(3), np.zeros((2, 2)), np.zeros(3)):
            if value.ndim == 1:
                with pytest.raises(tf.errors.InvalidArgumentError, match="rank 2 but is rank 1"):
                    sess.run(y, {fed: value})
            else:
                sess.run(y, {fed: value})
        assert sess.run(y, {fed: np.zeros((0, 4))}).shape == (0, 4)


def test_another_shape_two_inputs_and_two_outputs():
    @tf.custom.kernel("x: T, scale: T -> low: T, high: T", shape=lambda x, scale, *, width: (x[0] // width,))
    def extremes(x, scale, low, high, i, *, width=2):
        small = x[i * width]
        large = small
        for k in range(1, width):
            small = min(small, x[i * width + k])
            large = max(large, x[i * width + k])
        low[i] = small * scale[0]
        high[i] = tf.maximum(large, 0) * scale[0] + len(x) + scale.shape[0] * 0
    x, scale = np.array([3, -1, 4, 1, -5, -9, 2], "f"), np.array([2], "f")
    low, high = extremes(x, scale)
    assert low.shape == (3,)
    assert runs(low).tolist() == [-2, 2, -18] and runs(high).tolist() == [13, 15, 7]
    plain = extremes.python(x, scale, width=3)
    assert plain[0].tolist() == [-2, -18]
    assert extremes(tf.placeholder(tf.float32, [None]), scale)[0].shape.as_list() == [None]


def test_outputs_begin_as_zeros_and_writes_outside_are_dropped():
    @tf.custom.kernel("x: T -> y: T")
    def evens(x, y, i):
        if i % 2 == 0:
            y[i] += x[i]
            y[i + 1000] = 99
            y[i - 1000] = 99
    x = np.arange(1, 6, dtype="f")
    assert runs(evens(x)).tolist() == [1, 0, 3, 0, 5]
    assert evens.python(x).tolist() == [1, 0, 3, 0, 5]


def test_reads_far_outside_are_those_of_the_border():
    @tf.custom.kernel("x: T, far: T -> y: T")
    def fetched(x, far, y, i):
        y[i] = x[i + int(far[0])]
    x = np.array([5, 6, 7], "f")
    for far, want in ((0, [5, 6, 7]), (1, [6, 7, 7]), (10 ** 8, [7, 7, 7]), (-10 ** 8, [5, 5, 5])):
        assert runs(fetched(x, np.array([far], "f"))).tolist() == want
    fed = tf.placeholder(tf.float32, [None])
    with tf.Session() as sess:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="expected inputs with elements"):
                sess.run(fetched(x, fed), {fed: []})


def test_a_gradient():
    @tf.custom.kernel("x: T -> y: T")
    def shifted(x, y, i):
        y[i] = x[i + 1]
    x = tf.constant([1.0, 2.0, 3.0])
    with pytest.raises(LookupError, match="Shifted"):
        tf.gradients(shifted(x), x)

    @shifted.gradient
    def _(op, dy):
        return tf.concat([[0.0], dy[:-1]], 0)
    assert runs(tf.gradients(shifted(x), x)[0]).tolist() == [0, 1, 1]


def test_a_body_beyond_the_subset_is_compiled_by_numba():
    @tf.custom.kernel("x: T -> y: T")
    def middle(x, y, i, *, reach: int = 1):
        window = np.sort(x[max(i - reach, 0):i + reach + 1])
        y[i] = window[len(window) // 2]
    x = np.array([5, 1, 4, 2, 3], "f")
    assert runs(middle(x)).tolist() == [5, 4, 2, 3, 3]

    @tf.custom.kernel("x: T -> y: T")
    def outside(x, y, i):
        row = [x[i + 5]]
        y[i] = row[0]
    fed = tf.placeholder(tf.float32, [None])
    y = outside(fed)
    with tf.Session() as sess:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="outside of its array"):
                sess.run(y, {fed: x})


def test_errors_name_the_line():
    def broken(x, y, i):
        y[i] = x[i]
        z = {}
        y[i] = open(z)
    with pytest.raises(SyntaxError, match="a dict is not allowed") as caught:
        tf.custom.kernel("x: T -> y: T")(broken)
    assert caught.value.lineno == broken.__code__.co_firstlineno + 2

    def writes_its_input(x, y, i):
        x[i] = open("x")
    with pytest.raises(SyntaxError, match="one to the input `x`"):
        tf.custom.kernel("x: T -> y: T")(writes_its_input)
    with pytest.raises(SyntaxError, match="expected the parameters x, y, then an index"):
        tf.custom.kernel("x: T -> y: T")(lambda x, i: x)
    with pytest.raises(ValueError, match="expected the name of an input"):
        tf.custom.kernel("x: T -> y: T", shape="z")(lambda x, y, i: None)
