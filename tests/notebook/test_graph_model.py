"""Graph views: the hierarchy, what is visible of it, what is set aside."""
from __future__ import annotations

import pytest

import tfnb as tf
from tests.notebook.sample_rows import Rows, digits
from tfnb.notebook.drawing.scene import Scene, SceneNode
from tfnb.notebook.graph.model import LIMIT, Model
from tfnb.notebook.graph.read import OpInfo, UnknownTarget, op_of, read, select, shape_label, upstream


def keys(scene: Scene) -> list[str]:
    return [node.key for node in scene.nodes]


def node(scene: Scene, key: str) -> SceneNode:
    return next(node for node in (*scene.nodes, *scene.groups) if node.key == key)


def edges(scene: Scene) -> dict[tuple[str, str], str]:
    return {(edge.source, edge.target): edge.label for edge in scene.edges}


def test_scopes_are_groups_and_edges_carry_shapes() -> None:
    scene = Model(digits()).scene()
    assert {"x", "layer1/", "layer2/", "loss/", "gradients/", "Adam/", "init"} <= set(keys(scene))
    found = edges(scene)
    assert found["x", "layer1/"] == "?×64" and found["layer1/", "layer2/"] == "?×32"
    assert scene.ops == len(digits())


def test_ops_of_a_variable_are_one_node_with_its_slots() -> None:
    model = Model(digits())
    weights = node(model.scene(["layer1/"]), "layer1/weights/")
    assert (weights.form, weights.role, weights.sub, weights.expandable) == ("variable", "variable", "64×32", True)
    opened = model.scene(["layer1/", "layer1/weights/"])
    assert {"layer1/weights", "layer1/weights/Assign", "layer1/weights/Adam/"} <= set(keys(opened))


def test_private_constants_are_folded_into_their_op() -> None:
    scene = Model(digits()).scene(["accuracy/"])
    assert node(scene, "accuracy/ArgMax/").form == "op" and not node(scene, "accuracy/ArgMax/").expandable
    assert node(scene, "loss_1/").role == "summary"
    shared = Rows()
    shared.op("a/c", "Const", shapes=((),))
    shared.op("a", "Neg", ("a/c",))
    shared.op("b", "Neg", ("a/c",))
    assert node(Model(shared).scene(), "a/").form == "scope"    # the constant is read by another op too


def test_a_scope_around_one_op_is_that_op() -> None:
    assert node(Model(digits()).scene(), "Merge/MergeSummary").label == "Merge/MergeSummary"


def test_busy_nodes_are_set_aside_with_a_number_that_the_others_carry() -> None:
    scene = Model(digits()).scene()
    aside = {n.key: n.number for n in scene.nodes if n.panel}
    assert aside["gradients/"] == 1 and aside["Adam/"] == 2 and aside["init"] == 3
    assert aside["beta1_power/"] == 0               # alone once the optimizer is gone, and not busy
    assert node(scene, "layer1/").refs_out == (1, 2, 3) and node(scene, "Adam/").refs_in == (1,)
    assert not any("gradients/" in pair for pair in edges(scene))


def test_small_graphs_are_drawn_whole() -> None:
    rows = Rows()
    w = rows.variable("w", ())
    x = rows.op("x", "Placeholder", shapes=((),))
    rows.op("gradients/mul", "Mul", (rows.op("y", "Mul", (x, w)), x, w))
    rows.op("init", "NoOp", control=("w/Assign",))
    assert not [n.key for n in Model(rows).scene().nodes if n.panel]


def test_what_is_set_aside_may_be_asked_for_or_forbidden() -> None:
    model = Model(digits())
    scene = model.scene(aside={"gradients/": False, "loss/": True})
    assert not node(scene, "gradients/").panel and node(scene, "loss/").panel
    assert ("layer1/", "gradients/") in edges(scene)


def test_opened_gradients_are_a_panel_of_their_own() -> None:
    scene = Model(digits()).scene(["gradients/", "gradients/layer1/"])
    inner = node(scene, "gradients/Fill")
    assert inner.panel == "gradients/" and node(scene, "gradients/").number == 1
    assert node(scene, "layer1/").refs_out[0] == 1
    assert node(scene, "gradients/Shape").refs_in == (0,)       # reads from the main drawing


def test_depth_leaves_gradients_optimizers_and_variables_closed() -> None:
    found = Model(digits()).to_depth(3)
    assert "layer1/" in found and not found & {"gradients/", "Adam/", "layer1/weights/"}


@pytest.mark.parametrize("crowd", [40, 10_000])
def test_numbered_series_fold(crowd: int) -> None:
    rows = [("add" if i == 0 else f"add_{i}", "Add", (), (), {}, ()) for i in range(crowd)]
    scene = Model([*rows, ("x", "Placeholder")]).scene()
    assert keys(scene) == ["add_Add*/", "x"] and scene.nodes[0].count == crowd


def test_what_does_not_fit_is_counted() -> None:
    scene = Model([(f"n{'x' * i}", "Neg") for i in range(500)]).scene()
    rest = scene.nodes[-1]
    assert len(scene.nodes) == LIMIT + 1 and (rest.form, rest.count, scene.hidden) == ("rest", 300, 300)
    assert rest.label == "… 300 more"


def test_groups_share_the_room_and_show_what_is_open_or_kept() -> None:
    model = Model([(f"{letter}/{letter}_{i}/{end}", "Neg") for letter in "ab" for i in range(500) for end in "xy"])
    many = ["a/", "a/a_*/", "b/", "b/b_*/", "a/a_400/"]
    scene = model.scene(many, keep="b/b_450/x")
    assert 195 < len(scene.nodes) - 2 <= LIMIT and scene.hidden == 2000 - sum(
        node.count for node in scene.nodes if node.form != "rest")
    around = [sum(node.key.startswith(letter) for node in scene.nodes) for letter in "ab"]
    assert abs(around[0] - around[1]) <= 2              # a/a_400/ is open: it shows x and y in place of itself
    assert {"a/a_400/x", "a/a_400/y", "b/b_450/", "b/b_0/"} <= set(keys(scene)) and "b/b_449/" not in keys(scene)
    assert {"b/b_450/x", "b/b_450/y"} <= set(keys(model.scene([*many, "b/b_450/"], keep="b/b_450/x")))
    assert len(model.scene([*many, *(f"a/a_{i}/" for i in range(500))]).nodes) <= LIMIT + 2


def test_nothing_is_lost() -> None:
    model = Model(digits())
    for expanded in ([], ["layer1/"], list(model.to_depth(9))):
        assert sum(n.count for n in model.scene(expanded).nodes) == len(digits())


def test_ten_thousand_ops_open_at_once() -> None:
    rows = [(f"s{i // 100}/b{i // 10}/op_{i}", "Add", (f"s{(i - 1) // 100}/b{(i - 1) // 10}/op_{i - 1}",) if i else ())
            for i in range(10_000)]
    model = Model(rows)                             # 0.1 s; work that is quadratic in the ops would take minutes
    assert len(model.scene(["s_*/", "s3/", "s3/b31/"]).nodes) == 100 - 1 + 10 - 1 + 10


def test_names_with_no_end_of_slashes() -> None:
    deep = "a/" * 3000 + "x"
    scene = Model([(deep, "Neg"), (deep + "y", "Neg", (deep,))]).scene()
    assert keys(scene) == ["a/"]


def test_nearest_names_are_told() -> None:
    model = Model(digits())
    with pytest.raises(UnknownTarget, match="'layr1'; nearest: .*layer1"):
        model.node("layr1")
    assert model.node("Adam").key == "Adam/" and model.node("Adam:0").key == "Adam"
    assert model.by_key("Adam").info is not None


def test_plain_rows_are_checked() -> None:
    assert read([("a", "Neg", ("b", "c:2"))])[0].inputs == ("b:0", "c:2")
    with pytest.raises(TypeError, match="a plain op is"):
        read([("a",)])
    with pytest.raises(TypeError, match="a plain op is"):
        read([("a", "Neg"), "b"])
    with pytest.raises(TypeError, match="got int"):
        read(3)


def test_upstream_and_scope_selection() -> None:
    infos = read(digits())
    names = {info.name for info in upstream(infos, ["layer1/Relu"])}
    assert "x" in names and "layer1/weights" in names and "layer2/add" not in names
    part = {info.name for info in select(infos, "layer2")}
    assert {"layer2/add", "layer1/Relu"} <= part and "x" not in part
    with pytest.raises(UnknownTarget, match="nearest: layer2"):
        select(infos, "layre2")


@pytest.mark.parametrize(("shape", "label"), [((), "scalar"), ((None, 3), "?×3"), (None, "any shape"), ("abc", "abc"),
                                              ((-1, 2), "?×2")])
def test_shape_labels(shape: object, label: str) -> None:
    assert shape_label(shape) == label


def test_tensor_names() -> None:
    assert [op_of(name) for name in ("a/b:0", "a", "a:b")] == ["a/b", "a", "a:b"]
    assert OpInfo("a", "Neg").inputs == ()


def test_repeated_blocks_fold_into_one() -> None:
    rows = [(f"block{i}/{op}", "Add", (f"block{i - 1}/relu",) if i else ()) for i in range(6) for op in ("sum", "relu")]
    few = Model(rows)
    assert "block3/" in {node.key for node in few.scene().nodes}, "all of them fit"
    many = Model([*rows, *((f"x{chr(97 + i)}", "Placeholder") for i in range(9))])
    series = next(node for node in many.scene().nodes if node.form == "series")
    assert series.label == "block ×6" and series.count == 12
    assert {"block0/", "block5/"} <= {node.key for node in many.scene([series.key]).nodes}


def chain(*types: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Ops that each take the one before, named as TensorFlow does: Mul, Add, Mul_1, ..."""
    seen, rows = dict[str, int](), list[tuple[str, str, tuple[str, ...]]]()
    for kind in types:
        number = seen[kind] = seen.get(kind, -1) + 1
        rows.append((f"{kind}_{number}" if number else kind, kind, (rows[-1][0],) if rows else ()))
    return rows


@pytest.mark.parametrize(("types", "labels"), [
    (["Mul", "Add", "Relu"] * 40, ["Mul, Add, Relu ×40"]),
    (["Mul", "Add", "Relu", "Neg", "Abs"] * 9, ["Mul, …, Abs ×9"]),
    (["Neg"] * 30 + ["Abs", "Neg"] * 30 + ["Mean", "Neg"], ["Neg ×29", "Neg, Abs ×30", "Neg_59", "Mean", "Neg_60"]),
    (["Mul", "Neg"] * 9 + ["Mean"] + ["Mul", "Abs"] * 9, ["Mul, Neg ×9", "Mean", "Mul, Abs ×9"]),
    (["Mul", "Neg", "Abs", "Neg", "Mul", "Abs"] * 4 + ["Mean"], None),                  # too few to be a series
    ([*["Conv", "Relu"] * 2, "Pool"] * 2 + [*["Conv", "Relu"] * 3, "Pool"] * 3, None),
])
def test_kinds_in_turn_fold_into_blocks(types: list[str], labels: list[str] | None) -> None:
    rows = chain(*types)
    nodes = Model(rows).scene().nodes
    assert [node.label for node in nodes] == (labels or [name for name, *_ in rows])
    assert sum(node.count for node in nodes) == len(rows)


def test_series_of_one_stem_have_keys_of_their_own() -> None:
    rows = [(f"block{i}/op{j}", "Neg") for i in range(40) for j in range(2 + i // 20)]
    nodes = Model(rows).scene().nodes
    assert [(node.key, node.count) for node in nodes] == [("block_*/", 40), ("block20_*/", 60)]


def test_an_optimizer_with_a_name_of_its_own_is_one() -> None:
    with tf.Graph().as_default() as graph:
        w = tf.Variable([1.0, 2.0], name="w")
        tf.train.AdamOptimizer(name="second").minimize(tf.reduce_sum(w * w))
    assert Model(graph).node("second").role == "optimizer"


def test_a_scope_around_minimize_is_an_optimizer_also_where_rows_are_updated() -> None:
    with tf.Graph().as_default() as graph:
        table = tf.get_variable("table", [9, 2])
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 2]))
        with tf.name_scope("learn"):
            tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    model = Model(graph)
    assert [model.node(name).role for name in ("learn/GradientDescent", "learn")] == ["optimizer"] * 2


def test_what_values_flow_through_stays_in_its_place() -> None:
    ways = [(f"in{i}", "Neg", ("a",)) for i in range(4)]
    rows = [("a", "Op"), *ways, ("middle", "AddN", tuple(name for name, *_ in ways)),
            *((f"out{i}", "Neg", ("middle",)) for i in range(4)), *((f"end{i}", "Neg", (f"out{i}",)) for i in range(4)),
            *((f"last{i}", "Neg", (f"end{i}",)) for i in range(4))]
    assert node(Model(rows).scene(), "middle").panel == ""
    rows += [(f"out{i}", "Neg", ("middle",)) for i in range(4, 9)]
    assert node(Model(rows).scene(), "middle").panel == "middle"


@pytest.mark.parametrize("count, apart", [(3, False), (4, False), (5, True)])
def test_an_op_with_more_than_four_control_edges_is_set_aside(count: int, apart: bool) -> None:
    rows = Rows()
    names = tuple(rows.op(f"x_{i}", "Placeholder", shapes=((),)) for i in range(count))
    rows.op("sum", "AddN", names, ((),))
    rows.op("late", "Neg", ("sum",), ((),), control=names)
    assert bool(node(Model(rows).scene(), "late").panel) is apart


def test_several_targets_are_drawn_with_what_leads_to_them() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        a, b, _ = tf.exp(x, "a"), tf.neg(x, "b"), tf.abs(x, "c")
        with tf.name_scope("part"):
            tf.sin(tf.cos(b))
        assert [info.name for info in Model([a, "b"]).infos] == ["x", "a", "b"]
        assert [info.name for info in Model(["a", "part"]).infos] == ["x", "a", "b", "part/Cos", "part/Sin"]
        assert [info.name for info in Model(["b", "a:0"]).infos] == ["x", "a", "b"]
        assert [info.name for info in Model([a, "part"], down=0).infos] == ["a", "part/Cos", "part/Sin"]
        with pytest.raises(UnknownTarget, match="nearest: part"):
            Model(["a", "prt"])
    with pytest.raises(ValueError, match="of one graph"):
        Model([a, tf.constant(1.0)])
    assert graph.get_operations()[0] is x.op
