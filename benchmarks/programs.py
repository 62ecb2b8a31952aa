"""The programs: written once against TensorFlow 1's API, run by tfnb and by TensorFlow.

Each takes the module (`tf`), builds a graph and returns a `Program`. torch_programs.py and jax_programs.py have the
same programs, by the same names, as their users write them.
"""
from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from typing import Any

from benchmarks import data
from benchmarks.data import Program

Tf = Any


def _session(tf: Tf) -> Any:
    """A session with initialised variables."""
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


def constant(tf: Tf) -> Program:
    """Fetch a constant."""
    c = tf.constant([1.0, 2.0, 3.0])
    session = tf.Session()
    return Program(lambda: session.run(c), lambda: session.run(c))


def chain(tf: Tf, ops: int) -> Program:
    """A number (`ops`) of dependent scalar ops, one feed."""
    x = tf.placeholder(tf.float32, [])
    y = x
    for factor, term in data.chain(ops):
        y = y * factor + term
    session = tf.Session()
    return Program(lambda: session.run(y, {x: 0.5}), lambda: session.run(y, {x: 0.5}))


def scalar_chain(tf: Tf) -> Program:
    """100 dependent scalar ops, one feed."""
    return chain(tf, 100)


def linear_regression(tf: Tf) -> Program:
    """Linear regression, batch 32, 10 features, gradient descent."""
    inputs, target = data.regression()
    x, y = tf.placeholder(tf.float32, [None, 10]), tf.placeholder(tf.float32, [None, 1])
    w, b = tf.Variable(tf.zeros([10, 1])), tf.Variable(tf.zeros([1]))
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    session = _session(tf)
    feed = {x: inputs, y: target}
    return Program(lambda: session.run(train, feed), lambda: session.run(loss, feed))


def mlp(tf: Tf, sizes: list[int], batch: int) -> Program:
    """A network of dense layers of these sizes, trained by Adam."""
    inputs, labels, layers = data.network(sizes, batch)
    x, y = tf.placeholder(tf.float32, [None, sizes[0]]), tf.placeholder(tf.float32, [None, sizes[-1]])
    h = x
    for i, (w, b) in enumerate(layers):
        h = tf.matmul(h if i == 0 else tf.nn.relu(h), tf.Variable(w)) + tf.Variable(b)
    return _trained(tf, h, y, {x: inputs, y: labels})


def _trained(tf: Tf, logits: Any, y: Any, feed: dict[Any, Any]) -> Program:
    """Training by Adam with the cross-entropy of labels that are fed."""
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train = tf.train.AdamOptimizer(1e-4).minimize(loss)
    session = _session(tf)
    return Program(lambda: session.run(train, feed), lambda: session.run(loss, feed))


def mlp_small(tf: Tf) -> Program:
    """MLP 64-32-10, batch 32, Adam."""
    return mlp(tf, [64, 32, 10], 32)


def mlp_middle(tf: Tf) -> Program:
    """MLP 784-256-256-10, batch 128, Adam."""
    return mlp(tf, [784, 256, 256, 10], 128)


def mlp_large(tf: Tf) -> Program:
    """MLP 784-1024-1024-10, batch 1024, Adam."""
    return mlp(tf, [784, 1024, 1024, 10], 1024)


def lenet(tf: Tf) -> Program:
    """LeNet (conv 5x5x32, pool, conv 5x5x64, pool, 512, 10), batch 64, Adam."""
    inputs, labels, layers = data.images()
    x, y = tf.placeholder(tf.float32, [None, 28, 28, 1]), tf.placeholder(tf.float32, [None, 10])
    (w1, b1), (w2, b2), (w3, b3), (w4, b4) = [(tf.Variable(w), tf.Variable(b)) for w, b in layers]
    h = x
    for w, b in ((w1, b1), (w2, b2)):
        h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(h, w, [1, 1, 1, 1], "SAME"), b))
        h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    h = tf.nn.relu(tf.matmul(tf.reshape(h, [-1, 7 * 7 * 64]), w3) + b3)
    return _trained(tf, tf.matmul(h, w4) + b4, y, {x: inputs, y: labels})


def sigmoid_exp_sum(tf: Tf) -> Program:
    """Sigmoid/exp chain over 4 million floats, summed."""
    v = tf.Variable(data.normal(4_000_000))
    y = tf.reduce_sum(tf.sigmoid(v) * tf.exp(-v * v) + tf.exp(-tf.abs(v)))
    session = _session(tf)
    return Program(lambda: session.run(y), lambda: session.run(y))


def softmax(tf: Tf) -> Program:
    """Softmax of 2048 x 2048."""
    v = tf.Variable(data.normal(2048, 2048))
    y = tf.nn.softmax(v)
    session = _session(tf)
    return Program(lambda: session.run(y.op), lambda: session.run(y)[::97, ::89])


def normalize_rows(tf: Tf) -> Program:
    """(x - mean) * rsqrt(var + eps) of 4096 rows of 1024."""
    v = tf.Variable(data.normal(4096, 1024))
    mean = tf.reduce_mean(v, 1, keepdims=True)
    var = tf.reduce_mean(tf.square(v - mean), 1, keepdims=True)
    y = (v - mean) * tf.rsqrt(var + 1e-5)
    session = _session(tf)
    return Program(lambda: session.run(y.op), lambda: session.run(y)[::97, ::89])


def matmul(tf: Tf) -> Program:
    """Product of two 1024 x 1024 matrices."""
    rng = data.generator()
    a, b = (tf.Variable(rng.rand(1024, 1024).astype("f")) for _ in range(2))
    y = tf.matmul(a, b)
    session = _session(tf)
    return Program(lambda: session.run(y.op), lambda: session.run(y)[::97, ::89])


def transpose(tf: Tf) -> Program:
    """Transpose [64, 128, 512] to [512, 64, 128], fetched."""
    v = tf.Variable(data.normal(64, 128, 512))
    y = tf.transpose(v, [2, 0, 1])
    session = _session(tf)
    return Program(lambda: session.run(y), lambda: session.run(y)[::97, ::13, ::11])


def lstm(tf: Tf) -> Program:
    """LSTM unrolled 20 steps, batch 32, hidden 128, Adam."""
    inputs, weights, biases = data.sequence()
    x = tf.placeholder(tf.float32, inputs.shape)
    w, b = tf.Variable(weights), tf.Variable(biases)
    c = h = tf.zeros(inputs.shape[1:])
    for t in range(inputs.shape[0]):
        gates = tf.matmul(tf.concat([x[t], h], 1), w) + b
        i, j, f, o = tf.split(gates, 4, 1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
    loss = tf.reduce_mean(tf.square(h - 0.5))
    train = tf.train.AdamOptimizer(1e-4).minimize(loss)
    session = _session(tf)
    feed = {x: inputs}
    return Program(lambda: session.run(train, feed), lambda: session.run(loss, feed))


def build_graph(tf: Tf) -> Program:
    """Build a graph of 5,000 ops."""
    def build() -> Any:
        graph = tf.Graph()
        with graph.as_default():
            x = y = tf.placeholder(tf.float32, [None, 10])
            for _ in range(1249):
                y = tf.nn.relu(tf.add(tf.multiply(y, x), 0.5))
        return graph
    return Program(build, lambda: len(build().get_operations()))


def scalar_summary(tf: Tf) -> Program:
    """Scalar summary computed and written."""
    x = tf.placeholder(tf.float32, [])
    merged = tf.summary.merge([tf.summary.scalar("x", x)])
    session = tf.Session()
    writer = tf.summary.FileWriter(tempfile.mkdtemp())
    return Program(lambda: writer.add_summary(session.run(merged, {x: 0.5}), 1), lambda: 0)


def histogram_summary(tf: Tf) -> Program:
    """Histogram summary of 10,000 floats."""
    v = tf.Variable(data.normal(10_000))
    summary = tf.summary.histogram("v", v)
    session = _session(tf)
    return Program(lambda: session.run(summary), lambda: len(session.run(summary)))


def _hundred_megabytes(tf: Tf) -> tuple[Any, Any, Any, str]:
    """25 variables of 4 MB, a saver of theirs, a session and a path to save to, in a directory that is removed."""
    values = data.hundred_megabytes()
    feeds = [tf.placeholder(tf.float32, [1000, 1000]) for _ in values]
    variables = [tf.Variable(feed, name=f"v{i}") for i, feed in enumerate(feeds)]
    session, saver = tf.Session(), tf.train.Saver(variables, max_to_keep=1)
    session.run(tf.global_variables_initializer(), dict(zip(feeds, values, strict=True)))
    folder = tempfile.mkdtemp(prefix="tfnb-benchmark-")
    atexit.register(shutil.rmtree, folder, True)
    return session, saver, variables, os.path.join(folder, "model")


def save_100mb(tf: Tf) -> Program:
    """Save 100 MB in 25 variables."""
    session, saver, _, path = _hundred_megabytes(tf)

    def saved() -> Any:
        return tf.train.load_variable(path, "v3")[::97, ::89]

    return Program(lambda: saver.save(session, path, write_meta_graph=False), saved)


def restore_100mb(tf: Tf) -> Program:
    """Restore 100 MB in 25 variables."""
    session, saver, variables, path = _hundred_megabytes(tf)
    saver.save(session, path, write_meta_graph=False)
    return Program(lambda: saver.restore(session, path), lambda: session.run(variables[3])[::97, ::89])


def embedding(tf: Tf) -> Program:
    """Embedding 50,000 x 128, 256 ids, sparse Adagrad."""
    values, batches, first = data.embeddings()
    table = tf.Variable(values)
    ids, target = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None, 128])
    loss = tf.reduce_mean(tf.square(tf.nn.embedding_lookup(table, ids) - target))
    train = tf.train.AdagradOptimizer(0.1).minimize(loss)
    session = _session(tf)
    feed = (ids, target)
    return Program(lambda: session.run(train, dict(zip(feed, next(batches), strict=True))),
                   lambda: session.run(loss, dict(zip(feed, first, strict=True))))


def fifo_queue(tf: Tf) -> Program:
    """FIFOQueue: dequeue_many(10) while four threads enqueue one number at a time."""
    queue = tf.FIFOQueue(100, [tf.float32], [[]])
    put, take = queue.enqueue(1.0), queue.dequeue_many(10)
    session = tf.Session()

    def fill() -> None:
        while True:
            session.run(put)

    for _ in range(4):                             # when nobody takes any more, they wait at the full queue
        threading.Thread(target=fill, daemon=True).start()
    return Program(lambda: session.run(take), lambda: session.run(take))


def dataset(tf: Tf) -> Program:
    """tf.data: 10,000 rows of 784 numbers, shuffled, repeated, in batches of 128."""
    x, labels = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.int64, [None])
    rows = tf.data.Dataset.from_tensor_slices((x, labels)).shuffle(10_000, seed=1).repeat().batch(128)
    iterator = tf.data.make_initializable_iterator(rows)
    element, session = iterator.get_next(), tf.Session()
    session.run(iterator.initializer, {x: data.normal(10_000, 784), labels: range(10_000)})
    return Program(lambda: session.run(element), lambda: session.run(element)[1])


def resize(tf: Tf) -> Program:
    """32 images of 224 x 224 x 3, bilinear to 299 x 299, each flipped with probability 1/2."""
    x = tf.placeholder(tf.float32, [32, 224, 224, 3])
    y = tf.image.random_flip_left_right(tf.image.resize_bilinear(x, [299, 299]), seed=3)
    session = tf.Session()
    feed = {x: data.normal(32, 224, 224, 3)}
    return Program(lambda: session.run(y, feed), lambda: session.run(y, feed)[:, ::31, ::31])


def while_loop(tf: Tf) -> Program:
    """While loop of 1,000 iterations of two ops on a scalar."""
    x = tf.placeholder(tf.float32, [])
    _, y = tf.while_loop(lambda i, y: i < 1000, lambda i, y: (i + 1, y * 1.0001 + 0.1), [0, x])
    session = tf.Session()
    return Program(lambda: session.run(y, {x: 1.0}), lambda: session.run(y, {x: 1.0}))


def while_rnn(tf: Tf) -> Program:
    """RNN in a while loop over TensorArrays, 200 steps, batch 8, hidden 16, gradient descent."""
    values, weights = data.recurrence()
    steps, batch, size = values.shape
    inputs, w = tf.TensorArray(tf.float32, size=steps).unstack(tf.constant(values)), tf.Variable(weights)

    def body(i: Any, h: Any, made: Any) -> Any:
        h = tf.tanh(tf.matmul(tf.concat([inputs.read(i), h], 1), w))
        return i + 1, h, made.write(i, h)

    outputs = tf.TensorArray(tf.float32, size=steps)
    _, _, outputs = tf.while_loop(lambda i, h, made: i < steps, body, [0, tf.zeros([batch, size]), outputs])
    loss = tf.reduce_mean(tf.square(outputs.stack() - 0.1))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    session = _session(tf)
    return Program(lambda: session.run(train), lambda: session.run(loss))


PROGRAMS: dict[str, Callable[[Tf], Program]] = {
    fn.__name__: fn for fn in (
        constant, scalar_chain, linear_regression, mlp_small, mlp_middle, mlp_large, sigmoid_exp_sum, softmax,
        normalize_rows, transpose, matmul, embedding, lenet, lstm, build_graph, scalar_summary, histogram_summary,
        save_100mb, restore_100mb, fifo_queue, dataset, resize, while_loop, while_rnn)}

# Programs of a size: what the curves are made of.
SCALED: dict[str, Callable[[Tf, int], Program]] = {
    "mlp_batch": lambda tf, batch: mlp(tf, [64, 32, 10], batch), "chain": chain}
