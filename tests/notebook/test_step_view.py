"""%step behind the magic: tables, buttons, clicks, hostile names."""
import re
import sys
from types import SimpleNamespace

import pytest

import tfnb as tf
from tests.notebook.test_graph_view import FakeWidget, ask
from tfnb.notebook import StepView, step

EVIL = "<img src=x onerror=alert(1)><script>alert(1)</script>\"'"
widget_module = sys.modules[StepView.__mro__[2].__module__]


@pytest.fixture
def view(monkeypatch):
    monkeypatch.setattr(widget_module, "make_widget", FakeWidget)
    with tf.Graph().as_default(), tf.Session():
        x = tf.placeholder(tf.float32, [2], name="x")
        tf.reduce_sum(tf.log(x, name="log"), name="loss")
        view = step("loss", feed={"x": [1.0, 0.0]}, breaks="loss")
        view._repr_mimebundle_()
        yield view


def test_it_stops_at_the_breakpoint_and_shows_what_is_taken(view):
    assert view.stepper.op.name == "loss" and "next is loss, 2 of 2" in view.note
    text = repr(view)
    assert dict(view.table("takes").rows)["log:0"][0].text == "input"
    assert "▶" in text and "log:0" in text and "-inf" in text
    log = dict(view.table("ops").rows)["0"]
    assert log[4].bad and not log[5].hist


def test_what_matches_no_op_of_the_run_is_told():
    with tf.Graph().as_default(), tf.Session():
        tf.square(tf.constant([1.0]), name="layer/h")
        for wrong in ({"until": "layr/h"}, {"breaks": ["h", "layr/h"]}):
            with pytest.raises(ValueError, match="no op of the run matches 'layr/h'; did you mean 'layer/h'"):
                step("layer/h", **wrong)
        with pytest.raises(tf.errors.NotFoundError, match="the run has no op 'h'; did you mean 'layer/h'"):
            step("layer/h").value("h")


def test_many_numbers_are_told_by_mean_and_spread_and_drawn():
    with tf.Graph().as_default(), tf.Session():
        tf.reduce_sum(tf.constant(range(10), tf.float32, name="c") + 1.0, name="loss")
        takes = dict(step("loss").step().table("takes").rows)
    value, _, drawn = takes["add:0"][2:]
    assert value.text == "float32[10] 5.5 ± 2.9" and sum(drawn.hist[0]) == 10


def test_the_next_op_is_lit_in_the_graph_and_what_has_run_is_painted(view):
    state = view.widget_state()["graph"]
    def classes(name):
        return re.search(f'class="([^"]*)" data-name="{name}"', state["svg"])[1]
    assert "is-next" in classes("loss") and "p-c-" in classes("loss")
    assert "p-c2" in classes("log") and "is-next" not in classes("log")
    assert "has run" in state["svg"] and state["colors"] == []
    state = ask(view, type="graph", message={"type": "select", "name": "log"})["graph"]
    assert state["details"]["values"][0]["text"] == "float32[2] [ 0., -inf]"
    view.back()
    assert view.widget_state()["graph"]["details"]["values"] == []
    assert ask(view, type="graph", message=5) == view.widget_state()
    sent = []
    view.widget.send = sent.append
    ask(view, type="graph", message={"type": "dot", "name": ""})
    assert sent[0]["type"] == "dot" and "loss" in sent[0]["text"]


def test_a_value_is_typed_and_the_run_goes_on(view):
    assert "loss takes" in [table["title"] for table in view.widget_state()["tables"]]
    state = ask(view, type="edit", table="takes", row="log:0", text="[1, value + 1]")
    assert "can't stand for float32[2]" in state["note"]
    ask(view, type="edit", table="takes", row="log:0", text="[1, 2.5]")
    assert view.value("log").tolist() == [1.0, 2.5] and view.go().stepper.result[0] == 3.5
    assert ask(view, type="act", act="take back", row="0")["tables"][0]["title"] == "Fetched"
    assert view.stepper.result[0] == float("-inf") and not view.stepper.changes


def test_a_handle_can_not_be_typed():
    with tf.Graph().as_default(), tf.Session():
        tf.FIFOQueue(3, [tf.float32], name="queue").size(name="size")
        view = step("size").step()
        view.hear({"type": "edit", "table": "takes", "row": "queue:0", "text": "1"})
        assert view.note == "queue:0 is a resource: a handle stays what it is" and view.go().stepper.result == [0]
        assert not any(cell.edit for _, cells in view.back().table("takes").rows for cell in cells)


def test_it_may_begin_before_an_op_or_at_the_end():
    with tf.Graph().as_default(), tf.Session():
        tf.reduce_sum(tf.square(tf.constant(2.0, name="c"), name="sq"), name="loss")
        assert step("loss", until="loss").stepper.op.name == "loss"
        assert step("loss", back=True).stepper.done and "next is loss" in step("loss", back=True).back().note


def test_buttons_and_clicks_move(view):
    assert "next is log" in ask(view, type="act", act="back")["note"]
    assert "next is loss" in ask(view, type="act", act="step")["note"]
    assert "the run is over: 2 ops" in ask(view, type="act", act="go")["note"]
    assert "next is log" in ask(view, type="pick", table="ops", row="0")["note"]
    assert "no 'x'" in ask(view, type="pick", table="ops", row="x")["note"]
    assert ask(view, type="act", act="restart")["buttons"] == [["step", "Step"], ["back", "Back"], ["go", "Go on"],
                                                               ["restart", "Restart"], ["all ops", "All ops"]]


def test_changed_values_are_listed(view):
    assert view.set("x", [1.0, 1.0]).value("log").tolist() == [0.0, 0.0]
    assert "Changed" in repr(view) and "fetched" in repr(view.go())


def test_names_are_text(view, monkeypatch):
    monkeypatch.setattr(type(view.stepper.calls[0]), "name", EVIL)
    view.restart()
    html = view.forms()["text/html"]
    assert "<img" not in html and "<script" not in html and "&lt;img" in html


@pytest.mark.parametrize("position, rows", [(0, range(11)), (5, range(11)), (6, range(1, 12)), (10, range(5, 16)),
                                            (13, range(8, 19)), (14, range(9, 20)), (20, range(9, 20))])
def test_eleven_ops_around_the_next_one_are_shown(position, rows):
    with tf.Graph().as_default(), tf.Session():
        x = tf.placeholder(tf.float32, [], name="x")
        for i in range(20):
            x = tf.square(x, name=f"op_{i}")
        table = step(x, feed={"x:0": 1.0}).step(position).table("ops")
    assert [int(key) for key, _ in table.rows] == list(rows)
    marks = [key for key, cells in table.rows if cells[0].text == "▶"]
    assert marks == ([str(position)] if position < 20 else [])


def test_it_stops_behind_a_value_that_meets_a_condition(view):
    view.restart().stop_when("has_inf_or_nan")
    assert view.go().note.startswith("log:0 meets has_inf_or_nan; next is loss")
    assert dict(view.table("takes").rows)["log:0"][0].text == "input"
    assert "behind a value that meets" in repr(view) and "has_inf_or_nan" in repr(view)
    state = ask(view, type="edit", table="stops", row="when", text="x.sum() < -5; has_nan")
    assert [condition.text for condition in view.stepper.when] == ["x.sum() < -5", " has_nan"] and state["note"]
    assert "no Python expression" in ask(view, type="edit", table="stops", row="when", text="abs(x")["note"]
    assert "did you mean 'has_nan'" in ask(view, type="edit", table="stops", row="when", text="has_nam")["note"]
    assert len(view.stepper.when) == 2
    with tf.Session():
        made = step("loss", feed={"x": [1.0, 0.0]}, when=["has_nan", "x.min() < 0"])
        assert made.stepper.met == "log:0 meets x.min() < 0" and made.stepper.op.name == "loss"
        failed = step("loss", feed={"x": [1.0, 0.0]}, when="x[7] > 0")
        assert "IndexError" in failed.note and failed.stepper.op.name == "loss"
        with pytest.raises(ValueError, match="IndexError"):
            failed.restart().go()
        assert failed.stepper.op.name == "loss" and "log:0" in repr(failed)


def test_slices_are_watched(view):
    view.watch("x[0]", "loss")
    rows = dict(view.table("watched").rows)
    assert rows["x[0]"][1].text == "float32 1." and "has no value before op 1" in rows["loss"][1].text
    state = ask(view, type="edit", table="watched", row="", text="log[1:]")
    assert state["tables"][1]["rows"][2]["cells"][1]["t"] == "float32[1] [-inf]"
    assert "is no index" in ask(view, type="edit", table="watched", row="", text="log[f()]")["note"]
    ask(view, type="edit", table="watched", row="", text="x[5]")
    assert "out of bounds" in dict(view.table("watched").rows)["x[5]"][1].text
    ask(view, type="act", act="forget", row="x[0]")
    assert "x[0]" not in view.slices and view.go().table("watched").rows[0][1][1].text == "float32 -inf"
    with tf.Session():
        assert "float32[1] [-inf]" in repr(step("loss", feed={"x": [1.0, 0.0]}, back=True, show=["log[1:]"]))


def test_python_names_mean_their_tensors(view, monkeypatch):
    tensor = tf.get_default_graph().get_tensor_by_name
    held = {"h": tensor("log:0"), "loss": tensor("x:0")}
    monkeypatch.setattr("tfnb.notebook.frontend.shell.current", lambda: SimpleNamespace(user_ns=held))
    view.watch("h[0:1]")
    assert dict(view.table("watched").rows)["h[0:1]"][1].text == "float32[1] [0.]"
    assert view.value("loss").tolist() == [1.0, 0.0], "the tensor that `loss` is, not the op of that name"
    view.set("h", [2.0, 3.0])
    assert view.go().stepper.result == [5.0]


def test_all_ops_are_listed_with_their_times_and_filtered(view):
    view.go()
    state = ask(view, type="act", act="all ops")
    assert state["buttons"][-1] == ["near ops", "Only the next ops"]
    assert view.table("ops").title == "All ops: 2 of 2"
    assert all(cells[6].value > 0 for _, cells in view.table("ops").rows)
    for text, found in (("^log", ["0"]), ("Sum", ["1"]), ("inf", ["0", "1"]), ("nothing", [])):
        ask(view, type="edit", table="filter", row="", text=text)
        assert [key for key, _ in view.table("ops").rows] == found
    assert "no regular expression" in ask(view, type="edit", table="filter", row="", text="(")["note"]
    ask(view, type="act", act="near ops")
    assert view.listed is None and view.table("ops").title == "Queue of ops"
