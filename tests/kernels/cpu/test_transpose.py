"""Strided views, copied by tiles, equal NumPy's."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.options import options
from tfnb.kernels.cpu.fused.transpose import axes
from tfnb.kernels.view import View

CASES = [((70, 65), (1, 0)), ((128, 160), (1, 0)), ((5, 64, 33), (2, 0, 1)), ((5, 64, 33), (0, 2, 1)),
         ((3, 17, 19, 16), (3, 1, 0, 2)), ((16, 3, 100), (2, 1, 0)), ((1, 80, 1, 90), (3, 2, 1, 0))]


@pytest.mark.parametrize("shape, perm", CASES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_equals_numpy(shape, perm, dtype, monkeypatch):
    monkeypatch.setattr(options, "compile", "always")
    assert axes(*(lambda v: (v.shape, v.strides))(View.whole(shape).transpose(perm))) is not None
    x = tf.placeholder(dtype, shape)
    value = np.random.RandomState(0).permutation(int(np.prod(shape))).reshape(shape).astype(dtype)
    with tf.Session() as sess:
        y, z = sess.run([tf.transpose(x, perm), tf.transpose(x, perm) + 1], {x: value})
    np.testing.assert_array_equal(y, value.transpose(perm))
    np.testing.assert_array_equal(z, value.transpose(perm) + 1)


def test_a_slice_of_a_transpose(monkeypatch):
    monkeypatch.setattr(options, "compile", "always")
    x = tf.placeholder(tf.float32, [100, 90])
    value = np.random.RandomState(0).rand(100, 90).astype("f")
    with tf.Session() as sess:
        y = sess.run(tf.transpose(x)[3:85, 1::2], {x: value})
    np.testing.assert_array_equal(y, value.T[3:85, 1::2])


@pytest.mark.parametrize("shape, strides", [((64, 64), (64, 1)), ((10, 10), (1, 10)), ((4096, 2), (1, 4096)),
                                            ((64, 64), (1, 0)), ((64, 64), (2, 128)), ((4096,), (1,))])
def test_other_views_are_left_to_loops(shape, strides):
    assert axes(shape, strides) is None


@pytest.mark.parametrize("shape, perm, dtype", [
    ((40, 130, 512), (2, 0, 1), "float32"), ((36, 128, 513), (2, 0, 1), "float32"), ((1100, 1024), (1, 0), "float64"),
    ((2050, 1040), (1, 0), "float32")])
def test_a_target_larger_than_the_caches(shape, perm, dtype, monkeypatch):
    monkeypatch.setattr(options, "compile", "always")
    x = tf.placeholder(dtype, shape)
    value = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    with tf.Session() as sess:
        y = sess.run(tf.transpose(x, perm), {x: value})
    np.testing.assert_array_equal(y, value.transpose(perm))


@pytest.mark.parametrize("shape, perm", [
    ((2, 64, 64), (2, 1, 0)), ((2, 64, 64), (1, 2, 0)), ((2, 64, 2, 64), (3, 2, 1, 0)), ((64, 2, 64), (2, 0, 1)),
    ((3, 64, 64), (2, 1, 0)), ((64, 64, 2), (1, 0, 2))])
def test_short_axes(shape, perm, monkeypatch):
    monkeypatch.setattr(options, "compile", "always")
    x = tf.placeholder(tf.float32, shape)
    value = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(tf.transpose(x, perm), {x: value}), value.transpose(perm))
