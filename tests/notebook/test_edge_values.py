"""Values on the edges of a graph: what is recorded, what is drawn, images, hostile names, and that the run is real."""
import sys

import numpy as np
import pytest

import tfnb as tf
from tests.notebook.test_graph_view import FakeWidget, ask
from tfnb.notebook import GraphView, fetch, graph_view, step, watch
from tfnb.notebook.debug.edge_values import Recorder, Watched, _as_bytes, image_of, opened, watched

EVIL = "<img src=x onerror=alert(1)><script>alert(1)</script>\"'"
widget_module = sys.modules[GraphView.__mro__[1].__module__]


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        with tf.name_scope("layer"):
            w = tf.Variable(np.ones((3, 2), np.float32), name="w")
            h = tf.log(tf.matmul(x, w, name="product"), name="log")
        tf.reduce_sum(h, name="loss")
        tf.assign_add(w, tf.ones([3, 2]), name="step")
        session.run(tf.global_variables_initializer())
        yield session


FEED = {"x": [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]}


def test_all_tensors_are_recorded_with_feeds_and_variables(session):
    view = watch("loss", feed=FEED, engine="builtin", depth=2)
    assert {"x:0", "layer/w:0", "layer/w/read:0", "layer/product:0", "layer/log:0", "loss:0"} <= set(view.values)
    assert view.values["layer/log:0"].pill.shares[1] == 0.5 and "-inf" in view.values["layer/log:0"].text
    svg = view.svg()
    assert 'class="value is-bad"' in svg and "50% bad" in svg and "float32[2, 3] in [0, 3]" in svg
    assert watch("loss", feed=FEED, pattern="^layer/pro").values.keys() == {"layer/product:0"}


def test_the_panel_shows_the_last_value(session, monkeypatch):
    monkeypatch.setattr(widget_module, "make_widget", FakeWidget)
    view = watch("loss", feed=FEED)
    view._repr_mimebundle_()
    assert ask(view, type="select", name="loss")["details"]["values"] == [
        {"name": "loss:0", "tensor": "loss:0", "text": "float32 -inf", "image": ""}]


def test_a_closed_scope_shows_the_tensor_that_matters():
    rows = [("a/x", "Op", (), (), {}, [(4,), (100,)]), ("b", "Op", ("a/x:0", "a/x:1"))]
    seen = {"a/x:0": watched(np.array([1.0, np.nan])), "a/x:1": watched(np.zeros(100))}
    scene = graph_view(rows, values=seen).model.scene()
    assert scene.edges[0].pill.bad == 0.5 and scene.edges[0].label == "1 50% bad of 2"
    assert "a/x:1  float64[100]" in scene.edges[0].tip


def test_the_run_is_a_real_one(session):
    watch("step")
    assert session.run("layer/w:0")[0, 0] == 2.0


def test_fetching_with_a_tap_returns_the_values(session, capsys):
    recorder = Recorder("layer")
    assert fetch("layer/product", feed=FEED, tap=recorder).tolist() == [[6.0, 6.0], [0.0, 0.0]]
    assert "layer/product" in capsys.readouterr().out and "layer/product:0" in recorder.values
    assert opened(recorder.values) == {"expand": ["layer"]}
    with pytest.raises(ValueError, match="no regular expression"):
        watch("loss", feed=FEED, pattern="(")


def test_values_in_loops_are_those_of_the_last_round():
    with tf.Graph().as_default(), tf.Session() as session:
        _, v = tf.while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, tf.multiply(v, 2.0, name="twice")), [0, 1.0])
        assert watch(v, session=session).values["while/twice:0"].text == "float32 32."


def test_images_and_channels_are_drawn():
    assert image_of(np.zeros((2, 8, 8, 1))).startswith(b"\x89PNG") and image_of(np.ones((1, 20, 20, 32)))
    assert image_of(np.zeros((2, 7, 8, 1))) == b"" == image_of(np.zeros((8, 8))) == image_of(np.zeros((0, 8, 8, 1)))
    assert image_of(np.full((1, 8, 8, 3), np.nan)) and image_of(np.zeros((1, 500, 9, 3), np.uint8))
    assert image_of(np.full((1, 8, 8, 1), b"x", object)) == b"" == image_of(np.zeros((2, 8, 7, 1)))
    sizes = [image_of(np.zeros((1, *shape, 3), np.uint8))[16:24] for shape in ((500, 16), (16, 500), (64, 64), (65, 8))]
    assert [(int.from_bytes(size[:4], "big"), int.from_bytes(size[4:], "big")) for size in sizes] == [
        (3, 63), (64, 2), (65, 64), (5, 33)]            # a column between pictures
    four = np.arange(256.0).reshape(1, 8, 8, 4)         # four filters are four pictures, RGBA is bytes
    wide = [int.from_bytes(image_of(array)[16:20], "big") for array in (four, four.astype(np.uint8))]
    assert wide[0] > 4 * 8 and wide[1] < 2 * 8
    assert Watched(None, "t", b"x").as_json()["image"] == "data:image/png;base64,eA=="


def test_names_are_text():
    rows = [(EVIL, "Op", (), (), {}, [(4,)]), ("b", "Op", (EVIL + ":0",))]
    svg = graph_view(rows, values={EVIL + ":0": watched(np.ones(4))}).svg()
    assert "<img" not in svg and "<script" not in svg and "value" in svg


def test_the_last_rounds_of_a_loop_are_kept():
    with tf.Graph().as_default(), tf.Session():
        _, v = tf.while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, tf.multiply(v, 2.0, name="twice")), [0, 1.0])
        view = watch(v, pattern="twice$", last=3)
        assert [each.text for each in (view.values["while/twice:0"], *view.values["while/twice:0"].before)] == [
            "float32 32.", "float32 16.", "float32 8."]
        told = view.details("while/twice")["values"]
        assert [each["name"] for each in told] == [
            "while/twice:0", "while/twice:0, 1 before", "while/twice:0, 2 before"]
        assert not watch(v, pattern="twice$").values["while/twice:0"].before


def test_nested_fetches_are_drawn(session):
    loss, log = map(session.graph.get_tensor_by_name, ("loss:0", "layer/log:0"))
    view = watch([loss, {"h": log}], feed=FEED)
    assert {"loss:0", "layer/log:0"} <= set(view.values) and "loss" in view.model.nodes
    drawn = step([loss, {"h": log}], feed=FEED).graph
    assert drawn is not None and "loss" in drawn.model.nodes


@pytest.mark.parametrize("numbers, want", [
    ([0.0, 0.5, 1.0], [0, 127, 255]), ([0.0, 0.5], [0, 127]), ([10.0, 128.0, 255.0], [10, 128, 255]),
    ([10.5, 132.75, 255.0], [0, 127, 255]), ([0.0, 1.0, 2.0], [0, 127, 255]), ([56.0, 156.0, 256.0], [0, 127, 255]),
    ([-1.0, 0.0, 1.0], [0, 127, 255]), ([7.5, 7.5], [0, 0]), ([np.nan, np.inf, 0.5, 1.0], [0, 0, 127, 255]),
    ([-1.7e308, 0.0, 1.7e308], [0, 127, 255])])
def test_numbers_as_brightness(numbers, want):
    assert _as_bytes(np.array(numbers)).tolist() == want
