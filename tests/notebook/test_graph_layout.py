"""Layouts: nothing overlaps, edges reach their nodes, the same every time; DOT text is well formed."""
from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random

import numpy as np
import pytest

from tests.notebook.sample_rows import Rows, digits
from tfnb.notebook.drawing.geometry import PILL_WIDTH, Box, Geometry, Sheet, label_size, shorten, text_width
from tfnb.notebook.drawing.scene import SceneEdge
from tfnb.notebook.drawing.value_label import pill_of
from tfnb.notebook.graph.dot_text import plain_dot
from tfnb.notebook.graph.model import Model
from tfnb.notebook.layout.dot import LayoutFailed, sized_dot
from tfnb.notebook.layout.engines import ENGINES, available_engines, lay_out, panel_sheets
from tfnb.notebook.layout.layered import layered
from tfnb.notebook.layout.level import crossings, forward, ranks

OPEN = ["layer1/", "layer2/", "gradients/", "layer1/weights/"]


def overlap(a: Box, b: Box) -> bool:
    return abs(a.x - b.x) < (a.w + b.w) / 2 - 0.5 and abs(a.y - b.y) < (a.h + b.h) / 2 - 0.5


@pytest.fixture(params=["down", "up", "right"])
def direction(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_nothing_overlaps_and_edges_end_at_their_nodes(engine: str, direction: str) -> None:
    if engine not in available_engines():
        pytest.skip(f"{engine} is not here")
    scene = Model(digits()).scene(OPEN)
    geometry = lay_out(scene, engine, direction)
    for a, b in combinations(scene.nodes, 2):
        assert not overlap(geometry.boxes[a.key], geometry.boxes[b.key]), (a.key, b.key)
    for group in scene.groups:
        around = geometry.boxes[group.key]
        for inner in scene.nodes:
            if inner.key.startswith(group.key) and inner.panel == group.panel:
                box = geometry.boxes[inner.key]
                assert abs(box.x - around.x) <= around.w / 2 and abs(box.y - around.y) <= around.h / 2
    for edge in scene.edges:
        points, box = geometry.routes[edge.source, edge.target].points, geometry.boxes[edge.target]
        assert len(points) % 3 == 1
        assert abs(points[-1][0] - box.x) <= box.w / 2 + 3 and abs(points[-1][1] - box.y) <= box.h / 2 + 3


def crowd() -> Rows:
    """A chain of blocks; its end is read by forty ops, and these by nothing."""
    names = [f"block_{i}/unit_{j}/op" for i in range(5) for j in range(3)]
    chain = [(name, "Neg", tuple(names[max(i - 1, 0):i])) for i, name in enumerate(names)]
    return [*chain, *((f"metric_{i}/{name}", "Mean", ("block_4/unit_2/op",)) for i in range(40) for name in "ab")]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_whatever_is_opened_and_set_aside_has_its_place(engine: str, seed: int) -> None:
    if engine not in available_engines():
        pytest.skip(f"{engine} is not here")
    random = Random(seed)
    model = Model(crowd() if seed % 2 else digits())
    opened, aside = set[str](), dict[str, bool]()
    for _ in range(8):
        scene = model.scene(opened, aside, random.choice([200, 40, 10]))
        geometry = lay_out(scene, engine, random.choice(["down", "up", "right"]))
        assert {item.key for item in (*scene.nodes, *scene.groups)} == geometry.boxes.keys()
        assert {(edge.source, edge.target) for edge in scene.edges} == geometry.routes.keys()
        assert not any(overlap(geometry.boxes[a.key], geometry.boxes[b.key]) for a, b in combinations(scene.nodes, 2))
        opened |= {random.choice([node.key for node in scene.nodes if node.expandable] or [""])}
        if random.random() < 0.3:
            aside[random.choice([*scene.nodes, *scene.groups]).key] = random.random() < 0.5


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_nodes_without_edges_are_a_block_not_a_line(engine: str, direction: str) -> None:
    if engine not in available_engines():
        pytest.skip(f"{engine} is not here")
    geometry = lay_out(Model([(f"{chr(97 + i % 26)}{i}", "Neg") for i in range(100)]).scene(), engine, direction)
    assert geometry.routes == {} and 0.5 < geometry.width / geometry.height < 2


@pytest.mark.parametrize("more", [[], ["metric_7/"]])
def test_a_group_of_which_hardly_a_node_stays_is_set_aside_whole(more: list[str]) -> None:
    scene = Model(crowd()).scene(["metric_*/", "block_*/"] + more)
    metrics = next(group for group in scene.groups if group.key == "metric_*/")
    assert metrics.panel == "metric_*/" and metrics.number
    assert {node.panel for node in scene.nodes if node.parent == "metric_*/"} == {"metric_*/"}
    assert [node.refs_out for node in scene.nodes if node.key == "block_4/"] == [(metrics.number,)]


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_all_that_is_in_a_group_may_be_set_aside_one_by_one(engine: str) -> None:
    if engine not in available_engines():
        pytest.skip(f"{engine} is not here")
    model = Model([("a/b/c", "Neg"), ("a/b/d", "Neg", ("a/b/c",)), ("a/e", "Neg", ("a/b/d",))])
    scene = model.scene(["a/"], {"a/b/": True, "a/e": True})
    boxes = lay_out(scene, engine).boxes
    assert {item.key for item in (*scene.nodes, *scene.groups)} == boxes.keys() == {"a/", "a/b/", "a/e"}


def test_data_flows_in_the_direction(direction: str) -> None:
    boxes = lay_out(Model(digits()).scene(), "builtin", direction).boxes
    x, loss = boxes["x"], boxes["loss/"]
    assert {"down": x.y < loss.y, "up": x.y > loss.y, "right": x.x < loss.x}[direction]


def test_labels_of_edges_that_meet_do_not_lie_on_one_another() -> None:
    rows: Rows = [("x", "Placeholder", ()), ("kernel", "VariableV2", ()), ("bias", "VariableV2", ()),
                  ("conv", "Conv2D", ("x", "kernel")), ("add", "BiasAdd", ("conv", "bias"))]
    scene = Model(rows).scene()
    scene = replace(scene, edges=tuple(replace(edge, label="?×24×24×32") for edge in scene.edges))
    for direction in ("down", "up", "right"):
        geometry = layered(Sheet(scene.nodes, scene.groups, scene.edges, direction))
        labels = [Box(*(geometry.routes[edge.source, edge.target].label or (0.0, 0.0)), *label_size(edge))
                  for edge in scene.edges]
        assert len(labels) == 4
        close = [pair for pair in combinations(labels, 2) if overlap(*(each._replace(h=each.h - 2) for each in pair))]
        assert not close, direction


def test_the_built_in_layout_is_always_the_same() -> None:
    one, two = (lay_out(Model(digits()).scene(OPEN), "builtin") for _ in range(2))
    assert one == two


def test_without_graphviz_the_built_in_layout_stands_in(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(sheet: object) -> Geometry:
        raise LayoutFailed("not here")

    scene = Model(digits()).scene()
    monkeypatch.setitem(ENGINES, "dot", absent)
    monkeypatch.setitem(ENGINES, "pygraphviz", absent)
    assert lay_out(scene, "auto") == lay_out(scene, "builtin")
    with pytest.raises(LayoutFailed):
        lay_out(scene, "dot")


def test_graphviz_is_not_asked_for_long_ways_past_many_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[int]()

    def engine(sheet: Sheet) -> Geometry:
        asked.append(len(sheet.nodes))
        return layered(sheet)

    monkeypatch.setitem(ENGINES, "dot", engine)
    monkeypatch.setattr("tfnb.notebook.layout.engines.available_engines", lambda: ("dot", "builtin"))
    for length in (30, 150):
        rows = [("x", "Placeholder"), *((f"n{'x' * i}", "Add", (f"n{'x' * (i - 1)}" if i else "x", "x"))
                                        for i in range(length))]
        assert len(lay_out(Model(rows).scene(aside=None)).boxes) == length + 1
    assert asked == [31]


def test_loops_are_laid_out() -> None:
    rows = Rows()
    for name, inputs in (("enter", ()), ("merge", ("enter", "next")), ("switch", ("merge",)), ("next", ("switch",))):
        rows.op(name, name, inputs)
    boxes = lay_out(Model(rows).scene(), "builtin").boxes
    assert boxes["enter"].y < boxes["merge"].y < boxes["switch"].y < boxes["next"].y


def test_unknown_engines_and_directions_are_refused() -> None:
    scene = Model(digits()).scene()
    with pytest.raises(ValueError, match="engine is auto or one of"):
        lay_out(scene, "neato")
    with pytest.raises(ValueError, match="direction is one of down, up, right"):
        lay_out(scene, direction="left")


def test_cycles_ranks_and_crossings() -> None:
    pairs = [("a", "b"), ("b", "c"), ("c", "a")]
    assert forward("abc", pairs) == [("a", "b"), ("b", "c"), ("a", "c")]
    assert ranks("abcd", [("a", "b"), ("b", "c"), ("d", "c")]) == {"a": 0, "b": 1, "c": 2, "d": 1}
    near = {"a": ["y"], "b": ["x"], "x": ["b"], "y": ["a"]}
    assert crossings([["a", "b"], ["x", "y"]], near) == 1 and crossings([["b", "a"], ["x", "y"]], near) == 0


def test_dot_text_holds_no_name_for_the_engine_and_quotes_them_for_readers() -> None:
    rows = [('a"}; evil [label=<x>]\\', "Neg"), ("b", "Neg", ('a"}; evil [label=<x>]\\',))]
    sheet = panel_sheets(Model(rows).scene())[""]
    assert "evil" not in sized_dot(sheet)
    assert r'"a\"}; evil [label=<x>]\\" ->' in plain_dot(sheet)
    flow = [("a", "Neg", (), (), {}, [(2, 3)]), ("b", "Neg", ("a",), (), {}, [None]), ("c", "Neg", ("b",), ("a",))]
    lines = plain_dot(panel_sheets(Model(flow).scene())[""]).splitlines()
    assert [line.strip() for line in lines if "->" in line] == [
        '"a" -> "b" [label="2×3"];', '"b" -> "c" [label="any shape"];', '"a" -> "c" [style=dashed];']
    assert len(lay_out(Model(rows).scene()).boxes) == 2


def test_texts_are_measured_without_fonts() -> None:
    assert text_width("iii", 12) < text_width("mmm", 12)
    assert shorten("a" * 40, 10) == "aaaaaa…aaa" and shorten("short") == "short"


@pytest.mark.parametrize("label", ["1", "-0.25 ± 1.1 50% bad of 12"])
def test_room_for_labels(label: str) -> None:
    width = text_width(label, 11)
    assert label_size(SceneEdge("a", "b", label, 1)) == (width + 6, 13)
    assert label_size(SceneEdge("a", "b", "", 1)) == (0, 0)
    pill = pill_of(np.arange(12.0))
    wide, high = label_size(SceneEdge("a", "b", label, 1, pill=pill))
    assert wide == max(PILL_WIDTH, width) + 8 and high > 30


def test_a_panel_higher_than_the_drawing_begins_the_first_column() -> None:
    rows = Rows()
    for prefix, count in (("main/", 20), ("gradients/", 40)):
        names = [rows.op(f"{prefix}op_0", "Placeholder", shapes=((),))]
        for i in range(1, count):
            names.append(rows.op(f"{prefix}op_{i}", "Neg", (names[-1],), ((),)))
    rows.op("gradients/mul", "Mul", ("gradients/op_39", "main/op_19"), ((),))
    scene = Model(rows, series=False).scene(["gradients/"])
    geometry = lay_out(scene, "builtin")
    boxes = [geometry.boxes[node.key] for node in scene.nodes if node.panel]
    assert geometry.shelf is not None and len(boxes) > 30
    assert geometry.shelf[0] <= min(box.x - box.w / 2 for box in boxes) < geometry.shelf[0] + 30
