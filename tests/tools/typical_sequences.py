"""A sequence-to-sequence model fed by queues, in TensorFlow 1's usual lines (test_stubs.py)."""
# ruff: noqa
import argparse
import collections
import os
import random
import time

import numpy as np
import tfnb as tf
from tfnb.contrib import rnn
from tfnb.contrib.rnn import LSTMStateTuple
from tfnb.python.ops import rnn_cell_impl

flags = tf.app.flags
FLAGS = flags.FLAGS
flags.DEFINE_string("data_dir", "data", "Where the records are.")
flags.DEFINE_integer("batch_size", 32, "Sequences in a batch.")
flags.DEFINE_float("learning_rate", 1e-3, "First learning rate.")
flags.DEFINE_boolean("attention", True, "Whether the decoder has attention.")

PAD_ID, GO_ID, EOS_ID = 0, 1, 2
Batch = collections.namedtuple("Batch", ["inputs", "targets", "lengths"])


def write_records(path, sequences):
    writer = tf.python_io.TFRecordWriter(path)
    for source, target in sequences:
        context = tf.train.Features(feature={
            "length": tf.train.Feature(int64_list=tf.train.Int64List(value=[len(source)])),
            "source": tf.train.Feature(int64_list=tf.train.Int64List(value=source)),
            "target": tf.train.Feature(int64_list=tf.train.Int64List(value=target)),
            "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"pair"])),
        })
        writer.write(tf.train.Example(features=context).SerializeToString())
    writer.close()


def read_batch(pattern, batch_size, num_epochs=None):
    files = tf.gfile.Glob(pattern)
    queue = tf.train.string_input_producer(files, num_epochs=num_epochs, shuffle=True, seed=3)
    reader = tf.TFRecordReader()
    _, serialized = reader.read(queue)
    parsed = tf.parse_single_example(serialized, features={
        "length": tf.FixedLenFeature([], tf.int64),
        "source": tf.FixedLenFeature([10], tf.int64),
        "target": tf.VarLenFeature(tf.int64),
    })
    source = tf.cast(parsed["source"], tf.int32)
    target = tf.sparse_tensor_to_dense(parsed["target"], default_value=PAD_ID)
    target = tf.reshape(tf.cast(target, tf.int32), [10])
    length = tf.cast(parsed["length"], tf.int32)
    inputs, targets, lengths = tf.train.shuffle_batch(
        [source, target, length], batch_size=batch_size, num_threads=2, capacity=1000 + 3 * batch_size,
        min_after_dequeue=1000)
    return Batch(inputs, targets, lengths)


def make_cell(size, keep_prob, num_layers=2):
    def one():
        cell = tf.nn.rnn_cell.BasicLSTMCell(size, forget_bias=1.0, state_is_tuple=True)
        return tf.nn.rnn_cell.DropoutWrapper(cell, input_keep_prob=keep_prob, output_keep_prob=keep_prob)
    return tf.nn.rnn_cell.MultiRNNCell([one() for _ in range(num_layers)], state_is_tuple=True)


class Encoder(object):
    """Bidirectional encoder."""

    def __init__(self, hidden, keep_prob):
        self.hidden = hidden
        self.keep_prob = keep_prob

    def encode(self, inputs, lengths, scope=None):
        with tf.variable_scope(scope or "encoder", initializer=tf.orthogonal_initializer()):
            forward = tf.contrib.rnn.GRUCell(self.hidden)
            backward = rnn.GRUCell(self.hidden)
            outputs, states = tf.nn.bidirectional_dynamic_rnn(
                forward, backward, inputs, sequence_length=lengths, dtype=tf.float32, time_major=False)
            joined = tf.concat(outputs, 2)
            return tf.nn.dropout(joined, self.keep_prob), tf.concat(states, 1)


class Seq2Seq:
    """Encoder and decoder with attention."""

    def __init__(self, vocabulary, hidden=64, is_training=True):
        self.vocabulary, self.hidden, self.is_training = vocabulary, hidden, is_training
        self.global_step = tf.Variable(0, trainable=False, name="global_step")
        self.keep_prob = tf.placeholder_with_default(1.0, shape=[], name="keep_prob")
        with tf.device("/cpu:0"):
            self.embedding = tf.get_variable("embedding", [vocabulary, hidden],
                                             initializer=tf.random_uniform_initializer(-0.1, 0.1))

    def build(self, batch):
        embedded = tf.nn.embedding_lookup(self.embedding, batch.inputs)
        memory, state = Encoder(self.hidden, self.keep_prob).encode(embedded, batch.lengths)
        cell = make_cell(self.hidden, self.keep_prob)
        start = tf.fill([tf.shape(batch.inputs)[0], 1], GO_ID)
        shifted = tf.concat([start, batch.targets[:, :-1]], axis=1)
        inputs = tf.nn.embedding_lookup(self.embedding, shifted)
        context = tf.tile(tf.expand_dims(state, 1), [1, tf.shape(inputs)[1], 1])
        outputs, final = tf.nn.dynamic_rnn(cell, tf.concat([inputs, context], 2), sequence_length=batch.lengths,
                                           dtype=tf.float32, scope="decoder")
        if FLAGS.attention:
            outputs = self.attend(outputs, memory)
        logits = tf.layers.dense(outputs, self.vocabulary, name="projection")
        mask = tf.sequence_mask(batch.lengths, maxlen=10, dtype=tf.float32)
        self.loss = tf.contrib.seq2seq.sequence_loss(logits, batch.targets, mask, average_across_timesteps=True)
        self.predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)
        correct = tf.cast(tf.equal(self.predictions, batch.targets), tf.float32) * mask
        self.accuracy = tf.reduce_sum(correct) / tf.maximum(tf.reduce_sum(mask), 1.0)
        self.final_state = final
        assert isinstance(final[0], LSTMStateTuple)
        return logits

    def attend(self, outputs, memory):
        query = tf.layers.dense(outputs, 2 * self.hidden, use_bias=False, name="query")
        scores = tf.matmul(query, memory, transpose_b=True)
        weights = tf.nn.softmax(scores / tf.sqrt(tf.cast(self.hidden, tf.float32)), name="alignments")
        return tf.concat([outputs, tf.matmul(weights, memory)], axis=-1)

    def train_op(self):
        rate = tf.train.exponential_decay(FLAGS.learning_rate, self.global_step, 1000, 0.96, staircase=True)
        optimizer = tf.train.AdamOptimizer(rate, beta1=0.9, beta2=0.98, epsilon=1e-9)
        variables = tf.trainable_variables()
        gradients = tf.gradients(self.loss, variables, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE)
        clipped, norm = tf.clip_by_global_norm(gradients, 5.0)
        tf.summary.scalar("gradient_norm", norm)
        tf.summary.scalar("learning_rate", rate)
        return optimizer.apply_gradients(zip(clipped, variables), global_step=self.global_step)


def greedy_decode(cell, embedding, state, steps):
    def condition(time_step, *_):
        return tf.less(time_step, steps)

    def body(time_step, token, state, written):
        output, state = cell(tf.nn.embedding_lookup(embedding, token), state)
        logits = tf.layers.dense(output, 50, name="decode", reuse=tf.AUTO_REUSE)
        token = tf.argmax(logits, 1, output_type=tf.int32)
        return time_step + 1, token, state, written.write(time_step, token)

    first = tf.zeros([4], tf.int32)
    written = tf.TensorArray(tf.int32, size=steps, dynamic_size=False, clear_after_read=False)
    _, _, last, written = tf.while_loop(condition, body, [tf.constant(0), first, state, written], back_prop=False)
    return tf.transpose(written.stack(), [1, 0]), last


def static_model(x, n_steps, n_hidden, n_classes):
    weights = {"out": tf.Variable(tf.random_normal([n_hidden, n_classes], stddev=0.1), name="w")}
    biases = {"out": tf.Variable(tf.zeros([n_classes]), name="b")}
    steps = tf.unstack(x, n_steps, 1)
    outputs, states = tf.nn.static_rnn(tf.nn.rnn_cell.LSTMCell(n_hidden, use_peepholes=True), steps, dtype=tf.float32)
    return tf.nn.xw_plus_b(outputs[-1], weights["out"], biases["out"]), states.h


def train(model, pattern, directory):
    batch = read_batch(pattern, FLAGS.batch_size)
    model.build(batch)
    step = model.train_op()
    merged = tf.summary.merge_all()
    saver = tf.train.Saver(tf.global_variables(), max_to_keep=3)
    config = tf.ConfigProto(allow_soft_placement=True, log_device_placement=False)
    config.gpu_options.allow_growth = True
    with tf.Session(config=config) as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        checkpoint = tf.train.get_checkpoint_state(directory)
        if checkpoint and checkpoint.model_checkpoint_path:
            saver.restore(sess, checkpoint.model_checkpoint_path)
        writer = tf.summary.FileWriter(os.path.join(directory, "train"), sess.graph)
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        started = time.time()
        try:
            while not coord.should_stop():
                _, loss, accuracy, number, text = sess.run(
                    [step, model.loss, model.accuracy, model.global_step, merged], feed_dict={model.keep_prob: 0.8})
                writer.add_summary(text, number)
                if number % 100 == 0:
                    print("step %d: loss %.3f, accuracy %.3f, %.1f s" % (number, loss, accuracy, time.time() - started))
                    saver.save(sess, os.path.join(directory, "model.ckpt"), global_step=model.global_step)
        except tf.errors.OutOfRangeError:
            tf.logging.info("Done: the files are at their end.")
        finally:
            coord.request_stop()
        coord.join(threads, stop_grace_period_secs=10)
        writer.flush()


def padded_batches(sequences, vocabulary):
    queue = tf.PaddingFIFOQueue(capacity=50, dtypes=[tf.int32, tf.int32], shapes=[[None], []])
    placeholder, size = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [])
    enqueue = queue.enqueue([placeholder, size])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [enqueue] * 2))
    tokens, lengths = queue.dequeue_many(8)
    random.shuffle(sequences)
    one_hot = tf.one_hot(tokens, depth=vocabulary, on_value=1.0, off_value=0.0)
    buckets = tf.train.batch([tokens, lengths], batch_size=4, dynamic_pad=True, enqueue_many=True)
    return queue.size(), one_hot, buckets, lengths, queue.close(cancel_pending_enqueues=True)


def main(_):
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    known, _ = parser.parse_known_args()
    tf.set_random_seed(known.seed)
    np.random.seed(known.seed)
    if not tf.gfile.Exists(FLAGS.data_dir):
        tf.gfile.MakeDirs(FLAGS.data_dir)
    tf.logging.set_verbosity(tf.logging.INFO)
    with tf.Graph().as_default():
        model = Seq2Seq(vocabulary=50)
        state = rnn_cell_impl.GRUCell(8).zero_state(4, tf.float32)
        tf.logging.info("state: %s", state.get_shape().as_list())
        train(model, os.path.join(FLAGS.data_dir, "*.tfrecords"), FLAGS.data_dir)


if __name__ == "__main__":
    tf.app.run(main=main)
