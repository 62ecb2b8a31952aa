"""The programs: written once against TensorFlow 1's API, run by both systems.

Each takes the module (`tf`), builds a graph and returns a `Program`: `step()` is what is timed, `values()` what both
systems must agree on after the timed steps of the first round.
"""
from __future__ import annotations

import atexit
import itertools
import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Tf = Any


@dataclass(frozen=True)
class Program:
    """step: one run; check: a number or array that must be equal in both systems after the same number of steps."""

    step: Callable[[], Any]
    check: Callable[[], Any]


def _rng() -> np.random.RandomState:
    return np.random.RandomState(7)


def constant(tf: Tf) -> Program:
    """Fetch a constant."""
    c = tf.constant([1.0, 2.0, 3.0])
    session = tf.Session()
    return Program(lambda: session.run(c), lambda: session.run(c))


def scalar_chain(tf: Tf) -> Program:
    """100 dependent scalar ops, one feed."""
    x = tf.placeholder(tf.float32, [])
    y = x
    for i in range(50):
        y = y * 1.01 + float(i) * 0.001
    session = tf.Session()
    return Program(lambda: session.run(y, {x: 0.5}), lambda: session.run(y, {x: 0.5}))


def linear_regression(tf: Tf) -> Program:
    """Linear regression, batch 32, 10 features, gradient descent."""
    rng = _rng()
    data, target = rng.randn(32, 10).astype("f"), rng.randn(32, 1).astype("f")
    x, y = tf.placeholder(tf.float32, [None, 10]), tf.placeholder(tf.float32, [None, 1])
    w, b = tf.Variable(tf.zeros([10, 1])), tf.Variable(tf.zeros([1]))
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    feed = {x: data, y: target}
    return Program(lambda: session.run(train, feed), lambda: session.run(loss, feed))


def _mlp(tf: Tf, sizes: list[int], batch: int) -> Program:
    rng = _rng()
    data = rng.rand(batch, sizes[0]).astype("f")
    labels = np.eye(sizes[-1], dtype="f")[rng.randint(0, sizes[-1], batch)]
    x, y = tf.placeholder(tf.float32, [None, sizes[0]]), tf.placeholder(tf.float32, [None, sizes[-1]])
    h = x
    for i, (m, n) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
        w = tf.Variable((rng.randn(m, n) / np.sqrt(m)).astype("f"), name=f"w{i}")
        b = tf.Variable(np.zeros(n, "f"), name=f"b{i}")
        h = tf.matmul(h, w) + b
        if i < len(sizes) - 2:
            h = tf.nn.relu(h)
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=h))
    train = tf.train.AdamOptimizer(1e-4).minimize(loss)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    feed = {x: data, y: labels}
    return Program(lambda: session.run(train, feed), lambda: session.run(loss, feed))


def mlp_small(tf: Tf) -> Program:
    """MLP 64-32-10, batch 32, Adam."""
    return _mlp(tf, [64, 32, 10], 32)


def mlp_middle(tf: Tf) -> Program:
    """MLP 784-256-256-10, batch 128, Adam."""
    return _mlp(tf, [784, 256, 256, 10], 128)


def mlp_large(tf: Tf) -> Program:
    """MLP 784-1024-1024-10, batch 1024, Adam."""
    return _mlp(tf, [784, 1024, 1024, 10], 1024)


def lenet(tf: Tf) -> Program:
    """LeNet (conv 5x5x32, pool, conv 5x5x64, pool, 512, 10), batch 64, Adam."""
    rng = _rng()
    data = rng.rand(64, 28, 28, 1).astype("f")
    labels = np.eye(10, dtype="f")[rng.randint(0, 10, 64)]
    x, y = tf.placeholder(tf.float32, [None, 28, 28, 1]), tf.placeholder(tf.float32, [None, 10])

    def weights(*shape: int) -> Any:
        scale = np.sqrt(np.prod(shape[:-1]))
        return tf.Variable((rng.randn(*shape) / scale).astype("f")), tf.Variable(np.full(shape[-1], 0.1, "f"))

    h = x
    for shape in ((5, 5, 1, 32), (5, 5, 32, 64)):
        w, b = weights(*shape)
        h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(h, w, [1, 1, 1, 1], "SAME"), b))
        h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    h = tf.reshape(h, [-1, 7 * 7 * 64])
    (w1, b1), (w2, b2) = weights(7 * 7 * 64, 512), weights(512, 10)
    h = tf.matmul(tf.nn.relu(tf.matmul(h, w1) + b1), w2) + b2
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=h))
    train = tf.train.AdamOptimizer(1e-4).minimize(loss)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    feed = {x: data, y: labels}
    return Program(lambda: session.run(train, feed), lambda: session.run(loss, feed))


def sigmoid_exp_sum(tf: Tf) -> Program:
    """Sigmoid/exp chain over 4 million floats, summed."""
    v = tf.Variable(_rng().randn(4_000_000).astype("f"))
    y = tf.reduce_sum(tf.sigmoid(v) * tf.exp(-v * v) + tf.exp(-tf.abs(v)))
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return Program(lambda: session.run(y), lambda: session.run(y))


def softmax(tf: Tf) -> Program:
    """Softmax of 2048 x 2048."""
    v = tf.Variable(_rng().randn(2048, 2048).astype("f"))
    y = tf.nn.softmax(v)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return Program(lambda: session.run(y.op), lambda: session.run(y)[::97, ::89])


def normalize_rows(tf: Tf) -> Program:
    """(x - mean) * rsqrt(var + eps) of 4096 rows of 1024."""
    v = tf.Variable(_rng().randn(4096, 1024).astype("f"))
    mean = tf.reduce_mean(v, 1, keepdims=True)
    var = tf.reduce_mean(tf.square(v - mean), 1, keepdims=True)
    y = (v - mean) * tf.rsqrt(var + 1e-5)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return Program(lambda: session.run(y.op), lambda: session.run(y)[::97, ::89])


def matmul(tf: Tf) -> Program:
    """Product of two 1024 x 1024 matrices."""
    rng = _rng()
    a, b = (tf.Variable(rng.rand(1024, 1024).astype("f")) for _ in range(2))
    y = tf.matmul(a, b)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return Program(lambda: session.run(y.op), lambda: session.run(y)[::97, ::89])


def transpose(tf: Tf) -> Program:
    """Transpose [64, 128, 512] to [512, 64, 128], fetched."""
    v = tf.Variable(_rng().randn(64, 128, 512).astype("f"))
    y = tf.transpose(v, [2, 0, 1])
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return Program(lambda: session.run(y), lambda: session.run(y)[::97, ::13, ::11])


def lstm(tf: Tf) -> Program:
    """LSTM unrolled 20 steps, batch 32, hidden 128, Adam."""
    rng = _rng()
    steps, batch, size = 20, 32, 128
    data = (rng.randn(steps, batch, size) * 0.5).astype("f")
    x = tf.placeholder(tf.float32, [steps, batch, size])
    w = tf.Variable((rng.randn(2 * size, 4 * size) * 0.05).astype("f"))
    b = tf.Variable(np.zeros(4 * size, "f"))
    c = h = tf.zeros([batch, size])
    for t in range(steps):
        gates = tf.matmul(tf.concat([x[t], h], 1), w) + b
        i, j, f, o = tf.split(gates, 4, 1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
    loss = tf.reduce_mean(tf.square(h - 0.5))
    train = tf.train.AdamOptimizer(1e-4).minimize(loss)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    feed = {x: data}
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
    v = tf.Variable(_rng().randn(10_000).astype("f"))
    summary = tf.summary.histogram("v", v)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return Program(lambda: session.run(summary), lambda: len(session.run(summary)))


def _hundred_megabytes(tf: Tf) -> tuple[Any, Any, Any, str]:
    """25 variables of 4 MB, a saver of theirs, a session and a path to save to, in a directory that is removed."""
    rng = _rng()
    values = [rng.randn(1000, 1000).astype("f") for _ in range(25)]
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
    rng = _rng()
    table = tf.Variable((0.1 * rng.randn(50_000, 128)).astype("f"))
    ids, target = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None, 128])
    loss = tf.reduce_mean(tf.square(tf.nn.embedding_lookup(table, ids) - target))
    train = tf.train.AdagradOptimizer(0.1).minimize(loss)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    feeds = [{ids: rng.randint(0, 50_000, 256).astype(np.int32), target: rng.randn(256, 128).astype("f")}
             for _ in range(16)]
    turn = itertools.cycle(feeds)
    return Program(lambda: session.run(train, next(turn)), lambda: session.run(loss, feeds[0]))


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


PROGRAMS: dict[str, Callable[[Tf], Program]] = {
    fn.__name__: fn for fn in (
        constant, scalar_chain, linear_regression, mlp_small, mlp_middle, mlp_large, sigmoid_exp_sum, softmax,
        normalize_rows, transpose, matmul, embedding, lenet, lstm, build_graph, scalar_summary, histogram_summary,
        save_100mb, restore_100mb, fifo_queue)}
