# Lines of a file through queues: names, a reader, a parser, batches, threads.
import os
import sys

import numpy as np
import tensorflow as tf

filename = os.path.join(sys.argv[1], "points.csv")
rng = np.random.RandomState(0)
with open(filename, "w") as f:
    for _ in range(60):
        a, b = rng.rand(2)
        f.write("%.4f,%.4f,%d\n" % (a, b, a > b))

filename_queue = tf.train.string_input_producer([filename])
reader = tf.TextLineReader()
key, value = reader.read(filename_queue)
col1, col2, col3 = tf.decode_csv(value, record_defaults=[[1.0], [1.0], [1]])
features = tf.pack([col1, col2])
example_batch, label_batch = tf.train.shuffle_batch([features, col3], batch_size=20, capacity=100,
                                                    min_after_dequeue=40, seed=1)
W = tf.Variable(tf.zeros([2, 1]))
logits = tf.squeeze(tf.matmul(example_batch, W), [1])
loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits, tf.to_float(label_batch)))
train_op = tf.train.AdagradOptimizer(1.0).minimize(loss)
right = tf.reduce_mean(tf.to_float(tf.equal(logits > 0, label_batch > 0)))

with tf.Session() as sess:
    sess.run(tf.initialize_all_variables())
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(coord=coord)
    found = []
    try:
        for i in range(60):
            if coord.should_stop():
                break
            found.append(sess.run([train_op, right])[1])
    finally:
        coord.request_stop()
        coord.join(threads)
    print("score", np.mean(found[-10:]))
