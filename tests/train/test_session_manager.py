"""SessionManager: sessions that are made, restored and waited for."""
from __future__ import annotations

import pytest

import tfnb as tf


def saved(folder) -> tuple:
    """(variable, another that no checkpoint has, saver of the first) of a graph, with a checkpoint in `folder`."""
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    saver = tf.train.Saver([v])
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(v.assign(5.0))
        saver.save(session, str(folder / "model"))
    return v, w, saver


def test_nothing_to_recover(tmp_path):
    v = tf.Variable(1.0)
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    for arguments in ({}, {"saver": tf.train.Saver()}, {"checkpoint_dir": str(tmp_path)},
                      {"saver": tf.train.Saver(), "checkpoint_dir": str(tmp_path)}):
        session, ready = manager.recover_session("", **arguments)
        assert ready is False and isinstance(session, tf.Session)
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(v)


@pytest.mark.parametrize("how", ["checkpoint_dir", "checkpoint_filename_with_path"])
@pytest.mark.parametrize("all_there", [True, False])
def test_a_recovered_session_is_ready_or_not(tmp_path, how, all_there):
    v, w, saver = saved(tmp_path)
    where = str(tmp_path) if how == "checkpoint_dir" else tf.train.latest_checkpoint(str(tmp_path))
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables([v] if all_there else [v, w]))
    session, ready = manager.recover_session("", saver=saver, **{how: where})
    assert ready is all_there and session.run(v) == 5.0


def test_local_variables_are_initialized_once_the_global_ones_are_there(tmp_path):
    v, w, saver = saved(tmp_path)
    copy = tf.Variable(v.initialized_value() + 1.0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    for needed, expected in (([v], True), ([v, w], False)):
        manager = tf.train.SessionManager(
            local_init_op=tf.local_variables_initializer(), ready_op=tf.report_uninitialized_variables([v, copy]),
            ready_for_local_init_op=tf.report_uninitialized_variables(needed))
        session, ready = manager.recover_session("", saver=saver, checkpoint_dir=str(tmp_path))
        assert ready is expected
        if expected:
            assert session.run(copy) == 6.0
        else:
            with pytest.raises(tf.errors.FailedPreconditionError):
                session.run(copy)


def test_preparing_initializes_what_is_not_restored(tmp_path):
    v, w, saver = saved(tmp_path)
    ready = tf.report_uninitialized_variables()
    calls = []
    manager = tf.train.SessionManager(ready_op=ready)
    session = manager.prepare_session("", init_op=tf.global_variables_initializer(), init_fn=calls.append)
    assert session.run([v, w]) == [1.0, 2.0] and calls == [session]
    session = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables([v])).prepare_session(
        "", init_op=w.initializer, saver=saver, checkpoint_dir=str(tmp_path), init_fn=calls.append)
    assert session.run(v) == 5.0 and len(calls) == 1
    with pytest.raises(tf.errors.FailedPreconditionError):
        session.run(w)
    with pytest.raises(RuntimeError, match="Init operations did not make model ready.*w"):
        manager.prepare_session("", init_op=v.initializer)
    with pytest.raises(RuntimeError, match="no init_op or init_fn or local_init_op was given"):
        manager.prepare_session("")


def test_feeds_of_the_init_op():
    x = tf.placeholder(tf.float32, [])
    v = tf.Variable(x)
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    assert manager.prepare_session("", init_op=v.initializer, init_feed_dict={x: 7.0}).run(v) == 7.0
