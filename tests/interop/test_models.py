"""Models trained here, exported with meta graph and checkpoint, and trained on in TensorFlow, and the reverse.

Both sides then take the same steps from the same state: each loss must agree to 1e-5.
"""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

STEPS = 20
# Each gives `loss`, of what FEEDS has for it, and perhaps `optimizer` or `train` and what else is to be saved.
MODELS = {
    "linear": """
w = tf.Variable(tf.zeros([8, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - t))
""",
    "logistic regression with decay and clipping": """
w = tf.get_variable("w", [8, 3], initializer=tf.random_normal_initializer(stddev=0.1, seed=1))
logits = tf.nn.xw_plus_b(x, w, tf.Variable(tf.zeros([3])))
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
loss += 0.01 * tf.nn.l2_loss(w)
step = tf.train.get_or_create_global_step()
optimizer = tf.train.MomentumOptimizer(tf.train.exponential_decay(0.5, step, 5, 0.8), 0.9)
grads, variables = zip(*optimizer.compute_gradients(loss))
train = optimizer.apply_gradients(zip(tf.clip_by_global_norm(grads, 0.5)[0], variables), step, name="train")
""",
    "MLP with dropout": """
h = tf.nn.relu(tf.matmul(x, tf.Variable(tf.truncated_normal([8, 16], seed=1))) + tf.Variable(tf.zeros([16])))
h = tf.nn.dropout(h, keep_prob=0.7, seed=2)
logits = tf.matmul(h, tf.Variable(tf.truncated_normal([16, 3], seed=3)))
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.one_hot(labels, 3), logits=logits))
""",
    "CNN": """
image = tf.reshape(tf.concat([x] * 8, 1), [-1, 8, 8, 1])
h = tf.nn.conv2d(image, tf.Variable(tf.random_normal([3, 3, 1, 4], stddev=0.3, seed=1)), [1, 1, 1, 1], "SAME")
h = tf.nn.max_pool(tf.nn.relu(tf.nn.bias_add(h, tf.Variable(tf.zeros([4])))), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
h = tf.nn.avg_pool(tf.nn.elu(tf.nn.conv2d(h, tf.Variable(tf.random_normal([2, 2, 4, 6], stddev=0.3, seed=2)),
                                          [1, 2, 2, 1], "VALID")), [1, 2, 2, 1], [1, 1, 1, 1], "SAME")
logits = tf.matmul(tf.reshape(h, [-1, 24]), tf.Variable(tf.random_normal([24, 3], stddev=0.3, seed=3)))
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
""",
    "batch normalization": """
scale, offset = tf.Variable(tf.ones([8])), tf.Variable(tf.zeros([8]))
mean, variance = tf.nn.moments(x, [0])
h = tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)
averages = tf.train.ExponentialMovingAverage(0.9)
tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, averages.apply([mean, variance]))
loss = tf.reduce_mean(tf.square(tf.matmul(h, tf.Variable(tf.random_normal([8, 1], seed=1))) - t))
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
""",
    "RNN by while_loop": """
w = tf.Variable(tf.random_normal([5, 4], stddev=0.5, seed=1), name="w")
inputs = tf.TensorArray(tf.float32, 8).unstack(tf.transpose(x))

def body(i, state):
    step = tf.expand_dims(inputs.read(i), 1)
    return i + 1, tf.tanh(tf.matmul(tf.concat([step, state], 1), w))
_, state = tf.while_loop(lambda i, state: i < 8, body, [0, tf.zeros([16, 4])])
loss = tf.reduce_mean(tf.square(tf.matmul(state, tf.Variable(tf.random_normal([4, 1], seed=2))) - t))
""",
    "LSTM unrolled": """
kernel = tf.get_variable("kernel", [7, 24], initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=1))
bias = tf.get_variable("bias", initializer=tf.zeros([24]))
c = h = tf.zeros([16, 6])
for column in tf.unstack(x, axis=1):
    i, j, f, o = tf.split(tf.matmul(tf.concat([tf.expand_dims(column, 1), h], 1), kernel) + bias, 4, 1)
    c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
    h = tf.tanh(c) * tf.sigmoid(o)
loss = tf.reduce_mean(tf.square(tf.matmul(h, tf.Variable(tf.random_normal([6, 1], seed=2))) - t))
""",
    "scan and map_fn": """
decay = tf.Variable(0.5)
running = tf.scan(lambda a, row: a * decay + row, tf.transpose(x), initializer=tf.zeros([16]))
squares = tf.map_fn(lambda row: tf.reduce_sum(tf.square(row)) * decay, x)
loss = tf.reduce_mean(tf.square(running[-1] - t[:, 0])) + 0.01 * tf.reduce_mean(squares)
""",
    "cond": """
w = tf.Variable(tf.ones([8, 1]))
out = tf.cond(tf.reduce_mean(x) > 0.0, lambda: tf.matmul(x, w), lambda: tf.matmul(x, w * w) + 1.0)
loss = tf.reduce_mean(tf.square(out - t))
""",
    "embedding": """
table = tf.Variable(tf.random_uniform([20, 5], -1.0, 1.0, seed=1))
rows = tf.nn.embedding_lookup(table, words)
logits = tf.matmul(tf.reduce_mean(rows, 1), tf.Variable(tf.random_normal([5, 3], seed=2)))
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
optimizer = tf.train.AdagradOptimizer(0.5)
""",
    "embedding in shards": """
with tf.variable_scope("tables", partitioner=tf.fixed_size_partitioner(3)):
    table = tf.get_variable("table", [20, 5], initializer=tf.random_uniform_initializer(-1.0, 1.0, seed=1))
rows = tf.nn.embedding_lookup(table, words, partition_strategy="div")
loss = tf.reduce_mean(tf.square(tf.reduce_sum(rows, [1, 2]) - t[:, 0]))
optimizer = tf.train.RMSPropOptimizer(0.01, momentum=0.5)
""",
    "queue input": """
queue = tf.FIFOQueue(4, [tf.float32, tf.float32], [[16, 8], [16, 1]], name="queue")
fill = queue.enqueue([x, t], name="fill")
batch, target = queue.dequeue()
loss = tf.reduce_mean(tf.abs(tf.matmul(batch, tf.Variable(tf.random_normal([8, 1], seed=1))) - target))
""",
    "moving averages": """
w = tf.Variable(tf.random_normal([8, 1], seed=1), name="w")
averages = tf.train.ExponentialMovingAverage(0.9)
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - t))
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.control_dependencies([step]):
    update = averages.apply([w])
train = tf.group(update, name="train")
loss += tf.reduce_mean(tf.square(averages.average(w)))
""",
}
OPTIMIZERS = [
    "GradientDescentOptimizer(0.1)", "MomentumOptimizer(0.05, 0.9)", "MomentumOptimizer(0.05, 0.9, use_nesterov=True)",
    "AdagradOptimizer(0.5)", "AdadeltaOptimizer(1.0)", "RMSPropOptimizer(0.05)",
    "RMSPropOptimizer(0.05, centered=True)", "AdamOptimizer(0.05)",
    "FtrlOptimizer(0.5, l1_regularization_strength=0.01)",
    "ProximalGradientDescentOptimizer(0.1, l1_regularization_strength=0.01)", "ProximalAdagradOptimizer(0.5)",
    "AdagradDAOptimizer(0.5, tf.train.get_or_create_global_step())",
]
# Loops in a loop that begins with what is trained; gates put Identity nodes between the nodes of control flow. Without
# a gate TensorFlow's updates race with reads of other gradients, and its losses differ from run to run.
LOOPS = """
w, scale = tf.Variable(tf.random_normal([8, 4], stddev=0.3, seed=1)), tf.Variable(0.9)

def body(i, a):
    inner = tf.while_loop(lambda j, b: j < i + 1, lambda j, b: (j + 1, b * scale + 0.1), [0, a])[1]
    return i + 1, tf.tanh(inner)
h = tf.while_loop(lambda i, a: i < 3, body, [0, tf.matmul(x, w)])[1]
loss = tf.reduce_mean(tf.square(tf.reduce_sum(h, 1, keepdims=True) - t))
optimizer = tf.train.MomentumOptimizer(0.1, 0.5)
train = optimizer.minimize(loss, gate_gradients=gate, name="train")
"""
MODELS |= {f"loops, gate {gate}": f"gate = {gate}\n{LOOPS}" for gate in (1, 2)}
MODELS |= {name: f"""
w = tf.Variable(tf.random_normal([8, 4], stddev=0.3, seed=1))
loss = tf.reduce_mean(tf.square(tf.matmul(tf.nn.softplus(tf.matmul(x, w)), tf.Variable(tf.ones([4, 1]))) - t))
optimizer = tf.train.{name}
step = tf.train.get_or_create_global_step()
train = optimizer.minimize(loss, step, name="train")
""" for name in OPTIMIZERS}

BUILD = """
tf.set_random_seed(11)
x = tf.placeholder(tf.float32, [16, 8], name="x")
t = tf.placeholder(tf.float32, [16, 1], name="t")
labels = tf.placeholder(tf.int64, [16], name="labels")
words = tf.placeholder(tf.int32, [16, 3], name="words")
optimizer = tf.train.AdamOptimizer(0.05)
train = None
exec(model)
if train is None:
    train = optimizer.minimize(loss, name="train")
tf.identity(loss, name="loss")
init = tf.global_variables_initializer()
saver = tf.train.Saver()
"""
STEP = """
def losses(sess, feeds):
    names = {op.name for op in sess.graph.get_operations()}
    found = []
    for feed in feeds:
        if "fill" in names:
            sess.run("fill", feed)
            found.append(sess.run(["loss:0", "train"])[0])
        else:
            found.append(sess.run("loss:0", feed))
            sess.run("train", feed)
    return found
"""
FIRST = STEP + BUILD + """
with tf.Session() as sess:
    sess.run(init)
    first = losses(sess, feeds[:STEPS])
    saver.save(sess, path)
result = first
"""
THEN = STEP + """
with tf.Graph().as_default(), tf.Session() as sess:
    tf.train.import_meta_graph(path + ".meta").restore(sess, path)
    result = losses(sess, feeds[STEPS:])
"""


def feeds():
    random = np.random.RandomState(4)
    made = []
    for _ in range(2 * STEPS):
        x = random.randn(16, 8).astype(np.float32)
        made.append({"x:0": x, "t:0": np.sin(x[:, :1] * 2), "labels:0": (x[:, 0] > 0).astype(np.int64) + (x[:, 1] > 0),
                     "words:0": random.randint(0, 20, [16, 3])})
    return made


def here(code, **scope):
    tf.reset_default_graph()
    scope = {"tf": tf, "np": np, **scope}
    exec(code, scope)
    return scope["result"]


@pytest.mark.parametrize("name", MODELS)
def test_training_goes_on_in_the_other_system(name, oracle, tmp_path):
    common = {"model": MODELS[name], "feeds": feeds(), "STEPS": STEPS}
    first = {}
    for run, folder in ((here, "ours"), (oracle, "theirs")):
        (tmp_path / folder).mkdir()
        path = str(tmp_path / folder / "model")
        first[folder] = run(FIRST, path=path, **common)
        ours, theirs = here(THEN, path=path, **common), oracle(THEN, path=path, **common)
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7, err_msg=f"{folder} goes on")
        assert len(ours) == STEPS and ours[-1] != first[folder][0]
    np.testing.assert_allclose(first["ours"], first["theirs"], rtol=1e-5, atol=1e-7, err_msg="from the beginning")
