"""The layer view: models as their authors think of them."""
from __future__ import annotations

import math
import random

import pytest

import tfnb as tf
from tfnb.notebook import graph_view
from tfnb.notebook.drawing.geometry import Box, Geometry, Route
from tfnb.notebook.graph.model import Model
from tfnb.notebook.graph.read import UnknownTarget
from tfnb.notebook.layout.wrapping import COLUMN, wrap


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def labels(view, parent=""):
    """What a group shows, in the order of the drawing: label -> second line."""
    return {node.label: node.sub for node in view._scene().nodes if node.parent == parent and not node.panel}


def train(loss, optimizer=None):
    step = tf.train.get_or_create_global_step()
    (optimizer or tf.train.AdamOptimizer()).minimize(loss, global_step=step)
    tf.global_variables_initializer()
    tf.train.Saver()


def lenet():
    x, y = tf.placeholder(tf.float32, [None, 28, 28, 1], "x"), tf.placeholder(tf.int32, [None], "label")
    with tf.name_scope("lenet"):
        h = tf.layers.max_pooling2d(tf.layers.conv2d(x, 4, 5, activation=tf.nn.relu, name="conv1"), 2, 2, name="pool1")
        logits = tf.layers.dense(tf.layers.flatten(h), 10, name="fc")
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    tf.summary.scalar("loss", loss)
    train(loss)


def test_variables_stand_in_the_layer_that_reads_them_though_their_scope_is_another() -> None:
    lenet()
    model = Model(level="layers")
    kernel = model.node("conv1/kernel")
    assert kernel.form == "variable" and kernel.parent is model.node("lenet/conv1")
    assert model.node("conv1") is model.node("lenet/conv1"), "the emptied scope leads to its layer"
    assert Model(level="ops").node("conv1/kernel").parent.key == "conv1/"


def test_a_network_is_one_chain_with_the_rest_beside_it() -> None:
    lenet()
    view = graph_view(engine="builtin")
    assert "lenet" in view.state["expanded"], "a scope around the whole model is open at first"
    assert labels(view, "lenet/") == {"conv1": "conv 5×5 · 104 weights", "pool1/MaxPool": "", "flatten": "8 ops",
                                      "fc": "dense · 5,770 weights"}
    assert set(labels(view)) == {"x", "label", "sparse_softmax_cross_entropy_loss"}
    beside = {node.label: node.role for node in view._scene().nodes if node.panel}
    assert beside == {"gradients": "gradient", "training": "optimizer", "saving and initializing": "save",
                      "loss": "summary"}
    edges = {(edge.source, edge.target) for edge in view._scene().edges}
    chain = ["x", "lenet/conv1/", "lenet/pool1/MaxPool", "lenet/flatten/", "lenet/fc/",
             "sparse_softmax_cross_entropy_loss/"]
    assert set(zip(chain, chain[1:], strict=False)) <= edges


def test_slots_and_counters_are_part_of_training() -> None:
    lenet()
    model = Model(level="layers")
    for name in ("conv1/kernel/Adam", "beta1_power", "global_step", "Adam/learning_rate"):
        assert any(key.startswith("training") for key in model.path(model.node(name))), name


def test_two_trainings_are_one_box_each_by_its_plain_name() -> None:
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
    for variable in (a, b):
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(variable), var_list=[variable])
    beside = {node.label for node in graph_view(engine="builtin")._scene().nodes if node.panel}
    assert beside == {"gradients", "training"}, "gradients and gradients_1 are in it"


def test_all_ops_are_somewhere_once() -> None:
    lenet()
    infos = Model(level="ops").infos
    for level in ("layers", "ops"):
        names = [info.name for info in Model(level=level).root.ops()]
        assert sorted(names) == sorted(info.name for info in infos), level


def test_loose_ops_become_layers() -> None:
    x, y = tf.placeholder(tf.float32, [None, 8], "x"), tf.placeholder(tf.float32, [None, 3], "y")
    w, b = tf.Variable(tf.truncated_normal([8, 5])), tf.Variable(tf.zeros([5]))
    w2, b2 = tf.Variable(tf.truncated_normal([5, 3])), tf.Variable(tf.zeros([3]))
    out = tf.matmul(tf.nn.relu(tf.matmul(x, w) + b), w2) + b2
    loss = tf.reduce_mean(tf.square(out - y), name="loss") + 0.1 * tf.nn.l2_loss(w)
    train(loss, tf.train.GradientDescentOptimizer(0.1))
    view = graph_view(engine="builtin")
    assert labels(view)["dense"] == "dense · 45 weights" and labels(view)["dense_2"] == "dense · 18 weights"
    ops = {info.name for info in view.model.node("dense").ops()}
    assert {"MatMul", "add", "Relu", "Variable", "Variable_1", "truncated_normal", "zeros"} <= ops
    assert "Const" in {info.name for info in view.model.node("loss").ops()}, "an op has its constants in it"


def test_a_recurrent_layer_is_one_box_that_opens_to_its_cell() -> None:
    x = tf.placeholder(tf.float32, [None, 7, 3], "x")
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(4) for _ in range(2)])
    outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    train(tf.reduce_sum(outputs, name="loss"))
    view = graph_view(engine="builtin")
    rnn = next(node for node in view._scene().nodes if node.label == "rnn")
    assert rnn.loop and rnn.sub == "272 weights" and view.svg().count('class="turn"') == 1
    view.expand("rnn")
    assert "rnn/while" in view.state["expanded"]
    assert set(labels(view, "rnn/")) == {"before the loop", "after the loop"}
    inside = labels(view, "rnn/while/")
    assert "steps and state" in inside and "272 weights" in inside.values()
    cells = view.model.node("rnn/while/rnn/multi_rnn_cell")
    assert {"rnn/multi_rnn_cell/cell_0/basic_lstm_cell/kernel", "rnn/multi_rnn_cell/cell_1/basic_lstm_cell/bias"} \
        <= {info.name for info in cells.ops()}


def test_loops_weights_and_the_largest_scope_stay_in_the_drawing_of_ops_too() -> None:
    x = tf.placeholder(tf.float32, [None, 7, 3], "x")
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(4) for _ in range(2)])
    train(tf.reduce_sum(tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)[0]))
    scene = Model(level="ops").scene(["rnn/"])
    panels = {node.key: node.panel for node in scene.nodes}
    assert panels["rnn/while/"] == "" and panels["rnn/multi_rnn_cell/"] == ""


def test_a_function_of_two_uses_keeps_its_weights_and_shares_them() -> None:
    def judge(x):
        with tf.variable_scope("judge", reuse=tf.AUTO_REUSE):
            return tf.layers.dense(tf.layers.dense(x, 4, name="hidden"), 1, name="out")
    real, made = judge(tf.placeholder(tf.float32, [None, 3])), judge(tf.placeholder(tf.float32, [None, 3]))
    tf.identity(real - made, name="difference")
    edges = {(edge.source, edge.target): edge.label for edge in Model(level="layers").scene().edges}
    assert edges["judge/", "judge_1/"] == "4 weights"


def test_a_penalty_on_gradients_belongs_to_the_model() -> None:
    x = tf.placeholder(tf.float32, [None, 3], "x")
    y = tf.layers.dense(x, 1, name="critic")
    slope = tf.gradients(y, x, name="slope")[0]
    with tf.name_scope("penalty"):
        penalty = tf.reduce_mean(tf.square(tf.norm(slope, axis=1) - 1.0))
    train(tf.reduce_mean(y) + penalty)
    view = graph_view(engine="builtin")
    assert "penalty" in labels(view) and view.model.node("training").role == "optimizer"


def test_blocks_fold_only_where_each_feeds_the_next() -> None:
    def network(pool_after):
        h = tf.placeholder(tf.float32, [None, 4], "x")
        for i in range(14):
            with tf.variable_scope(f"block_{i}"):
                h = tf.layers.dense(tf.nn.tanh(h), 4)
            h = tf.nn.relu(h) if i in pool_after else h
        tf.reduce_sum(h, name="loss")
    network(())
    assert "block ×14" in {node.label for node in Model(level="layers").scene().nodes}
    with tf.Graph().as_default():
        network((3, 7))
        names = {node.label for node in Model(level="layers").scene().nodes}
        assert "block_0" in names and not any("×" in name for name in names)


def test_the_level_is_switched_and_set() -> None:
    lenet()
    view = graph_view(engine="builtin", level="ops")
    assert view.state["level"] == "ops" and "conv1/" in view.model.nodes
    view.hear({"type": "level", "name": "layers"})
    assert view.state["level"] == "layers" and "conv1/" not in view.model.nodes
    state = view.state
    other = graph_view(engine="builtin", level="ops")
    other.state = state
    assert other.svg() == view.svg()
    with pytest.raises(ValueError, match="layers or ops, not 'layer'"):
        view.show_level("layer")
    view.hear({"type": "level", "name": "???"})
    assert "not '???'" in view.widget_state()["note"]
    with pytest.raises(UnknownTarget, match="conv2"):
        view.select("conv2")


def test_dot_has_what_stands_beside_the_model() -> None:
    lenet()
    dot = graph_view(engine="builtin").to_dot()
    assert '"gradients/" -> "training/"' in dot and '"x" -> "lenet/conv1/"' in dot


def chain(count, height=40.0, gap=30.0):
    boxes = {f"n{i}": Box(60, i * (height + gap) + height / 2, 100, height) for i in range(count)}
    routes = {(f"n{i}", f"n{i + 1}"): Route(((60, (i + 1) * (height + gap) - gap), (60, (i + 1) * (height + gap) - 20),
                                             (60, (i + 1) * (height + gap) - 10), (60, (i + 1) * (height + gap))),
                                            (60, (i + 1) * (height + gap) - gap / 2))
              for i in range(count - 1)}
    return Geometry(120, count * (height + gap) - gap, boxes, routes)


def test_a_long_chain_is_folded_into_columns_in_order() -> None:
    before = chain(24)
    before.boxes["frame/"] = Box(60, before.height / 2, 116, before.height - 60)
    after = wrap(before, {"frame/"})
    assert after.height < COLUMN * 1.3 < before.height and after.width > before.width
    places = [after.boxes[f"n{i}"] for i in range(24)]
    assert all(b.y > a.y and b.x == a.x or b.y < a.y and b.x > a.x for a, b in zip(places, places[1:], strict=False))
    assert len(after.pieces["frame/"]) == len({box.x for box in places}) - 1
    frames = [after.boxes["frame/"], *after.pieces["frame/"]]
    ends = [(frame.x, frame.y + side * frame.h / 2) for frame in frames for side in (-1, 1)][1:-1]
    labels = [route.label for route in after.routes.values()]
    assert all(math.dist(end, label) >= 9.9 for end in ends for label in labels), "no label on the end of a frame"
    for i in range(23):
        points = after.routes[f"n{i}", f"n{i + 1}"].points
        assert len(points) % 3 == 1
        assert points[0][0] == places[i].x and abs(points[0][1] - places[i].y - 20) < 0.01
        assert points[-1][0] == places[i + 1].x and abs(points[-1][1] - places[i + 1].y + 20) < 0.01


def test_what_is_short_or_wide_or_tangled_is_not_folded() -> None:
    short, wide, tangled = chain(6), chain(24), chain(24)
    wide.boxes = {key: box._replace(w=500.0, x=260.0) for key, box in wide.boxes.items()}
    for i in range(0, 24, 2):
        tangled.routes |= {(f"n{i}", f"n{j}"): Route(((60, i * 70.0 + 40), (60, 0), (60, 0), (60, j * 70.0)))
                           for j in range(i + 2, 24)}
    for geometry in (short, wide, tangled):
        assert wrap(geometry) is geometry


class Counted(dict[tuple[str, str], Route]):
    """Routes that count how often all of them are read."""

    reads = 0

    def values(self):
        self.reads += 1
        return super().values()


def test_all_routes_are_read_once_to_find_cuts() -> None:
    across = {(f"n{i}", "n199"): Route(((60, i * 70.0 + 40), (60, 13900), (60, 13900), (60, 13930)))
              for i in range(4)}
    for length, more in ((24, {}), (200, {}), (200, across)):
        geometry = chain(length)
        geometry.routes = routes = Counted(geometry.routes | more)
        folded = wrap(geometry, wide=1e6)
        assert (folded is geometry) == bool(more)
        columns = 0 if more else max(folded.columns.values()) + 1
        assert routes.reads <= 1 + 2 * columns, "then twice a column, for its rims"


TYPES = ("Const VariableV2 Identity Assign MatMul AddV2 Relu ApplyAdam NoOp Placeholder LoopCond Merge Enter SaveV2 "
         "ScalarSummary Conv2D BiasAdd AssignAdd VarHandleOp ReadVariableOp").split()
SCOPES = ["", "a/", "a/b/", "gradients/", "save/", "a/b_1/", "while/", "Adam/", "a/W/", "W/", "gradients_1/x/", "//"]
LABELS = ["W", "b", "x", "MatMul", "Const", "Const_1", "add", "Assign", "read", "a", "group/x"]


def test_groups_of_groups_are_no_matter_of_depth_or_order() -> None:
    deep = [(f"g{i}", "NoOp", [], [f"g{i + 1}" if i < 5000 else "w/Assign"]) for i in range(5001)]
    rows = [*deep, ("w", "VariableV2"), ("one", "Const"), ("w/Assign", "Assign", ["w", "one"]),
            ("round/a", "NoOp", [], ["round/b"]), ("round/b", "NoOp", [], ["round/a"])]
    groups = {node.label: node for node in graph_view(rows, engine="builtin").model.root.children.values()}
    assert "saving and initializing" in groups, groups
    names = {info.name for info in groups["saving and initializing"].ops()}
    assert {"g0", "g2500", "g5000"} <= names and not any(name.startswith("round") for name in names)


@pytest.mark.parametrize("seed", range(40))
def test_no_graph_loses_an_op(seed: int) -> None:
    """Graphs of random names, types and inputs, most of which no program would make; later ops may be waited for."""
    chance = random.Random(seed)
    names: list[str] = []
    rows: list[tuple[object, ...]] = []
    for _ in range(chance.randrange(5, 40)):
        name = chance.choice(SCOPES) + chance.choice(LABELS)
        if name not in names and not name.startswith("/"):
            inputs = tuple(chance.choice([*names, "nowhere"]) for _ in range(chance.randrange(3)))
            control = tuple(chance.choice(names) for _ in range(chance.randrange(2)) if names)
            rows.append((name, chance.choice(TYPES), inputs, control, {}, [chance.choice([(), (3,), (2, 3)])]))
            names.append(name)
    for i in chance.sample(range(len(rows)), len(rows) // 4):
        rows[i] = (*rows[i][:3], (chance.choice(names),), *rows[i][4:])
    view = graph_view(rows, engine="builtin")
    assert sorted(info.name for info in view.model.root.ops()) == sorted(names)
    assert all(node.parent.children[key] is node for key, node in view.model.nodes.items() if key)
    for key in [key for key, node in view.model.nodes.items() if key and node.expandable]:
        view.expand(key)
    assert view.to_dot() and view.to_text() and view.show_level("ops").svg()


def classifier(named_prediction=False):
    """A network with a loss, its training, and the usual accuracy."""
    x, y = tf.placeholder(tf.float32, [None, 4], name="x"), tf.placeholder(tf.int64, [None], name="y")
    logits = tf.layers.dense(x, 3, name="layer")
    guess = tf.argmax(logits, 1, name="guess" if named_prediction else None)
    hits = tf.equal(guess, y)
    rate = tf.reduce_mean(tf.cast(hits, tf.float32), name="accuracy")
    tf.summary.scalar("rate", rate)
    return tf.losses.sparse_softmax_cross_entropy(y, logits), hits


@pytest.mark.parametrize("named", [False, True])
def test_a_measure_is_one_box_beside_the_model(named):
    with tf.Graph().as_default() as graph:
        tf.train.AdamOptimizer().minimize(classifier(named)[0])
        view = graph_view(graph, engine="builtin")
    nodes = {node.label: node for node in view._scene().nodes}
    assert nodes["accuracy"].role == "summary" and nodes["accuracy"].panel and not {"Equal", "Cast"} & nodes.keys()
    assert ("guess" in nodes) == named, "a prediction with a name of its own stays in the model"
    assert sum(node.count for node in nodes.values()) == len(graph.get_operations())
    assert {"Equal", "Cast"} <= {node.label for node in view.expand("accuracy")._scene().nodes} and view.svg()


def test_a_measure_in_a_scope_and_top_k():
    with tf.Graph().as_default() as graph:
        x, y = tf.placeholder(tf.float32, [None, 4], name="x"), tf.placeholder(tf.int32, [None], name="y")
        logits = tf.layers.dense(x, 3, name="layer")
        with tf.name_scope("quality"):
            tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1, output_type=tf.int32), y), tf.float32))
        tf.reduce_mean(tf.cast(tf.nn.in_top_k(logits, y, 2), tf.float32), name="top")
        beside = {node.label: node.panel for node in graph_view(graph, engine="builtin")._scene().nodes}
    assert beside["quality"] and beside["top"] and not beside["layer"]


def test_a_comparison_that_is_trained_or_kept_is_of_the_model():
    with tf.Graph().as_default() as graph:
        loss, hits = classifier()
        tf.train.AdamOptimizer().minimize(loss + tf.reduce_mean(tf.cast(hits, tf.float32) * loss))
        labels = {node.label for node in graph_view(graph, engine="builtin")._scene().nodes}
    assert "Equal" in labels
    with tf.Graph().as_default() as graph:
        ids = tf.placeholder(tf.int32, [None, 5], name="ids")
        mask = tf.cast(tf.not_equal(ids, 0), tf.float32) * tf.cast(tf.equal(ids, 3), tf.float32)
        tf.reduce_mean(mask * tf.layers.dense(mask, 5), name="loss")
        assert "loss" in {node.label for node in graph_view(graph, engine="builtin")._scene().nodes
                          if not node.panel}, "a mask compares no decision"


@pytest.mark.parametrize("level", ["layers", "ops"])
def test_what_is_trained_brings_its_loss(level):
    with tf.Graph().as_default():
        w = tf.Variable([1.0, 2.0], name="w")
        loss = tf.identity(tf.reduce_mean(tf.square(w), name="mean"), name="loss")
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        drawn = graph_view(train, level=level, engine="builtin")
        assert {"loss", "mean", "Square"} <= set(drawn.model.by_name)
        assert "loss" in graph_view(tf.gradients(loss, w), level=level, engine="builtin").model.by_name
        assert "loss" not in graph_view(tf.square(w, name="other"), engine="builtin").model.by_name
