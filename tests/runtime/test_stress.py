"""Sessions over a longer time: threads, memory, and kernel caches that are damaged or can't be written.

With TFNB_STRESS=1 eight threads run one session for a minute, and memory is watched over 100,000 runs.
"""
from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.options import options
from tfnb.runtime.runners import stages

FULL = os.environ.get("TFNB_STRESS") == "1"
SECONDS, RUNS = (60.0, 100_000) if FULL else (3.0, 20_000)
THREADS = 8


def resident():
    """Bytes of memory that this process has."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def training():
    """Placeholders and a training op of a small network, with what to fetch."""
    x = tf.placeholder(tf.float32, [None, 8])
    labels = tf.placeholder(tf.int32, [None])
    w = tf.Variable(tf.random_normal([8, 4], seed=1))
    dropped = tf.nn.dropout(x, 0.9, seed=2)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=tf.matmul(dropped, w)))
    return x, labels, loss, tf.train.AdamOptimizer(0.01).minimize(loss)


def actions(sess):
    """What a thread does again and again, by name: takes its generator; raises where a result is wrong."""
    x, labels, loss, train = training()
    squares, large = tf.reduce_sum(x * x, 1), tf.reduce_sum(tf.sqrt(tf.abs(x) + 1.0))
    hosted = tf.py_func(lambda a: a + 1, [squares], tf.float32) * 2.0
    sign = tf.cond(squares[0] > 4.0, lambda: squares[0], lambda: -squares[0])
    table, row, add = tf.Variable(tf.zeros([THREADS, 3])), tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [3])
    count = tf.Variable(0)
    grow, own = tf.scatter_add(table, row, add, use_locking=True), [table[i] for i in range(THREADS)]
    up = tf.assign_add(count, 1, use_locking=True)
    sess.run(tf.global_variables_initializer())
    sess.graph.finalize()

    def batch(random, most=6):
        return random.standard_normal((int(random.integers(1, most)), 8)).astype("f")

    def close(fetch, value, want):
        np.testing.assert_allclose(sess.run(fetch, {x: value}), want, rtol=1e-5)

    def train_a_step(random):
        value = batch(random)
        assert sess.run(train, {x: value, labels: random.integers(0, 4, len(value))}) is None

    def fetch(random):
        value = batch(random, 40)
        close(squares, value, (value * value).sum(1))

    def fetch_through_the_host(random):
        value = batch(random)
        close(hosted, value, ((value * value).sum(1) + 1) * 2)

    def take_a_branch(random):
        value = batch(random)
        norm = (value[0] * value[0]).sum()
        if abs(norm - 4) > 1e-3:
            close(sign, value, norm if norm > 4 else -norm)

    def fail(random):
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(loss, {x: np.ones([1, 8]), labels: [9]})
        with pytest.raises(ValueError):  # noqa: PT011
            sess.run(squares, {x: np.ones([2, 3])})

    def use_the_pool(random):
        assert sess.run(large, {x: np.full([9_000, 8], 3.0, "f")}) == 144_000

    def count_up(random):
        sess.run(up)

    def own_row(random, number):
        before = sess.run(own[number])
        sess.run(grow, {row: number, add: [1, 2, 3]})
        np.testing.assert_array_equal(sess.run(own[number]), before + [1, 2, 3])

    rows = [lambda random, number=number: own_row(random, number) for number in range(THREADS)]
    return [train_a_step, fetch, fetch_through_the_host, take_a_branch, fail, use_the_pool, count_up], rows, count


@pytest.mark.slow
def test_many_threads_for_a_while(monkeypatch):
    """Eight threads in one session: trained, fed and fetched, with programs that come and go."""
    monkeypatch.setattr(stages, "KEPT", 8)
    with tf.Session() as sess:
        common, rows, count = actions(sess)
        end, errors, counts = time.monotonic() + SECONDS, [], np.zeros((THREADS, len(common) + 1), int)

        def work(number):
            random, mine = np.random.default_rng(number), [*common, rows[number]]
            first = [*random.permutation(len(mine))]       # each once, also where the time does not suffice
            try:
                while (first or time.monotonic() < end) and not errors:
                    kind = first.pop() if first else random.integers(len(mine))
                    mine[kind](random)
                    counts[number, kind] += 1
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS + 120)
        if errors:
            raise errors[0]
        assert not any(thread.is_alive() for thread in threads)
        assert counts.min() > 0
        assert sess.run(count) == counts[:, common.index(next(a for a in common if a.__name__ == "count_up"))].sum()
        print(f"{counts.sum():,} actions of {THREADS} threads in {SECONDS:.0f} s")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
@pytest.mark.parametrize("mode, runs", [("second", RUNS), ("never", RUNS // 100)])
def test_memory_stays_flat(mode, runs, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    x, labels, loss, train = training()
    random = np.random.default_rng(0)
    batches = [(random.standard_normal((n, 8)).astype("f"), random.integers(0, 4, n).astype("i")) for n in (3, 4, 5)]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())

        def loop(count):
            for i in range(count):
                xs, ys = batches[i % 3]
                sess.run([loss, train], {x: xs, labels: ys})
        loop(runs // 5)
        gc.collect()
        before = resident()
        loop(runs)
        gc.collect()
        grown = resident() - before
        print(f"{runs:,} runs ({mode}): {before / 1e6:.1f} MB resident before, {grown / 1e6:+.2f} MB")
        assert grown < 5 << 20
        tracemalloc.start()
        try:
            loop(20)
            gc.collect()
            start = tracemalloc.get_traced_memory()[0]
            loop(runs // 10 if mode == "never" else 500)
            gc.collect()
            assert tracemalloc.get_traced_memory()[0] - start < 20_000
        finally:
            tracemalloc.stop()


def test_failing_runs_keep_no_memory(monkeypatch):
    monkeypatch.setattr(options, "compile", "second")
    x, labels, loss, _ = training()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())

        def loop(count):
            for _ in range(count):
                for feeds in ({x: np.ones([1, 8]), labels: [9]}, {x: np.ones([1, 8])}, {x: np.ones(3), labels: [1]}):
                    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
                        sess.run(loss, feeds)
        loop(20)
        tracemalloc.start()
        try:
            loop(20)
            gc.collect()
            start = tracemalloc.get_traced_memory()[0]
            loop(100)
            gc.collect()
            assert tracemalloc.get_traced_memory()[0] - start < 30_000
        finally:
            tracemalloc.stop()


def test_closed_sessions_and_graphs_are_freed():
    def once():
        with tf.Graph().as_default(), tf.Session() as sess:
            v = tf.Variable(np.zeros(1 << 20, "f"))
            sess.run(v.initializer)
            for _ in range(2):
                sess.run(v + 1.0)
    once()
    gc.collect()
    before = resident()
    for _ in range(10):
        once()
        gc.collect()
    assert resident() - before < 24 << 20          # ten times 4 MB for each of value, constant and result, else


# Kernel caches

PROGRAM = """
import numpy as np
import tfnb as tf
x = tf.placeholder(tf.float32, [None])
y = tf.reduce_sum(tf.tanh(x) * 2.0)
with tf.Session() as sess:
    print([float(sess.run(y, {x: np.arange(5)})) for _ in range(3)])
"""


def run_program(cache):
    done = subprocess.run([sys.executable, "-W", "error", "-c", PROGRAM], capture_output=True, text=True, check=False,
                          cwd=Path(tf.__file__).parents[1], env={**os.environ, "TFNB_CACHE_DIR": str(cache)})
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.slow
def test_a_damaged_cache_is_as_good_as_none(tmp_path):
    cache = tmp_path / "cache"
    want = run_program(cache)
    files = [f for f in cache.rglob("*") if f.is_file()]
    assert files
    for damage in (lambda data: b"", lambda data: data[:len(data) // 2],
                   lambda data: data[:100] + bytes([data[100] ^ 255]) + data[101:] if len(data) > 100 else b"?"):
        for file in files:
            file.write_bytes(damage(file.read_bytes() if file.exists() else b"?" * 200))
        assert run_program(cache) == want


@pytest.mark.slow
def test_a_cache_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    want = run_program(tmp_path / "cache")
    assert run_program(tmp_path / "file") == want == run_program(tmp_path / "file" / "below")
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(0o500)
    assert run_program(locked) == want
    for folder in [d for d in (tmp_path / "cache").rglob("*") if d.is_dir()]:
        folder.chmod(0o500)
    assert run_program(tmp_path / "cache") == want
    for folder in [d for d in (tmp_path / "cache").rglob("*") if d.is_dir()]:
        folder.chmod(0o700)
