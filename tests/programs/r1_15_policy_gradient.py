# REINFORCE on a bandit with a context, with a custom gradient and a py_func on the way.
import numpy as np
import tensorflow as tf
from tensorflow.python.ops import gen_nn_ops
from tensorflow.python.framework import ops, dtypes

tf.compat.v1.set_random_seed(0)
rng = np.random.RandomState(0)
CONTEXTS, ARMS = 3, 4
best = np.array([2, 0, 3])


@tf.custom_gradient
def clipped(x):
    def grad(dy):
        return tf.clip_by_value(dy, -1.0, 1.0)
    return tf.identity(x), grad


state = tf.compat.v1.placeholder(dtypes.int32, [None])
action = tf.compat.v1.placeholder(tf.int32, [None])
reward = tf.compat.v1.placeholder(tf.float32, [None])
with tf.compat.v1.variable_scope("policy", initializer=tf.compat.v1.zeros_initializer()):
    table = tf.compat.v1.get_variable("table", [CONTEXTS, ARMS])
logits = clipped(tf.nn.embedding_lookup(table, state))
sampled = tf.squeeze(tf.random.categorical(logits, 1), 1)
log_prob, _ = gen_nn_ops.sparse_softmax_cross_entropy_with_logits(logits, action)
centered = tf.compat.v1.py_func(lambda r: (r - r.mean()).astype(np.float32), [reward], tf.float32)
loss = tf.reduce_mean(log_prob * tf.stop_gradient(centered))
train = tf.compat.v1.train.GradientDescentOptimizer(3.0).minimize(loss)
assert ops.get_default_graph() is loss.graph

with tf.compat.v1.Session() as sess:
    sess.run(tf.compat.v1.global_variables_initializer())
    for _ in range(120):
        s = rng.randint(0, CONTEXTS, 60)
        a = sess.run(sampled, {state: s})
        r = (a == best[s]) + 0.1 * rng.randn(60)
        sess.run(train, {state: s, action: a, reward: r})
    a = sess.run(sampled, {state: np.repeat(np.arange(CONTEXTS), 200)})
    print("score", np.mean(a == np.repeat(best, 200)))
