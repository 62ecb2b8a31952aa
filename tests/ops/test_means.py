"""Means of integers: summed in 64 bits, rounded towards zero, as in TensorFlow; of segments too."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences

VALUES = ("np.ones(300)", "np.arange(300) % 128", "np.full(70000, 3)", "np.full([3, 4], 100)", "np.zeros([0, 2])")
SIGNED = ("np.arange(-100, 100)", "np.array([-7, 2, 2])")
SETUP = '''
def means(values, dtype):
    x = tf.placeholder(dtype)
    fed = values.astype(dtype.as_numpy_dtype)
    return [tf.Session().run(tf.reduce_mean(x, axis), {x: fed}) for axis in (None, 0)]
def segment_means(values, dtype):
    x = tf.constant(values.astype(dtype.as_numpy_dtype))
    made = tf.segment_mean(x, [0, 0, 2]), tf.unsorted_segment_mean(x, [0, 0, 2], 4)
    return tf.Session().run(made)
'''


def test_means_of_integers(oracle):
    snippets = {f"{dtype} {values}": f"means({values}, tf.{dtype})"
                for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")
                for values in VALUES + (() if dtype.startswith("u") else SIGNED)}
    rows = "np.array([[-3, 5, 100], [2, -8, 100], [-7, 7, 100]])"
    snippets |= {f"segments of {dtype}": f"segment_means({rows}, tf.{dtype})"
                 for dtype in ("int8", "int32", "int64", "uint8", "float32")}
    snippets["int32, large"] = "means(np.full(8, 2 ** 30), tf.int32)"
    assert not differences(oracle, snippets, SETUP, modes=("never", "always"))


@pytest.mark.parametrize("shape, axis, most", [((490, 64), 0, 9e-5), ((8, 490, 64), 1, 1.2e-4), ((10000, 8), 0, 3e-4),
                                               ((21, 5), 0, 4e-5)])
def test_means_over_leading_axes_are_as_exact_as_those_of_tensorflow(shape, axis, most):
    """Rows are added by pairs: one after another, they are off by 1.9e-4, 2.5e-4 and 4.2e-4."""
    given = (256 + np.random.RandomState(0).randn(*shape)).astype(np.float32)
    x = tf.placeholder(tf.float32, shape)
    y = tf.reduce_mean(x, axis)
    with tf.Session() as sess:
        for _ in range(3):
            assert abs(sess.run(y, {x: given}) - given.astype(np.float64).mean(axis)).max() < most
