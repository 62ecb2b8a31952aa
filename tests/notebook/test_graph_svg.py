"""The SVG: canonical, safe with hostile names, readable without CSS and with it."""
from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from tests.notebook.sample_rows import digits
from tfnb.notebook.drawing.palette import INKS, ROLES
from tfnb.notebook.drawing.svg import element, identifier, number, path, text
from tfnb.notebook.graph.model import Model
from tfnb.notebook.graph.svg import graph_svg
from tfnb.notebook.layout.engines import lay_out

HOSTILE = ["<script>alert(1)</script>", '"onload="alert(1)', "a&b;<!--", "]]>", "x\u0000\u0008y", "\ud800", "ä/日本/🙂",
           "--> </style>", "${x}", "a b\nc"]
NS = "{http://www.w3.org/2000/svg}"


def drawn(rows: object, *expanded: str, engine: str = "builtin") -> str:
    scene = Model(rows).scene(expanded)
    return graph_svg(scene, lay_out(scene, engine))


def test_the_same_graph_gives_the_same_bytes() -> None:
    one, two = (drawn(digits(), "layer1/", "gradients/") for _ in range(2))
    assert one == two


def test_attributes_are_sorted_and_numbers_rounded() -> None:
    root = ET.fromstring(drawn(digits(), "layer1/"))
    for item in root.iter():
        assert list(item.attrib) == sorted(item.attrib)
    for box in root.iter(f"{NS}rect"):
        assert len(box.get("width", "").partition(".")[2]) <= 1


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_text(name: str) -> None:
    svg = drawn([(name, "Placeholder"), (name + "_2", name, (name,), (name,), {"value": name}, [name])])
    root = ET.fromstring(svg.encode("utf-8"))
    tags = {item.tag.removeprefix(NS) for item in root.iter()}
    assert tags <= {"svg", "title", "style", "rect", "g", "path", "text", "ellipse", "circle"}
    assert not [key for item in root.iter() for key in item.attrib if key.startswith("on")]
    shown = {item.get("data-name") for item in root.iter() if item.get("data-name")}
    assert len(shown) in (1, 2)


def test_every_node_has_a_name_for_readers_and_an_id_of_its_own() -> None:
    root = ET.fromstring(drawn(digits(), "layer1/", "layer1/weights/"))
    nodes = [item for item in root.iter(f"{NS}g") if (item.get("class") or "").startswith("n ")]
    assert len(nodes) > 20 and all(item.get("aria-label") and item.find(f"{NS}title") is not None for item in nodes)
    ids = [item.get("id") for item in nodes]
    assert len(set(ids)) == len(ids)
    assert root.get("role") == "img" and root.get("aria-label")


def test_shapes_follow_the_kind_of_node() -> None:
    root = ET.fromstring(drawn(digits(), "layer1/", "loss/"))

    def shapes(key: str) -> set[str]:
        found = next(item for item in root.iter() if item.get("data-name") == key)
        return {item.tag.removeprefix(NS) for item in found if item.get("class") in ("s", "d-variable")}

    assert shapes("layer1/MatMul") == {"ellipse"} and shapes("loss/Const") == {"circle"}
    assert shapes("layer2/") == {"rect"} and shapes("layer1/weights/") == {"rect", "path"} and shapes("x") == {"path"}


def test_control_edges_are_dashed() -> None:
    root = ET.fromstring(drawn([("a", "Neg"), ("b", "NoOp", (), ("a",))]))
    lines = [item for item in root.iter(f"{NS}path") if item.get("class") == "e"]
    assert lines[0].get("stroke-dasharray")


def test_light_colours_stand_as_attributes_and_dark_ones_in_the_style() -> None:
    svg = drawn(digits())
    assert f'fill="{ROLES["input"][0].fill}"' in svg
    assert "prefers-color-scheme:dark" in svg and f"--tf-bg:{INKS['bg'][1]}" in svg
    assert "--tf-save-fill" not in svg              # only what is used
    assert "url(" not in svg and "href" not in svg


def contrast(a: str, b: str) -> float:
    def light(colour: str) -> float:
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    high, low = sorted((light(a), light(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1])
def test_letters_and_rims_can_be_told_from_what_is_under_them(theme: int) -> None:
    for tones in ROLES.values():
        assert contrast(INKS["ink"][theme], tones[theme].fill) > 7
        assert contrast(INKS["muted"][theme], tones[theme].fill) > 4.4
    assert contrast(INKS["muted"][theme], INKS["bg"][theme]) > 4.5


def test_pieces_of_svg() -> None:
    assert element("a", text("<b>"), class_="x", data_y=1.25, z=None) == '<a class="x" data-y="1.2">&lt;b&gt;</a>'
    assert [number(v) for v in (1.0, -0.04, 2.56)] == ["1", "0", "2.6"]
    assert path([(0, 0), (1, 2)]) == "M0 0L1 2" and path([]) == ""
    assert identifier("n-", "a b/é") == "n-a~20~b~2f~~e9~"
