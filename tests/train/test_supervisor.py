"""Supervisor: which services it starts, what each of them writes, what it takes from collections."""
from __future__ import annotations

import os

import pytest

import tfnb as tf
from tfnb.train.sessions.supervisor_services import SVStepCounterThread, SVSummaryThread, SVTimerCheckpointThread

HOUR = 3600                                        # services that are started run once within a test


def events(folder):
    """(kind, step, tag or status) of all events of a folder."""
    found = []
    for name in sorted(os.listdir(folder)):
        for event in tf.train.summary_iterator(os.path.join(folder, name)) if "tfevents" in name else ():
            kind = event.WhichOneof("what")
            found += [(kind, event.step, value.tag) for value in event.summary.value]
            if kind == "session_log":
                found.append((kind, event.step, event.session_log.status))
    return found


def a_model(step=True):
    v = tf.Variable(3.0, name="v")
    tf.summary.scalar("loss", v)
    return v, tf.train.get_or_create_global_step() if step else None


@pytest.mark.parametrize("arguments, step, expected", [
    ({}, True, [SVSummaryThread, SVStepCounterThread, SVTimerCheckpointThread]),
    ({}, False, [SVSummaryThread, SVTimerCheckpointThread]),
    ({"summary_op": None}, True, [SVStepCounterThread, SVTimerCheckpointThread]),
    ({"global_step": None}, True, [SVSummaryThread, SVTimerCheckpointThread]),
    ({"summary_writer": None}, True, [SVTimerCheckpointThread]),
    ({"save_summaries_secs": 0}, True, [SVTimerCheckpointThread]),
    ({"save_model_secs": 0}, True, [SVSummaryThread, SVStepCounterThread]),
    ({"saver": None}, True, [SVSummaryThread, SVStepCounterThread]),
])
def test_services(tmp_path, arguments, step, expected):
    a_model(step)
    sv = tf.train.Supervisor(**{"logdir": str(tmp_path), "save_summaries_secs": HOUR, "save_model_secs": HOUR,
                                **arguments})
    with tf.Session() as session:
        session.run(tf.get_collection("init_op")[0])
        threads = sv.start_standard_services(session)
        sv.stop(threads)
    assert [type(thread) for thread in threads] == expected and not any(thread.is_alive() for thread in threads)
    there = set(events(tmp_path)) if arguments.get("summary_writer", 1) else set()
    starts = bool(there) and step and "global_step" not in arguments
    assert (("session_log", 0, tf.SessionLog.START) in there) == starts
    assert (("session_log", 0, tf.SessionLog.STOP) in there) == bool(there)


def test_services_need_a_folder_and_a_chief(tmp_path):
    with tf.device("/cpu:0"):
        a_model()
    with pytest.raises(RuntimeError, match="Only chief supervisor"):
        tf.train.Supervisor(logdir=str(tmp_path), is_chief=False).start_standard_services(None)
    assert tf.train.Supervisor().start_standard_services(None) is None and not os.listdir(tmp_path)


@pytest.mark.parametrize("step", [True, False])
def test_what_services_write(tmp_path, step):
    v, count = a_model(step)
    train = tf.assign_add(count, 7) if step else v.assign_add(1.0)
    sv = tf.train.Supervisor(logdir=str(tmp_path), save_summaries_secs=HOUR, save_model_secs=HOUR)
    with tf.Session() as session:
        session.run(sv.init_op)
        session.run(train)
        SVSummaryThread(sv, session).run_loop()
        if step:
            counter = SVStepCounterThread(sv, session)
            counter.start_loop()
            session.run(train)
            counter.run_loop()
        SVTimerCheckpointThread(sv, session).run_loop()
        sv.stop([])
    assert [event for event in events(tmp_path) if event[2] != tf.SessionLog.STOP] == ([
        ("summary", 7, "loss"), ("summary", 14, "global_step/sec"), ("session_log", 14, tf.SessionLog.CHECKPOINT)]
        if step else [("summary", 0, "loss")])
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / ("model.ckpt-14" if step else "model.ckpt"))


def test_a_counter_of_its_own(tmp_path):
    _, count = a_model()
    other = tf.Variable(100, name="examples")
    more = tf.assign_add(other, 50)
    sv = tf.train.Supervisor(logdir=str(tmp_path))
    with tf.Session() as session:
        session.run(sv.init_op)
        counter = SVStepCounterThread(sv, session, other)
        counter.start_loop()
        session.run(more)
        counter.run_loop()
        sv.stop([])
    assert ("summary", 150, "examples/sec") in events(tmp_path)


def test_the_rate_is_that_of_the_steps_since_the_last_one(tmp_path, monkeypatch):
    _, count = a_model()
    sv = tf.train.Supervisor(logdir=str(tmp_path))
    now = [100.0]
    monkeypatch.setattr("tfnb.train.sessions.supervisor_services.time.time", lambda: now[0])
    with tf.Session() as session:
        session.run(sv.init_op)
        counter = SVStepCounterThread(sv, session)
        counter.start_loop()
        for steps, seconds in ((10, 4.0), (3, 2.0), (5, 0.0)):
            count.load(session.run(count) + steps, session)
            now[0] += seconds
            counter.run_loop()
        sv.stop([])
    path, = (tmp_path / name for name in os.listdir(tmp_path) if "tfevents" in name)
    found = [e for e in tf.train.summary_iterator(str(path)) if e.summary.value]
    assert [(e.step, e.summary.value[0].simple_value) for e in found] == [(10, 2.5), (13, 1.5), (18, float("inf"))]


def test_collections_come_first_and_hold_what_was_made():
    v, _ = a_model()
    mine = {key: tf.no_op(name) for key, name in (
        (tf.GraphKeys.INIT_OP, "my_init"), (tf.GraphKeys.READY_OP, "my_ready"), (tf.GraphKeys.SUMMARY_OP, "my_summary"),
        (tf.GraphKeys.LOCAL_INIT_OP, "my_local"), (tf.GraphKeys.READY_FOR_LOCAL_INIT_OP, "my_ready_for_local"))}
    for key, op in mine.items():
        tf.add_to_collection(key, op)
        tf.add_to_collection(key, tf.no_op())
    sv = tf.train.Supervisor()
    assert [sv.init_op.name, sv.ready_op.name, sv.summary_op.name, sv.ready_for_local_init_op.name] == [
        "my_init", "my_ready", "my_summary", "my_ready_for_local"]
    assert all(len(tf.get_collection(key)) == 2 for key in mine)
    assert tf.get_collection(tf.GraphKeys.SAVERS) == [sv.saver] and sv.saver is not None


def test_without_variables_there_is_no_saver():
    sv = tf.train.Supervisor()
    assert sv.saver is None and sv.summary_op is None and sv.global_step is None
    assert not tf.get_collection(tf.GraphKeys.SAVERS) and not tf.get_collection(tf.GraphKeys.SUMMARY_OP)
    with sv.managed_session() as session:
        assert not sv.should_stop() and session.graph is tf.get_default_graph()
    assert sv.should_stop()


def test_a_worker_writes_nothing(tmp_path):
    with tf.device("/job:worker/task:0"):
        a_model()
    worker = tf.train.Supervisor(logdir=str(tmp_path), is_chief=False)
    assert (worker.save_path, worker.save_model_secs, worker.save_summaries_secs, worker.summary_writer) == (None,) * 4
    chief = tf.train.Supervisor(logdir=str(tmp_path))
    assert (chief.save_path, chief.save_model_secs, chief.save_summaries_secs) == (
        str(tmp_path / "model.ckpt"), 600, 120)
    chief.stop([])


def test_summaries_at_the_step(tmp_path):
    _, count = a_model()
    made = tf.summary.scalar("by_hand", 1.0)
    sv = tf.train.Supervisor(logdir=str(tmp_path), summary_op=None)
    with tf.Session() as session:
        session.run(sv.init_op)
        count.load(5, session)
        for step in (None, 0, 9):
            sv.summary_computed(session, session.run(made), step)
        sv.stop([])
    assert [event[1] for event in events(tmp_path) if event[2] == "by_hand"] == [5, 0, 9]


def test_stopping_without_closing_leaves_the_writer_open(tmp_path):
    a_model()
    sv = tf.train.Supervisor(logdir=str(tmp_path), save_model_secs=0, save_summaries_secs=0)
    for close in (False, True):
        with sv.managed_session(close_summary_writer=close):
            pass
        stops = [event for event in events(tmp_path) if event[2] == tf.SessionLog.STOP]
        assert len(stops) == close
