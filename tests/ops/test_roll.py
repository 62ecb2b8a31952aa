"""tf.roll: values in each way in which an op runs, gradient, TensorFlow's answers; its kernel as plain Python."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.kernels.launch import Call, Meta
from tfnb.kernels.library.roll import roll, roll_row

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
CASES = [(1, 0), (-1, 2), ([1, 2], [0, 2]), ([1, 1, 5], [1, 1, 0]), ([3], [-2]), ([7, -9, 2], [0, 1, 2]), ([], []),
         (2**31 - 1, 1), (0, 0)]


@pytest.mark.parametrize("type_", ["float32", "int64", "bool", "uint8", "complex64"])
def test_all_runs_agree_with_numpy(type_):
    x, shifts = X.astype(type_), [tf.placeholder(tf.int32, np.shape(shift)) for shift, _ in CASES]
    fed = tf.placeholder(type_, [None, None, None])
    made = [tf.roll(fed, shift, np.array(axis, np.int32)) for shift, (_, axis) in zip(shifts, CASES, strict=True)]
    with tf.Session() as sess:
        for _ in range(2):
            feeds = {fed: x} | {p: np.array(shift, np.int32) for p, (shift, _) in zip(shifts, CASES, strict=True)}
            for got, (shift, axis) in zip(sess.run(made, feeds), CASES, strict=True):
                np.testing.assert_array_equal(got, np.roll(x, shift, axis))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1,), (5, 1)])
def test_few_elements(shape):
    x, fed = np.arange(np.prod(shape), dtype=np.int32).reshape(shape), tf.placeholder(tf.int32)
    made = [tf.roll(fed, 2, axis) for axis in range(len(shape))]
    with tf.Session() as sess:
        for _ in range(2):
            for axis, got in enumerate(sess.run(made, {fed: x})):
                np.testing.assert_array_equal(got, np.roll(x, 2, axis))


def test_strings():
    with tf.Session() as sess:
        assert sess.run(tf.roll(["a", "b", "c"], 1, 0)).tolist() == [b"c", b"a", b"b"]


def test_tensorflow_agrees(oracle):
    result, slope = oracle("""
x = tf.constant(x)
rolled = [tf.roll(x, shift, axis) for shift, axis in [([1, 1], [1, 1]), (-4, 2), ([7, -9], [-1, 0])]]
slope = tf.gradients(tf.reduce_sum(rolled[2] * x * x), x)[0]
with tf.Session() as s: result = s.run([tf.stack(rolled), slope])
""", x=X)
    x = tf.constant(X)
    rolled = [tf.roll(x, shift, axis) for shift, axis in [([1, 1], [1, 1]), (-4, 2), ([7, -9], [-1, 0])]]
    own = tf.gradients(tf.reduce_sum(rolled[2] * x * x), x)[0]
    with tf.Session() as sess:
        for _ in range(2):
            got = sess.run([tf.stack(rolled), own])
            np.testing.assert_array_equal(got[0], result)
            np.testing.assert_allclose(got[1], slope, rtol=1e-6)


@pytest.mark.parametrize("x, shift, axis, words", [
    (3.0, 1, 0, "1-D or higher"), (X, [[1]], [0], "shift must be a scalar or a vector"),
    (X, [1], [[0]], "axis must be a scalar or a vector"), (X, [1, 2], [0], "the same size"),
    (X, 1, [0], "the same size")])
def test_wrong_shapes(x, shift, axis, words):
    with pytest.raises(ValueError, match=words):
        tf.roll(x, shift, axis)
    fed = tf.placeholder(tf.float32), tf.placeholder(tf.int32), tf.placeholder(tf.int32)
    made = tf.roll(*fed)
    with tf.Session() as sess:
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                sess.run(made, dict(zip(fed, (x, shift, axis), strict=True)))


@pytest.mark.parametrize("axis", [3, -4])
def test_an_axis_out_of_range(axis):
    with tf.Session() as sess:
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match=f"axis {axis} is out of range"):
                sess.run(tf.roll(X, 1, axis))


def test_static_shape():
    assert tf.roll(tf.placeholder(tf.float32, [None, 3]), 1, 0).shape.as_list() == [None, 3]
    assert tf.roll(tf.placeholder(tf.float32), 1, 0).shape.ndims is None


@pytest.mark.parametrize("width", [12, 1])
def test_the_kernel_as_plain_python(width):
    """On the CPU an item is a row; on a GPU it is an element."""
    y, shift = np.zeros(24, np.float32), np.array([-1, 2], np.int64)
    roll_row.python(24 // width, X.reshape(-1), shift, y, [2], [1], 3, 4, width, 12 // width, slots=(0, 1))
    np.testing.assert_array_equal(y.reshape(X.shape), np.roll(X, (-1, 2), (0, 1)))


def test_one_kernel_for_both_devices():
    metas = (Meta("float32", X.shape), Meta("int32", (1,)), Meta("int32", (1,), np.array([1], np.int32)))
    cpu, = roll(Call(metas, metas[:1]))
    cuda, = roll(Call(metas, metas[:1], device="cuda"))
    assert cpu.items == 2 and "range(begin, end)" in cpu.source and "roll_row: " in cpu.source
    assert "cuda.gridsize(1)" in cuda.source and cuda.args[-1] == X.size
