"""The views in a real browser, their kernel side in this process."""
from __future__ import annotations

import math
from typing import Any

import pytest

from tests.browser.page import ViewPage
from tests.notebook.sample_rows import digits
from tfnb.notebook.graph_view import GraphView, graph_view


class Wire:
    """Stands for the widget: keeps the state that the view sets."""

    state: dict[str, Any] = {}


def shown(page: Any, module: str, view: GraphView) -> ViewPage:
    """The view in the page; what the page asks, it answers."""
    wire = Wire()
    view.widget = wire

    def answer(message: dict[str, Any]) -> dict[str, Any]:
        view._on_message(wire, message, [])
        return wire.state

    return ViewPage(page, module, "graph", view.widget_state(), answer)


@pytest.fixture
def graph(page: Any, module: str) -> ViewPage:
    """A graph view of the digits network."""
    return shown(page, module, graph_view(digits()))


def node(graph: ViewPage, key: str) -> Any:
    return graph.page.locator(f'g.n[data-name="{key}"]')


def test_a_scope_opens_and_closes_by_its_sign(graph: ViewPage) -> None:
    node(graph, "layer1/").locator(".fold").click()
    node(graph, "layer1/MatMul").wait_for()
    assert "is-open" in node(graph, "layer1/").get_attribute("class")
    graph.page.wait_for_timeout(400)            # till it has stopped moving
    graph.page.locator('g.head[data-name="layer1/"] .fold').click()
    node(graph, "layer1/MatMul").wait_for(state="detached")
    assert graph.errors == []


def test_a_double_click_opens_too_and_a_click_shows_details(graph: ViewPage) -> None:
    node(graph, "layer1/").locator(".ttl").dblclick()
    node(graph, "layer1/weights/").wait_for()
    graph.page.wait_for_timeout(400)
    node(graph, "layer1/weights/").locator(".ttl").click()
    panel = graph.page.locator(".tfnb-details")
    panel.get_by_text("VariableV2").wait_for()
    panel.get_by_role("button", name="Show layer1/MatMul").click()
    panel.locator("h3", has_text="MatMul").wait_for()
    assert "is-picked" in node(graph, "layer1/MatMul").get_attribute("class")


def test_the_keyboard_opens_and_moves(graph: ViewPage) -> None:
    node(graph, "loss/").focus()
    graph.page.keyboard.press("Enter")
    node(graph, "loss/Mean").wait_for()
    svg = graph.page.locator(".tfnb-stage svg")
    before = svg.get_attribute("viewBox")
    node(graph, "loss/Mean").focus()
    graph.page.keyboard.press("ArrowRight")
    assert svg.get_attribute("viewBox") != before
    graph.page.keyboard.press("0")
    assert graph.page.evaluate("() => window.scrollY") == 0


def test_dragging_moves_and_does_not_select(graph: ViewPage) -> None:
    svg = graph.page.locator(".tfnb-stage svg")
    before = svg.get_attribute("viewBox")
    box = node(graph, "layer2/").bounding_box()
    graph.page.mouse.move(box["x"] + 20, box["y"] + 10)
    graph.page.mouse.down()
    graph.page.mouse.move(box["x"] + 90, box["y"] + 60, steps=4)
    graph.page.mouse.up()
    assert svg.get_attribute("viewBox") != before and graph.sent() == []


def test_the_wheel_scrolls_the_page_until_the_reader_clicked_into_the_drawing(graph: ViewPage) -> None:
    svg = graph.page.locator(".tfnb-stage svg")
    before = svg.get_attribute("viewBox")
    stage = graph.page.locator(".tfnb-stage")
    stage.hover()
    graph.page.mouse.wheel(0, 120)
    graph.page.wait_for_timeout(100)
    assert svg.get_attribute("viewBox") == before
    stage.click(position={"x": 5, "y": 5})
    graph.page.mouse.wheel(0, 120)
    graph.page.wait_for_timeout(100)
    assert svg.get_attribute("viewBox") != before


def test_search_reveals_an_op_in_a_closed_scope(graph: ViewPage) -> None:
    graph.page.get_by_label("Find an op").fill("relugrad")
    graph.page.locator(".tfnb-hits button").first.click()
    node(graph, "gradients/layer1/Relu_grad/ReluGrad").wait_for()


def test_hostile_names_run_nothing(page: Any, module: str) -> None:
    evil = "<img src=x onerror=\"window.evil=1\"><script>window.evil=1</script>"
    view = shown(page, module, graph_view([(evil, "Neg", (), (), {evil: evil}, [evil]), ("b", evil, (evil,))]))
    node(view, "b").click()
    page.locator(".tfnb-details h3").wait_for()
    page.wait_for_timeout(100)
    assert page.evaluate("() => window.evil") is None and view.errors == []
    assert page.locator("img, .tfnb script").count() == 0


def test_the_theme_follows_jupyterlab(graph: ViewPage) -> None:
    def colour() -> str:
        return str(graph.page.evaluate("() => getComputedStyle(document.querySelector('.tfnb')).backgroundColor"))

    def node_colour() -> str:
        return str(graph.page.evaluate("() => getComputedStyle(document.querySelector('.r-input .s')).fill"))

    light = colour(), node_colour()
    graph.page.evaluate("() => document.body.setAttribute('data-jp-theme-light', 'false')")
    graph.page.wait_for_timeout(50)
    assert colour() != light[0] and node_colour() != light[1]


def test_live_curves_are_drawn_and_told_at_the_pointer(page: Any, module: str) -> None:
    tags = [{"name": name, "color_index": i} for i, name in enumerate(["loss/train", "loss/test", "accuracy"])]
    board = ViewPage(page, module, "live", {"title": "digits", "tags": tags, "smoothing": 0.5, "x": "step"})
    assert board.sent() == [{"type": "ready"}]
    board.points(0, 0, [(i, math.exp(-i / 100)) for i in range(2000)])
    board.points(2, 0, [(i, i / 2000) for i in range(2000)])
    page.locator(".tfnb-line").nth(3).wait_for(state="attached")
    assert len(page.locator(".tfnb-line").first.get_attribute("d")) < 40_000       # reduced to the pixels
    page.locator(".tfnb-plot").nth(1).hover()
    assert "accuracy" in page.locator(".tfnb-tip").nth(1).inner_text()
    assert board.errors == []


def test_many_messages_cost_one_drawing(page: Any, module: str) -> None:
    board = ViewPage(page, module, "live", {"title": "", "tags": [{"name": "a", "color_index": 0}], "smoothing": 0,
                                            "x": "step"})
    page.evaluate("""() => {
        window.drawings = 0;
        new MutationObserver(() => window.drawings++).observe(document.querySelector(".tfnb-plot"), {childList: true});
        for (let i = 0; i < 500; i++)
            window.model.receive({type: "points", tag: 0, start: i}, new Uint8Array(new Float32Array([i, i]).buffer));
    }""")
    page.wait_for_timeout(200)
    assert 1 <= page.evaluate("() => window.drawings") <= 5
    assert "499" in page.locator(".tfnb-legend").inner_text() and board.errors == []
