"""Scripts of drawings for pages without a kernel: what is in them, how large they are, when there is none."""
from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import tfnb as tf
from tests.notebook.sample_rows import digits
from tfnb.notebook.frontend import page, widget
from tfnb.notebook.frontend.page import MOST_BYTES, SCRIPT, page_script, picture_script
from tfnb.notebook.frontend.settings import settings
from tfnb.notebook.graph.insides import MOST_NODES, Insides
from tfnb.notebook.graph.view import GraphView, graph_view
from tfnb.notebook.plots import panels

PACKED = re.compile(r'\ntfnbPage\.show\("([\w+/=]+)", typeof element == "undefined" \? undefined : [^;"<]*\);$')
HOSTILE = "</script><script>alert(1)</script>\u2028'\"`${x}"


@pytest.fixture(autouse=True)
def built(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for the built script, which a checkout may not have, in a kernel."""
    monkeypatch.setattr(page, "_module_text", lambda: "var tfnbPage = {};")
    monkeypatch.setattr(widget, "has_front_end", lambda: True)


def content(script: str) -> dict[str, Any]:
    """What a script shows."""
    found = PACKED.search(script)
    assert found, script[-200:]
    return dict(json.loads(zlib.decompress(base64.b64decode(found[1]))))


def insides_of(view: GraphView) -> dict[str, ElementTree.Element]:
    """Key -> the drawing of the scope."""
    return {key: ElementTree.fromstring(svg) for key, svg in content(view.script({}))["insides"].items()}


def nodes(svg: ElementTree.Element, layer: str = "nodes") -> list[str]:
    """The keys of the nodes of a layer."""
    return [str(node.get("data-name")) for group in svg if group.get("class") == layer for node in group]


def test_closed_scopes_and_those_in_them_have_an_inside_with_what_they_take_and_give() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        with tf.name_scope("outer"):
            h = tf.negative(x, name="before")
            with tf.name_scope("inner"):
                y = tf.exp(tf.abs(h, name="a"), name="b")
        tf.identity(y, name="z")
    view = graph_view(graph, level="ops", depth=0)
    drawn = insides_of(view)
    assert set(drawn) == {"outer/", "outer/inner/"}
    assert nodes(drawn["outer/"]) == ["outer/before", "outer/inner/", "<outer/<x", ">outer/>z"]
    assert nodes(drawn["outer/inner/"]) == ["outer/inner/a", "outer/inner/b", "<outer/inner/<outer/before",
                                            ">outer/inner/>z"]
    assert nodes(drawn["outer/"], "groups") == nodes(drawn["outer/"], "heads") == ["outer/"]
    lines = {(edge.get("data-from"), edge.get("data-to")) for edge in drawn["outer/"].iter() if edge.get("data-from")}
    assert lines == {("<outer/<x", "outer/before"), ("outer/before", "outer/inner/"), ("outer/inner/", ">outer/>z")}


def test_a_box_is_as_large_as_what_is_in_it() -> None:
    for key, svg in insides_of(graph_view(digits())).items():
        width, height = float(svg.get("width", 0)), float(svg.get("height", 0))
        for node in (node for layer in svg if layer.get("class") == "nodes" for node in layer):
            x, y = map(float, re.findall(r"[-\d.]+", str(node.get("transform"))))
            assert 0 < x < width and 0 < y < height, (key, node.get("data-name"))


def test_styles_are_there_for_all_that_opens() -> None:
    shown = content(graph_view(digits()).script({}))
    roles = set(re.findall(r'class="n [^"]*r-(\w+)', "".join(shown["insides"].values())))
    assert "variable" in roles and all(f".r-{role} " in shown["svg"] for role in roles)


def test_a_large_graph_has_a_small_script_with_as_much_as_there_is_room_for() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.zeros([])
        for i in range(100):
            with tf.name_scope(f"block{i}_{'n' * 40}"):
                for _ in range(20):
                    x = tf.negative(x)
    view = graph_view(graph, series=False)
    drawn = Insides(view.model, view._drawn[0], lambda scene: scene, "down").drawn
    assert 5 < len(drawn) < 100 and sum(len(scene.nodes) for scene, _ in drawn.values()) <= MOST_NODES
    assert len(view.script({})) < 100_000


def test_what_would_be_too_large_is_left_out() -> None:
    noise = np.random.RandomState(0).bytes(MOST_BYTES).hex()
    assert content(page_script("<svg/>", insides={"a": noise})) == {"svg": "<svg/>"}
    assert content(page_script("<svg/>", insides={"a": "b"})) == {"svg": "<svg/>", "insides": {"a": "b"}}


def test_names_are_nowhere_but_in_base64() -> None:
    view = graph_view([(HOSTILE, HOSTILE, (), (), {}, ())], title=HOSTILE)
    script = view.script({})
    assert "alert" not in script and script.isascii()
    assert HOSTILE.replace("<", "&lt;").split("'")[0].replace(">", "&gt;") in content(script)["svg"]


def test_numbers_of_curves_are_those_that_were_recorded() -> None:
    points = np.array([[0, 1 / 3, 0.0], [1, np.nan, 0.5], [1_234_567, 2e-7, 7200.0]])
    curves = [panels.Curve("loss", points), panels.Curve("nothing", points[1:2]),
              panels.Curve("other", points, panels.FAINT), panels.Curve("net/acc", points[:1])]
    assert panels.numbers(curves, "step") == [[[0.0, 1234567.0], [0.33333, 2e-7]], [[0.0], [0.33333]]]
    assert panels.numbers(curves[:1], "time") == [[[0.0, 2.0], [0.33333, 2e-7]]]
    single = panels.Curve("loss", points[:1].astype(np.float32))
    assert panels.numbers([single], "step") == [[[0.0], [0.33333]]]
    drawn = re.findall(r'data-name="([^"]*)"', panels.svg(curves))
    assert drawn == ["loss", "acc"], "as many, in this order"


def test_a_script_stands_beside_a_picture_where_pages_are_made_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    forms = {"text/plain": "a", "image/svg+xml": "<svg/>"}
    assert set(widget.with_widget(forms, None)) == {*forms, SCRIPT}
    assert widget.with_widget({**forms, "text/html": "<b/>"}, None) == {**forms, "text/html": "<b/>"}
    monkeypatch.setattr(settings, "view_format", "static")
    assert widget.with_widget(forms, None) == forms
    monkeypatch.setattr(settings, "view_format", "auto")
    monkeypatch.setattr(page, "_module_text", lambda: "")
    assert picture_script(forms) == "" and widget.with_widget(forms, None) == forms
