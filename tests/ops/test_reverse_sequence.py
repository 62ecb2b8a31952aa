"""tf.reverse_sequence: values, gradients, errors; in a program whose other ops are compiled too."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf


def reference(x, lengths, along, batch):
    moved = np.moveaxis(x, (batch, along), (0, 1)).copy()
    for row, n in zip(moved, lengths, strict=True):
        row[:n] = row[:n][::-1].copy()
    return np.moveaxis(moved, (0, 1), (batch, along))


@pytest.mark.parametrize("along, batch", [(0, 1), (1, 0), (2, 1), (0, 2)])
def test_each_example_by_its_length(along, batch):
    x = np.random.default_rng(0).normal(size=(4, 4, 4)).astype(np.float32)
    lengths = [4, 0, 1, 3]
    made = tf.reverse_sequence(tf.Variable(x) * 1, lengths, along, batch)
    slices = tf.unstack(made)
    slope, = tf.gradients(made, made.op.inputs[0], tf.constant(x))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(2):                  # interpreted, then compiled
            assert (sess.run(made) == reference(x, lengths, along, batch)).all()
            # A NumPy result that is transposed in memory must not reach kernels so.
            assert (np.array(sess.run(slices)) == reference(x, lengths, along, batch)).all()
            assert (sess.run(slope) == reference(x, lengths, along, batch)).all()


def test_errors():
    with pytest.raises(ValueError, match="must differ"):
        tf.reverse_sequence(tf.ones([2, 2]), [1, 1], 0, 0)
    with pytest.raises(ValueError, match="seq_dim must be in"):
        tf.reverse_sequence(tf.ones([2, 2]), [1, 1], 2, 0)
    with pytest.raises(ValueError):
        tf.reverse_sequence(tf.ones([2, 2]), [1, 1, 1], 1, 0)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="seq_lengths must be in"):
        sess.run(tf.reverse_sequence(tf.ones([2, 2]), [1, 3], 1, 0))
