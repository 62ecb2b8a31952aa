# Two convolutions with dropout, flags and a saver.
import sys

import numpy as np
import tensorflow as tf

flags = tf.app.flags
FLAGS = flags.FLAGS
flags.DEFINE_float('learning_rate', 0.01, 'Initial learning rate.')
flags.DEFINE_integer('max_steps', 60, 'Number of steps.')
flags.DEFINE_boolean('fake', False, 'Nothing.')

rng = np.random.RandomState(0)
shapes = (rng.rand(4, 12, 12) > 0.6).astype(np.float32)


def weight_variable(shape):
    initial = tf.truncated_normal(shape, stddev=0.1, seed=shape[0])
    return tf.Variable(initial)


def bias_variable(shape):
    return tf.Variable(tf.constant(0.1, shape=shape))


def conv2d(x, W):
    return tf.nn.conv2d(x, W, strides=[1, 1, 1, 1], padding='SAME')


def max_pool_2x2(x):
    return tf.nn.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')


def next_batch(n):
    labels = rng.randint(0, 4, n)
    return (shapes[labels] + 0.3 * rng.randn(n, 12, 12)).reshape(n, 144), np.eye(4)[labels]


def main(_):
    FLAGS._parse_flags()
    print("\n".join("{}={}".format(attr.upper(), value) for attr, value in sorted(FLAGS.__flags.items())))
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, 144], name='x')
    y_ = tf.placeholder(tf.float32, [None, 4], name='y_')
    keep_prob = tf.placeholder(tf.float32)
    with tf.name_scope('conv1'):
        h_conv1 = tf.nn.relu(conv2d(tf.reshape(x, [-1, 12, 12, 1]), weight_variable([5, 5, 1, 8])) + bias_variable([8]))
        h_pool1 = max_pool_2x2(h_conv1)
    with tf.name_scope('conv2'):
        h_conv2 = tf.nn.relu(conv2d(h_pool1, weight_variable([3, 3, 8, 16])) + bias_variable([16]))
        h_pool2 = max_pool_2x2(h_conv2)
    h_pool2_flat = tf.reshape(h_pool2, [-1, 3 * 3 * 16])
    h_fc1 = tf.nn.relu(tf.matmul(h_pool2_flat, weight_variable([3 * 3 * 16, 32])) + bias_variable([32]))
    y_conv = tf.matmul(tf.nn.dropout(h_fc1, keep_prob), weight_variable([32, 4])) + bias_variable([4])

    cross_entropy = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(y_conv, y_))
    tf.summary.scalar('loss', cross_entropy)
    train_step = tf.train.AdamOptimizer(FLAGS.learning_rate).minimize(cross_entropy)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(y_conv, 1), tf.argmax(y_, 1)), tf.float32))
    merged = tf.summary.merge_all()
    saver = tf.train.Saver(tf.trainable_variables())
    with tf.Session() as sess:
        train_writer = tf.train.SummaryWriter(sys.argv[1] + '/train', sess.graph, "graph.pbtxt")
        sess.run(tf.global_variables_initializer())
        for i in range(FLAGS.max_steps):
            batch = next_batch(32)
            summary, _ = sess.run([merged, train_step], feed_dict={x: batch[0], y_: batch[1], keep_prob: 0.5})
            train_writer.add_summary(summary, i)
        path = saver.save(sess, sys.argv[1] + '/model.ckpt', global_step=FLAGS.max_steps)
        train_writer.close()
    with tf.Session() as sess:
        sess.run(tf.initialize_all_variables())
        saver.restore(sess, path)
        batch = next_batch(200)
        print("score %g" % accuracy.eval(feed_dict={x: batch[0], y_: batch[1], keep_prob: 1.0}))


if __name__ == '__main__':
    tf.app.run()
