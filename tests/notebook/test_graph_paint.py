"""Colours and traces of drawings: what they say, in the legend too, and that the state brings them back."""
import re

import numpy as np
import pytest

import tfnb as tf
from tests.notebook.test_graph_view import ask, shown  # noqa: F401
from tfnb.notebook import graph_view, measure
from tfnb.notebook.graph.costs import Cost
from tfnb.notebook.graph.paint import amount_text

ROWS = [("x", "Placeholder"), ("a/b", "Relu", ("x",)), ("a/c", "Relu", ("a/b",)), ("d", "Neg", ("x",)),
        ("e", "Add", ("a/c", "d"))]


def classes(view, name):
    found = re.search(rf'<g [^>]*class="([^"]*)"[^>]*data-name="{re.escape(name)}"[^>]*>', view.svg())
    return found[1].split()


def faint(view):
    return set(re.findall(r'<g [^>]*data-name="([^"]*)"[^>]*opacity="0.25"', view.svg()))


def test_traces_leave_strong_what_is_on_the_way():
    view = graph_view(ROWS, engine="builtin")
    assert faint(view) == set()
    assert faint(view.trace("d")) == {"a/", "e"} and view.state["trace"] == ["d", "inputs"]
    assert faint(view.trace("a/c", "outputs")) == {"x", "d"}
    other = graph_view(ROWS, engine="builtin")
    other.state = view.state
    assert other.svg() == view.svg() and other.state == view.state
    assert faint(view.trace("")) == set()
    assert faint(graph_view(ROWS, engine="builtin", trace=("d", "inputs"))) == {"a/", "e"}
    with pytest.raises(ValueError, match="inputs or outputs"):
        view.trace("d", "sideways")


def test_gradients_devices_and_cells_have_colours():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        with tf.device("/cpu:0"):
            y = tf.square(x, name="y")
        z = tf.negative(tf.stop_gradient(y), name="z")
        g = tf.gradients(y, x)[0]
        assert z is not None and g is not None
        view = graph_view(graph, engine="builtin")
        svg = view.color_by("gradient").svg()
        assert "computes a gradient" in svg and "a gradient reads it" in svg and "p-c-" in classes(view, "z")
        assert view.state["color"] == "gradient"
        assert "/device:CPU:0" in view.color_by("device").svg().upper().replace("/DEVICE:", "/device:")
        assert "test_graph_paint.py" in view.color_by("cell").svg()
        assert "up to date" in view.color_by("stale").svg()
        assert "p-c" not in view.color_by("structure").svg()
    with pytest.raises(ValueError, match="did you mean 'cell'"):
        view.color_by("cel")
    with pytest.raises(ValueError, match="must be measured"):
        view.color_by("time")


def test_costs_are_measured_and_drawn():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 200], name="x")
        w = tf.Variable(np.ones((200, 300), np.float32), name="w")
        y = tf.reduce_sum(tf.matmul(x, w, name="product"), name="y")
        step = tf.assign_add(w, tf.ones([200, 300]), name="step")
        session.run(w.initializer)
        costs = measure([y, step], {x: np.ones((100, 200))}, session)
        assert costs["product"].nbytes == 100 * 300 * 4 and costs["product"].seconds > 0
        assert session.run(w)[0, 0] == 1.0, "the run was on a copy"
        view = graph_view(y, costs=costs, color="memory", engine="builtin", level="ops")
        assert "120 kB" in view.svg() and "p-h4" in classes(view, "product")
        words = [word for _, word in view._shown().legend]
        assert words[0] == "0" and words[-1].endswith(" kB") and len(words) == 6, "each colour says up to how much"
        assert "p-h" in view.color_by("time").svg() and len(view.widget_state()["colors"]) == 8


def test_amounts_are_said_in_few_letters():
    assert [amount_text("time", v) for v in (2.5, 0.0125, 3e-6)] == ["2.5 s", "12.5 ms", "3 µs"]
    assert [amount_text("time", v) for v in (1.0, 1e-3, 1e-6)] == ["1 s", "1 ms", "1 µs"]
    assert [amount_text("time", v) for v in (9.999e-4, 9.99e-4, 0.9996)] == ["1 ms", "999 µs", "1 s"]
    assert [amount_text("memory", v) for v in (3e9, 12, 1500)] == ["3 GB", "12 B", "1.5 kB"]
    assert Cost() == Cost(0.0, 0)


def test_the_browser_colours_traces_and_asks_for_dot(shown):  # noqa: F811
    assert [how for how, _ in shown.widget_state()["colors"]] == [
        "structure", "cell", "device", "gradient", "stale", "change"]
    assert ask(shown, type="color", name="gradient")["color"] == "gradient"
    assert "coloured by" in ask(shown, type="color", name="<b>")["note"]
    assert ask(shown, type="trace", name="loss/", value="inputs")["trace"] == ["loss/", "inputs"]
    assert ask(shown, type="trace", name="")["trace"] is None
    assert "has the key" in ask(shown, type="trace", name="nowhere", value="inputs")["note"]
    sent = []
    shown.widget.send = sent.append
    ask(shown, type="dot")
    assert sent[0]["type"] == "dot" and sent[0]["text"].startswith("digraph")


def test_details_show_the_source_around_the_line():
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, name="here")
    source = graph_view(graph).details("here")["source"]
    assert [text.strip() for _, text, marked in source if marked] == ['tf.constant(1.0, name="here")']
    assert len(source) == 5
