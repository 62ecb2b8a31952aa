"""Diagonals of matrices, set, taken and made: compiled (by copies) beside interpreted (by NumPy)."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests import modes

BANDS = (0, 1, -1, (-1, 1), (-1, 0))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.bool_])
@pytest.mark.parametrize("shape", [(2, 4, 4), (3, 5), (2, 1, 6, 2)])
def test_copies(dtype, shape):
    x = tf.placeholder(dtype, shape)
    value = (np.random.default_rng(0).random(shape) * 9).astype(dtype)
    rows, columns = shape[-2:]
    wanted = []
    for k, align in ((k, align) for k in BANDS for align in ("LEFT_RIGHT", "RIGHT_LEFT")):
        part = tf.matrix_diag_part(x, k=k, align=align, padding_value=True if dtype == np.bool_ else 7)
        turned = tf.matrix_diag_part(x[..., ::-1, :], k=k, align=align)
        wanted += [part, tf.matrix_set_diag(x, turned, k=k, align=align),
                   tf.matrix_diag(turned, k=k, num_rows=rows, num_cols=columns, align=align)]
    wanted.append(tf.matrix_diag(x))
    for tensor, found, plain in zip(wanted, modes.run(wanted, {x: value}), modes.run(wanted, {x: value}, "never"),
                                    strict=True):
        np.testing.assert_array_equal(found, plain, err_msg=tensor.name)


def test_no_host_call_is_left():
    x = tf.Variable(tf.ones([3, 4, 4]))
    slope = tf.gradients(tf.linalg.set_diag(x, tf.matrix_diag_part(x) * 2.0), x)
    with tf.Session() as sess:
        sess.run(x.initializer)
        assert all(stage.on_device for stage in sess.plan(slope).stages)
