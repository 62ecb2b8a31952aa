# Which half of a sequence is larger, by an LSTM unrolled over a list of steps.
import numpy as np
import tensorflow as tf
from tensorflow.models.rnn import rnn, rnn_cell

n_input, n_steps, n_hidden, n_classes, batch_size = 2, 6, 12, 2, 32
rng = np.random.RandomState(3)

x = tf.placeholder("float", [None, n_steps, n_input])
istate = tf.placeholder("float", [None, 2 * n_hidden])
y = tf.placeholder("float", [None, n_classes])

weights = {
    'hidden': tf.Variable(tf.random_normal([n_input, n_hidden], seed=1)),
    'out': tf.Variable(tf.random_normal([n_hidden, n_classes], seed=2)),
}
biases = {
    'hidden': tf.Variable(tf.random_normal([n_hidden], seed=3)),
    'out': tf.Variable(tf.random_normal([n_classes], seed=4)),
}


def RNN(_X, _istate, _weights, _biases):
    _X = tf.transpose(_X, [1, 0, 2])
    _X = tf.reshape(_X, [-1, n_input])
    _X = tf.matmul(_X, _weights['hidden']) + _biases['hidden']
    lstm_cell = rnn_cell.BasicLSTMCell(n_hidden, forget_bias=1.0, state_is_tuple=False)
    _X = tf.split(0, n_steps, _X)
    outputs, states = rnn.rnn(lstm_cell, _X, initial_state=_istate)
    return tf.matmul(outputs[-1], _weights['out']) + _biases['out']


pred = RNN(x, istate, weights, biases)
cost = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(pred, y))
optimizer = tf.train.AdamOptimizer(learning_rate=0.02).minimize(cost)
correct_pred = tf.equal(tf.argmax(pred, 1), tf.argmax(y, 1))
accuracy = tf.reduce_mean(tf.cast(correct_pred, tf.float32))


def batch():
    xs = rng.rand(batch_size, n_steps, n_input)
    label = xs[:, :3].sum((1, 2)) > xs[:, 3:].sum((1, 2))
    return {x: xs, y: np.stack([label, ~label], 1), istate: np.zeros((batch_size, 2 * n_hidden))}


with tf.Session() as sess:
    sess.run(tf.initialize_all_variables())
    for step in range(150):
        sess.run(optimizer, feed_dict=batch())
    print("score", np.mean([sess.run(accuracy, feed_dict=batch()) for _ in range(10)]))
