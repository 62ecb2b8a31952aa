# Sentences of words as SequenceExamples in a TFRecord file, read in padded batches, classified by an LSTM.
import sys

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
rng = np.random.RandomState(0)
VOCABULARY, GOOD, BAD = 20, 1, 2


def example(words, label):
    feature = tf.train.Feature
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={
            "label": feature(int64_list=tf.train.Int64List(value=[label])),
            "length": feature(int64_list=tf.train.Int64List(value=[len(words)]))}),
        feature_lists=tf.train.FeatureLists(feature_list={"words": tf.train.FeatureList(feature=[
            feature(int64_list=tf.train.Int64List(value=[word])) for word in words])}))


def write(path, count):
    with tf.python_io.TFRecordWriter(path) as writer:
        for _ in range(count):
            words, label = rng.randint(3, VOCABULARY, rng.randint(4, 9)), rng.randint(2)
            words[rng.randint(len(words))] = GOOD if label else BAD
            writer.write(example(words.tolist(), label).SerializeToString())


def parse(record):
    context, sequence = tf.parse_single_sequence_example(
        record, {"label": tf.FixedLenFeature([], tf.int64), "length": tf.FixedLenFeature([], tf.int64)},
        {"words": tf.FixedLenSequenceFeature([], tf.int64)})
    return sequence["words"], context["length"], context["label"]


def batches(path, epochs):
    data = tf.data.TFRecordDataset(path).map(parse)
    if epochs > 1:
        data = data.shuffle(120, seed=1).repeat(epochs)
    return data.padded_batch(20, ([None], [], []))


def accuracy_of(train_path, test_path):
    iterator = tf.data.Iterator.from_structure((tf.int64, tf.int64, tf.int64), ([None, None], [None], [None]))
    words, lengths, labels = iterator.get_next()
    embedding = tf.get_variable("embedding", [VOCABULARY, 8])
    cell = tf.nn.rnn_cell.LSTMCell(12)
    _, state = tf.nn.dynamic_rnn(cell, tf.nn.embedding_lookup(embedding, words), lengths, dtype=tf.float32)
    logits = tf.layers.dense(state.h, 2)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train = tf.train.AdamOptimizer(0.02).minimize(loss)
    right = tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32)
    start_training = iterator.make_initializer(batches(train_path, 6))
    start_test = iterator.make_initializer(batches(test_path, 1))
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), start_training])
        while True:
            try:
                sess.run(train)
            except tf.errors.OutOfRangeError:
                break
        path = tf.train.Saver().save(sess, test_path + ".ckpt")
    with tf.Session() as sess:
        tf.train.Saver().restore(sess, path)
        sess.run(start_test)
        found = []
        while True:
            try:
                found.extend(sess.run(right))
            except tf.errors.OutOfRangeError:
                return len(found), float(np.mean(found))


if __name__ == "__main__":
    folder = sys.argv[1]
    write(folder + "/train.tfrecord", 120)
    write(folder + "/test.tfrecord", 40)
    tf.set_random_seed(1)
    count, accuracy = accuracy_of(folder + "/train.tfrecord", folder + "/test.tfrecord")
    assert count == 40
    print("score", accuracy)
