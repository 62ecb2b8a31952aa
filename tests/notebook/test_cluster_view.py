"""%cluster: a cluster of this notebook."""
from __future__ import annotations

import os

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import tfnb as tf
from tfnb.cluster import children
from tfnb.notebook.magics.cluster_magics import ClusterMagics
from tfnb.notebook.ownership.hooks import Hooks
from tfnb.notebook.state.cluster_view import cluster, cluster_stop
from tfnb.runtime.targets import find_target


@pytest.fixture
def magics():
    shell = InteractiveShell.instance()
    yield ClusterMagics(shell, Hooks(shell))
    cluster_stop()


def test_a_server_for_sessions_without_a_target(magics, capsys):
    assert magics.cluster("") is None and "%cluster local 2" in capsys.readouterr().out
    pytest.importorskip("grpc", reason="sessions on other processes need grpcio")
    server = tf.train.Server({"local": ["127.0.0.1:0"]}, serve=True)
    try:
        target = server.target.replace("127.0.0.1", "localhost")
        view = magics.cluster(target)
        assert "/job:local/task:0" in repr(view) and "answers" in view._repr_mimebundle_()["text/html"]
        v = tf.Variable(2.0)
        with tf.Session() as session:
            session.run(v.initializer)
            assert session._remote is not None and session.run(v) == 2
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
