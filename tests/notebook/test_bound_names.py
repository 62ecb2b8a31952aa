"""Python names on the nodes of drawings: of ops, of layers' boxes, in the details, the search, the text and DOT."""
import xml.etree.ElementTree as ElementTree

import pytest

import tfnb as tf
from tfnb.notebook.frontend import shell
from tfnb.notebook.graph.view import graph_view


class Shell:
    """As much of IPython as `python_names` asks for."""

    def __init__(self) -> None:
        self.user_ns = {"In": ["", "x"], "Out": {}}


@pytest.fixture
def notebook(monkeypatch):
    made = Shell()
    monkeypatch.setattr(shell, "current", lambda: made)
    with tf.Graph().as_default():
        yield made.user_ns


def model(user):
    user["x"] = tf.placeholder(tf.float32, [None, 4], name="x")
    user["h"] = tf.layers.dense(user["x"], 3, tf.nn.relu, name="first")
    user["W"] = tf.Variable(tf.zeros([3, 2]), name="weights")
    user["Out"][3] = user["logits"] = tf.matmul(user["h"], user["W"])
    user["loss"] = tf.reduce_mean(tf.square(user["logits"]))
    user["train"] = tf.train.GradientDescentOptimizer(0.1).minimize(user["loss"])


def bound(view):
    return {node.name: node.bound for node in view._scene().nodes if node.bound}


def test_ops_and_boxes_have_the_names_of_what_they_make(notebook):
    model(notebook)
    view = graph_view(level="ops")
    assert bound(view) == {"MatMul": "logits", "weights": "W", "Mean": "loss", "first": "h", "GradientDescent": "train"}
    layers = bound(graph_view())
    assert layers["first"] == "h" and layers["dense"] == "logits" and layers["GradientDescent"] == "train"
    view.expand("first")
    assert bound(view)["first/Relu"] == "h" and "first" not in bound(view), "the op says it, once it is seen"


def test_names_are_drawn_searched_and_listed(notebook):
    model(notebook)
    view = graph_view(level="ops")
    drawn = ElementTree.fromstring(view.svg())
    assert "logits" in [e.text for e in drawn.iter() if e.get("class") == "py"]
    assert "  logits = MatMul  MatMul  float32[?×2]  → " in view.to_text() and "h = first/  " in view.to_text()
    assert r'"MatMul" [label="MatMul\nlogits"' in view.to_dot()
    view.hear({"type": "search", "text": "loss"})
    assert [hit["name"] for hit in view.widget_state()["hits"]][0] == "Mean"
    assert view.widget_state()["hits"][0]["what"] == "Mean, loss"
    view.hear({"type": "reveal", "name": "h"})
    assert view.state["selected"] == "first/Relu" and view.widget_state()["details"]["names"] == ["h"]
    assert view.details("first")["names"] == ["h"] and view.expand("logits").state["selected"] == "first/Relu"


def test_a_name_that_means_something_else_now_is_not_shown(notebook):
    model(notebook)
    view = graph_view(level="ops")
    notebook["logits"] = tf.nn.softmax(notebook["logits"])
    del notebook["W"]
    view.expand("first")
    assert not {"logits", "W"} & set(bound(view).values()), "the view is of the graph as it was"
    assert bound(graph_view(level="ops"))["Softmax"] == "logits"


def test_a_box_has_the_name_of_its_result_not_of_what_gradients_read(notebook):
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    with tf.name_scope("block"):
        notebook["a"], notebook["b"] = tf.square(x), tf.exp(x)
        both = notebook["a"] * notebook["b"]
    with tf.name_scope("cost"):
        notebook["loss"] = tf.reduce_sum(tf.layers.dense(both, 2))
    tf.summary.scalar("cost", notebook["loss"])
    tf.train.GradientDescentOptimizer(0.1).minimize(notebook["loss"])
    assert bound(graph_view(level="ops")) == {"cost": "loss"}


def test_hostile_keys_of_dicts_are_text(notebook):
    notebook["w"] = {"<script>alert(1)</script>\u2028\"'": tf.zeros([2], name="a")}
    view = graph_view(level="ops")
    drawn = ElementTree.fromstring(view.svg())
    assert "script" not in {e.tag.rpartition("}")[2] for e in drawn.iter()}
    assert "<script" not in view.svg() and '\\"' in view.to_dot()


def test_a_graph_that_is_not_ours_has_no_names(notebook):
    notebook["a"] = 1
    assert bound(graph_view([("a", "Const")])) == {} == bound(graph_view(tf.GraphDef()))
