# A Wasserstein GAN with gradient penalty: points of a moved and squeezed cloud.
import sys

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.set_random_seed(1)
rng = np.random.RandomState(1)
BATCH, LAMBDA = 64, 10.0


def generator(z):
    with tf.variable_scope("generator", reuse=tf.AUTO_REUSE):
        hidden = tf.layers.dense(z, 16, tf.nn.relu, name="hidden")
        return tf.layers.dense(hidden, 2, name="points")


def critic(x):
    with tf.variable_scope("critic", reuse=tf.AUTO_REUSE):
        hidden = tf.layers.dense(x, 32, tf.nn.leaky_relu, name="hidden1")
        hidden = tf.layers.dense(hidden, 32, tf.nn.leaky_relu, name="hidden2")
        return tf.layers.dense(hidden, 1, name="score")


real = tf.placeholder(tf.float32, [BATCH, 2])
z = tf.random_normal([BATCH, 4])
fake = generator(z)
wasserstein = tf.reduce_mean(critic(real)) - tf.reduce_mean(critic(fake))

share = tf.random_uniform([BATCH, 1])
between = share * real + (1.0 - share) * fake
slopes = tf.sqrt(tf.reduce_sum(tf.square(tf.gradients(critic(between), [between])[0]), axis=1) + 1e-12)
penalty = tf.reduce_mean(tf.square(slopes - 1.0))

critic_loss = LAMBDA * penalty - wasserstein
generator_loss = -tf.reduce_mean(critic(fake))
critic_vars = tf.trainable_variables("critic")
generator_vars = tf.trainable_variables("generator")
train_critic = tf.train.AdamOptimizer(2e-3, beta1=0.5, beta2=0.9).minimize(critic_loss, var_list=critic_vars)
train_generator = tf.train.AdamOptimizer(2e-3, beta1=0.5, beta2=0.9).minimize(generator_loss, var_list=generator_vars)


def sample():
    return rng.randn(BATCH, 2) * [0.5, 0.2] + [2.0, -1.0]


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(500):
        for _ in range(3):
            sess.run(train_critic, {real: sample()})
        sess.run(train_generator)
    steepness = sess.run(slopes, {real: sample()}).mean()
    path = tf.train.Saver().save(sess, sys.argv[1] + "/wgan.ckpt")
with tf.Session() as sess:
    tf.train.Saver().restore(sess, path)
    made = np.concatenate([sess.run(fake) for _ in range(10)])
print("slopes of the critic", steepness)
assert 0.5 < steepness < 1.5
print("made", made.mean(0), made.std(0))
print("score", float(np.abs(made.mean(0) - [2.0, -1.0]).max() + np.abs(made.std(0) - [0.5, 0.2]).max()))
