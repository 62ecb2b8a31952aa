# while_loop, cond, case, scan, map_fn, TensorArray: roots, sums, Fibonacci.
import numpy as np
import tensorflow as tf


def newton(a):
    def cond(i, x):
        return tf.logical_and(tf.less(i, 20), tf.greater(tf.abs(x * x - a), 1e-5))

    def body(i, x):
        return [tf.add(i, 1), 0.5 * (x + a / x)]
    return tf.while_loop(cond, body, [tf.constant(0), a])[1]


values = tf.placeholder(tf.float32, [None])
roots = tf.map_fn(newton, values)
sums = tf.scan(lambda a, x: a + x, values)
fib = tf.TensorArray(tf.int32, size=0, dynamic_size=True, clear_after_read=False)
fib = fib.write(0, 0).write(1, 1)
_, fib = tf.while_loop(lambda i, ta: i < 10,
                       lambda i, ta: (i + 1, ta.write(i, ta.read(i - 1) + ta.read(i - 2))), [2, fib])
w = tf.Variable(2.0)
biggest = tf.reduce_max(values)
chosen = tf.cond(biggest > 10, lambda: biggest * w, lambda: tf.negative(biggest) * w)
named = tf.case([(biggest > 10, lambda: tf.constant("large")), (biggest > 5, lambda: tf.constant("medium"))],
                default=lambda: tf.constant("small"))
gradient = tf.gradients(tf.reduce_sum(roots) + chosen, [values, w])

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    worst = 0
    for feed, name in (([2., 4., 9.], b"medium"), ([2., 16., 25., 3.], b"large"), ([0.25], b"small")):
        feed = np.array(feed)
        r, s, f, c, n, (g, gw) = sess.run([roots, sums, fib.stack(), chosen, named, gradient], {values: feed})
        sign = 1 if feed.max() > 10 else -1
        g_wanted = 0.5 / np.sqrt(feed) + 2 * sign * (feed == feed.max())
        worst = max(worst, abs(r - np.sqrt(feed)).max(), abs(s - np.cumsum(feed)).max(), abs(c - 2 * sign * feed.max()),
                    abs(gw - sign * feed.max()), abs(g - g_wanted).max())
        assert n == name and f.tolist() == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]
    print("score", worst)
