# A generator of points around a mean, against a discriminator; each trains the variables of its own.
import numpy as np
import tensorflow as tf

np.random.seed(0)
tf.set_random_seed(2)


def linear(input, output_dim, scope=None, stddev=0.5):
    with tf.variable_scope(scope or 'linear'):
        w = tf.get_variable('w', [input.get_shape()[1], output_dim],
                            initializer=tf.random_normal_initializer(stddev=stddev))
        b = tf.get_variable('b', [output_dim], initializer=tf.constant_initializer(0.0))
        return tf.matmul(input, w) + b


def generator(z, hidden):
    return linear(tf.nn.softplus(linear(z, hidden, 'g0')), 1, 'g1')


def discriminator(x, hidden, reuse=False):
    with tf.variable_scope("D") as scope:
        if reuse:
            scope.reuse_variables()
        h0 = tf.tanh(linear(x, hidden, 'd0'))
        h1 = tf.tanh(linear(h0, hidden, 'd1'))
        return linear(h1, 1, 'd2')


x = tf.placeholder(tf.float32, shape=(32, 1))
z = tf.placeholder(tf.float32, shape=(32, 1))
with tf.variable_scope('Gen'):
    G = generator(z, 8)
D_real, D_fake = discriminator(x, 8), discriminator(G, 8, True)

d_loss_real = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(D_real, tf.ones_like(D_real)))
d_loss_fake = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(D_fake, tf.zeros_like(D_fake)))
loss_d = d_loss_real + d_loss_fake
loss_g = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(D_fake, tf.ones_like(D_fake)))

t_vars = tf.trainable_variables()
d_vars = {var.name: var for var in t_vars if var.name.startswith('D/')}
g_vars = filter(lambda var: var.name.startswith('Gen/'), t_vars)
batch = tf.Variable(0, trainable=False)
rate = tf.train.exponential_decay(0.02, batch, 200, 0.95, staircase=True)
opt_d = tf.train.AdamOptimizer(rate, beta1=0.5).minimize(loss_d, global_step=batch, var_list=d_vars.values())
opt_g = tf.train.AdamOptimizer(0.01, beta1=0.5).minimize(loss_g, var_list=g_vars)
clip = [tf.assign(v, tf.clip_by_value(v, -3.0, 3.0)) for v in d_vars.values()]

with tf.Session() as session:
    tf.initialize_all_variables().run()
    means = []
    for step in range(500):
        real = 4.0 + 0.5 * np.random.randn(32, 1)
        noise = np.random.rand(32, 1)
        session.run([opt_d, loss_d], {x: real, z: noise})
        session.run(clip)
        session.run(opt_g, {z: np.random.rand(32, 1)})
        means.append(session.run(G, {z: np.random.rand(32, 1)}).mean())
    print("score", abs(np.mean(means[-100:]) - 4.0))
