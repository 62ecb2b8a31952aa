"""Definitions of which operands are known: what is left of them, and powers beside C's."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests import modes
from tfnb.kernels.scalar.decided import decided
from tfnb.kernels.scalar.definition import read
from tfnb.kernels.scalar.rowwise import Fragment

# ruff: noqa: F821
POWERS = (-4, -2.25, -2, -1, -0.75, -0.5, 0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 0.3, 5, np.inf, np.nan)
X = (-np.inf, -1e20, -3, -1, -1e-30, -0.0, 0.0, 1e-30, 0.7, 1, 2.5, 1e9, np.inf, np.nan)


def Rooted(x, power, *, twice=False):
    y = where(power == -0.5, sqrt(x), x ** -power)
    return where(twice, 2 * y, y)


def names(scalar):
    return [step.primitive for step in scalar.program().steps]


def test_the_side_that_a_known_number_chooses_is_left():
    made = decided(read(Rooted), (("twice", True),), "float32", {1: np.float32(-0.5)})
    assert isinstance(made, Fragment) and names(made) == ["sqrt", "mul"] and made.params == ("x0", "x1")
    made = decided(read(Rooted), (), "float32", {1: np.float32(-0.3)})
    assert names(made) == ["neg", "pow"]               # -0.3 stays an operand: its kernel serves all other powers


def test_what_decides_nothing_changes_nothing():
    def Line(x, slope):
        return x * slope
    scalar = read(Line)
    assert decided(scalar, (), "float32", {1: np.float32(2)}) is scalar
    assert decided(scalar, (), "float32", {}) is scalar


@pytest.mark.parametrize("type", ["float32", "float64"])
def test_known_powers_are_those_of_c(type):
    with np.errstate(all="ignore"):
        x = np.array(X, type)
        fed = tf.placeholder(type, x.shape)
        made = modes.run([tf.pow(fed, tf.constant(y, type)) for y in POWERS], {fed: x})
        for y, found in zip(POWERS, made, strict=True):
            expected = np.power(x, np.full(x.shape, y, type))
            np.testing.assert_allclose(found, expected, rtol=2 * np.finfo(type).eps, err_msg=str(y))
            numbers = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(expected)[numbers], str(y))


def test_the_interpreter_takes_no_square_root_of_minus_infinity_either():
    np.testing.assert_array_equal(modes.run(tf.pow(np.float32([-np.inf, 4]), 0.5), mode="never"), [np.inf, 2])
    assert not np.signbit(modes.run(tf.pow(np.float32([-0.0]), 0.5), mode="never"))


@pytest.mark.parametrize("type", ["int8", "int32", "int64"])
def test_known_powers_of_integers(type):
    x = np.arange(-5, 6).astype(type)
    fed = tf.placeholder(type, x.shape)
    for y, found in enumerate(modes.run([tf.pow(fed, tf.constant(y, type)) for y in range(6)], {fed: x})):
        np.testing.assert_array_equal(found, x ** np.array(y, type))


def test_steps_of_ftrl_take_a_power_only_where_they_must():
    for power, expected in ((-0.5, False), (-0.3, True)):
        with tf.Graph().as_default(), tf.Session() as sess:
            v = tf.Variable(np.ones(40, np.float32))
            rows = tf.IndexedSlices(tf.ones([2, 4]), [0, 3], [5, 4])
            table = tf.Variable(np.ones((5, 4), np.float32))
            optimizer = tf.train.FtrlOptimizer(0.1, power)
            step = optimizer.apply_gradients([(v * 2, v), (rows, table)])
            sess.run(tf.global_variables_initializer())
            for _ in range(3):
                sess.run(step)
            assert ("pow(" in tf.explain(step, session=sess, sources=True)) == expected
