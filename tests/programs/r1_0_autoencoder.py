# Two layers down, two layers up; masks on the input.
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(2)
codes = rng.rand(300, 3)
X_data = 1 / (1 + np.exp(-(codes.dot(rng.randn(3, 20)))))

n_input, n_hidden = 20, 8
X = tf.placeholder("float", [None, n_input], name='X')
mask = tf.placeholder("float", [None, n_input], name='mask')
W_init_max = 4 * np.sqrt(6. / (n_input + n_hidden))
W_init = tf.random_uniform(shape=[n_input, n_hidden], minval=-W_init_max, maxval=W_init_max, seed=1)

W = tf.Variable(W_init, name='W')
b = tf.Variable(tf.zeros([n_hidden]), name='b')
W_prime = tf.transpose(W)
b_prime = tf.Variable(tf.zeros([n_input]), name='b_prime')


def model(X, mask, W, b, W_prime, b_prime):
    tilde_X = mask * X
    Y = tf.nn.sigmoid(tf.matmul(tilde_X, W) + b)
    return tf.nn.sigmoid(tf.matmul(Y, W_prime) + b_prime)


Z = model(X, mask, W, b, W_prime, b_prime)
cost = tf.reduce_mean(tf.reduce_sum(tf.pow(X - Z, 2), 1))
train_op = tf.train.RMSPropOptimizer(0.01).minimize(cost)

with tf.Session() as sess:
    tf.global_variables_initializer().run()
    for i in range(25):
        for start, end in zip(range(0, len(X_data), 50), range(50, len(X_data) + 1, 50)):
            input_ = X_data[start:end]
            mask_np = rng.binomial(1, 0.9, input_.shape)
            sess.run(train_op, feed_dict={X: input_, mask: mask_np})
    print("score", sess.run(cost, feed_dict={X: X_data, mask: np.ones_like(X_data)}))
