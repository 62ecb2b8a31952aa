"""Layers: losses and updates by their inputs, sizes as TensorShapes."""
from __future__ import annotations

import pytest

import tfnb as tf


def test_losses_and_updates_for_inputs():
    x, y = tf.placeholder(tf.float32, [4, 3]), tf.placeholder(tf.float32, [4, 3])
    norm = tf.layers.BatchNormalization()
    norm(x, training=True)
    assert len(norm.get_updates_for(x)) == 2 and not norm.get_updates_for(None) and not norm.get_updates_for(y)
    dense = tf.layers.Dense(2, kernel_regularizer=tf.nn.l2_loss, activity_regularizer=tf.reduce_sum)
    dense(x)
    assert len(dense.losses) == 2 and len(dense.get_losses_for(None)) == 1 and not dense.get_losses_for(y)
    assert dense.get_losses_for([x, y]) == [dense.losses[1]]
    step = tf.Variable(0)
    dense.add_update(step.assign_add(1))
    assert dense.get_updates_for(None) == dense.updates and not dense.get_updates_for(x)


SIZES = [
    lambda x: tf.layers.conv2d(x, 4, x.get_shape()[1:3]), lambda x: tf.layers.conv2d(x, 4, [x.shape[1], x.shape[2]]),
    lambda x: tf.layers.max_pooling2d(x, x.shape[1:3], tf.TensorShape([2, 2])),
    lambda x: tf.layers.conv2d(x, 4, 3, strides=tf.TensorShape([2, 2])),
    lambda x: tf.layers.conv2d_transpose(x, 4, tf.TensorShape([3, 3]), tf.TensorShape([2, 2])),
    lambda x: tf.layers.separable_conv2d(x, 4, x.shape[1:3]), lambda x: tf.layers.conv1d(x[:, 0], 4, x.shape[1:2]),
    lambda x: tf.contrib.layers.conv2d(x, 4, x.shape[1:3]), lambda x: tf.contrib.layers.max_pool2d(x, x.shape[1:3]),
    lambda x: tf.layers.conv3d(tf.zeros([1, 8, 8, 8, 1]), 2, tf.TensorShape([2, 2, 2])),
]


@pytest.mark.parametrize("number", range(len(SIZES)))
def test_sizes_may_be_shapes(number):
    x = tf.zeros([2, 8, 8, 3])
    with tf.Session() as sess:
        made = SIZES[number](x)
        sess.run(tf.global_variables_initializer())
        assert sess.run(made).shape == tuple(made.shape.as_list())


@pytest.mark.parametrize("size", [tf.TensorShape([8]), tf.TensorShape([None, 8]), tf.TensorShape(None), "33", None])
def test_sizes_that_are_none(size):
    with pytest.raises(ValueError, match="kernel_size.*tuple of 2 integers"):
        tf.layers.conv2d(tf.zeros([2, 8, 8, 3]), 4, size)
