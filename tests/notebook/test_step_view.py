"""%step behind the magic: tables, buttons, clicks, hostile names."""
import sys

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
    assert "▶" in text and "log:0" in text and "-inf" in text
    log = dict(view.table("ops").rows)["0"]
    assert log[4].bad and log[5].hist


def test_buttons_and_clicks_move(view):
    assert "next is log" in ask(view, type="act", act="back")["note"]
    assert "next is loss" in ask(view, type="act", act="step")["note"]
    assert "the run is over: 2 ops" in ask(view, type="act", act="go")["note"]
    assert "next is log" in ask(view, type="pick", table="ops", row="0")["note"]
    assert "no 'x'" in ask(view, type="pick", table="ops", row="x")["note"]
    assert ask(view, type="act", act="restart")["buttons"] == [["step", "Step"], ["back", "Back"], ["go", "Go on"],
                                                               ["restart", "Restart"]]


def test_changed_values_are_listed(view):
    assert view.set("x", [1.0, 1.0]).value("log").tolist() == [0.0, 0.0]
    assert "Changed" in repr(view) and "fetched" in repr(view.go())


def test_names_are_text(view, monkeypatch):
    monkeypatch.setattr(type(view.stepper.calls[0]), "name", EVIL)
    view.restart()
    html = view.forms()["text/html"]
    assert "<img" not in html and "<script" not in html and "&lt;img" in html
