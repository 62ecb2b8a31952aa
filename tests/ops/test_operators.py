"""Python's operators on tensors, and what becomes a tensor beside one."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

X = np.array([[-3.0, 1.5, 2.0], [4.0, -0.5, 7.0]], np.float32)
N = np.array([7, -7, 3], np.int32)


def run(*fetches):
    with tf.Session() as sess:
        return sess.run(list(fetches))


def test_numbers_and_arrays_on_both_sides():
    x = tf.constant(X)
    for y, want in zip(run(x + 1, 1 - x, 2.0 * x, x / 2, 1 / x, x // 2, x % 2, 2 % x, x ** 2, 2.0 ** x, -x, abs(x)),
                       (X + 1, 1 - X, 2 * X, X / 2, 1 / X, np.floor(X / 2), X % 2, 2 % X, X ** 2, 2 ** X, -X, abs(X)),
                       strict=True):
        np.testing.assert_allclose(y, want, rtol=1e-6)
        assert y.dtype == np.float32
    for y, want in zip(run(X + x, np.float32(2) * x, X[0] - x, [1.0, 2.0, 3.0] + x, x * (1, 2, 3), x @ X.T, X.T @ x),
                       (X + X, 2 * X, X[0] - X, X + [1, 2, 3], X * [1, 2, 3], X @ X.T, X.T @ X), strict=True):
        np.testing.assert_allclose(y, want, rtol=1e-6)


def test_integers():
    n = tf.constant(N)
    results = run(n / 2, n // 2, n % 2, n // -2, n % -2, 2 // n, n ** 2, tf.div(n, 2), tf.truncatediv(n, 2),
                  tf.truncatemod(n, 2))
    wanted = (N / 2, N // 2, N % 2, N // -2, N % -2, 2 // N, N ** 2, N // 2, (N / 2).astype(int), np.fmod(N, 2))
    for y, want in zip(results, wanted, strict=True):
        np.testing.assert_array_equal(y, want)
    assert results[0].dtype == np.float64 and results[1].dtype == np.int32


def test_comparisons_and_logic():
    x = tf.constant(X)
    low, high = x < 0, 2 <= x
    results = run(low, high, x > X[0], x >= 2, low & (x > -1), low | high, low ^ high, ~low, True & low)
    wanted = (X < 0, X >= 2, X > X[0], X >= 2, (X < 0) & (X > -1), (X < 0) | (X >= 2), (X < 0) ^ (X >= 2), X >= 0,
              X < 0)
    for y, want in zip(results, wanted, strict=True):
        np.testing.assert_array_equal(y, want)


def test_identity_is_equality():
    x, y = tf.constant(1.0), tf.constant(1.0)
    assert x == x and x != y and len({x, y}) == 2
    with pytest.raises(TypeError, match="as a Python `bool`"):
        bool(x < y)
    with pytest.raises(TypeError, match="iterable"):
        list(x)


def test_sizes_in_lists():
    x = tf.placeholder(tf.float32, [None, 3])
    assert tf.reshape(x, [-1, x.shape[1]]).shape.as_list() == [None, 3]
    assert tf.zeros([x.shape[1], 2]).shape.as_list() == [3, 2]
    assert tf.fill([x.shape[1], tf.shape(x)[0]], 1.0).shape.as_list() == [3, None]
    with pytest.raises(ValueError, match="unknown Dimension"):
        tf.zeros([x.shape[0], 2])


def test_lists_with_tensors_are_packed():
    a = tf.constant(2.0)
    y = tf.convert_to_tensor([[1.0, a], [a, 4.0]])
    assert y.op.type == "Pack" and y.dtype == tf.float32
    assert run(y, tf.reduce_sum([a, a, 1.0]))[1] == 5.0
    assert run(tf.convert_to_tensor([1, a], dtype=tf.int32))[0].tolist() == [1, 2]
    with pytest.raises(TypeError, match="float64|same dtype|match"):
        tf.convert_to_tensor([a, tf.constant(2.0, tf.float64)])


def test_the_other_operand_may_answer():
    class Other:
        def __radd__(self, x):
            return "radd"

        def __rmul__(self, x):
            return NotImplemented

    x = tf.constant(1.0)
    assert x + Other() == "radd"
    with pytest.raises(TypeError):
        x * Other()


def test_names_come_last_without_a_keyword():
    x = tf.constant(X)
    assert tf.exp(x, "e").op.name == "e" and tf.nn.relu(x, "r").op.name == "r"
    assert tf.add(x, x, "a").op.name == "a" and tf.matmul(x, x, False, True, name="m").op.name == "m"
    assert tf.identity(x, "i").op.name == "i" and tf.reshape(x, [6], "s").op.name == "s"
