"""Pages of saved notebooks, with no kernel and no network: scopes open and close, curves tell their numbers."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfnb as tf
from tests.browser.test_hostile import PAYLOADS
from tests.browser.trap import Trap
from tfnb.notebook.frontend.page import page_script
from tfnb.notebook.graph.view import graph_view
from tfnb.notebook.plots import panels

# As nbconvert shows a script, and as Quarto and Jupyter Book do.
NBCONVERT = '<div id="here"><script>var element = document.getElementById("here");\n{}\n</script></div>'
PLAIN = "<div><script>{}</script></div>"
OVERLAPS = """() => {
    const shapes = [...document.querySelectorAll(".nodes > .n > .s:last-of-type")];
    const boxes = shapes.map((shape) => shape.getBoundingClientRect());
    return boxes.filter((a, i) => boxes.some((b, j) => j > i && a.left < b.right - 1 && b.left < a.right - 1 &&
        a.top < b.bottom - 1 && b.top < a.bottom - 1)).length;
}"""


def opened(page: Any, *scripts: str, form: str = NBCONVERT) -> Trap:
    """A page with these scripts in it; asks of the network fail the test."""
    trap = Trap(page)
    page.emulate_media(reduced_motion="reduce")          # nothing glides
    page.route("**/*", lambda route: trap.errors.append(route.request.url) or route.abort())
    page.set_content("<!doctype html><title>saved</title>" + "".join(form.format(script) for script in scripts))
    page.locator(".tfnb-page svg").first.wait_for()
    return trap


@pytest.fixture
def network() -> str:
    """The script of a small network."""
    with tf.Graph().as_default() as graph:
        h = tf.placeholder(tf.float32, [None, 8, 8, 1], name="x")
        for i in range(3):
            h = tf.layers.conv2d(h, 4, 3, padding="same", activation=tf.nn.relu, name=f"conv{i}")
        logits = tf.layers.dense(tf.layers.flatten(h), 3, name="out")
        tf.train.AdamOptimizer().minimize(tf.reduce_mean(tf.square(logits), name="loss"))
        return graph_view(graph).script({})


@pytest.mark.parametrize("form", [NBCONVERT, PLAIN])
def test_scopes_open_and_close_by_mouse_and_keyboard(page: Any, module: str, network: str, form: str) -> None:
    trap = opened(page, network, form=form)
    closed = page.locator(".nodes > .n").count()
    size = page.locator(".tfnb-page svg").bounding_box()
    for key in ("conv1/", "out/", "training/", "conv0/"):
        page.locator(f'.nodes > .n[data-name="{key}"]').click()
    assert page.locator(".nodes > .n").count() > closed + 12
    assert page.evaluate(OVERLAPS) == 0
    page.locator('.n[data-name="conv1/kernel/"]').focus()
    page.keyboard.press("Enter")
    page.locator('.head[data-name="conv1/kernel/"][aria-expanded=true]').wait_for()
    assert page.evaluate(OVERLAPS) == 0
    for key in ("conv1/", "out/", "training/", "conv0/"):
        page.locator(f'.head[data-name="{key}"] .fold').click()
    page.locator(".nodes > .n").nth(closed - 1).wait_for()
    assert page.locator(".nodes > .n").count() == closed
    assert page.locator(".tfnb-page svg").bounding_box() == size
    assert page.locator(".n .fold").count() == page.locator('.n[role="button"]').count() > 5
    trap.quiet()


def test_curves_tell_their_numbers_under_the_pointer(page: Any, module: str) -> None:
    points = np.array([[step, 1 / (step + 1), 0.0] for step in range(101)])
    curves = [panels.Curve("net/loss", points), panels.Curve("net/<b>", points * [1, 2, 1], 1)]
    trap = opened(page, page_script(panels.svg(curves), numbers=panels.numbers(curves, "step")))
    box = page.locator("svg[data-plot]").bounding_box()
    left, right = map(float, page.locator("svg[data-plot]").get_attribute("data-plot").split()[:2])
    page.mouse.move(box["x"] + left + 0.5 * (right - left), box["y"] + 90)
    assert page.locator(".tfnb-page-tip").inner_text().split() == ["50", "loss", "0.019608", "<b>", "0.039216"]
    page.mouse.move(box["x"] + 5, box["y"] + box["height"] + 50)
    page.locator(".tfnb-page-tip").wait_for(state="hidden")
    trap.quiet()


def test_a_drawing_is_dark_on_a_dark_page(page: Any, module: str, network: str) -> None:
    opened(page, network)
    assert page.locator(".tfnb-page svg").get_attribute("data-theme") == "light"
    page.evaluate("() => { document.body.style.background = '#111'; }")
    page.locator('.tfnb-page svg[data-theme="dark"]').wait_for()


def test_hostile_names_do_not_run(page: Any, module: str) -> None:
    with tf.Graph().as_default():
        rows = [(f"s{i}<b>/{end}{name.replace('/', '')}", name, (), (), {"a": name}, ())
                for i, name in enumerate(PAYLOADS) for end in "ab"]
        curves = [panels.Curve(name, np.array([[0, 1.0, 0], [1, 2.0, 1]])) for name in PAYLOADS]
        scripts = [graph_view(rows, title="".join(PAYLOADS), level="ops", depth=0).script({}),
                   page_script(panels.svg(curves), numbers=panels.numbers(curves, "step"))]
    trap = opened(page, *scripts)
    for _ in range(4):
        page.locator('.nodes > .n[role="button"]').first.click()
    for chart in page.locator("svg[data-plot]").all():
        chart.hover()
    assert page.locator(".heads > .head").count() == 4
    assert trap.live_parts(".tfnb-page") == []
    trap.quiet()
