# Sequences of different lengths: dynamic_rnn, embedding, stacked cells with dropout.
import numpy as np
import tensorflow as tf

np.random.seed(0)
tf.set_random_seed(0)
VOCAB, MAX_LEN, HIDDEN = 10, 8, 16


def make_batch(n=48):
    lengths = np.random.randint(2, MAX_LEN + 1, n)
    ids = np.random.randint(1, VOCAB, (n, MAX_LEN)) * (np.arange(MAX_LEN) < lengths[:, None])
    return ids, lengths, (ids == 3).any(1).astype(np.int32)


inputs = tf.placeholder(tf.int32, [None, None], name="inputs")
lengths = tf.placeholder(tf.int32, [None], name="lengths")
labels = tf.placeholder(tf.int32, [None], name="labels")
keep_prob = tf.placeholder_with_default(1.0, shape=())

with tf.variable_scope("embedding"):
    embeddings = tf.get_variable("W", [VOCAB, 8], initializer=tf.random_uniform_initializer(-1, 1))
    embedded = tf.nn.embedding_lookup(embeddings, inputs)


def lstm_cell():
    return tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.LSTMCell(HIDDEN), output_keep_prob=keep_prob)


cell = tf.nn.rnn_cell.MultiRNNCell([lstm_cell() for _ in range(2)])
outputs, state = tf.nn.dynamic_rnn(cell, embedded, sequence_length=lengths, dtype=tf.float32)
batch_range = tf.range(tf.shape(outputs)[0])
last = tf.gather_nd(outputs, tf.stack([batch_range, lengths - 1], axis=1))
with tf.control_dependencies([tf.assert_equal(last, state[-1].h)]):
    last = tf.identity(last)
logits = tf.layers.dense(last, 2)
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
optimizer = tf.train.AdamOptimizer(learning_rate=0.02)
gradients, variables = zip(*optimizer.compute_gradients(loss))
gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
optimize = optimizer.apply_gradients(zip(gradients, variables))
accuracy, update = tf.metrics.accuracy(labels, tf.argmax(logits, 1))

with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    for step in range(150):
        ids, sizes, wanted = make_batch()
        sess.run(optimize, {inputs: ids, lengths: sizes, labels: wanted})
    for _ in range(5):
        ids, sizes, wanted = make_batch()
        sess.run(update, {inputs: ids, lengths: sizes, labels: wanted})
    print("score", sess.run(accuracy))
