"""Argmax, argmin and running sums against NumPy and TensorFlow."""
from __future__ import annotations

import numpy as np
import pytest

from tfnb.kernels.library import scan

RNG = np.random.default_rng(0)
SHAPES = [((7,), 0), ((4, 5), 0), ((4, 5), 1), ((3, 4, 5), -2), ((1,), 0), ((2, 0), 1), ((0, 3), 1)]


@pytest.mark.parametrize("type_", ["float32", "float64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("shape, axis", [(s, a) for s, a in SHAPES if s[a]])
def test_extremes(shape, axis, name, type_, run):
    x = RNG.integers(0, 4, shape).astype(type_)         # with ties
    want = getattr(np, name)(x, axis)
    for output in ("int64", "int32"):
        got, = run(getattr(scan, name), [x, np.array(axis)], [(want.shape, output)], known=(1,))
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(getattr(scan, f"{name}_rows")(x, axis, output), want)


NAN, INF = np.nan, np.inf
ODD = np.array([[NAN, 1, 2], [1, NAN, 0], [NAN, NAN, NAN], [-INF, -INF, NAN], [NAN, -INF, INF], [2, INF, INF]], "f4")


@pytest.mark.parametrize("name, want", [("argmax", [2, 0, 0, 0, 2, 1]), ("argmin", [1, 2, 0, 0, 1, 0])])
def test_nan_never_wins(name, want, run):
    for x, axis in ((ODD, 1), (np.ascontiguousarray(ODD.T), 0)):
        got, = run(getattr(scan, name), [x, np.array(axis)], [((6,), "int64")], known=(1,))
        assert got.tolist() == want
        assert getattr(scan, f"{name}_rows")(x, axis).tolist() == want


def test_an_empty_axis_is_an_error(run):
    x = np.zeros((2, 0), np.float32)
    with pytest.raises(ValueError, match="axis 1 is empty"):
        run(scan.argmax, [x, np.array(1)], [((2,), "int64")], known=(1,))


@pytest.mark.parametrize("type_", ["float32", "float64", "int32", "int8"])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("shape, axis", SHAPES)
def test_running(shape, axis, reverse, exclusive, name, type_, run):
    x = RNG.standard_normal(shape).astype(type_) if type_[0] == "f" else RNG.integers(-5, 5, shape).astype(type_)
    attrs = {"exclusive": exclusive, "reverse": reverse}
    got, = run(getattr(scan, name), [x, np.array(axis)], [(shape, type_)], attrs, known=(1,))
    turned = np.flip(x, axis) if reverse else x
    want = getattr(np, name)(turned, axis, dtype=type_)
    if exclusive and x.size:
        edge = np.full_like(np.take(want, [0], axis), 0 if name == "cumsum" else 1)
        want = np.concatenate([edge, np.take(want, np.arange(shape[axis] - 1), axis)], axis)
    np.testing.assert_array_equal(got, np.flip(want, axis) if reverse else want)


def test_tensorflow_agrees(oracle):
    x = RNG.standard_normal((4, 6)).astype(np.float32)
    want = oracle("""
with tf.Session() as sess:
    result = sess.run([tf.argmax(x, 1), tf.argmin(x, 0)])
""", x=x)
    np.testing.assert_array_equal(scan.argmax_rows(x, 1), want[0])
    np.testing.assert_array_equal(scan.argmin_rows(x, 0), want[1])


def test_tensorflow_and_nan(oracle):
    want = oracle("with tf.Session() as s: result = s.run([tf.argmax(x, 1), tf.argmin(x, 1)])", x=ODD)
    np.testing.assert_array_equal(scan.argmax_rows(ODD, 1), want[0])
    np.testing.assert_array_equal(scan.argmin_rows(ODD, 1), want[1])
