"""What the tracer leaves out: reductions of one element each, constants of one number; results stay what they are."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.options import options


@pytest.fixture(params=["never", "always"])
def session(request, monkeypatch):
    monkeypatch.setattr(options, "compile", request.param)
    with tf.Session() as sess:
        yield sess


def launches(fetches, feed, sess):
    return sum(line.startswith("k") and not line.startswith("kernel") for line in
               tf.explain(fetches, feed, sess).splitlines())


@pytest.mark.parametrize("reduce", [tf.reduce_sum, tf.reduce_max, tf.reduce_prod, tf.reduce_mean, tf.reduce_all])
def test_reductions_of_one_element(reduce, session):
    x = tf.placeholder(tf.float32, [None, 1, None])
    y = x > 0.5 if reduce is tf.reduce_all else x * 2.0
    value = np.random.default_rng(1).normal(size=(3, 1, 4)).astype("f")
    base = value > 0.5 if reduce is tf.reduce_all else value * 2
    for axes, keep in (([], False), ([1], False), ([1], True)):
        got = session.run([reduce(y, axes, keepdims=keep), y], {x: value})
        np.testing.assert_array_equal(got[0], base if keep or not axes else base[:, 0])
        np.testing.assert_array_equal(got[1], base)


def test_no_kernel_for_them(session):
    x = tf.placeholder(tf.float32, [3, 1])
    assert launches(tf.reduce_sum(x * 2.0, [1]), {x: np.ones((3, 1))}, session) == 1


@pytest.mark.parametrize("number", [0.0, -0.0, np.nan, np.inf, 1.5])
def test_constants_of_one_number(number, session):
    x = tf.placeholder(tf.float32, [2, 3])
    same = tf.fill([2, 3], np.float32(number))
    mixed = np.array([[0.0, -0.0, 0.0], [0.0, 0.0, 0.0]], "f")
    ones = np.ones((2, 3), "f")
    with np.errstate(all="ignore"):
        for tensor, want in ((x * same, ones * np.float32(number)), (x / same, ones / np.float32(number)),
                             (x / tf.constant(mixed), ones / mixed), (tf.transpose(same) @ x, None),
                             (tf.where(x > 0, same, x), ones * np.float32(number))):
            got = session.run(tensor, {x: ones})
            if want is not None:
                np.testing.assert_array_equal(got, want)
                np.testing.assert_array_equal(np.signbit(got), np.signbit(want) if not np.isnan(number) else
                                              np.signbit(got))
