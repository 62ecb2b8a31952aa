# Rows of small pictures as sequences, by static_rnn of tf.contrib.rnn.
from __future__ import print_function

import numpy as np
import tensorflow as tf
from tensorflow.contrib import rnn

np.random.seed(1)
tf.set_random_seed(1)
learning_rate, training_iters, batch_size = 0.01, 3200, 32
n_input, n_steps, n_hidden, n_classes = 6, 6, 16, 3
pictures = np.random.rand(n_classes, n_steps, n_input)


def next_batch():
    numbers = np.random.randint(0, n_classes, batch_size)
    return pictures[numbers] + 0.2 * np.random.randn(batch_size, n_steps, n_input), np.eye(n_classes)[numbers]


x = tf.placeholder("float", [None, n_steps, n_input])
y = tf.placeholder("float", [None, n_classes])
weights = {'out': tf.Variable(tf.random_normal([2 * n_hidden, n_classes]))}
biases = {'out': tf.Variable(tf.random_normal([n_classes]))}


def BiRNN(x, weights, biases):
    x = tf.unstack(x, n_steps, 1)
    lstm_fw_cell = rnn.BasicLSTMCell(n_hidden, forget_bias=1.0)
    lstm_bw_cell = rnn.DropoutWrapper(rnn.GRUCell(n_hidden), output_keep_prob=0.9)
    try:
        outputs, _, _ = rnn.static_bidirectional_rnn(lstm_fw_cell, lstm_bw_cell, x, dtype=tf.float32)
    except Exception:
        outputs = rnn.static_bidirectional_rnn(lstm_fw_cell, lstm_bw_cell, x, dtype=tf.float32)
    return tf.matmul(outputs[-1], weights['out']) + biases['out']


pred = BiRNN(x, weights, biases)
cost = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(logits=pred, labels=y))
optimizer = tf.train.AdamOptimizer(learning_rate=learning_rate).minimize(cost)
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(pred, 1), tf.argmax(y, 1)), tf.float32))
init = tf.global_variables_initializer()

with tf.Session() as sess:
    sess.run(init)
    step = 1
    while step * batch_size < training_iters:
        batch_x, batch_y = next_batch()
        sess.run(optimizer, feed_dict={x: batch_x, y: batch_y})
        step += 1
    batch_x, batch_y = next_batch()
    print("score", sess.run(accuracy, feed_dict={x: batch_x, y: batch_y}))
