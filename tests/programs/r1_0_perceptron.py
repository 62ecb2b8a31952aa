# A multilayer perceptron with weights in a dict, regularized, with summaries of each layer.
import sys

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(5)
xs = rng.uniform(-1, 1, (400, 2))
ys = (np.hypot(xs[:, 0], xs[:, 1]) < 0.7).astype(int)
n_hidden_1, n_hidden_2 = 24, 12
global_step = tf.Variable(0, name='global_step', trainable=False)

with tf.name_scope('input'):
    x = tf.placeholder(tf.float32, [None, 2], name='x-input')
    y = tf.placeholder(tf.int64, [None], name='y-input')

weights = {
    'h1': tf.Variable(tf.random_normal([2, n_hidden_1], seed=1.0)),
    'h2': tf.Variable(tf.random_normal([n_hidden_1, n_hidden_2], seed=2)),
    'out': tf.Variable(tf.random_normal([n_hidden_2, 2], seed=3)),
}
biases = {key: tf.Variable(tf.zeros([w.get_shape()[1].value])) for key, w in weights.items()}


def variable_summaries(var):
    with tf.name_scope('summaries'):
        mean = tf.reduce_mean(var)
        tf.summary.scalar('mean', mean)
        with tf.name_scope('stddev'):
            stddev = tf.sqrt(tf.reduce_mean(tf.square(var - mean)))
        tf.summary.scalar('stddev', stddev)
        tf.summary.histogram('histogram', var)


def multilayer_perceptron(x, weights, biases):
    for layer in ('h1', 'h2'):
        with tf.name_scope(layer):
            x = tf.nn.relu(tf.add(tf.matmul(x, weights[layer]), biases[layer]))
            variable_summaries(weights[layer])
    return tf.matmul(x, weights['out']) + biases['out']


logits = multilayer_perceptron(x, weights, biases)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
loss += 1e-4 * tf.add_n([tf.nn.l2_loss(w) for w in weights.values()])
tf.summary.scalar('loss', loss)
rate = tf.train.exponential_decay(0.1, global_step, 100, 0.8, staircase=True)
train_op = tf.train.MomentumOptimizer(rate, 0.9).minimize(
    loss, global_step=global_step, var_list=list(weights.values()) + list(biases.values()))
correct = tf.nn.in_top_k(logits, y, 1)
merged = tf.summary.merge_all()

with tf.Session(config=tf.ConfigProto(allow_soft_placement=True, log_device_placement=False)) as sess:
    summary_writer = tf.summary.FileWriter(sys.argv[1], sess.graph)
    tf.global_variables_initializer().run()
    for i in range(200):
        pick = rng.randint(0, 400, 64)
        if i % 50 == 0:
            run_metadata = tf.RunMetadata()
            summary, _ = sess.run([merged, train_op], feed_dict={x: xs[pick], y: ys[pick]},
                                  options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE),
                                  run_metadata=run_metadata)
            summary_writer.add_run_metadata(run_metadata, 'step%03d' % i)
            summary_writer.add_summary(summary, i)
        else:
            sess.run(train_op, feed_dict={x: xs[pick], y: ys[pick]})
    summary_writer.close()
    assert tf.train.global_step(sess, global_step) == 200
    print("score", sess.run(correct, feed_dict={x: xs, y: ys}).mean())
