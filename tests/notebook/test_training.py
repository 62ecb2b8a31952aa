"""Trainings in a thread, without IPython: control between two steps, rules to end, learning rates, forms."""
import math
import threading
import time

import numpy as np
import pytest

import tfnb as tf
from tfnb.notebook.frontend import shell
from tfnb.notebook.plots.active_runs import active_runs, hold_runs, release_runs, stop_runs_of
from tfnb.notebook.plots.board import SENDER
from tfnb.notebook.plots.early_stopping import Plateau, not_finite, rules
from tfnb.notebook.plots.learning_rate import NumberRate, rate_of
from tfnb.notebook.plots.recorder import Recorder
from tfnb.notebook.plots.training import Run
from tfnb.notebook.run_store.train_panel import TrainPanel, duration


@pytest.fixture(autouse=True)
def all_end():
    yield
    for run in active_runs():
        run.release()
        run.stop()
    assert not active_runs()


def endless(step=lambda number: time.sleep(0.0005), **more):
    return Run(step, None, recorder=Recorder(), **more).start()


def test_it_runs_to_its_end_and_reports():
    start = time.perf_counter()
    run = Run(lambda number: {"loss": 1 / (number + 1)}, 100, recorder=Recorder()).start().wait()
    assert 0 < run.seconds <= time.perf_counter() - start
    assert (run.steps, run.status, run.active) == (100, "done", False)
    steps, values = run.series["loss"]
    assert steps.tolist() == list(range(100)) and values[-1] == pytest.approx(0.01)


def test_every_reports_some_steps_only_and_a_number_has_a_tag():
    run = Run(float, 10, every=4, recorder=Recorder(), name="A").start().wait()
    assert run.series["value"][0].tolist() == [0, 4, 8]
    assert list(run.recorder.series) == [("A", "value")]


def test_pause_step_resume_and_stop():
    run = endless()
    run.wait_for_step()
    assert run.pause() is run
    run.hold(), run.release()                   # it stands now
    count = run.steps
    time.sleep(0.02)
    assert run.steps == count and run.status == "paused"
    assert run.step().steps == count + 1 and run.step(3).steps == count + 4
    run.resume()
    while run.steps == count + 4:
        time.sleep(0.001)
    assert run.stop("enough").status == "stopped" and run.why == "enough"
    assert run.wait() is run, "that it was stopped is no error"


def test_an_error_ends_it_and_is_raised_where_it_is_waited_for():
    def step(number):
        if number == 3:
            raise ZeroDivisionError("here")

    run = Run(step, 10, recorder=Recorder()).start()
    with pytest.raises(ZeroDivisionError, match="here"):
        run.wait()
    assert run.status == "failed" and run.steps == 3
    panel = TrainPanel(run)
    assert "ZeroDivisionError: here" in repr(panel) and 'raise ZeroDivisionError("here")' in repr(panel)


@pytest.mark.parametrize("error", [StopIteration, lambda: tf.errors.OutOfRangeError(None, None, "empty")])
def test_the_end_of_the_input_is_the_end_of_the_training(error):
    def step(number):
        if number == 5:
            raise error()

    run = Run(step, None, recorder=Recorder()).start().wait()
    assert (run.steps, run.status, run.why) == (5, "done", "the input has ended")


def test_a_held_training_stands_between_two_steps_until_it_is_released():
    inside = threading.Event()

    def step(number):
        inside.set()
        time.sleep(0.002)
        inside.clear()

    run = endless(step)
    for _ in range(20):
        hold_runs()
        assert not inside.is_set()
        count = run.steps
        time.sleep(0.003)
        assert run.steps == count
        release_runs()
    hold_runs()
    with pytest.raises(RuntimeError, match="a cell of its own"):
        run.wait()
    with pytest.raises(RuntimeError, match="a cell of its own"):
        run.step()
    release_runs()


def test_a_cell_that_runs_again_ends_its_training():
    run = endless()
    run.cell = "a"
    stop_runs_of("b")
    assert run.active
    hold_runs()
    stop_runs_of("a")
    assert run.status == "stopped" and "run again" in run.why


def test_it_ends_at_a_nan_and_tells_the_step():
    run = Run(lambda number: {"loss": math.nan if number == 7 else 1.0}, 100, rules=rules(["nan"]),
              recorder=Recorder()).start().wait()
    assert run.status == "stopped" and run.why == "loss is nan at step 7" and run.steps == 8


def test_rules():
    assert not_finite({"a": 1.0}) == "" and not_finite({"a": 1.0, "b": math.inf}) == "b is inf"
    plateau = Plateau(50)
    falling = [plateau({"accuracy": 5.0, "loss": 0.99 ** i}) for i in range(300)]
    assert not any(falling)
    flat = [plateau({"accuracy": float(i), "loss": 0.05}) for i in range(300)]
    assert "loss has not fallen in 50 reports" in flat
    for wrong in ("never", "plateau=0", "plateau=x", "nan=3"):
        with pytest.raises(ValueError, match="nan, plateau"):
            rules([wrong])


def network():
    tf.reset_default_graph()
    w = tf.Variable([1.0, 2.0], name="w")
    loss = tf.reduce_sum(tf.square(w))
    return w, loss


@pytest.mark.parametrize("kind", ["optimizer", "placeholder", "variable", "name", "number"])
def test_the_rate_that_is_set_is_the_one_that_trains(kind):
    w, loss = network()
    given = {"placeholder": tf.placeholder(tf.float32, [], name="rate"),
             "variable": tf.Variable(0.0, trainable=False, name="rate_variable")}.get(kind, 0.0)
    optimizer = tf.train.GradientDescentOptimizer(tf.constant(0.0, name="learning") if kind == "name" else given)
    train = optimizer.minimize(loss)
    names = {"rate": 0.0}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        if kind == "number":
            rate = NumberRate(names, "rate")
            train = w.assign_sub(2 * w * tf.placeholder(tf.float32, [], name="by_hand"))
        else:
            what = {"optimizer": optimizer, "name": "learning"}.get(kind, given)
            rate = rate_of(what, session.graph, 0.0 if kind == "placeholder" else None, session)

        def step(number):
            session.run(train, {"by_hand:0": names["rate"]} if kind == "number" else None)

        run = Run(step, None, rate=rate, recorder=Recorder()).start()
        run.wait_for_step()
        run.pause().hold()
        run.release()
        assert session.run(w).tolist() == [1.0, 2.0]
        run.set_rate(0.25)
        assert rate.value == 0.25
        run.step(1)
        assert session.run(w).tolist() == [0.5, 1.0]
        run.stop()
        assert "run" not in vars(session), "the session is as it was"


def test_what_holds_no_rate_says_so():
    w, loss = network()
    with tf.Session() as session:
        with pytest.raises(ValueError, match="rate=0.01"):
            rate_of(tf.placeholder(tf.float32, [], name="rate"), session.graph, None, session)
        with pytest.raises(ValueError, match="has no constant learning rate"):
            rate_of(tf.train.AdamOptimizer(), session.graph, None, session)
        with pytest.raises(ValueError, match="not list"):
            rate_of([1], session.graph, None, session)
        with pytest.raises(KeyError, match="did you mean 'w'"):
            rate_of("ww", session.graph, None, session)
    run = Run(lambda number: None, 1)
    with pytest.raises(ValueError, match="--lr"):
        run.set_rate(0.1)


def test_the_thread_has_the_default_graph_and_session_of_who_started_it():
    _, loss = network()
    seen = []
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.constant(1.0)
        Run(lambda number: seen.extend([tf.get_default_graph(), tf.get_default_session()]), 1,
            recorder=Recorder()).start().wait()
    assert seen == [graph, session]


def test_summaries_that_a_step_fetches_belong_to_its_run():
    _, loss = network()
    merged = tf.summary.scalar("loss", loss)
    recorder = Recorder()
    tf.core.taps.on_summary, before = recorder.summary, tf.core.taps.on_summary
    try:
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            run = Run(lambda number: session.run(merged) and None, 3, name="A", recorder=recorder).start().wait()
    finally:
        tf.core.taps.on_summary = before
    assert run.series["loss"][1].tolist() == [5.0] * 3 and list(recorder.series) == [("A", "loss")]


def test_forms_escape_what_is_told():
    evil = "<img src=x onerror=alert(1)>"

    def step(number):
        if number == 2:
            raise ValueError(evil)
        return {evil: np.float32(0.5)}

    run = Run(step, 4, name=evil, recorder=Recorder()).start()
    with pytest.raises(ValueError):
        run.wait()
    panel = TrainPanel(run)
    html = panel.forms()["text/html"]
    assert "<img" not in html and "width: 50.0%" in html and html.count("&lt;img") == 3
    assert f"{evil} 0.5" in repr(panel) and "step 2 of 4" in repr(panel)


def test_the_end_is_drawn_also_where_it_comes_while_the_panel_looks(monkeypatch):
    """The panel found a training that was active, and then told the state of its end: that was all it told."""
    run = endless()
    panel = TrainPanel(run).show()
    SENDER.close(panel)                                     # only this test lets it look
    drawn = []
    monkeypatch.setattr(shell, "update", lambda bundle, display_id: drawn.append(repr(panel)))
    run.stop().wait()
    with monkeypatch.context() as late:
        late.setattr(Run, "active", property(lambda run: True))
        panel.tick(math.inf)
    panel.tick(math.inf)
    panel.tick(math.inf)
    assert len(drawn) == 1 and "training: stopped" in drawn[0]


def test_a_training_that_ends_while_it_is_shown_is_told_as_ended_once(monkeypatch):
    run = endless()
    panel, told = TrainPanel(run), []
    look = panel.widget_state

    def ends_behind_the_first_look():
        state = look()
        run.stop().wait()
        return state

    monkeypatch.setattr(panel, "widget_state", ends_behind_the_first_look)
    for name in ("show", "update"):
        monkeypatch.setattr(shell, name, lambda bundle, display_id: told.append(bundle["text/plain"]))
    SENDER.close(panel.show())
    panel.tick(math.inf)
    panel.tick(math.inf)
    assert ["stopped" in text for text in told] == [False, True]


def test_the_end_reaches_the_first_panel_also_where_another_cell_shows_it_again(monkeypatch):
    run = endless()
    panel = TrainPanel(run).show()
    drawn = []
    monkeypatch.setattr(shell, "update", lambda bundle, display_id: drawn.append(repr(panel)))
    SENDER.close(panel)
    run.stop().wait()
    panel.show()                                            # as the cell does whose last line is `run.stop()`
    panel.tick(math.inf)
    assert drawn and "training: stopped" in drawn[-1]


def test_a_page_that_asks_for_a_rate_where_there_is_none_is_passed_over():
    run = endless(lambda number: {"loss": 10 ** 400})
    run.wait_for_step()
    panel = TrainPanel(run)
    panel.hear({"type": "rate", "value": 0.5})
    assert panel.widget_state()["values"] == [["loss", "1" + "0" * 19]]


def test_buttons_of_the_panel():
    run = endless(rate=NumberRate({"rate": 0.1}, "rate"))
    panel = TrainPanel(run)
    panel.hear({"type": "pause"})
    assert panel.widget_state()["status"] == "paused"
    panel.hear({"type": "rate", "value": 0.5})
    panel.hear({"type": "rate", "value": "evil"})
    run.hold(), run.release()
    assert run.rate.value == 0.5 and panel.widget_state()["rate"] == {"name": "rate", "value": 0.5}
    panel.hear({"type": "resume"})
    assert run.status == "running"
    panel.hear({"type": "stop"})
    run.wait()
    assert panel.widget_state()["note"] == "by its button"


def test_durations():
    assert [duration(s) for s in (0.04, 12.4, 200, 7500)] == ["40 ms", "12 s", "3 min 20 s", "2 h 5 min"]


def test_a_run_of_no_steps_is_refused():
    for wrong in ({"total": 0}, {"total": 5, "every": 0}, {"total": 5, "save_every": -1}):
        with pytest.raises(ValueError, match="at least 1"):
            Run(lambda number: None, **wrong)
    assert active_runs() == []
