"""GANs and autoencoders with layers, summaries, hooks and tf.contrib: TensorFlow 1's usual lines (test_stubs.py)."""
# ruff: noqa
import functools
import math
import os

import numpy as np
import tfnb as tf
import tfnb.contrib.slim as slim
from tfnb.contrib import layers as contrib_layers
from tfnb.contrib.framework import arg_scope
from tfnb.examples.tutorials.mnist import input_data
from tfnb.python.framework import dtypes, ops
from tfnb.python.ops import math_ops

xavier = tf.contrib.layers.xavier_initializer
tf.app.flags.DEFINE_string("model_dir", "model", "Where checkpoints go.")
tf.app.flags.DEFINE_integer("z_dim", 100, "Size of the noise.")
FLAGS = tf.app.flags.FLAGS


def lrelu(x, leak=0.2, name="lrelu"):
    with tf.variable_scope(name):
        return tf.maximum(x, leak * x)


def generator(z, is_training, reuse=False):
    with tf.variable_scope("generator", reuse=reuse):
        h = tf.layers.dense(z, 7 * 7 * 64, kernel_initializer=tf.random_normal_initializer(stddev=0.02))
        h = tf.reshape(h, [-1, 7, 7, 64])
        h = tf.nn.relu(tf.layers.batch_normalization(h, momentum=0.9, epsilon=1e-5, training=is_training))
        h = tf.layers.conv2d_transpose(h, 32, kernel_size=5, strides=2, padding="same", use_bias=False)
        h = tf.nn.relu(tf.layers.batch_normalization(h, training=is_training))
        return tf.layers.conv2d_transpose(h, 1, 5, strides=2, padding="same", activation=tf.nn.tanh, name="image")


def discriminator(images, is_training=True, reuse=None):
    with tf.variable_scope("discriminator", reuse=reuse) as scope:
        if reuse:
            scope.reuse_variables()
        h = lrelu(tf.layers.conv2d(images, 32, 5, strides=(2, 2), padding="same"))
        h = tf.layers.conv2d(inputs=h, filters=64, kernel_size=[5, 5], strides=2, padding="SAME", activation=None,
                             kernel_regularizer=tf.contrib.layers.l2_regularizer(1e-4))
        h = lrelu(tf.contrib.layers.batch_norm(h, decay=0.9, updates_collections=None, is_training=is_training))
        h = tf.contrib.layers.flatten(tf.layers.dropout(h, rate=0.3, training=is_training))
        logits = tf.layers.dense(h, 1)
        return tf.nn.sigmoid(logits), logits


def cross_entropy(logits, labels):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=labels))


class GAN(object):
    """Generator and discriminator with an optimizer each."""

    def __init__(self, batch_size=64, learning_rate=2e-4, beta1=0.5):
        self.images = tf.placeholder(tf.float32, [None, 28, 28, 1], name="images")
        self.z = tf.placeholder(tf.float32, [None, FLAGS.z_dim], name="z")
        self.is_training = tf.placeholder(tf.bool, name="is_training")
        self.batch_size = batch_size
        self.fake = generator(self.z, self.is_training)
        real, real_logits = discriminator(self.images)
        fake, fake_logits = discriminator(self.fake, reuse=True)
        self.d_loss = cross_entropy(real_logits, tf.ones_like(real)) + cross_entropy(fake_logits, tf.zeros_like(fake))
        self.g_loss = cross_entropy(fake_logits, tf.ones_like(fake_logits))
        variables = tf.trainable_variables()
        d_vars = [v for v in variables if v.name.startswith("discriminator")]
        g_vars = [v for v in variables if "generator" in v.op.name]
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(updates):
            adam = functools.partial(tf.train.AdamOptimizer, beta1=beta1)
            self.d_step = adam(learning_rate).minimize(self.d_loss, var_list=d_vars)
            self.g_step = adam(learning_rate).minimize(self.g_loss, var_list=g_vars,
                                                       global_step=tf.train.get_or_create_global_step())
        self.clip = [v.assign(tf.clip_by_value(v, -0.01, 0.01)) for v in d_vars]
        self.penalty = self.gradient_penalty()
        tf.summary.image("fake", (self.fake + 1) / 2, max_outputs=4)
        tf.summary.histogram("real", real)
        tf.summary.scalar("d_loss", self.d_loss)

    def gradient_penalty(self, weight=10.0):
        alpha = tf.random_uniform([tf.shape(self.images)[0], 1, 1, 1], 0.0, 1.0)
        mixed = self.images + alpha * (self.fake - self.images)
        _, logits = discriminator(mixed, reuse=True)
        slopes = tf.sqrt(tf.reduce_sum(tf.square(tf.gradients(logits, [mixed])[0]), reduction_indices=[1, 2, 3]))
        return weight * tf.reduce_mean((slopes - 1.0) ** 2)

    def train(self, data, steps):
        saver = tf.train.Saver(max_to_keep=5, keep_checkpoint_every_n_hours=1)
        merged = tf.summary.merge_all(key=tf.GraphKeys.SUMMARIES)
        with tf.Session() as sess:
            tf.global_variables_initializer().run()
            writer = tf.summary.FileWriter(FLAGS.model_dir, graph=tf.get_default_graph())
            for step in range(steps):
                images, _ = data.train.next_batch(self.batch_size)
                feed = {self.images: images.reshape(-1, 28, 28, 1) * 2 - 1, self.is_training: True,
                        self.z: np.random.uniform(-1, 1, [self.batch_size, FLAGS.z_dim]).astype(np.float32)}
                _, d_loss = sess.run([self.d_step, self.d_loss], feed_dict=feed)
                sess.run(self.g_step, feed)
                summary = tf.Summary(value=[tf.Summary.Value(tag="d", simple_value=float(d_loss))])
                writer.add_summary(summary, global_step=step)
                if step % 500 == 0:
                    path = saver.save(sess, os.path.join(FLAGS.model_dir, "gan"), global_step=step)
                    print("Saved to %s: %f" % (path, self.g_loss.eval(feed, session=sess)))
                writer.add_summary(merged.eval(feed_dict=feed), steps)
            writer.close()


class VAE:
    """Variational autoencoder of Bernoulli pixels."""

    def __init__(self, n_hidden=500, n_z=20):
        self.x = tf.placeholder(tf.float32, shape=(None, 784))
        weights = self.weights(n_hidden, n_z)
        hidden = tf.nn.softplus(tf.add(tf.matmul(self.x, weights["h"]), weights["b"]))
        self.mean = tf.contrib.layers.fully_connected(hidden, n_z, activation_fn=None)
        self.log_variance = slim.fully_connected(hidden, n_z, activation_fn=None, scope="log_variance")
        noise = tf.random_normal(tf.shape(self.mean), 0, 1, dtype=tf.float32)
        self.z = self.mean + tf.exp(0.5 * self.log_variance) * noise
        logits = self.decode(self.z, n_hidden)
        pixels = tf.nn.sigmoid_cross_entropy_with_logits(labels=self.x, logits=logits)
        divergence = -0.5 * tf.reduce_sum(1 + self.log_variance - tf.square(self.mean) - tf.exp(self.log_variance), 1)
        self.cost = tf.reduce_mean(tf.reduce_sum(pixels, axis=1) + divergence)
        self.reconstruction = tf.nn.sigmoid(logits, name="reconstruction")

    @staticmethod
    def weights(n_hidden, n_z):
        return dict(h=tf.get_variable("h", [784, n_hidden], initializer=xavier(uniform=False)),
                    b=tf.Variable(tf.zeros([n_hidden], dtype=tf.float32)))

    def decode(self, z, n_hidden):
        with arg_scope([contrib_layers.fully_connected], activation_fn=tf.nn.elu, normalizer_fn=slim.batch_norm):
            h = contrib_layers.fully_connected(z, n_hidden)
            h = contrib_layers.stack(h, contrib_layers.fully_connected, [n_hidden, n_hidden], scope="stack")
        return tf.layers.Dense(784, name="pixels")(h)


def slim_network(images, num_classes, is_training):
    with slim.arg_scope([slim.conv2d, slim.fully_connected], activation_fn=tf.nn.relu,
                        weights_initializer=tf.truncated_normal_initializer(stddev=0.01),
                        weights_regularizer=slim.l2_regularizer(0.0005)):
        net = slim.repeat(images, 2, slim.conv2d, 64, [3, 3], scope="conv1")
        net = slim.max_pool2d(net, [2, 2], scope="pool1")
        net = slim.flatten(net)
        net = slim.dropout(slim.fully_connected(net, 256), 0.5, is_training=is_training)
        return slim.fully_connected(net, num_classes, activation_fn=None), tf.losses.get_regularization_losses()


class LossHook(tf.train.SessionRunHook):
    """Print the loss."""

    def __init__(self, loss):
        self.loss = loss

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        if math.isnan(run_values.results):
            run_context.request_stop()


def monitored(vae, data, device="/cpu:0"):
    step = tf.train.get_or_create_global_step()
    with tf.device(device), tf.name_scope("train"):
        optimizer = tf.train.RMSPropOptimizer(1e-3, decay=0.9, momentum=0.1)
        pairs = [(tf.clip_by_norm(g, 1.0), v) for g, v in optimizer.compute_gradients(vae.cost) if g is not None]
        train_op = optimizer.apply_gradients(pairs, global_step=step)
    average = tf.train.ExponentialMovingAverage(0.99, num_updates=step)
    with tf.control_dependencies([train_op]):
        train_op = tf.group(average.apply([vae.cost]), name="train")
    hooks = [tf.train.StopAtStepHook(last_step=1000), tf.train.NanTensorHook(vae.cost), LossHook(vae.cost),
             tf.train.LoggingTensorHook({"cost": vae.cost, "step": step}, every_n_iter=100)]
    scaffold = tf.train.Scaffold(init_op=tf.global_variables_initializer(), saver=tf.train.Saver())
    with tf.train.MonitoredTrainingSession(checkpoint_dir=FLAGS.model_dir, hooks=hooks, scaffold=scaffold,
                                           save_checkpoint_secs=600, save_summaries_steps=100) as sess:
        while not sess.should_stop():
            batch = data.train.next_batch(100)[0]
            sess.run(train_op, feed_dict={vae.x: batch})
    with tf.train.SingularMonitoredSession(hooks=hooks[:1]) as sess:
        return sess.run(vae.reconstruction, {vae.x: data.test.images[:5]})


def input_fn(images, labels, batch_size):
    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    dataset = dataset.map(lambda image, label: (tf.image.random_flip_left_right(image), tf.one_hot(label, 10)))
    dataset = dataset.shuffle(1000).repeat().batch(batch_size).prefetch(1)
    iterator = dataset.make_one_shot_iterator()
    return iterator.get_next()


def restored(directory, x, variable):
    saver = tf.train.import_meta_graph(tf.train.latest_checkpoint(directory) + ".meta", clear_devices=True)
    average, optimizer = tf.train.ExponentialMovingAverage(0.9), tf.train.MomentumOptimizer(0.1, momentum=0.9)
    update = average.apply([variable])
    print(average.average(variable).op.name, optimizer.get_slot(variable, "momentum").name, update.name)
    with tf.Session() as sess:
        saver.restore(sess, tf.train.latest_checkpoint(directory))
        saver.restore(sess, tf.train.get_checkpoint_state(directory).model_checkpoint_path)
        graph = sess.graph
        logits = graph.get_tensor_by_name("logits:0")
        print(graph.get_operation_by_name("logits").type, [n.name for n in graph.as_graph_def().node])
        for v, value in zip(tf.trainable_variables(), sess.run(tf.trainable_variables())):
            print(v.name, value.shape, v.get_shape().num_elements() * 4)
        sess.run(tf.assign(variable, variable.initialized_value() * 0.5))
        return tf.get_default_session().run(logits), variable.assign_add(tf.ones([3])).eval()


def shapes(w):
    x = tf.placeholder(tf.float32, [8, 28, 28, 4])
    batch, height, width, depth = x.get_shape().as_list()
    size = height * width * depth
    channels = x.get_shape()[-1].value * 2 + int(x.shape[1]) + x.shape[2].value // 2
    n = x.shape.ndims - 1
    mean, variance = tf.nn.moments(x, axes=list(range(n)), keep_dims=True)
    values, indices = tf.nn.top_k(tf.reshape(x, [-1, size]), k=3)
    unique, where = tf.unique(tf.reshape(x, [-1]))
    left, right = tf.split(x, 2, axis=3)
    norm = (1 - x) ** 2 / (tf.sqrt(variance) + 1e-8) - mean
    mask = tf.logical_and(x > 0, tf.not_equal(x, 1.0))
    first = [tf.squeeze(part, [0]) for part in tf.split(norm, batch, 0)] + tf.unstack(right)
    parts = tf.dynamic_partition(left, tf.cast(mask, tf.int32), 2)
    x.set_shape([None, height, width, channels])
    return values[:, 0], indices, unique, where, first[0], parts[1], tf.reduce_mean(x).eval(), w @ w, w[1:, ..., tf.newaxis]


def main(argv=None):
    data = input_data.read_data_sets("MNIST_data", one_hot=True, reshape=True)
    step = ops.convert_to_tensor(3.0, dtype=dtypes.float32)
    print(math_ops.reduce_sum(step).shape, tf.contrib.util.constant_value(step), argv)
    if tf.gfile.Exists(FLAGS.model_dir):
        tf.gfile.DeleteRecursively(FLAGS.model_dir)
    gan = GAN()
    gan.train(data, 1000)
    count = sum(int(np.prod(v.get_shape().as_list())) for v in tf.trainable_variables())
    slim_network(gan.images, 10, is_training=True)
    images, labels = input_fn(data.train.images, data.train.labels, 32)
    accuracy, update = tf.metrics.accuracy(labels=tf.argmax(labels, 1), predictions=tf.argmax(labels, 1))
    loss = tf.losses.softmax_cross_entropy(onehot_labels=labels, logits=labels) + tf.losses.get_total_loss()
    tf.reset_default_graph()
    print(count, images, accuracy, update, loss, monitored(VAE(), data))


if __name__ == "__main__":
    tf.app.run()
