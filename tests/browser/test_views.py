"""The views in a real browser, their kernel side in this process."""
from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfnb as tf
from tests.browser.page import ViewPage
from tests.notebook.sample_rows import digits
from tfnb import notebook
from tfnb.notebook.debug.edge_values import watched
from tfnb.notebook.frontend.widget import View
from tfnb.notebook.graph.view import graph_view


class Wire:
    """Stands for the widget: keeps the state that the view sets."""

    state: dict[str, Any] = {}

    def send(self, content: dict[str, Any]) -> None:
        """A message, which tests of the page send themselves."""


def shown(page: Any, module: str, view: View) -> ViewPage:
    """The view in the page; what the page asks, it answers."""
    wire = Wire()
    view.widget = wire

    def answer(message: dict[str, Any]) -> dict[str, Any]:
        view._on_message(wire, message, [])
        return wire.state

    return ViewPage(page, module, view.kind, view.widget_state(), answer)


@pytest.fixture
def graph(page: Any, module: str) -> ViewPage:
    """A graph view of the digits network, drawn for this page: it asks for no other drawing amid a test."""
    view = graph_view(digits(), level="ops")
    view.fit_to(page.viewport_size["width"] - 26)       # of which 12 pixels to either side are the page's, 1 its frame
    return shown(page, module, view)


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
    svg = graph.page.locator(".tfnb-stage > svg")
    before = svg.get_attribute("viewBox")
    node(graph, "loss/Mean").focus()
    graph.page.keyboard.press("ArrowRight")
    assert svg.get_attribute("viewBox") != before
    graph.page.keyboard.press("0")
    assert graph.page.evaluate("() => window.scrollY") == 0


def test_a_narrow_page_has_the_details_below_a_drawing_of_its_own_height(graph: ViewPage) -> None:
    graph.page.set_viewport_size({"width": 500, "height": 800})
    node(graph, "layer1/").locator(".ttl").click()
    graph.page.locator(".tfnb-details h3").wait_for()
    for width in (500, 400):
        graph.page.set_viewport_size({"width": width, "height": 800})
        graph.page.wait_for_timeout(150)
        high, wanted = graph.page.evaluate("""() => { const stage = document.querySelector(".tfnb-stage");
            return [stage.offsetHeight, parseFloat(stage.style.height)]; }""")
        assert high == wanted


def test_dragging_moves_and_does_not_select(graph: ViewPage) -> None:
    svg = graph.page.locator(".tfnb-stage > svg")
    before = svg.get_attribute("viewBox")
    box = node(graph, "layer2/").bounding_box()
    graph.page.mouse.move(box["x"] + 20, box["y"] + 10)
    graph.page.mouse.down()
    graph.page.mouse.move(box["x"] + 90, box["y"] + 60, steps=4)
    graph.page.mouse.up()
    assert svg.get_attribute("viewBox") != before and graph.sent() == []


def test_the_wheel_scrolls_the_page_until_the_reader_clicked_into_the_drawing(graph: ViewPage) -> None:
    svg = graph.page.locator(".tfnb-stage > svg")
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


def test_enter_does_not_wait_for_the_hits(graph: ViewPage) -> None:
    graph.page.get_by_label("Find an op").fill("relugrad")
    graph.page.keyboard.press("Enter")
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
        for (let i = 0; i < 500; i++) {
            const point = new Float32Array([i, i, i]);
            window.model.receive({type: "points", tag: 0, start: i}, new Uint8Array(point.buffer));
        }
    }""")
    page.wait_for_timeout(200)
    assert 1 <= page.evaluate("() => window.drawings") <= 5
    assert "499" in page.locator(".tfnb-legend").inner_text() and board.errors == []


EVIL = "<img src=x onerror=window.evil=1>"


def test_checkpoints_are_compared_sorted_and_drawn_by_clicks(page: Any, module: str, tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        large = tf.Variable(np.arange(200 * 150, dtype=np.float32).reshape(200, 150) - 15000, name="large")
        small = tf.Variable(1.0, name="small")
        for step in range(2):
            session.run([v.initializer for v in (large, small)] if step == 0 else [large.assign(large * 1.5)])
            notebook.save_checkpoint(tmp_path / "model", session=session, step=step)
        view = notebook.checkpoints(tmp_path, session=session)
    sheet = shown(page, module, view)
    page.get_by_role("button", name="the one before").click()
    page.get_by_text("In both: 2 tensors, 1 of them equal").wait_for()
    rows = page.locator("section").nth(2).locator("tbody tr")
    assert rows.nth(0).locator("td").nth(0).inner_text() == "large"
    page.get_by_role("button", name="Sort by relative L2").click()
    assert rows.nth(0).locator("td").nth(0).inner_text() == "small"
    page.get_by_role("button", name="Show large").click()
    canvas = page.locator("canvas")
    canvas.nth(2).wait_for()
    assert page.evaluate("""() => { const c = document.querySelector("canvas"), g = c.getContext("2d");
        return [0, c.height - 1].map((y) => [...g.getImageData(0, y, 1, 1).data]); }""")[0][:3] != [247, 247, 247]
    canvas.nth(0).hover(position={"x": 1, "y": 1})
    assert page.locator(".tfnb-place").inner_text() == "[0:3, 0:2]"
    assert [o.inner_text() for o in page.locator("output").all()] == ["-15k", "-22.5k", "-7500"]
    canvas.nth(0).focus()
    page.keyboard.press("ArrowDown")
    assert page.locator(".tfnb-place").inner_text() == "[3:6, 0:2]"
    page.keyboard.press("Enter")
    page.get_by_text("rows 0:96, columns 0:96").first.wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Show the whole matrix").wait_for(state="hidden")
    assert sheet.errors == [] and view.errors == []


def test_hostile_names_in_files_run_nothing(page: Any, module: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "evil.npz", **{EVIL: np.ones((2, 2), np.float32)})
    view = notebook.checkpoint(tmp_path / "evil.npz")
    shown(page, module, view)
    page.get_by_role("button", name=f"Show {EVIL}").click()
    page.locator("canvas").wait_for()
    page.wait_for_timeout(100)
    assert page.evaluate("() => window.evil") is None and page.locator("img, .tfnb script").count() == 0
    assert view.errors == []


def test_graphs_are_coloured_traced_and_saved_as_png_and_dot(graph: ViewPage) -> None:
    page = graph.page
    page.get_by_label("Colours say").select_option("gradient")
    page.locator(".legend text", has_text="computes a gradient").wait_for()
    node(graph, "loss/").locator(".ttl").click()
    page.get_by_role("button", name="Leave strong only what it gets values from").click()
    page.locator('g.n[opacity="0.25"]').first.wait_for()
    page.get_by_role("button", name="Show everything strong again").click()
    page.locator('g.n[opacity="0.25"]').first.wait_for(state="detached")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the drawing as a PNG image").click()
    assert Path(saved.value.path()).read_bytes().startswith(b"\x89PNG")
    page.get_by_role("button", name="Save the drawing as Graphviz DOT").click()
    with page.expect_download() as saved:
        page.evaluate("() => window.model.receive({type: 'dot', text: 'digraph x {}'})")
    assert Path(saved.value.path()).read_text() == "digraph x {}" and {"type": "dot", "name": ""} in graph.sent()
    assert graph.errors == []


def test_values_on_edges_and_in_the_panel_run_nothing(page: Any, module: str) -> None:
    evil = "<img src=x onerror=\"window.evil=1\"><script>window.evil=1</script>"
    seen = {f"{evil}:0": watched(np.ones((2, 9, 9, 3))), "s:0": watched(np.array([evil.encode()], object))}
    rows = [(evil, "Op", (), (), {}, [(2, 9, 9, 3)]), ("s", "Op", (), (), {}, [(1,)]),
            ("b", "Op", (evil + ":0", "s:0"))]
    view = shown(page, module, graph_view(rows, values=seen))
    page.locator("g.value").first.wait_for()
    page.locator("g.n").first.click()
    page.locator(".tfnb-value img").wait_for()
    page.wait_for_timeout(100)
    assert page.evaluate("() => window.evil") is None and view.errors == []
    assert page.locator("img").count() == 1 and page.locator(".tfnb script").count() == 0


def test_a_stopped_run_lights_the_next_op_and_takes_a_typed_value(page: Any, module: str) -> None:
    with tf.Graph().as_default(), tf.Session():
        x = tf.placeholder(tf.float32, [2], name="x")
        tf.reduce_sum(tf.square(x, name="sq"), name="loss")
        view = notebook.step("loss", feed={"x": [1.0, 2.0]}, until="loss")
    sheet = shown(page, module, view)
    page.locator('g.n.is-next[data-name="loss"]').wait_for()
    page.get_by_label("New value of sq:0").fill("value * 10")
    page.get_by_label("New value of sq:0").press("Enter")
    page.get_by_role("button", name="Take back").wait_for()
    page.get_by_role("button", name=re.compile("^Step")).click()
    page.get_by_text("float32 50").first.wait_for()
    node(sheet, "sq").locator(".ttl").click()
    page.locator(".tfnb-details .tfnb-value").get_by_text("10").wait_for()
    assert sheet.errors == [] and view.errors == [] and view.graph is not None and view.graph.errors == []
