"""Whole training programs against real TensorFlow: the same nodes, and the same numbers after 20 steps."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.graph_rows import rows_here, rows_there

LINEAR = """
x = tf.placeholder(tf.float32, [None, 3], name="x")
y = tf.placeholder(tf.float32, [None, 1], name="y")
w = tf.Variable(tf.zeros([3, 1]), name="w")
b = tf.Variable(0.0, name="b")
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
"""
NETWORK = """
x = tf.placeholder(tf.float32, [None, 4], name="x")
y = tf.placeholder(tf.int64, [None], name="y")
with tf.name_scope("layer1"):
    w1 = tf.Variable(tf.truncated_normal([4, 5], stddev=0.5, seed=1), name="w")
    b1 = tf.Variable(tf.zeros([5]), name="b")
    h = tf.nn.relu(tf.matmul(x, w1) + b1)
with tf.variable_scope("layer2"):
    w2 = tf.get_variable("w", [5, 3], initializer=tf.glorot_uniform_initializer(seed=2))
    b2 = tf.get_variable("b", [3], initializer=tf.zeros_initializer())
    logits = tf.nn.bias_add(tf.matmul(h, w2), b2)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
"""
SMALL = """
x = tf.constant([1.0, 2.0], name="x")
w = tf.Variable([1.0, 2.0], name="w")
with tf.variable_scope("u"):
    u = tf.get_variable("u", [2], initializer=tf.ones_initializer())
loss = tf.reduce_sum(w * x + u)
"""
INIT = "init = tf.global_variables_initializer()\n"
PROGRAMS = {
    "linear regression, gradient descent":
        LINEAR + "train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)\n" + INIT,
    "network, Adam, global step":
        NETWORK + "step = tf.train.get_or_create_global_step()\n"
        "train = tf.train.AdamOptimizer(1e-2).minimize(loss, global_step=step)\n" + INIT,
    "network, Adam without gates":
        NETWORK + "train = tf.train.AdamOptimizer().minimize(loss, gate_gradients=0)\n" + INIT,
    "network, gated as a whole":
        NETWORK + "train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, gate_gradients=2, name='t')\n",
    "momentum": SMALL + "tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)\n",
    "Nesterov, named": SMALL + "tf.train.MomentumOptimizer(0.1, 0.9, True, 'Foo', True).minimize(loss, name='train')\n",
    "Adagrad": SMALL + "tf.train.AdagradOptimizer(0.1).minimize(loss)\n",
    "RMSProp": SMALL + "tf.train.RMSPropOptimizer(0.1).minimize(loss)\n",
    "RMSProp, centered": SMALL + "tf.train.RMSPropOptimizer(0.1, centered=True).minimize(loss)\n",
    "a placeholder as learning rate, a gradient of the loss":
        SMALL + "tf.train.GradientDescentOptimizer(tf.placeholder(tf.float32)).minimize("
        "loss, grad_loss=tf.constant(2.0), var_list=[w])\n",
    "one optimizer twice, and another one": SMALL + """
with tf.name_scope("outer"):
    opt = tf.train.AdamOptimizer()
    opt.minimize(loss)
    opt.minimize(loss * 2.0)
    tf.train.AdamOptimizer().minimize(loss)
""",
    "in a variable scope": """
with tf.variable_scope("foo"):
    v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(v))
""",
    "a constraint": """
v = tf.Variable([1.0, 2.0], name="v", constraint=lambda x: tf.maximum(x, 0.0))
tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(v))
""",
    "gradients changed on the way": SMALL + """
opt = tf.train.GradientDescentOptimizer(0.1)
pairs = opt.compute_gradients(loss)
opt.apply_gradients([(tf.negative(g), v) for g, v in pairs])
""",
    "exponential decay": """
step = tf.train.get_or_create_global_step()
for staircase in (True, False):
    tf.train.exponential_decay(0.1, step, 100, 0.96, staircase=staircase)
""",
    "polynomial and inverse time decay": """
step = tf.train.get_or_create_global_step()
tf.train.polynomial_decay(0.1, step, 100)
tf.train.inverse_time_decay(0.1, step, 100, 0.5)
tf.train.inverse_time_decay(0.1, step, 100, 0.5, staircase=True, name="mine")
tf.train.natural_exp_decay(0.1, step, 100, 0.5)
tf.train.cosine_decay(0.1, step, 100)
""",
    "moving averages of tensors": """
t = tf.constant([3.0, 4.0], name="t")
for debias in (False, True):
    tf.train.ExponentialMovingAverage(0.9, zero_debias=debias).apply([t])
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_nodes(name, oracle):
    assert rows_here(PROGRAMS[name], tf) == rows_there(PROGRAMS[name], oracle)


RUN = """
with tf.Session() as sess:
    sess.run(init)
    result = [sess.run([loss, train], {x: xs[i], y: ys[i]})[0] for i in range(20)]
    result = {"losses": result, "variables": {v.op.name: sess.run(v) for v in tf.global_variables()}}
"""


@pytest.mark.parametrize("name", ["linear regression, gradient descent", "network, Adam, global step"])
def test_same_numbers_after_20_steps(name, oracle):
    random = np.random.default_rng(0)
    linear = name.startswith("linear")
    xs = random.normal(size=[20, 8, 3 if linear else 4]).astype(np.float32)
    ys = random.normal(size=[20, 8, 1]).astype(np.float32) if linear else random.integers(0, 3, [20, 8])
    scope = {"tf": tf, "xs": xs, "ys": ys}
    exec(PROGRAMS[name] + RUN, scope)
    here, there = scope["result"], oracle(PROGRAMS[name] + RUN, xs=xs, ys=ys)
    np.testing.assert_allclose(here["losses"], there["losses"], rtol=2e-5)
    assert set(here["variables"]) == set(there["variables"])
    for variable, value in there["variables"].items():
        np.testing.assert_allclose(here["variables"][variable], value, rtol=1e-4, atol=1e-6, err_msg=variable)
