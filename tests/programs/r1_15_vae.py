# A variational autoencoder through tf.compat.v1.
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.set_random_seed(1)
rng = np.random.RandomState(1)
data = (rng.rand(256, 2).dot(rng.rand(2, 16)) > 0.55).astype(np.float32)


def encoder(x, latent):
    with tf.variable_scope("encoder", reuse=tf.AUTO_REUSE):
        h = tf.layers.dense(x, 32, activation=tf.nn.relu)
        return tf.layers.dense(h, latent, name="mean"), tf.layers.dense(h, latent, name="log_var")


def decoder(z):
    with tf.variable_scope("decoder", reuse=tf.AUTO_REUSE):
        return tf.layers.dense(tf.layers.dense(z, 32, activation=tf.nn.relu), 16)


dataset = tf.data.Dataset.from_tensor_slices(data).shuffle(256, seed=1).batch(64, drop_remainder=True)
iterator = tf.data.make_initializable_iterator(dataset)
x = iterator.get_next()
mean, log_var = encoder(x, 2)
z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
logits = decoder(z)
reconstruction = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), axis=1)
kl = -0.5 * tf.reduce_sum(1 + log_var - tf.math.square(mean) - tf.math.exp(log_var), axis=1)
loss = tf.math.reduce_mean(reconstruction + kl)
train = tf.train.AdamOptimizer(0.01).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    history = []
    for epoch in range(40):
        sess.run(iterator.initializer)
        losses = []
        while True:
            try:
                losses.append(sess.run([loss, train])[0])
            except tf.errors.OutOfRangeError:
                break
        history.append(np.mean(losses))
    print(history[::10])
    print("score", history[-1] / history[0])
