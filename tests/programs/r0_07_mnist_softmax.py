# Softmax regression on small digits, in an interactive session.
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(0)
shapes = rng.rand(10, 64)


def next_batch(n):
    numbers = rng.randint(0, 10, n)
    images = shapes[numbers] + 0.1 * rng.randn(n, 64)
    return images, np.eye(10)[numbers]


sess = tf.InteractiveSession()

x = tf.placeholder(tf.float32, [None, 64])
y_ = tf.placeholder(tf.float32, [None, 10])
W = tf.Variable(tf.zeros([64, 10]))
b = tf.Variable(tf.zeros([10]))
y = tf.nn.softmax(tf.matmul(x, W) + b)

cross_entropy = -tf.reduce_sum(y_ * tf.log(y))
train_step = tf.train.GradientDescentOptimizer(0.005).minimize(cross_entropy)

tf.initialize_all_variables().run()
for i in range(200):
    batch_xs, batch_ys = next_batch(50)
    train_step.run({x: batch_xs, y_: batch_ys})

correct_prediction = tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1))
accuracy = tf.reduce_mean(tf.cast(correct_prediction, "float"))
test_xs, test_ys = next_batch(500)
print("score", accuracy.eval({x: test_xs, y_: test_ys}))
sess.close()
