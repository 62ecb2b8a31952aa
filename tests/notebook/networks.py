"""Networks whose drawings have edges past many boxes: residuals, loops, skips over half of a network."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tfnb as tf


def convolutional() -> None:
    """Two convolutions and a dense layer by bare ops, with gradients: the input feeds the filters' gradient, too."""
    x = tf.placeholder(tf.float32, [None, 28, 28, 1], name="x")
    y = tf.placeholder(tf.int64, [None], name="y")
    net = x
    for i, (before, after) in enumerate(((1, 8), (8, 16))):
        with tf.name_scope(f"conv{'ab'[i]}"):
            filters = tf.Variable(tf.random_normal([3, 3, before, after]), name="filters")
            net = tf.nn.max_pool(tf.nn.relu(tf.nn.conv2d(net, filters, [1, 1, 1, 1], "SAME")), [1, 2, 2, 1],
                                 [1, 2, 2, 1], "SAME")
    logits = tf.layers.dense(tf.reshape(net, [-1, 784]), 10, name="logits")
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def transformer() -> None:
    """A block of a Transformer: attention with four heads and two layers, each with a residual and a norm."""
    x = tf.placeholder(tf.float32, [None, 10, 32], name="x")
    with tf.variable_scope("block"):
        with tf.variable_scope("attention"):
            heads = [tf.transpose(tf.reshape(tf.layers.dense(x, 32, name=name), [-1, 10, 4, 8]), [0, 2, 1, 3])
                     for name in ("query", "key", "value")]
            weights = tf.nn.softmax(tf.matmul(heads[0], heads[1], transpose_b=True) / 8 ** 0.5)
            mixed = tf.reshape(tf.transpose(tf.matmul(weights, heads[2]), [0, 2, 1, 3]), [-1, 10, 32])
            out = tf.layers.dense(mixed, 32, name="out")
        net = tf.contrib.layers.layer_norm(x + out, scope="norm_a")
        with tf.variable_scope("forward"):
            out = tf.layers.dense(tf.layers.dense(net, 64, tf.nn.relu, name="wide"), 32, name="narrow")
        net = tf.contrib.layers.layer_norm(net + out, scope="norm_b")
    tf.reduce_mean(net, name="mean")


def recurrent() -> None:
    """An LSTM over time, and a layer that reads its last output."""
    x = tf.placeholder(tf.float32, [4, 6, 8], name="x")
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(16), x, dtype=tf.float32)
    tf.reduce_mean(tf.layers.dense(outputs[:, -1], 3), name="loss")


def u_net() -> None:
    """Three levels down and up again, with a skip over what is below each."""
    net = tf.placeholder(tf.float32, [None, 32, 32, 1], name="x")
    skips = []
    for i in range(3):
        net = tf.layers.conv2d(net, 8 << i, 3, padding="same", activation=tf.nn.relu, name=f"down_{'abc'[i]}")
        skips.append(net)
        net = tf.layers.max_pooling2d(net, 2, 2, name=f"pool_{'abc'[i]}")
    net = tf.layers.conv2d(net, 64, 3, padding="same", activation=tf.nn.relu, name="bottom")
    for i in (2, 1, 0):
        net = tf.layers.conv2d_transpose(net, 8 << i, 2, 2, name=f"up_{'abc'[i]}")
        net = tf.layers.conv2d(tf.concat([net, skips[i]], 3), 8 << i, 3, padding="same", activation=tf.nn.relu,
                               name=f"joined_{'abc'[i]}")
    tf.reduce_mean(net, name="loss")


def sequences() -> None:
    """An encoder, attention over its outputs and a decoder, each a loop."""
    source = tf.placeholder(tf.int32, [4, 7], name="source")
    target = tf.placeholder(tf.int32, [4, 5], name="target")
    lengths = tf.placeholder(tf.int32, [4], name="lengths")
    table = tf.get_variable("table", [20, 8])
    with tf.variable_scope("encoder"):
        memory, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(8), tf.nn.embedding_lookup(table, source), lengths,
                                          dtype=tf.float32)
    with tf.variable_scope("decoder"):
        attention = tf.contrib.seq2seq.LuongAttention(8, memory, lengths)
        cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(8), attention, 8)
        helper = tf.contrib.seq2seq.TrainingHelper(tf.nn.embedding_lookup(table, target), tf.fill([4], 5))
        first = cell.zero_state(4, tf.float32).clone(cell_state=state)
        decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, first, tf.layers.Dense(20))
        outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder)
    tf.losses.sparse_softmax_cross_entropy(target, outputs.rnn_output)


NETWORKS: dict[str, Callable[[], Any]] = {
    "convolutional": convolutional, "transformer": transformer, "recurrent": recurrent, "u_net": u_net,
    "sequences": sequences}
