"""Variables of a session beside checkpoints: compared, saved, restored; and the checkpoints of a directory."""
import os

import numpy as np
import pytest

import tfnb as tf
from tfnb.proto.bundle_writer import BundleWriter
from tfnb.tools.checkpoints import list_checkpoints
from tfnb.tools.diff import diff_tensors, histograms, value_change
from tfnb.tools.session_state import restore, restore_plan, save, session_tensors
from tfnb.tools.tensors import open_tensors


def checkpoint(path, **values):
    writer = BundleWriter(str(path))
    for name, array in values.items():
        writer.add(name, np.asarray(array))
    writer.finish()
    return open_tensors(path)


@pytest.fixture
def session():
    with tf.Graph().as_default():
        tf.Variable(np.array([1.0, 2.0], np.float32), name="w")
        tf.Variable(np.array(5, np.int64), name="step")
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            yield sess


def test_what_is_saved_restores_here_and_by_a_saver(session, tmp_path):
    before = [op.name for op in session.graph.get_operations()]
    path = save(session, tmp_path / "deep" / "model", 5)
    assert path == str(tmp_path / "deep" / "model-5") and tf.train.latest_checkpoint(str(tmp_path / "deep")) == path
    session.run([variable.assign(variable * 2) for variable in tf.global_variables()])
    assert diff_tensors(open_tensors(path), session_tensors(session))["changed"].keys() == {"w", "step"}
    restore(session, open_tensors(path))
    assert diff_tensors(open_tensors(path), session_tensors(session))["equal"] == 2
    assert [op.name for op in session.graph.get_operations()][:len(before)] == before
    save(session, tmp_path / "deep" / "model", 6)
    state = tf.train.get_checkpoint_state(str(tmp_path / "deep"))
    assert [os.path.basename(p) for p in state.all_model_checkpoint_paths] == ["model-5", "model-6"]
    tf.train.Saver().restore(session, path)


def test_parts_are_one_tensor(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        values = np.arange(12, dtype=np.float32).reshape(6, 2)
        tf.get_variable("v", initializer=tf.constant(values), partitioner=tf.fixed_size_partitioner(3))
        session.run(tf.global_variables_initializer())
        held = session_tensors(session)
        assert held.tensors["v"].shape == (6, 2) and np.array_equal(held.read("v"), values)
        path = save(session, tmp_path / "parts")
        restore(session, checkpoint(tmp_path / "whole", v=values + 1))
        assert np.array_equal(session_tensors(session).read("v"), values + 1)
        restore(session, open_tensors(path))
        assert np.array_equal(session_tensors(session).read("v"), values)


def test_tensorflow_restores_what_is_saved(oracle, tmp_path):
    values = np.arange(12, dtype=np.float32).reshape(6, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("v", initializer=tf.constant(values), partitioner=tf.fixed_size_partitioner(3))
        tf.get_variable("s", initializer=tf.constant(3.5))
        session.run(tf.global_variables_initializer())
        save(session, tmp_path / "model", 4)
    found = oracle("""
v, s = tf.get_variable("v", [6, 2]), tf.get_variable("s", [])
with tf.Session() as sess:
    tf.train.Saver().restore(sess, tf.train.latest_checkpoint(where))
    result = sess.run([v, s])
""", where=str(tmp_path))
    assert np.array_equal(found[0], values) and found[1] == 3.5


def test_a_plan_says_what_would_not_be_restored_and_why(session, tmp_path):
    file = checkpoint(tmp_path / "other", w=np.ones(3, np.float32), steps=np.array(1, np.int64), spare=np.ones(2))
    plan = {(fate.action, fate.name): fate.why for fate in restore_plan(session, file)}
    assert plan == {("kept", "w"): "shape 3 in the checkpoint, 2 in the graph",
                    ("kept", "step"): "not in the checkpoint; it has steps",
                    ("unused", "spare"): "the graph has no such variable",
                    ("unused", "steps"): "the graph has no such variable"}
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"does not restore step \(not in the checkpoint"):
        restore(session, file)
    file = checkpoint(tmp_path / "third", w=np.ones(2, np.float64), step=np.array(1, np.int64))
    assert [fate.why for fate in restore_plan(session, file)] == ["", "float64 in the checkpoint, float32 in the graph"]
    restore(session, file, partial=True)
    assert session.run(["step:0", "w:0"])[0] == 1


def test_other_names_are_mapped(session, tmp_path):
    file = checkpoint(tmp_path / "named", **{"old/w": np.array([7, 8], np.float32), "step": np.array(9, np.int64)})
    restore(session, file, {"w": "old/w"})
    assert session.run("w:0").tolist() == [7, 8]


def test_a_damaged_file_changes_nothing(session, tmp_path):
    checkpoint(tmp_path / "bad", step=np.array(9, np.int64), w=np.array([7, 8], np.float32))
    data = tmp_path / "bad.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:-1] + b"\xff")
    with pytest.raises(tf.errors.DataLossError):
        restore(session, open_tensors(tmp_path / "bad"))
    assert session.run("step:0") == 5 and session.run("w:0").tolist() == [1, 2]


def test_a_variable_without_a_value_is_not_saved(session, tmp_path):
    tf.Variable(0.0, name="late")
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value late"):
        save(session, tmp_path / "model")
    assert list(tmp_path.iterdir()) == [] and "late" not in session_tensors(session).tensors


def test_the_checkpoints_of_a_directory(session, tmp_path):
    for step in (10, 9):
        save(session, tmp_path / "model", step)
    (tmp_path / "bad.index").write_bytes(b"nothing")
    found = {info.name: info for info in list_checkpoints(tmp_path)}
    assert found.keys() == {"model-9", "model-10", "bad"}
    assert (found["model-9"].step, found["model-9"].tensors, found["model-9"].newest) == (9, 2, True)
    assert found["model-10"].bytes == sum(p.stat().st_size for p in tmp_path.glob("model-10.*"))
    assert "7 bytes" in found["bad"].problem and found["bad"].step is None and not found["bad"].newest
    with pytest.raises(tf.errors.NotFoundError, match="no directory"):
        list_checkpoints(tmp_path / "none")


def test_large_changes_are_summed_by_stretches(monkeypatch):
    a = np.random.default_rng(0).normal(size=(50, 21)).astype(np.float32)
    b = a.copy()
    b[3] += 0.5
    b[4, 0], a[4, 0] = np.nan, np.inf
    whole = value_change(a, b)
    monkeypatch.setattr("tfnb.tools.diff.STRETCH", 64)
    parts = value_change(a, b)
    assert parts["relative L2"] == pytest.approx(whole["relative L2"]) and parts["max change"] == whole["max change"]
    assert parts["elements"] == 22 and parts["not finite"] == [1, 1]
    low, high, first, second = histograms(a, b, 10)
    finite = [v[np.isfinite(v)] for v in (a, b)]
    assert (low, high) == (min(v.min() for v in finite), max(v.max() for v in finite))
    assert first == tuple(np.histogram(finite[0], 10, (low, high))[0]) and sum(second) == 1049
    assert histograms(np.full(2, np.nan), np.zeros(0)) == (0.0, 0.0, (0,) * 24, (0,) * 24)
