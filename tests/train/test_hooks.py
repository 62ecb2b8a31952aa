"""What hooks and monitored sessions do here, where TensorFlow leaves it open or has no part in it."""
from __future__ import annotations

import json
import logging
import threading

import pytest

import tfnb as tf


def counting():
    step = tf.train.get_or_create_global_step()
    return step, tf.assign_add(step, 1)


def test_summaries_come_at_exact_steps(tmp_path):
    step, count = counting()
    merged = tf.summary.scalar("step", tf.cast(step, tf.float32) * 1.0)
    writer = tf.summary.FileWriter(str(tmp_path))
    hook = tf.train.SummarySaverHook(save_steps=3, summary_writer=writer, summary_op=merged)
    with tf.train.MonitoredSession(hooks=[hook, tf.train.StopAtStepHook(8)]) as session:
        while not session.should_stop():
            session.run(count)
    events = [e for path in tmp_path.iterdir() for e in tf.train.summary_iterator(path)]
    found = [(e.step, e.summary.value[0].simple_value) for e in events if e.HasField("summary")]
    assert found == [(1, 0), (4, 3), (7, 6)]


def test_a_hook_reads_the_step_before_the_update():
    step, count = counting()
    seen = []

    class Look(tf.train.SessionRunHook):
        def begin(self):
            self.step = tf.train.get_global_step() + 0

        def before_run(self, run_context):
            return tf.train.SessionRunArgs(self.step)

        def after_run(self, run_context, run_values):
            seen.append(int(run_values.results))

    with tf.train.MonitoredSession(hooks=[Look()]) as session:
        for _ in range(3):
            session.run(count)
    assert seen == [0, 1, 2]


def test_a_standing_step_is_told_of_five_times(caplog):
    tf.train.create_global_step()
    x = tf.constant(1.0)
    with caplog.at_level(logging.WARNING, "tensorflow"):
        with tf.train.MonitoredSession(hooks=[tf.train.StepCounterHook(every_n_steps=100)]) as session:
            for _ in range(9):
                session.run(x)
    assert sum("has not been increased" in m for m in caplog.messages) == 5


def test_the_first_option_of_several_is_not_enough():
    _, count = counting()
    seen = []

    class Asks(tf.train.SessionRunHook):
        def __init__(self, **options):
            self.options = tf.RunOptions(**options)

        def before_run(self, run_context):
            return tf.train.SessionRunArgs(None, options=self.options)

        def after_run(self, run_context, run_values):
            seen.append((run_values.results, run_values.options.trace_level, run_values.options.timeout_in_ms))

    hooks = [Asks(trace_level=3), Asks(timeout_in_ms=5000)]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        session.run(count, options=tf.RunOptions(trace_level=1, timeout_in_ms=100))
    assert seen == [(None, 3, 5000)] * 2


def test_threads_end_with_the_session():
    before = threading.active_count()
    batch = tf.train.batch([tf.train.range_input_producer(1000).dequeue()], 5, num_threads=3)
    with tf.train.MonitoredSession() as session:
        assert session.run(batch).shape == (5,) and threading.active_count() > before
    assert threading.active_count() == before


def test_an_error_while_closing_still_closes():
    _, count = counting()

    class Fails(tf.train.SessionRunHook):
        def end(self, session):
            raise KeyError("at the end")

    session = tf.train.MonitoredSession(hooks=[Fails()])
    session.run(count)
    with pytest.raises(KeyError, match="at the end"):
        session.close()
    assert session.should_stop() and not tf.get_default_graph().finalized
    with pytest.raises(RuntimeError, match="Session is closed"):
        session.run(count)


def test_training_ends_at_a_nan(tmp_path):
    step, count = counting()
    loss = tf.log(tf.constant(2.0) - tf.cast(step, tf.float32))
    with pytest.raises(tf.train.NanLossDuringTrainingError, match="NaN loss during training"):
        with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), save_checkpoint_steps=1,
                                               hooks=[tf.train.NanTensorHook(loss)]) as session:
            while not session.should_stop():
                session.run(count)
    found = tf.train.load_variable(tf.train.latest_checkpoint(str(tmp_path)), "global_step")
    assert int(found) == 4


def test_timelines_of_some_runs(tmp_path):
    _, count = counting()
    hook = tf.train.ProfilerHook(save_steps=3, output_dir=str(tmp_path))
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        for _ in range(8):
            session.run(count)
    found = sorted(path.name for path in tmp_path.glob("*.json"))
    assert found == ["timeline-3.json", "timeline-6.json"]
    trace = json.loads((tmp_path / "timeline-3.json").read_text())
    assert any("Assign" in event.get("name", "") for event in trace["traceEvents"])
    tf.summary.FileWriterCache.clear()
    events = [e for path in tmp_path.glob("*tfevents*") for e in tf.train.summary_iterator(path)]
    assert [e.tagged_run_metadata.tag for e in events if e.HasField("tagged_run_metadata")] == ["step_3", "step_6"]


def test_checkpoints_that_others_save(tmp_path):
    v = tf.Variable(1.0)
    saver, asked = tf.train.Saver(), []

    def enough():
        asked.append(1)
        return len(asked) == 2
    with tf.Session() as session:
        session.run(v.initializer)
        paths = [saver.save(session, str(tmp_path / "c"), global_step=1)]
        found = []
        for path in tf.train.checkpoints_iterator(tmp_path, timeout=0, timeout_fn=enough):
            found.append(path)
            if len(found) == 1:
                paths.append(saver.save(session, str(tmp_path / "c"), global_step=2))
    assert found == paths and len(asked) == 2


def test_names_that_are_imported_when_used_are_listed():
    assert {"MonitoredTrainingSession", "AdamOptimizer", "Supervisor", "SummaryWriter"} <= set(dir(tf.train))
    assert {"Summary", "ConfigProto", "Graph"} <= set(dir(tf)) and "FileWriter" in dir(tf.summary)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        tf.train.Nothing  # noqa: B018


def stopping(hook, step_by):
    """The steps that runs make until the hook stops them (at most nine)."""
    step = tf.train.get_or_create_global_step()
    count, seen = tf.assign_add(step, 1), []
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        for number in range(9):
            if session.should_stop():
                break
            seen.append(session.run(count if step_by(number) else step))
    return seen


@pytest.mark.parametrize("arguments, step_by, expected", [
    ({"last_step": 3}, lambda n: True, [1, 2, 3]), ({"num_steps": 2}, lambda n: True, [1, 2]),
    # A run that leaves the step as it is may not stop at the step before the last.
    ({"last_step": 3}, lambda n: n % 2 == 0, [1, 1, 2, 2, 3]), ({"last_step": 1}, lambda n: n > 1, [0, 0, 1])])
def test_a_stop_at_a_step(arguments, step_by, expected):
    assert [int(step) for step in stopping(tf.train.StopAtStepHook(**arguments), step_by)] == expected


def test_num_steps_count_from_the_step_of_the_session(tmp_path):
    for expected in (2, 4):
        with tf.Graph().as_default():
            step, count = counting()
            with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), save_checkpoint_steps=1,
                                                   hooks=[tf.train.StopAtStepHook(num_steps=2)]) as session:
                while not session.should_stop():
                    found = session.run(count)
        assert found == expected


@pytest.mark.parametrize("arguments, expected", [
    ({"every_n_iter": 2}, ["s = 0", "s = 2"]), ({"every_n_iter": 2, "at_end": True}, ["s = 0", "s = 2", "s = 4"]),
    ({"at_end": True}, ["s = 4"]), ({"every_n_iter": 1}, ["s = 0", "s = 1", "s = 2", "s = 3"]),
    ({"every_n_secs": 1000}, ["s = 0"])])
def test_values_are_logged_when_they_are_due(caplog, arguments, expected):
    step, count = counting()
    hook = tf.train.LoggingTensorHook({"s": step + 0}, **arguments)
    with caplog.at_level(logging.INFO, "tensorflow"):
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            for _ in range(4):
                session.run(count)
    assert [text.split(" (")[0] for text in caplog.messages if text.startswith("s = ")] == expected


def test_a_formatter_and_the_order_of_tags(caplog):
    a = tf.constant(1.0, name="a")
    tf.constant([1e-9, 2.0], name="b")
    _, count = counting()
    hooks = [tf.train.LoggingTensorHook({"z": a, "y": "b:0"}, every_n_iter=1),
             tf.train.LoggingTensorHook(["b", "a"], every_n_iter=1),
             tf.train.LoggingTensorHook([a], every_n_iter=1, formatter=lambda values: f"mine {values[a]}")]
    with caplog.at_level(logging.INFO, "tensorflow"):
        with tf.train.MonitoredSession(hooks=hooks) as session:
            session.run(count)
    found = [text for text in caplog.messages if "=" in text or "mine" in text]
    assert found == ["y = [0. 2.], z = 1.0", "b = [0. 2.], a = 1.0", "mine 1.0"]
    with pytest.raises(ValueError, match="has multiple outputs"):
        tf.split([1.0, 2.0], 2, name="both")
        tf.train.LoggingTensorHook(["both"], every_n_iter=1).begin()
    with tf.Graph().as_default():
        foreign = tf.constant(1.0)
    with pytest.raises(ValueError, match="graph attribute that is equal to current graph"):
        tf.train.LoggingTensorHook([foreign], every_n_iter=1).begin()
