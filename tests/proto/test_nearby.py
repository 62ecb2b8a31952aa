"""What an error on a path that is no checkpoint says of those that there are."""
from __future__ import annotations

import os

import pytest

import tfnb as tf
from tfnb.proto.nearby import nearby


@pytest.fixture
def saved(tmp_path):
    """(session, saver, folder) with the checkpoints m-7, m-100 and other in the folder."""
    v, sess = tf.Variable(1.0, name="v"), tf.Session()
    sess.run(v.initializer)
    saver = tf.train.Saver()
    for step in (7, 100):
        saver.save(sess, str(tmp_path / "m"), global_step=step)
    saver.save(sess, str(tmp_path / "other"))
    return sess, saver, str(tmp_path)


def test_a_name_without_its_step_a_directory_and_a_misspelt_one(saved) -> None:
    folder = saved[2]
    latest = f"; did you mean {os.path.join(folder, 'm-100')!r}, the latest of "
    assert nearby(os.path.join(folder, "m")) == f"{latest}2?"
    assert nearby(folder) == f"{latest}3?"
    assert nearby(os.path.join(folder, "othre")) == f"; did you mean {os.path.join(folder, 'other')!r}?"
    assert nearby(os.path.join(folder, "far", "m")) == f"; there is no directory {os.path.join(folder, 'far')!r}"
    os.mkdir(os.path.join(folder, "empty"))
    assert nearby(os.path.join(folder, "empty", "m")).endswith("has no checkpoint")


def test_errors_of_tensorflow_say_it(saved) -> None:
    sess, saver, folder = saved
    prefix = os.path.join(folder, "m")
    with pytest.raises(ValueError, match="is not a valid checkpoint: .*; did you mean .*m-100', the latest of 2"):
        saver.restore(sess, prefix)
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files for .*did you mean .*m-100'"):
        tf.train.load_checkpoint(prefix)
    with pytest.raises(tf.errors.NotFoundError, match="is a directory; .* did you mean .*m-100'"):
        saver.restore(sess, folder)
    with pytest.raises(tf.errors.NotFoundError, match="a checkpoint is named by its prefix: .*m-7'"):
        saver.restore(sess, f"{prefix}-7.index")
    with pytest.raises(tf.errors.DataLossError, match="a checkpoint is named by its prefix: .*m-7'"):
        saver.restore(sess, f"{prefix}-7.data-00000-of-00001")
    with pytest.raises(OSError, match="did you mean .*m-7.meta'"):
        tf.train.import_meta_graph(f"{prefix}-7")
    saver.restore(sess, f"{prefix}-7")
