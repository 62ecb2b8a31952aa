"""%tfnb in a shell of its own."""
from __future__ import annotations

import sys

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import tfnb as tf
from tfnb.notebook.magics.file_magics import FileMagics, Report
from tfnb.notebook.ownership.hooks import Hooks


@pytest.fixture
def run():
    shell = InteractiveShell()
    magics = FileMagics(shell, Hooks(shell))
    yield magics.tfnb
    shell.history_manager.end_session() if shell.history_manager else None


@pytest.fixture
def checkpoints(tmp_path):
    v = tf.Variable([1.0, 2.0], name="v")
    with tf.Session() as sess:
        sess.run(v.initializer)
        saver = tf.train.Saver()
        saver.save(sess, str(tmp_path / "a b"))
        sess.run(v.assign([1.0, 4.0]))
        saver.save(sess, str(tmp_path / "second"))
    return tmp_path


def test_files_are_told_compared_and_converted(run, checkpoints):
    found = run(f"inspect '{checkpoints / 'a b'}'")
    assert isinstance(found, Report) and found["tensors"][0]["name"] == "v" and "v  float32  [2]" in repr(found)
    found = run(f"diff '{checkpoints / 'a b'}' {checkpoints / 'second'}")
    assert found["changed"]["v"]["max change"] == 2.0 and "1 of 2 elements" in repr(found)
    assert run(f"convert {checkpoints / 'second'} {checkpoints / 'v.npz'}") is None
    assert run(f"inspect {checkpoints / 'v.npz'}")["format"] == "npz"


def test_wrong_use_is_told_without_a_traceback(run, checkpoints):
    for line in ("inspect", "frobnicate x", "inspect a b c", "inspect 'open"):
        with pytest.raises(UsageError):
            run(line)
    with pytest.raises(UsageError, match="there is no file"):
        run(f"inspect {checkpoints / 'absent'}")


def test_tensorflow_can_be_tfnb(run, monkeypatch):
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    before = set(sys.modules)
    try:
        run("tensorflow")
        import tensorflow
        assert tensorflow.Session is tf.Session
    finally:
        for name in set(sys.modules) - before:
            if name.split(".")[0] == "tensorflow":
                del sys.modules[name]
    monkeypatch.setitem(sys.modules, "tensorflow", type(sys)("tensorflow"))
    with pytest.raises(UsageError, match="restart"):
        run("tensorflow")
