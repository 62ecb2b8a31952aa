"""First runs of large ops: by their kernels, the numbers of NumPy's form, and the generator goes on from them."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.modes import compiling
from tfnb.ops.declaration import by_kernel
from tfnb.runtime.runners.interpreter import Interpreted
from tfnb.runtime.session import Session


@pytest.fixture
def small_is_large(monkeypatch):
    monkeypatch.setattr(by_kernel, "MANY", 64)
    monkeypatch.setattr(by_kernel, "LONG", 64)


def draws():
    return [tf.random_normal([40, 3], seed=1), tf.random_uniform([70], seed=2, dtype=tf.float64),
            tf.truncated_normal([100], seed=3), tf.random_uniform([90], 3, 9, tf.int32, seed=4),
            tf.random_normal(tf.placeholder_with_default([80], [None]), seed=5)]


def numbers(mode):
    with tf.Graph().as_default(), compiling(mode), Session() as session:
        fetches = draws()
        return [[x.tolist() for x in session.run(fetches)] for _ in range(3)]


def test_draws_are_those_of_numpy(monkeypatch):
    want = numbers("never")
    monkeypatch.setattr(by_kernel, "MANY", 64)
    for mode in ("never", "second", "always"):
        assert numbers(mode) == want


def test_a_plan_that_draws_many_is_compiled_at_once(small_is_large):
    few, many = tf.random_normal([8], seed=1), tf.random_normal([64], seed=1)
    with Session() as session:
        for fetch, runs in ((few, 2), (many, 1)):
            for i in range(runs):
                assert i == runs - 1 or not session._executor((fetch,), (), (), session.graph.mutations).settled
                session.run(fetch)
            assert session._executor((fetch,), (), (), session.graph.mutations).settled


def test_convolutions_that_take_long(monkeypatch):
    random = np.random.RandomState(0)
    image, kernel = random.rand(2, 40, 40, 4).astype("f"), random.rand(5, 5, 4, 6).astype("f")
    x, w = tf.placeholder(tf.float32, [None, None, None, 4]), tf.placeholder(tf.float32, [5, 5, 4, 6])
    y = tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME")
    fetches = [y, *tf.gradients(y * y, [x, w])]
    found = []
    with compiling("never"):
        for long in (1 << 40, 1 << 10):
            monkeypatch.setattr(by_kernel, "LONG", long)
            with Session() as session:
                found.append(session.run(fetches, {x: image, w: kernel}))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-4)


def test_wrong_arguments_of_large_draws(small_is_large):
    low = tf.placeholder_with_default(np.int32(9), [])
    with Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="minval"):
        session.run(tf.random_uniform([100], low, 3, tf.int32))


@pytest.mark.parametrize("resource", [False, True])
def test_initializers_are_compiled(small_is_large, monkeypatch, resource):
    monkeypatch.setattr(Interpreted, "run", lambda *given: pytest.fail("interpreted"))
    w = tf.Variable(tf.random_normal([80, 2], stddev=2.0, seed=1), use_resource=resource)
    b = tf.Variable(tf.zeros([80]), use_resource=resource)
    with Session() as session:
        session.run([w.initializer, b.initializer])
        monkeypatch.undo()
        assert 1.5 < session.run(w).std() < 2.5 and not session.run(b).any()


def test_an_initializer_that_fails_leaves_no_value(small_is_large):
    w = tf.Variable(tf.random_normal([80], seed=1))
    low = tf.placeholder_with_default(np.int32(9), [])
    z = tf.Variable(tf.random_uniform([80], low, 10, tf.int32, seed=1))
    both = tf.group(w.initializer, z.initializer)
    with Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(both, {low: 12})
        assert session.run(tf.report_uninitialized_variables()).size == 2
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(z)
        session.run(both)
        assert set(session.run(z).tolist()) == {9} and session.run(w).std() > 0.5


def test_variables_that_are_read_too_are_reported(small_is_large):
    w = tf.Variable(tf.random_normal([80], seed=1))
    more = tf.group(w.assign(tf.random_normal([80], seed=2)), tf.identity(w))
    added = w.assign_add(tf.random_normal([80], seed=3))
    with Session() as session:
        for fetch in (more, added):
            with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
                session.run(fetch)
            assert not session.run(tf.is_variable_initialized(w)) or fetch is more
