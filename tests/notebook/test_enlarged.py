"""An activation enlarged: its part that is drawn, sliders, runs beside one another; arrays of watched values."""
import sys

import numpy as np
import pytest

import tfnb as tf
from tests.notebook.test_graph_view import FakeWidget, ask
from tfnb.notebook import GraphView, step, watch
from tfnb.notebook.debug import edge_values, watch_view
from tfnb.notebook.debug.edge_values import Recorder, Values, watched
from tfnb.notebook.debug.enlarged import Enlargement

widget_module = sys.modules[GraphView.__mro__[1].__module__]
rng = np.random.RandomState(0)
MAPS = rng.rand(3, 8, 10, 5).astype("f")


def slider(state, name):
    return next(each for each in state["sliders"] if each["name"] == name)


def test_all_channels_of_an_example_are_drawn_in_one_scale_then_one_of_them():
    large = Enlargement("maps:0", [("run 1", MAPS)])
    state = large.as_json()
    assert [each["name"] for each in state["sliders"]] == ["place", "channel"]
    assert slider(state, "place")["most"] == 2 and slider(state, "channel")["words"] == "all 5"
    assert [panel["title"] for panel in state["panels"]] == [f"channel {i}" for i in range(5)]
    assert {panel["limit"] for panel in state["panels"]} == {float(MAPS.max())} and not state["zoomed"]
    large.slide("place", 2)
    large.zoom(3, 0, 0)                         # a click on channel 3
    (title, drawn), = large.panels()
    assert title == "run 1, channel 3" and np.array_equal(drawn.values, MAPS[2, :, :, 3])
    assert slider(large.as_json(), "channel")["value"] == 4 and large.as_json()["zoomed"]
    assert "float32[3, 8, 10, 5]" in large.facts() and f"{MAPS[2, :, :, 3].mean():.4g}" in large.facts()
    large.whole()
    assert len(large.panels()) == 5
    for name, value in (("place", 3), ("channel", -1), ("frame", 0), ("<b>", 0)):
        with pytest.raises(ValueError, match="has no slider"):
            large.slide(name, value)


def test_runs_stand_beside_one_another_with_their_difference():
    large = Enlargement("maps:0", [("step 0", MAPS), ("step 9", 3 * MAPS)])
    assert large.frame == 1                     # the newest
    large.slide("beside", 1)
    titles = [title for title, _ in large.panels()]
    assert titles == ["step 9, channel 0", "step 0, channel 0", "step 9 − step 0, channel 0"]
    now, before, change = (drawn for _, drawn in large.panels())
    assert now.limit == before.limit == float(3 * MAPS.max())
    assert np.allclose(change.values, 2 * MAPS[0, :, :, 0]) and slider(large.as_json(), "frame")["play"]
    large.follow([("step 0", MAPS), ("step 9", 3 * MAPS), ("step 20", MAPS[:1])])
    assert large.frame == 2 and slider(large.as_json(), "beside")["options"][-1] == "step 20"
    large.slide("frame", 0)
    large.slide("place", 2)
    large.slide("frame", 2)                     # which has one example
    assert large.place == 0 and len(large.panels()) == 3
    large.follow([("step 20", MAPS[:1])])
    assert large.beside == 0 and large.frame == 0


@pytest.mark.parametrize("array, forms, sliders", [
    (np.float32(3.0), ["strip"], []), (np.arange(5.0), ["strip"], []), (rng.rand(300, 200), ["matrix"], []),
    (rng.rand(4, 7, 6), ["matrix"], ["place"]), (rng.rand(3, 3, 2, 4), ["tiles"], []),
    (rng.rand(1, 9, 9, 1), ["matrix"], []), (rng.rand(2, 9, 9, 3) > 0.5, ["matrix"] * 3, ["place", "channel"]),
    (np.zeros((0, 9, 9, 2), "f"), ["strip"], []), (np.full((2, 9, 9, 2), np.nan), ["matrix"] * 2, ["place", "channel"]),
    (rng.rand(1, 9, 9, 100), ["matrix"] * 64, ["channel"])])
def test_every_shape_has_a_picture(array, forms, sliders):
    large = Enlargement("t:0", [("run 1", np.asarray(array))])
    state = large.as_json()
    assert [panel["form"] for panel in state["panels"]] == forms
    assert [each["name"] for each in state["sliders"]] == sliders
    assert ("36 channels more" in state["facts"]) == (len(forms) == 64)


def test_a_large_matrix_is_looked_at_closely():
    large = Enlargement("w:0", [("run 1", rng.rand(300, 200))])
    large.zoom(0, 10, 10)
    assert large.as_json()["zoomed"] and large.panels()[0][1].block == (1, 1)
    large.whole()
    assert not large.as_json()["zoomed"]
    with pytest.raises(ValueError, match="can't be drawn"):
        Enlargement("s:0", [("run 1", np.array([b"x"], object))]).panels()


@pytest.fixture
def view(monkeypatch):
    monkeypatch.setattr(widget_module, "make_widget", FakeWidget)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 8, 8, 2], name="x")
        scale = tf.Variable(1.0, name="scale")
        count = tf.train.get_or_create_global_step()
        tf.nn.relu(x * scale, name="h")
        tf.group(tf.assign_add(scale, 1.0), tf.assign_add(count, 10), name="train")
        tf.as_string(count, name="words")
        session.run(tf.global_variables_initializer())
        view = watch("h", "words", feed={"x": np.ones((3, 8, 8, 2))}, level="ops")
        view._repr_mimebundle_()
        yield view


def test_the_panel_and_the_edges_ask_for_it(view):
    assert ask(view, type="select", name="h")["details"]["values"][0]["tensor"] == "h:0"
    assert 'data-tensor="mul:0"' in view.svg() and view.widget_state()["enlarged"] is None
    state = ask(view, type="enlarge", name="h:0")["enlarged"]
    assert state["title"] == "h:0" and len(state["panels"]) == 2 and state["again"]
    assert ask(view, type="slide", name="place", value=1)["enlarged"]["sliders"][0]["words"] == "1 of 3"
    assert ask(view, type="zoom", panel=1, row=0, column=0)["enlarged"]["panels"][0]["title"] == "step 0, channel 1"
    assert len(ask(view, type="whole")["enlarged"]["panels"]) == 2
    for wrong in ({"type": "slide", "name": "place", "value": 9}, {"type": "slide", "name": "place", "value": "1"}):
        assert "has no slider" in ask(view, **wrong)["note"]
    assert "string" in ask(view, type="enlarge", name="words:0")["note"] or "can't be drawn" in view._note
    assert "no value of 'nothing'" in ask(view, type="enlarge", name="nothing")["note"]
    assert ask(view, type="enlarge", name="")["enlarged"] is None
    assert ask(view, type="slide", name="place", value=1)["enlarged"] is None


def test_runs_of_a_training_are_kept_and_nothing_is_changed(view):
    session = view.model.infos[0].origin.graph and tf.get_default_session()
    for _ in range(2):
        session.run("train")
        view.look()
    before = session.run("scale:0")
    state = ask(view, type="look")
    assert session.run("scale:0") == before == 3.0
    state = ask(view, type="enlarge", name="h")["enlarged"]
    assert slider(state, "beside")["options"] == ["nothing", "step 0", "step 10", "step 20", "step 20"]
    assert [frame[1].max() for frame in view.frames("h:0")] == [1.0, 2.0, 3.0, 3.0]
    assert view.values["h"].array.max() == 3.0 and "3 ± 0" not in view.svg() and ">3<" in view.svg()
    view.look({"x": np.zeros((1, 8, 8, 2))}, label="zeros")
    assert view.frames("h:0")[-1][0] == "zeros" and view.widget_state()["enlarged"]["facts"].endswith("100% zero")


def test_old_runs_leave_where_there_is_no_room(view, monkeypatch):
    nbytes = watch_view._nbytes(view._runs[0])
    monkeypatch.setattr(watch_view, "ROOM", 2 * nbytes)
    for _ in range(3):
        view.look()
    assert len(view._runs) == 2
    small = watch("h", feed={"x": np.ones((3, 8, 8, 2))}, runs=2)
    assert [small.look(label=word)._runs[0][0] for word in "abc"] == ["step 0", "a", "b"]


def test_a_view_of_one_run_says_so(view):
    once = watch_view.WatchView("h", view.values)
    with pytest.raises(RuntimeError, match="has the values of one run"):
        once.look()
    with pytest.raises(TypeError, match="did you mean 'depth'"):
        watch_view.WatchView("h", view.values, dept=2)


def test_watched_values_are_arrays_with_clean_words(view):
    seen = view.values["h"]
    assert seen is view.values["h:0"] and seen.shape == (3, 8, 8, 2) and seen.dtype == np.float32
    assert np.asarray(seen).sum() == 384 and seen[0, 0, 0, 1] == 1 and np.asarray(seen, np.int32).dtype == np.int32
    assert repr(seen).startswith("<float32[3, 8, 8, 2] n=384 in [1, 1]") and "Pill" not in repr(view.values)
    assert repr(view.values).splitlines()[0].split()[1] and "h:0" in repr(view.values)
    with pytest.raises(KeyError, match="no value of 'words_' was seen; did you mean 'words'"):
        view.values["words_"]
    assert repr(Values()) == "no values"


def test_values_stay_what_they_were_and_large_ones_are_not_kept(monkeypatch):
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(np.zeros(4, "f"), name="v")
        tf.assign_add(v, tf.ones([4]), name="more")
        session.run(tf.global_variables_initializer())
        view = watch("more")
        session.run("more")
        assert view.values["v"].array.tolist() == [0.0] * 4 and view.values["more"].array.tolist() == [1.0] * 4
    monkeypatch.setattr(edge_values, "ROOM", 100)
    recorder = Recorder(keep=2)
    with tf.Graph().as_default():
        tensor = tf.constant(1.0)
    for i in range(5):                          # 64 bytes each: one of the two that are remembered has room
        recorder._note(tensor, np.full(16, i, np.float32))
    last = recorder.values["Const"]
    kept = [one.array is not None for one in (last, *last.before)]
    assert sum(kept) == 1 and recorder.nbytes == 64
    gone = (last, *last.before)[kept.index(False)]
    assert "not kept" in repr(gone) and gone.shape == (16,)
    with pytest.raises(ValueError, match="was not kept"):
        np.asarray(gone)
    assert not Enlargement("Const:0", [("now", np.ones(3))]).sliders() and watched(np.ones(2), keep=False).array is None


def test_the_stepper_enlarges_the_value_of_now():
    with tf.Graph().as_default(), tf.Session():
        h = tf.square(tf.constant(np.arange(12.0).reshape(3, 4), name="c"), name="h")
        stepped = step(tf.reduce_sum(h, name="loss"), until="loss")
    stepped.graph.enlarge("h")
    assert stepped.widget_state()["graph"]["enlarged"]["panels"][0]["rows"] == 3
    stepped.set("h", np.zeros((3, 4)))
    assert stepped.widget_state()["graph"]["enlarged"]["facts"].endswith("100% zero")
    stepped.restart()
    assert stepped.widget_state()["graph"]["enlarged"] is None
