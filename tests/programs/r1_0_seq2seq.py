# Reversing short sequences: attention of tf.contrib.legacy_seq2seq, buckets, sampled softmax.
import numpy as np
import tensorflow as tf
from tensorflow.contrib.rnn.python.ops import core_rnn_cell

rng = np.random.RandomState(0)
tf.set_random_seed(0)
symbols, length, size, batch = 12, 4, 24, 32
encoder_inputs = [tf.placeholder(tf.int32, shape=[None], name="encoder{0}".format(i)) for i in range(length)]
decoder_inputs = [tf.placeholder(tf.int32, shape=[None], name="decoder{0}".format(i)) for i in range(length + 1)]
target_weights = [tf.placeholder(tf.float32, shape=[None], name="weight{0}".format(i)) for i in range(length + 1)]
targets = decoder_inputs[1:]

w_t = tf.get_variable("proj_w", [symbols, size], dtype=tf.float32)
w = tf.transpose(w_t)
b = tf.get_variable("proj_b", [symbols])


def sampled_loss(labels, inputs):
    labels = tf.reshape(labels, [-1, 1])
    return tf.nn.sampled_softmax_loss(weights=w_t, biases=b, labels=labels, inputs=inputs, num_sampled=8,
                                      num_classes=symbols)


def seq2seq_f(encoder_inputs, decoder_inputs):
    return tf.contrib.legacy_seq2seq.embedding_attention_seq2seq(
        encoder_inputs, decoder_inputs, core_rnn_cell.GRUCell(size), num_encoder_symbols=symbols,
        num_decoder_symbols=symbols, embedding_size=size, output_projection=(w, b), feed_previous=False)


outputs, losses = tf.contrib.legacy_seq2seq.model_with_buckets(
    encoder_inputs, decoder_inputs[:-1], targets, target_weights[:-1], [(length, length)], seq2seq_f,
    softmax_loss_function=sampled_loss)
params = tf.trainable_variables()
clipped, norm = tf.clip_by_global_norm(tf.gradients(losses[0], params), 5.0)
update = tf.train.AdamOptimizer(0.02).apply_gradients(zip(clipped, params))
predicted = tf.stack([tf.argmax(tf.matmul(o, w) + b, 1) for o in outputs[0]], 1)


def feeds():
    xs = rng.randint(2, symbols, (batch, length))
    ys = np.concatenate([np.ones((batch, 1), int), xs[:, ::-1]], 1)
    feed = {p: xs[:, i] for i, p in enumerate(encoder_inputs)}
    feed.update({p: ys[:, i] for i, p in enumerate(decoder_inputs)})
    feed.update({p: np.ones(batch) for p in target_weights})
    return feed, xs[:, ::-1]


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(130):
        sess.run(update, feeds()[0])
    feed, wanted = feeds()
    print("score", np.mean(sess.run(predicted, feed) == wanted))
