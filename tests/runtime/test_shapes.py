"""Many shapes: one set of kernels for all batch sizes, a bounded number of programs, and the useful ones stay."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.options import options
from tfnb.kernels.llvm import jit
from tfnb.runtime.runners import stages


@pytest.fixture
def step(monkeypatch):
    """A function (rows) -> the loss of a training step over so many rows, and its session."""
    monkeypatch.setattr(options, "compile", "always")
    x, labels = tf.placeholder(tf.float32, [None, 6]), tf.placeholder(tf.float32, [None, 3])
    w = tf.Variable(np.linspace(-1, 1, 18).reshape(6, 3).astype("f"))
    logits = tf.nn.relu(tf.matmul(x, w)) + tf.Variable(np.zeros(3, "f"))
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())

        def run(rows):
            feed = {x: np.linspace(-1, 1, rows * 6).reshape(rows, 6), labels: np.eye(3)[np.arange(rows) % 3]}
            return sess.run([loss, train], feed)[0]
        yield run, sess


def runner_of(sess):
    """Of the run with the most ops."""
    runners = [r for _, e in sess._executors.values() for r in e.runners if r is not None]
    return max(runners, key=lambda r: len(r.stage.ops))


def test_batch_sizes_share_their_kernels(step):
    run, _ = step
    for rows in (64, 63, 1):                       # some kernels know of a single row, small products of small sizes
        run(rows)
    before = set(jit._known)
    for rows in range(50, 63):
        run(rows)
    assert set(jit._known) == before


def test_the_number_of_programs_is_bounded(step, monkeypatch):
    run, sess = step
    monkeypatch.setattr(stages, "KEPT", 6)
    want = {rows: run(rows) for rows in (5, 6)}
    main = runner_of(sess).programs()
    for rows in range(7, 40):
        assert np.isfinite(run(rows))
        assert run(5) < want[5]
        assert len(runner_of(sess).programs()) <= 6
    assert main[0] in runner_of(sess).programs()   # that of 5 rows, which is used all the time
    assert main[1] not in runner_of(sess).programs()


def test_the_memory_of_programs_is_bounded(step, monkeypatch):
    run, sess = step
    monkeypatch.setattr(stages, "KEPT_BYTES", 20_000)
    for rows in range(100, 120):
        run(rows)
    programs = runner_of(sess).programs()
    assert runner_of(sess)._nbytes == sum(p.nbytes for p in programs)
    assert len(programs) == stages.ALWAYS < 20_000 // min(p.nbytes for p in programs) * 10
