# A line through points, fed one by one: placeholders of unknown shape, as most first programs had them.
import sys

import numpy
import tensorflow as tf

rng = numpy.random.RandomState(7)

learning_rate = 0.05
training_epochs = 30
display_step = 10

train_X = numpy.linspace(-1, 1, 17)
train_Y = 3.0 * train_X - 0.5 + 0.01 * rng.randn(17)
n_samples = train_X.shape[0]

X = tf.placeholder("float")
Y = tf.placeholder("float")

W = tf.Variable(rng.randn(), name="weight")
b = tf.Variable(rng.randn(), name="bias")

activation = tf.add(tf.mul(X, W), b)
cost = tf.reduce_mean(tf.square(tf.sub(activation, Y)))
optimizer = tf.train.GradientDescentOptimizer(learning_rate).minimize(cost)

tf.scalar_summary("cost", cost)
merged = tf.merge_all_summaries()
init = tf.initialize_all_variables()

with tf.Session() as sess:
    sess.run(init)
    writer = tf.train.SummaryWriter(sys.argv[1], graph_def=sess.graph_def)
    for epoch in range(training_epochs):
        for (x, y) in zip(train_X, train_Y):
            sess.run(optimizer, feed_dict={X: x, Y: y})
        if epoch % display_step == 0:
            summary, c = sess.run([merged, cost], feed_dict={X: train_X, Y: train_Y})
            writer.add_summary(summary, epoch)
            print("Epoch:", "%04d" % (epoch + 1), "cost=", "{:.9f}".format(c), "W=", sess.run(W), "b=", sess.run(b))
    writer.close()
    print("score", abs(sess.run(W) - 3.0) + abs(sess.run(b) + 0.5))
