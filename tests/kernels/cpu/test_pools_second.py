"""Second gradients of max pools, and indices of maxima: kernels beside the NumPy forms, over windows and layouts."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests import modes

WINDOWS = [((2, 2), (2, 2), "VALID"), ((3, 3), (2, 2), "SAME"), ((3, 2), (1, 3), "SAME"), ((4, 5), (2, 1), "SAME")]


def images(*shape):
    """Small integers, so that windows have equal elements, and some NaN."""
    made = np.random.RandomState(3).randint(0, 5, shape).astype("f4")
    made[0, 1, 1] = np.nan
    return made


@pytest.mark.parametrize(("size", "stride", "padding"), WINDOWS)
def test_kernels_are_their_numpy_forms(size, stride, padding):
    how = {"ksize": [1, *size, 1], "strides": [1, *stride, 1], "padding": padding}
    x, v = tf.placeholder(tf.float32, [2, 7, 6, 3]), tf.placeholder(tf.float32, [1, 4, 6, 5, 2])
    deep = {"ksize": [1, 2, *size, 1], "strides": [1, 1, *stride, 1], "padding": padding}
    raw = tf.raw_ops
    fetches = []
    for of_batch in (False, True):
        fetches += raw.MaxPoolWithArgmax(input=x, include_batch_in_index=of_batch, Targmax=tf.int32, **how)
    y, z = fetches[0], raw.MaxPool3D(input=v, **deep)
    slopes = tf.reshape(tf.range(tf.size(x), dtype=tf.float32), tf.shape(x))
    deeper = tf.reshape(tf.range(tf.size(v), dtype=tf.float32), tf.shape(v))
    fetches += [raw.MaxPoolGradGrad(orig_input=x, orig_output=y, grad=slopes, **how),
                raw.MaxPoolGradGradV2(orig_input=x, orig_output=y, grad=slopes, **how),
                raw.MaxPool3DGradGrad(orig_input=v, orig_output=z, grad=deeper, **deep)]
    first = {**how, "ksize": [1, 1, *size], "strides": [1, 1, *stride], "data_format": "NCHW"}
    fetches += [raw.MaxPoolGradGrad(orig_input=tf.transpose(x, [0, 3, 1, 2]), orig_output=tf.transpose(y, [0, 3, 1, 2]),
                                    grad=tf.transpose(slopes, [0, 3, 1, 2]), **first)]
    feeds = {x: images(2, 7, 6, 3), v: images(1, 4, 6, 5, 2)}
    with tf.Session() as sess:
        assert all(stage.on_device for stage in sess.plan(fetches, feeds).stages)
    for got, expected in zip(modes.run(fetches, feeds), modes.run(fetches, feeds, "never"), strict=True):
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)


def test_indices_are_those_of_tensorflow(oracle):
    x = images(2, 7, 6, 3)
    source = """
result = []
for size, stride, padding in windows:
    result += tf.raw_ops.MaxPoolWithArgmax(input=x, ksize=[1, *size, 1], strides=[1, *stride, 1], padding=padding)
"""
    scope = {"tf": tf, "x": np.nan_to_num(x), "windows": WINDOWS}
    exec(source, scope)
    theirs = oracle(f"{source}result = tf.Session().run(result)", x=scope["x"], windows=WINDOWS)
    for got, expected in zip(modes.run(scope["result"]), theirs, strict=True):
        np.testing.assert_array_equal(got, expected)
