"""Scatter ops without a variable: as TensorFlow's, with duplicates and gradients, interpreted and compiled."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.differential import here, there
from tfnb.core.options import options

CALLS = ["tensor_scatter_update", "tensor_scatter_add", "tensor_scatter_sub", "tensor_scatter_nd_update",
         "tensor_scatter_nd_add", "tensor_scatter_nd_sub", "tensor_scatter_nd_max", "tensor_scatter_nd_min"]
SNIPPETS = [f"""
    x = tf.constant(np.arange(12., dtype="{dtype}").reshape(4, 3))
    y = tf.{name}(x, {indices}, tf.constant(np.array({updates}, "{dtype}")))
    [y.op.type, y.name, y.shape.as_list(), tf.Session().run(y)]
    """ for name in CALLS for dtype in ("f", "i") for indices, updates in (
    ([[0], [2]], [[5, 5, 5], [6, 6, 6]]), ([[0, 1], [3, 2], [0, 1]], [9, -9, 2]), ([[[0, 1]], [[3, 2]]], [[9], [8]]),
    ([[4]], [[1, 1, 1]]), ([[0]], [[1, 1]]))] + [f"""
    x, u = tf.constant(np.ones([4, 3], "f")), tf.constant(np.full([2, 3], 2., "f"))
    y = tf.{name}(x, [[0], [2]], u)
    tf.Session().run(tf.gradients(tf.square(y) * np.arange(12., dtype="f").reshape(4, 3), [x, u]))
    """ for name in CALLS[:3]]


@pytest.mark.parametrize("mode", ["never", "always"])
def test_as_tensorflow(mode, oracle, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    for snippet, ours, theirs in zip(SNIPPETS, here(SNIPPETS), there(oracle, SNIPPETS), strict=True):
        assert ours == theirs, snippet


def test_coordinates_of_too_many_axes():
    with pytest.raises(ValueError, match="last dimension of indices"):
        tf.tensor_scatter_update(tf.zeros([4, 3]), [[0, 0, 0]], [1.0])


def test_the_tensor_itself_stays():
    v = tf.Variable(np.zeros(3, "f"))
    changed = tf.tensor_scatter_add(v, [[1]], [5.0])
    with tf.Session() as sess:
        sess.run(v.initializer)
        for _ in range(3):
            assert sess.run([changed, v])[0].tolist() == [0, 5, 0] and not sess.run(v).any()
