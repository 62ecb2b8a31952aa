# Characters of a text by stacked cells, decoded step by step; then sampled from.
import numpy as np
import tensorflow as tf
from tensorflow.python.ops import rnn_cell, seq2seq

text = "the quick brown fox jumps over the lazy dog. " * 30
chars = sorted(set(text))
vocab = {c: i for i, c in enumerate(chars)}
data = np.array([vocab[c] for c in text])


class Model():
    def __init__(self, batch_size, seq_length, rnn_size=48, num_layers=2, infer=False):
        cell = rnn_cell.BasicLSTMCell(rnn_size, state_is_tuple=True)
        self.cell = cell = rnn_cell.MultiRNNCell([cell] * num_layers, state_is_tuple=True)
        self.input_data = tf.placeholder(tf.int32, [batch_size, seq_length])
        self.targets = tf.placeholder(tf.int32, [batch_size, seq_length])
        self.initial_state = cell.zero_state(batch_size, tf.float32)
        with tf.variable_scope('rnnlm'):
            softmax_w = tf.get_variable("softmax_w", [rnn_size, len(chars)])
            softmax_b = tf.get_variable("softmax_b", [len(chars)])
            with tf.device("/cpu:0"):
                embedding = tf.get_variable("embedding", [len(chars), rnn_size])
                inputs = tf.split(1, seq_length, tf.nn.embedding_lookup(embedding, self.input_data))
                inputs = [tf.squeeze(input_, [1]) for input_ in inputs]

        def loop(prev, _):
            prev = tf.matmul(prev, softmax_w) + softmax_b
            return tf.nn.embedding_lookup(embedding, tf.stop_gradient(tf.argmax(prev, 1)))

        outputs, last_state = seq2seq.rnn_decoder(inputs, self.initial_state, cell,
                                                  loop_function=loop if infer else None, scope='rnnlm')
        output = tf.reshape(tf.concat(1, outputs), [-1, rnn_size])
        self.logits = tf.matmul(output, softmax_w) + softmax_b
        self.probs = tf.nn.softmax(self.logits)
        loss = seq2seq.sequence_loss_by_example([self.logits], [tf.reshape(self.targets, [-1])],
                                                [tf.ones([batch_size * seq_length])], len(chars))
        self.cost = tf.reduce_sum(loss) / batch_size / seq_length
        self.final_state = last_state
        if not infer:
            self.lr = tf.Variable(0.0, trainable=False)
            tvars = tf.trainable_variables()
            grads, _ = tf.clip_by_global_norm(tf.gradients(self.cost, tvars), 5.0)
            self.train_op = tf.train.AdamOptimizer(self.lr).apply_gradients(zip(grads, tvars))


tf.set_random_seed(1)
batch_size, seq_length = 8, 9
train = Model(batch_size, seq_length)
tf.get_variable_scope().reuse_variables()
sample = Model(1, 1, infer=True)
with tf.Session() as sess:
    tf.initialize_all_variables().run()
    sess.run(tf.assign(train.lr, 0.01))
    steps = data[:batch_size * 160].reshape(batch_size, 160)
    for epoch in range(14):
        state = sess.run(train.initial_state)
        for k in range(0, 150, seq_length):
            feed = {train.input_data: steps[:, k:k + seq_length], train.targets: steps[:, k + 1:k + 1 + seq_length]}
            for i, (c, h) in enumerate(train.initial_state):
                feed[c] = state[i].c
                feed[h] = state[i].h
            train_loss, state, _ = sess.run([train.cost, train.final_state, train.train_op], feed)
    state = sess.run(sample.cell.zero_state(1, tf.float32))
    ret = "t"
    for n in range(40):
        probs, state = sess.run([sample.probs, sample.final_state],
                                {sample.input_data: [[vocab[ret[-1]]]], sample.initial_state: state})
        ret += chars[int(np.argmax(probs[0]))]
    print(ret)
    print("score", train_loss)
