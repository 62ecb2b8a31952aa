"""%cluster: a cluster of this notebook."""
from __future__ import annotations

import os
import re

import numpy as np
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import tfnb as tf
from tfnb.cluster import children
from tfnb.core import taps
from tfnb.notebook.magics.cluster_magics import ClusterMagics
from tfnb.notebook.ownership.hooks import Hooks
from tfnb.notebook.plots.board import RECORDER
from tfnb.notebook.state import cluster_activity
from tfnb.notebook.state.cluster_view import cluster, cluster_stop
from tfnb.runtime.targets import find_target


@pytest.fixture
def magics():
    shell = InteractiveShell.instance()
    yield ClusterMagics(shell, Hooks(shell))
    cluster_stop()


def test_a_server_for_sessions_without_a_target(magics, capsys, monkeypatch):
    assert magics.cluster("") is None and "%cluster local 2" in capsys.readouterr().out
    pytest.importorskip("grpc", reason="sessions on other processes need grpcio")
    monkeypatch.setenv("JPY_SESSION_NAME", "courses/A first try.ipynb")
    server = tf.train.Server({"local": ["127.0.0.1:0"]}, serve=True)
    try:
        target = server.target.replace("127.0.0.1", "localhost")
        view = magics.cluster(target)
        assert re.search("in the container 'A-first-try-[0-9a-f]{6}', of this notebook alone", repr(view))
        assert "/job:local/task:0" in repr(view) and "answers" in view._repr_mimebundle_()["text/html"]
        v = tf.Variable(2.0)
        with tf.Session() as session:
            session.run(v.initializer)
            assert session._remote is not None and session.run(v) == 2
        with tf.Session(server.target) as session, pytest.raises(tf.errors.FailedPreconditionError):
            session.run(v)                          # a session of the server's process, without this container
        assert "shared with its other clients" in repr(magics.cluster(f"{target} --shared"))
        with tf.Session() as session:
            session.run(v.initializer)
        with tf.Session(server.target) as session:
            assert session.run(v) == 2
        with tf.Session("local") as session:
            assert session._remote is None
        magics.cluster("stop")
        assert cluster() is None and find_target("") is None
    finally:
        server.stop()
    for wrong in ("local 1 2", "stop now", "nowhere", "local 0"):
        with pytest.raises(UsageError):
            magics.cluster(wrong)


def test_steps_and_losses_of_servers(magics, monkeypatch):
    pytest.importorskip("grpc", reason="sessions on other processes need grpcio")
    server = tf.train.Server({"local": ["127.0.0.1:0"]}, serve=True)
    RECORDER.clear()
    monkeypatch.setattr(taps, "on_summary", RECORDER.summary)
    monkeypatch.setattr(taps, "on_remote_run", None)
    try:
        target = server.target.replace("127.0.0.1", "localhost")
        view = magics.cluster(target)
        assert not cluster_activity.activities and "loss" not in repr(view)
        x = tf.placeholder(tf.float32, [2])
        w = tf.Variable(tf.ones([2]))
        norm, loss = tf.reduce_sum(w * w), tf.losses.mean_squared_error(x, w)
        train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
        summary = tf.summary.scalar("loss", loss)
        with tf.Session(target) as session:
            session.run(w.initializer)
            session.run(norm)
            for _ in range(4):
                session.run([norm, loss, train, summary], {x: [3.0, 3.0]})
        found = cluster_activity.activities[target.removeprefix("grpc://")]
        assert found.steps == 4 and found.loss == (loss.name, 0.0625) and found.speed > 0
        assert "0.0625" in repr(view).splitlines()[-1] and target.removeprefix("grpc://") in repr(view)
        RECORDER.file(everything=True)
        assert (target, "loss") in RECORDER.series      # the server, in this process too, has heard it as its own
        magics.cluster("stop")
        assert not cluster_activity.activities
    finally:
        RECORDER.clear()
        server.stop()


def test_speed_of_the_last_steps():
    now = iter(np.arange(0.0, 100.0, 0.5))
    found = cluster_activity.Activity(lambda: next(now))
    found.add(("loss:0", 2.0))
    assert found.speed is None
    for _ in range(150):
        found.add(None)
    assert found.steps == 151 and found.speed == 2 and found.loss == ("loss:0", 2.0)


def test_steps_of_workers_in_step():
    """A worker's run that gives its gradients is a step; the chief's that applies their mean is none."""
    step = tf.train.get_or_create_global_step()
    w = tf.Variable(1.0)
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 2, 2)
    loss = w * w
    train = optimizer.minimize(loss, global_step=step)
    with tf.Session() as session:
        assert cluster_activity.of_plan(session.plan([step, loss, train])) == (True, 1)
        assert cluster_activity.of_plan(session.plan([loss])) == (False, None)
        for op in optimizer.get_chief_queue_runner().enqueue_ops:
            assert cluster_activity.of_plan(session.plan([op])) == (False, None)


@pytest.mark.slow
@pytest.mark.oracle
def test_a_cluster_on_this_machine(magics, monkeypatch):
    pytest.importorskip("grpc", reason="sessions on other processes need grpcio")
    python = os.environ.get("TFNB_ORACLE_PYTHON")
    if not python:
        pytest.skip("TFNB_ORACLE_PYTHON names no Python with TensorFlow")
    monkeypatch.setenv(children.PYTHON, python)
    view = magics.cluster("local 1")
    spec = magics.shell.user_ns["cluster"]
    assert spec.jobs == ["ps", "worker"] and repr(view).count("answers") == 2
    with tf.device(tf.train.replica_device_setter(cluster=spec)):
        v = tf.Variable(3.0)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(v * 2.0) == 6
    view.servers["ps"][0].stop()
    assert "ended" in repr(view)
    magics.cluster("stop")
    assert not view.servers["worker"][0].running
