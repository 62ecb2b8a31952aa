"""Graphs run by TensorFlow's own servers: a parameter server and two workers, children of the test's process."""
from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest

import tfnb as tf
from tests.cluster.test_service import check_containers
from tfnb.cluster import children
from tfnb.cluster.local import free_ports
from tfnb.core import errors

pytest.importorskip("grpc", reason="sessions on other processes need grpcio")
pytestmark = [pytest.mark.slow, pytest.mark.oracle]


class Cluster:
    """One ps and two workers, each a TensorFlow server; a task can be killed and started again."""

    def __init__(self) -> None:
        ports = [f"127.0.0.1:{port}" for port in free_ports(3)]
        self.spec = tf.train.ClusterSpec({"ps": ports[:1], "worker": ports[1:]})
        self.servers: dict[tuple[str, int], tf.train.Server] = {}
        tasks = [("ps", 0), ("worker", 0), ("worker", 1)]
        threads = [threading.Thread(target=self.start, args=task) for task in tasks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(self.servers) == len(tasks)
        self.targets = [self.servers["worker", i].target for i in range(2)]

    def start(self, job: str, index: int) -> None:
        """Start a task's server."""
        self.servers[job, index] = tf.train.Server(self.spec, job, index)

    def kill(self, job: str, index: int) -> None:
        """Kill a task's server, without notice."""
        self.servers[job, index].stop()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Three servers, for all tests of this file."""
    python = os.environ.get("TFNB_ORACLE_PYTHON")
    if not python:
        pytest.skip("TFNB_ORACLE_PYTHON names no Python with TensorFlow")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(children.PYTHON, python)
        patch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
        found = Cluster()
        yield found
        for job, index in found.servers:
            found.kill(job, index)


def test_runs(cluster):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with tf.device(tf.train.replica_device_setter(cluster=cluster.spec)):
        w = tf.get_variable("w", [3, 2], initializer=tf.ones_initializer())
        y = tf.reduce_sum(tf.matmul(x, w), name="y")
        train = tf.train.GradientDescentOptimizer(0.1).minimize(y)
    ones = np.ones([2, 3])
    with tf.Session(cluster.targets[0]) as session:
        session.run(tf.global_variables_initializer())
        assert session.run({"y": y, "all": [y, train]}, {x: ones}) == {"y": 12.0, "all": [12.0, None]}
        for _ in range(4):                          # by name, then as a callable
            assert session.run(y, {x: ones}) == pytest.approx(9.6)
        assert {d.name for d in session.list_devices()} == {
            f"/job:{task}/device:CPU:0" for task in ("ps/replica:0/task:0", "worker/replica:0/task:0",
                                                     "worker/replica:0/task:1")}
        # values of all kinds, both ways, in graphs that grow from run to run
        for value in (np.float16([1.5, 2]), np.array([[True], [False]]), np.int64(7), np.zeros([0, 3], np.int32),
                      np.arange(2000.0), np.arange(6, dtype=np.uint8).reshape(2, 3), np.complex64([1j, 2]),
                      np.array([b"", b"ab" * 300, "ö".encode()], object)):
            value = np.asarray(value)
            given = tf.placeholder(tf.string if value.dtype == object else value.dtype, name="given")
            got = session.run(tf.identity(given), {given: value})
            np.testing.assert_array_equal(got, value)
            assert got.dtype == value.dtype and got.shape == value.shape
            if isinstance(got, np.ndarray):
                assert got.flags.writeable
        handle = session.partial_run_setup([y, w], [x])
        assert session.partial_run(handle, w).shape == (3, 2)
        assert session.partial_run(handle, y, {x: ones}) == pytest.approx(9.6)
        metadata = tf.RunMetadata()
        session.run(y, {x: ones}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata)
        assert any("job:ps" in device.device for device in metadata.step_stats.dev_stats)
        # a second session, on another worker, sees the same variables
        with tf.Session(cluster.targets[1]) as other:
            np.testing.assert_allclose(other.run(w), np.full([3, 2], 0.8))
    with tf.Session(cluster.targets[0]) as session:
        np.testing.assert_allclose(session.run(w), np.full([3, 2], 0.8))
    tf.Session.reset(cluster.targets[0])
    with tf.Session(cluster.targets[0]) as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="made at .*test_servers.py") as caught:
            session.run(w.read_value())
        assert caught.value.op is not None


def test_errors_leave_the_session_usable(cluster):
    x = tf.placeholder(tf.float32, [], name="x")
    checked = tf.check_numerics(tf.log(x), "bad", name="checked")
    with tf.Session(cluster.targets[0]) as session:
        for _ in range(4):
            with pytest.raises(tf.errors.InvalidArgumentError, match="NaN") as caught:
                session.run(checked, {x: -1.0})
            assert caught.value.op is checked.op and "Op 'checked'" in str(caught.value)
            assert session.run(checked, {x: 1.0}) == 0
        waiting = tf.FIFOQueue(2, tf.float32).dequeue()
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(waiting, options=tf.RunOptions(timeout_in_ms=200))
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(tf.matmul(tf.zeros([2, 3]), tf.placeholder_with_default(np.zeros([2, 3], "f"), [None, None])))
        with pytest.raises(TypeError):
            session.run(3)
        assert session.run(checked, {x: 1.0}) == 0
    with pytest.raises(RuntimeError, match="closed"):
        session.run(checked, {x: 1.0})


def test_what_calls_python_stays_in_this_process(cluster):
    v = tf.Variable(2.0, name="on_the_server")
    numbers = np.arange(10, dtype=np.float32)
    data = tf.data.Dataset.from_tensor_slices((numbers, numbers.astype("i")))
    data = data.map(lambda a, b: (tf.py_func(lambda one: one, [a], tf.float32), b)).repeat().batch(3)
    x, y = data.make_one_shot_iterator().get_next()
    x.set_shape([None])
    more = tf.py_func(lambda a: a + 1, [x], tf.float32)
    more.set_shape([None])
    initialized = tf.data.Dataset.range(2).make_initializable_iterator()
    n = initialized.get_next()
    with tf.Session(cluster.targets[0]) as session:
        session.run(v.initializer)
        for i in range(4):
            a, b, c, d = session.run([x, y, more * v, v * tf.reduce_sum(x)])
            np.testing.assert_array_equal(a, (np.arange(3) + 3 * i) % 10 if i < 3 else [9, 0, 1])
            np.testing.assert_array_equal(b, a)
            np.testing.assert_array_equal(c, 2 * (a + 1))
            assert d == 2 * a.sum()
        np.testing.assert_array_equal(session.run(more * v, {x: [5.0]}), [12])
        np.testing.assert_array_equal(session.run(more * v, {more: [5.0]}), [10])
        session.run(initialized.initializer)
        assert [session.run(n * 2) for _ in range(2)] == [0, 2]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(n * 2)
        with pytest.raises(tf.errors.UnimplementedError, match="needs 'on_the_server'.*fetch what it needs, and feed"):
            session.run(tf.py_func(lambda a: a, [v * 2.0], tf.float32))
        assert session.run(v) == 2


def test_replaced_nodes(cluster):
    v = tf.Variable(3.0, name="kept_by_the_server")
    y = tf.multiply(v, 2.0, name="y")
    with tf.Session(cluster.targets[0]) as session:
        session.run(v.initializer)
        assert [session.run(y) for _ in range(4)] == [6] * 4
        v.graph.detach([y.op])                      # as a cell does that runs again
        again = tf.multiply(v, 5.0, name="y")
        assert [session.run(again) for _ in range(4)] == [15] * 4
        assert session._remote.generation == 2      # the protocol can't replace a node; the variable is the same


def test_notebooks_have_variables_of_their_own(cluster):
    check_containers(cluster.targets[0])


def model(cluster, worker, optimizer):
    """A softmax regression as a worker builds it."""
    with tf.device(tf.train.replica_device_setter(cluster=cluster.spec, worker_device=f"/job:worker/task:{worker}")):
        x, y = tf.placeholder(tf.float32, [None, 20]), tf.placeholder(tf.int64, [None])
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", [20, 5], initializer=tf.zeros_initializer())
        loss = tf.losses.sparse_softmax_cross_entropy(y, tf.matmul(x, w))
        chosen = optimizer()
        return x, y, step, loss, chosen, chosen.minimize(loss, global_step=step)


def data():
    rng = np.random.RandomState(0)
    return rng.rand(64, 20).astype("f"), rng.randint(0, 5, 64)


def plain_losses(steps):
    """The losses of one process, whole batches."""
    (X, Y), losses = data(), []
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.placeholder(tf.float32, [None, 20]), tf.placeholder(tf.int64, [None])
        w = tf.Variable(tf.zeros([20, 5]))
        loss = tf.losses.sparse_softmax_cross_entropy(y, tf.matmul(x, w))
        train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
        session.run(w.initializer)
        for _ in range(steps):
            losses.append(session.run([loss, train], {x: X, y: Y})[0])
    return losses


def test_training_in_step_is_training_on_the_whole_batch(cluster):
    tf.Session.reset(cluster.targets[0])
    (X, Y), steps = data(), 12
    losses, failed = [[], []], []
    begin, together = threading.Event(), threading.Barrier(2, timeout=60)

    def work(worker):
        try:
            with tf.Graph().as_default():
                x, y, step, loss, optimizer, train = model(cluster, worker, lambda: tf.train.SyncReplicasOptimizer(
                    tf.train.GradientDescentOptimizer(0.5), 2, 2))
                if worker:
                    begin.wait(60)                  # a worker that finds no variables sleeps for 30 seconds
                hooks = [optimizer.make_session_run_hook(worker == 0, num_tokens=0)]    # no stale first steps
                with tf.train.MonitoredTrainingSession(cluster.targets[worker], worker == 0, hooks=hooks,
                                                       stop_grace_period_secs=1) as session:
                    begin.set()
                    for _ in range(steps):
                        together.wait()             # else the faster one may give both gradients of a step
                        losses[worker].append(session.run([loss, train], {x: X[worker::2], y: Y[worker::2]})[0])
        except Exception as error:
            failed.append(error)
            begin.set()
            together.abort()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    np.testing.assert_allclose(np.mean(losses, 0), plain_losses(steps), rtol=2e-6)


@pytest.mark.parametrize("job", ["ps", "worker"])
def test_training_goes_on_after_a_server_was_killed(cluster, tmp_path, job):
    tf.Session.reset(cluster.targets[0])
    X, Y = data()
    x, y, step, loss, _, train = model(cluster, 0, lambda: tf.train.GradientDescentOptimizer(0.5))
    losses = []
    with tf.train.MonitoredTrainingSession(
            cluster.targets[0], True, str(tmp_path), save_checkpoint_secs=None, save_checkpoint_steps=1,
            save_summaries_steps=None, save_summaries_secs=None, log_step_count_steps=None,
            hooks=[tf.train.StopAtStepHook(last_step=10)]) as session:
        killed = False
        while not session.should_stop():
            losses.append(session.run([loss, train], {x: X, y: Y})[0])
            if len(losses) == 5 and not killed:
                killed = True
                cluster.kill(job, 0)
                threading.Timer(0.5, cluster.start, (job, 0)).start()
    assert killed and len(losses) >= 9              # the answer of one step may be lost, or the step be done again
    expected = np.array(plain_losses(12))
    numbers = [int(np.argmin(abs(expected - value))) for value in losses]
    np.testing.assert_allclose(losses, expected[numbers], rtol=1e-5)
    assert numbers == sorted(numbers) and numbers[-1] >= 8


def test_errors_without_servers(monkeypatch):
    impatient = tf.ConfigProto(operation_timeout_in_ms=300)
    with tf.Session(f"grpc://127.0.0.1:{free_ports(1)[0]}", config=impatient) as session:
        with pytest.raises((errors.DeadlineExceededError, errors.UnavailableError)):
            session.run(tf.constant(1))
    monkeypatch.delenv(children.PYTHON, raising=False)
    monkeypatch.setattr(children, "PathFinder", SimpleNamespace(find_spec=lambda name: None))
    with pytest.raises(tf.errors.UnimplementedError, match="TFNB_TF_PYTHON=/path/to/python"):
        tf.train.Server({"ps": ["127.0.0.1:1"], "worker": ["127.0.0.1:2"]}, "ps", 0)
    monkeypatch.setenv(children.PYTHON, sys.executable)
    with pytest.raises(tf.errors.UnavailableError, match="exit status 1(.|\n)*No module named 'tensorflow'"):
        tf.train.Server({"ps": ["127.0.0.1:1"], "worker": ["127.0.0.1:2"]}, "ps", 0)
    monkeypatch.setenv(children.PYTHON, "no_such_python")
    with pytest.raises(FileNotFoundError):
        tf.train.Server({"ps": ["127.0.0.1:1"], "worker": ["127.0.0.1:2"]}, "ps", 0)
    with pytest.raises(tf.errors.NotFoundError, match="grpc://host:port"):
        tf.Session("http://127.0.0.1:1")
