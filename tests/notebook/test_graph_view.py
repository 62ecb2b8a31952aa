"""GraphView: its forms, its state, and what it answers the browser."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tfnb as tf
from tests.notebook.sample_rows import digits
from tfnb.notebook.frontend import widget
from tfnb.notebook.frontend.page import without_signs
from tfnb.notebook.graph.view import GraphView, graph_view


class FakeWidget:
    """Stands for the anywidget."""

    def __init__(self, kind: str, state: dict[str, Any]) -> None:
        self.kind, self.state, self.handler = kind, state, None
        self.sent: list[dict[str, Any]] = []

    def on_msg(self, handler: Any) -> None:
        self.handler = handler

    def send(self, content: dict[str, Any]) -> None:
        self.sent.append(content)

    def _repr_mimebundle_(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"text/plain": "no", "application/vnd.jupyter.widget-view+json": {"model_id": "1"}}, {}


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> GraphView:
    """A view that is displayed."""
    monkeypatch.setattr(widget, "make_widget", FakeWidget)
    view = graph_view(digits(), engine="builtin")
    view._repr_mimebundle_()
    return view


def ask(view: GraphView, **message: Any) -> dict[str, Any]:
    """Send a message as the browser does; returns the state that it then sees."""
    assert view.widget is not None
    view.widget.handler(view.widget, message, [])
    state: dict[str, Any] = view.widget.state
    return state


def test_what_changes_nothing_is_answered_as_well(shown: GraphView) -> None:
    shown._repr_mimebundle_()
    before = shown.widget_state()
    assert ask(shown, type="select", name="") == before and shown.widget.sent == [{"type": "heard"}]


def test_what_stands_for_nodes_that_do_not_fit_can_not_be_selected(shown: GraphView) -> None:
    shown.limit = 3
    assert 'data-name="..."' in ask(shown, type="collapse", name="loss/")["svg"]
    assert ask(shown, type="select", name="...")["note"] == "nothing in this drawing has the key '...'"
    assert ask(shown, type="select", name="x")["selected"] == "x"


def test_a_fault_is_told_to_the_page_that_waits(shown: GraphView, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown, "hear", lambda message: {}["bb"])
    with pytest.raises(KeyError):
        ask(shown, type="expand", name="layer1/")
    assert shown.widget.sent == [{"type": "failed", "message": "KeyError: 'bb'"}]


def test_a_view_has_svg_text_and_widget_forms(shown: GraphView) -> None:
    bundle = shown._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "image/svg+xml", "application/vnd.jupyter.widget-view+json"}
    assert bundle["text/plain"].startswith("graph: ") and bundle["image/svg+xml"] == without_signs(shown.svg())


def test_what_the_widget_tells_beside_it_is_shown_too(shown: GraphView, monkeypatch: pytest.MonkeyPatch) -> None:
    """Colab: without the address of its widget manager it shows an empty cell."""
    told = {"application/vnd.jupyter.widget-view+json": {"colab": {"custom_widget_manager": {"url": "https://x"}}}}
    monkeypatch.setattr(FakeWidget, "_repr_mimebundle_", lambda self: ({"text/plain": "no", "more": "yes"}, told))
    data, metadata = shown._repr_mimebundle_()
    assert metadata == told and set(data) == {"text/plain", "image/svg+xml", "more"} and data["text/plain"] != "no"


def test_jupyterlab_gets_a_picture_that_names_the_view(shown: GraphView, monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps no state of widgets, and shows an error where one was in a notebook that is opened again."""
    monkeypatch.setattr(shown.widget, "place", "ab12", raising=False)
    bundle = shown._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "image/svg+xml"} and bundle["text/plain"] == shown.to_text()
    picture = bundle["image/svg+xml"]
    assert picture.replace(' data-tfnb="ab12"', "", 1) == without_signs(shown.svg()) != picture
    assert 'class="fold"' in shown.svg() and 'class="fold"' not in picture, "nothing opens there"


def test_without_a_front_end_svg_and_text_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(widget, "make_widget", lambda kind, state: None)
    assert set(graph_view(digits())._repr_mimebundle_()) == {"text/plain", "image/svg+xml"}


def test_the_outline_shows_the_hierarchy() -> None:
    lines = graph_view(digits(), expand="loss").to_text().splitlines()
    assert lines[0] == f"graph: {len(digits())} ops, 14 variables"
    assert "  x  Placeholder  float32[?×64]  → layer1" in lines
    assert "    Mean  Mean  [scalar]  → loss_1" in lines


def test_opening_and_closing_from_code() -> None:
    view = graph_view(digits(), engine="builtin")
    closed = view.svg()
    assert "layer1/MatMul" not in closed and "layer1/MatMul" in view.expand("layer1").svg()
    view.expand("layer1/weights")
    assert view.state["expanded"] == ["layer1", "layer1/weights"]
    assert view.collapse("layer1").state["expanded"] == [] and view.svg() == closed


def test_the_state_makes_the_same_drawing_again() -> None:
    view = graph_view(digits(), expand="loss", engine="builtin").select("layer1").set_aside("accuracy")
    other = graph_view(digits(), engine="builtin")
    other.state = view.state
    assert other.svg() == view.svg() and other.state == view.state
    with pytest.raises(ValueError, match="not zoom"):
        other.state = {"zoom": 2}


def test_the_browser_opens_selects_and_sets_aside(shown: GraphView) -> None:
    state = ask(shown, type="expand", name="layer1/")
    assert state["expanded"] == ["layer1"] and "layer1/MatMul" in state["svg"]
    state = ask(shown, type="select", name="layer1/weights/")
    assert state["details"]["type"] == "VariableV2"
    assert {"name": "init", "label": "runs after", "control": True} in state["details"]["outputs"]
    assert ask(shown, type="select", name="")["details"] is None
    assert ask(shown, type="aside", name="loss/", value=True)["aside"] == {"loss/": True}
    assert ask(shown, type="collapse", name="layer1/")["expanded"] == []


def test_an_op_and_a_scope_of_one_name_are_two_things(shown: GraphView) -> None:
    assert ask(shown, type="select", name="Adam/")["details"]["form"] == "scope"
    assert ask(shown, type="select", name="Adam")["details"]["type"] == "NoOp"
    assert ask(shown, type="aside", name="init", value=False)["details"]["type"] == "NoOp"


def test_reveal_opens_what_is_around_an_op(shown: GraphView) -> None:
    state = ask(shown, type="reveal", name="gradients/layer1/MatMul_grad/MatMul")
    assert "gradients/layer1/MatMul_grad" in state["expanded"]
    assert state["selected"] == "gradients/layer1/MatMul_grad/MatMul"


def test_search_finds_names_in_any_case(shown: GraphView) -> None:
    hits = ask(shown, type="search", text="matmul")["hits"]
    assert [hit["name"] for hit in hits[:2]] == ["layer1/MatMul", "layer2/MatMul"]
    assert ask(shown, type="search", text="  ")["hits"] == []
    for text in ("layer1/w", "matmul"):
        names = [hit["name"] for hit in ask(shown, type="search", text=text)["hits"]]
        assert len(set(names)) == len(names) > 0, "a variable's op is not named beside it"


def test_what_the_browser_asks_wrongly_is_a_note_never_an_exception(shown: GraphView) -> None:
    assert "has the key" in ask(shown, type="expand", name="nowhere/")["note"]
    assert "is called" in ask(shown, type="reveal", name="<b>")["note"]
    for message in ({"type": "reboot"}, {"type": "collapse", "name": "nowhere"}, {}, {"type": "search"}):
        ask(shown, **message)
    shown._on_message(None, "no mapping", None)


def test_errors_in_the_browser_are_kept_and_logged(shown: GraphView, caplog: pytest.LogCaptureFixture) -> None:
    ask(shown, type="error", message="TypeError: x")
    assert shown.errors == ["TypeError: x"] and "TypeError: x" in caplog.text


@pytest.mark.parametrize("count", [1, 12, 13, 20])
def test_details_count_the_links_that_they_do_not_list(count) -> None:
    rows = [(f"x{i}", "Placeholder") for i in range(count)]
    rows += [("middle", "AddN", tuple(name for name, _ in rows))]
    rows += [(f"y{i}", "Neg", ("middle",)) for i in range(count)]
    found = graph_view(rows).details("middle")
    assert [len(found[side]) for side in ("inputs", "outputs")] == [min(count, 12)] * 2
    assert found["more"] == [max(0, count - 12)] * 2


def test_details_of_an_op_have_attrs_as_short_text() -> None:
    rows = [("c", "Const", (), (), {"value": list(range(1000)), "shape": (None, 3), "name": b"x\n<y>"}, [(1000,)])]
    found = dict(map(tuple, graph_view(rows).details("c")["attrs"]))
    assert found["shape"] == "?×3" and found["name"] == "x <y>" and len(found["value"]) <= 160


def test_saving_writes_what_the_ending_says(tmp_path: Path) -> None:
    view = graph_view(digits(), engine="builtin")
    assert view.save(tmp_path / "g.svg").read_text(encoding="utf-8") == view.svg()
    assert view.save(tmp_path / "g.dot").read_text(encoding="utf-8").startswith("digraph")
    assert view.save(tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match=r"\.svg, \.png, \.pdf, \.dot, \.txt"):
        view.save(tmp_path / "g.gif")


def test_a_form_may_be_chosen() -> None:
    assert set(graph_view(digits(), form="svg")._repr_mimebundle_()) == {"text/plain", "image/svg+xml"}
    assert set(graph_view(digits(), form="text")._repr_mimebundle_()) == {"text/plain"}
    assert graph_view(digits(), form="dot")._repr_mimebundle_()["text/plain"].startswith("digraph")
    with pytest.raises(ValueError, match="auto, svg, dot, text, not 'gif'"):
        graph_view(digits(), form="gif")


def test_expressions_set_nodes_aside() -> None:
    view = graph_view(digits(), detach=["^layer", "Merge"], engine="builtin", level="ops")
    assert view.state["aside"] == {"Merge/MergeSummary": True, "layer1/": True, "layer2/": True}
    with pytest.raises(ValueError, match="no regular expression"):
        graph_view(digits(), detach="(")
    with pytest.raises(ValueError, match="no node has a name that 'laier' is found in"):
        graph_view(digits(), detach=["laier"])


def test_only_what_is_near_may_be_drawn() -> None:
    with tf.Graph().as_default():
        w = tf.Variable([1.0], name="w")
        a = tf.square(w, name="a")
        b = tf.exp(a, name="b")
        c = tf.sqrt(b, name="c")
        tf.negative(c, name="d")
        names = {info.name for info in graph_view(b, up=1).model.infos}
        assert names == {"a", "b"}
        assert {info.name for info in graph_view("b", up=2, down=1).model.infos} == {"w/read", "w", "a", "b", "c"}
        assert {info.name for info in graph_view([c], up=0).model.infos} == {"c"}
        with pytest.raises(ValueError, match="no op or scope 'e'"):
            graph_view("e", up=1)
        with pytest.raises(TypeError, match="name one"):
            graph_view(up=1)


def test_repeated_blocks_fold_or_not() -> None:
    rows = [(f"block_{i}/{kind}", kind, (f"block_{i - 1}/Exp",) * bool(i))
            for i in range(14) for kind in ("Neg", "Exp")]
    view = graph_view(rows, engine="builtin")
    assert view.state["series"] and "block_*/" in view.model.nodes
    view.select("block_*").set_aside("block_*").trace("block_*")
    view.state = {"series": False}
    assert view.state["selected"] == "" and view.state["aside"] == {} and view.state["trace"] is None
    assert view.widget_state()["details"] is None
    assert "block_*/" not in view.model.nodes and "block_13/" in view.model.nodes
    assert graph_view(rows, series=False, engine="builtin").svg() == view.svg()


def test_wrong_options_name_the_nearest_one() -> None:
    with pytest.raises(TypeError, match="no option 'exapnd'; did you mean 'expand'"):
        graph_view(digits(), exapnd="x")
    with pytest.raises(ValueError, match="'lyer1'; nearest: .*layer1"):
        graph_view(digits(), expand="lyer1")


def test_an_empty_graph_is_drawn() -> None:
    view = graph_view([])
    assert view.to_text() == "graph: 0 ops" and view.svg().startswith("<svg")
