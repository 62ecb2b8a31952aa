"""Places stay when a scope opens: columns, sides, what is set aside; drawings fit into the room that they have."""
from itertools import combinations

import pytest

import tfnb as tf
from tfnb.notebook.drawing.geometry import Box, Geometry
from tfnb.notebook.graph.view import graph_view
from tfnb.notebook.layout.engines import lay_out
from tfnb.notebook.layout.wrapping import TALL, wrap


def tower(layers=12):
    """A chain of layers with a loss, gradients and an optimizer."""
    h = tf.placeholder(tf.float32, [None, 8], name="x")
    for i in range(layers):
        h = tf.layers.dense(h, 8 + i, tf.nn.relu, name=f"layer_{chr(97 + i)}")
    loss = tf.reduce_mean(tf.square(h), name="loss")
    return tf.train.AdamOptimizer(0.1).minimize(loss)


def geometry(view):
    return lay_out(view._shown(), view.engine, view.direction, view._room, view._first)


def exchanged(before, after):
    """The share of pairs of boxes that have exchanged left and right, or up and down."""
    both = [key for key in before.boxes if key in after.boxes]
    pairs = [(axis, a, b) for a, b in combinations(both, 2) for axis in (0, 1)
             if abs(before.boxes[a][axis] - before.boxes[b][axis]) > 20]
    turned = [1 for axis, a, b in pairs if (before.boxes[a][axis] - before.boxes[b][axis])
              * (after.boxes[a][axis] - after.boxes[b][axis]) < 0]
    return len(turned) / len(pairs)


@pytest.fixture
def view():
    with tf.Graph().as_default() as graph:
        tower()
        yield graph_view(graph, engine="builtin")


@pytest.mark.parametrize("name", ["layer_a", "layer_e", "layer_l"])
def test_boxes_stay_in_their_columns_and_on_their_sides(view, name):
    before = geometry(view)
    assert len(set(before.columns.values())) > 1, "the chain is folded"
    closed = view.svg()
    after = geometry(view.expand(name))
    both = [key for key in before.columns if key in after.columns]
    assert {key: before.columns[key] for key in both} == {key: after.columns[key] for key in both}
    assert exchanged(before, after) < 0.08
    assert view.collapse(name).svg() == closed, "and it closes to what it was"


def test_nothing_is_set_aside_because_a_scope_opens(view):
    before = {node.key: node.panel for node in view._scene().nodes}
    for name in ("layer_b", "layer_c", "layer_d", "layer_f"):
        view.expand(name)
    after = {node.key: node.panel for node in view._scene().nodes}
    assert all(after[key] == before[key] for key in before if key in after)


@pytest.mark.parametrize("room", [400, 545, 840, 1400])
def test_drawings_fit_into_their_room(view, room):
    view.fit_to(room)
    found = geometry(view)
    assert found.width <= room and (found.height <= 1.6 * TALL or room < 840)
    assert {node.key for node in view._scene().nodes} <= found.boxes.keys()
    for a, b in combinations([found.boxes[node.key] for node in view._scene().nodes], 2):
        assert abs(a.x - b.x) >= (a.w + b.w) / 2 - 1 or abs(a.y - b.y) >= (a.h + b.h) / 2 - 1, "none covers another"


def test_the_browser_tells_its_room(view):
    wide = view.svg()
    view.hear({"type": "room", "width": 400})
    assert view.svg() != wide and "beside the model" in view.svg()
    view.hear({"type": "room", "width": 840.0})
    assert view.svg() == wide
    for bad in ({"type": "room"}, {"type": "room", "width": "wide"}, {"type": "room", "width": None},
                {"type": "room", "width": 1e300}, {"type": "room", "width": -5}):
        view.hear(bad)
        assert view.svg()


def test_a_mirrored_drawing_is_turned_back():
    one = Geometry(200, 50, {"a": Box(40, 25, 60, 30), "b": Box(160, 25, 60, 30)})
    other = one.mirrored()
    assert other.boxes["a"].x == 160 and other.mirrored() == one


def test_known_columns_are_left_where_they_cannot_be_kept():
    boxes = {name: Box(60, 30 + 100 * i, 100, 40) for i, name in enumerate("abcdefghij")}
    chain = Geometry(120, 1000, boxes)
    assert set(wrap(chain, (), 400, {"a": 0, "j": 1}).columns.values()) == {0, 1}
    assert set(wrap(chain, (), 400, {"a": 1, "j": 0}).columns.values()) == {0}, "in another order: one column"
