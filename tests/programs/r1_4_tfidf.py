# TF-IDF: words to ids by a table, counts and weights as sparse tensors, a sparse matrix product, words from ids.
import sys

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(2)
TOPICS = {"sport": "ball team goal match player league win score".split(),
          "food": "salt pan oven taste bread soup sugar spoon".split()}
COMMON = "the a of and in it is".split()


def document(topic):
    own = rng.choice(TOPICS[topic], 4 + rng.randint(4))
    return " ".join(rng.permutation(np.concatenate([own, rng.choice(COMMON, 10), ["rare%d" % rng.randint(500)]])))


labels = rng.randint(2, size=120)
documents = [document(["sport", "food"][label]) for label in labels]
vocabulary = sorted({word for text in documents for word in text.split() if not word.startswith("rare")})
with open(sys.argv[1] + "/vocabulary.txt", "w") as file:
    file.write("\n".join(vocabulary) + "\n")

with tf.Graph().as_default():
    tf.set_random_seed(3)
    texts = tf.placeholder(tf.string, [None])
    table = tf.contrib.lookup.index_table_from_file(sys.argv[1] + "/vocabulary.txt", num_oov_buckets=5)
    back = tf.contrib.lookup.index_to_string_table_from_file(sys.argv[1] + "/vocabulary.txt")
    width = len(vocabulary) + 5
    words = tf.string_split(texts)
    ids = table.lookup(words)
    count = tf.cast(words.dense_shape[0], tf.int32)

    # one entry for each document and word, with the number of times that it comes
    pairs = words.indices[:, 0] * width + ids.values
    entries, _, times = tf.unique_with_counts(pairs)
    order = tf.argsort(entries)
    entries, times = tf.gather(entries, order), tf.to_float(tf.gather(times, order))
    rows, columns = entries // width, entries % width
    lengths = tf.segment_sum(times, rows)
    frequency = times / tf.gather(lengths, rows)
    holding = tf.unsorted_segment_sum(tf.ones_like(times), columns, width)
    idf = tf.log(tf.to_float(count) / (1.0 + holding)) + 1.0
    values = frequency * tf.gather(idf, columns)
    norm = tf.sqrt(tf.segment_sum(tf.square(values), rows))
    matrix = tf.SparseTensor(tf.stack([rows, columns], 1), values / tf.gather(norm, rows),
                             tf.stack([tf.to_int64(count), tf.constant(width, tf.int64)]))

    weights = tf.get_variable("weights", [width, 1], initializer=tf.zeros_initializer())
    logits = tf.sparse_tensor_dense_matmul(matrix, weights)[:, 0]
    y = tf.placeholder(tf.float32, [None])
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
    op = tf.train.AdamOptimizer(0.1).minimize(loss)
    similar = tf.sparse_tensor_dense_matmul(matrix, tf.sparse_tensor_to_dense(matrix), adjoint_b=True)
    _, best = tf.nn.top_k(weights[:len(vocabulary), 0], 5)
    telling = back.lookup(tf.to_int64(best))
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for _ in range(40):
            sess.run(op, {texts: documents[:80], y: labels[:80]})
        products = sess.run(similar, {texts: documents[:80]})
        assert np.allclose(np.diag(products), 1.0, atol=1e-5)
        assert {word.decode() for word in sess.run(telling)} <= set(TOPICS["food"])
        path = tf.train.Saver().save(sess, sys.argv[1] + "/tfidf.ckpt")
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        tf.train.Saver().restore(sess, path)
        predicted = sess.run(logits, {texts: documents[80:]}) > 0
        print("score", np.mean(predicted == (labels[80:] > 0)))
