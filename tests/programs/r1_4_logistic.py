# Logistic regression by slim and tf.contrib.learn's helpers; a gradient that is overridden.
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import ops

slim = tf.contrib.slim
rng = np.random.RandomState(3)
xs = rng.randn(200, 4)
ys = (xs.dot([2.0, -1.0, 0.5, 0.0]) + 0.3 > 0).astype(np.float32)[:, None]


@ops.RegisterGradient("Straight")
def _straight(op, grad):
    return grad


def binarize(x):
    with tf.get_default_graph().gradient_override_map({"Sign": "Straight"}):
        return tf.sign(x)


with tf.Graph().as_default() as graph:
    tf.set_random_seed(4)
    x = tf.placeholder(tf.float32, (None, 4))
    y = tf.placeholder(tf.float32, (None, 1))
    with slim.arg_scope([slim.fully_connected], activation_fn=tf.nn.tanh,
                        weights_initializer=tf.truncated_normal_initializer(stddev=0.5),
                        weights_regularizer=slim.l2_regularizer(1e-4)):
        net = slim.stack(x, slim.fully_connected, [8, 4], scope='fc')
        net = slim.dropout(net, 0.9, is_training=True, scope='dropout')
        logits = slim.fully_connected(net + 0.0 * binarize(net), 1, activation_fn=None, scope='out')
    end_points = slim.get_model_variables()
    assert len(end_points) == 6
    loss = tf.losses.sigmoid_cross_entropy(multi_class_labels=y, logits=logits)
    total = tf.losses.get_total_loss()
    train_op = tf.contrib.layers.optimize_loss(total, tf.train.get_or_create_global_step(), 0.1, "Adam",
                                               clip_gradients=1.0)
    auc, update = tf.metrics.auc(y, tf.sigmoid(logits))
    with tf.Session() as sess:
        sess.run(tf.group(tf.global_variables_initializer(), tf.local_variables_initializer()))
        for _ in range(60):
            sess.run(train_op, {x: xs, y: ys})
        sess.run(update, {x: xs, y: ys})
        print("score", sess.run(auc))
