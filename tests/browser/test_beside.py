"""Graphs beside the code, by the extension of JupyterLab and Notebook 7: cursors, nodes, cells that move, run again."""
from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import Open
from tests.browser.lab import PANEL, SECONDS, Notebook

CELLS = [
    "%load_ext tfnb\nimport tfnb as tf",
    """def layer(x, name):
    return tf.layers.dense(x, 3,
                           name=name)""",
    """x = tf.placeholder(tf.float32, [None, 4], name="x")
h = layer(x, "first")
y = tf.nn.relu(h, name="y")""",
    "%graph",
    "print('ran', 'last')",
]
LAYER, MODEL, GRAPH, LAST = 1, 2, 3, 4
TAB = ".tfnb-beside"
RUN_CELLS = """(ids) => {
    const event = new CustomEvent("tfnb:run-cells", {bubbles: true, cancelable: true, detail: {ids}});
    document.querySelector(".jp-Notebook .jp-CodeCell .jp-OutputArea").dispatchEvent(event);
    return event.defaultPrevented;
}"""
MADE = f"""() => [...document.querySelectorAll("{TAB} g.n.is-made")].map((node) => node.dataset.name)"""
MARKED = "() => [...document.querySelectorAll('.jp-Notebook .tfnb-marked')].map((line) => line.textContent.trim())"


@pytest.fixture
def beside(opener: Open, request: pytest.FixtureRequest) -> Notebook:
    """A notebook whose graph is open beside the code; of a name, thus a kernel, of its own."""
    notebook = opener(request.function.__name__, CELLS, 900)
    notebook.run_all()
    notebook.cell(GRAPH).get_by_role("button", name="Open beside the code").click()
    notebook.page.locator(f"{TAB} g.n").first.wait_for()
    return notebook


def becomes(notebook: Notebook, script: str, wanted: Any) -> None:
    """Wait until a script of the page returns something. Raises AssertionError with what it returns."""
    try:
        same = "([script, wanted]) => JSON.stringify(eval(script)()) === JSON.stringify(wanted)"
        notebook.page.wait_for_function(same, arg=[script, wanted])
    except Exception as late:
        raise AssertionError(f"it is {notebook.page.evaluate(script)}, not {wanted}") from late


@pytest.mark.slow
def test_the_cursor_lights_what_its_line_made_and_a_node_leads_to_its_lines(beside: Notebook) -> None:
    lines = beside.cell(MODEL).locator(".cm-line")
    lines.nth(2).click()
    becomes(beside, MADE, ["y"])
    lines.nth(1).click()
    becomes(beside, MADE, ["first/"])
    beside.cell(LAYER).locator(".cm-line").nth(2).click()
    becomes(beside, MADE, ["first/"])
    beside.page.locator(f'{TAB} g.n[data-name="first/"]').click()
    becomes(beside, MARKED, ["return tf.layers.dense(x, 3,", "name=name)", 'h = layer(x, "first")'])
    beside.activate(LAYER)
    beside.command("notebook:move-cell-down")
    beside.edit(MODEL - 1, "x = tf", "# inputs\nx = tf")
    beside.page.locator(f'{TAB} g.n[data-name="y"]').click()
    becomes(beside, MARKED, ['y = tf.nn.relu(h, name="y")'])
    beside.cell(MODEL - 1).locator(".cm-line").nth(3).click()
    becomes(beside, MADE, ["y"])
    becomes(beside, MARKED, [])
    beside.trap.quiet()


@pytest.mark.slow
def test_a_tab_follows_the_cell_that_runs_again_and_is_grey_after_a_restart(beside: Notebook) -> None:
    page = beside.page
    beside.edit(MODEL, 'name="y")', 'name="other")')
    beside.run(MODEL)
    beside.run(GRAPH)
    page.locator(f'{TAB} g.n[data-name="other"]').wait_for()
    assert page.locator(TAB).count() == 1 and beside.cell(GRAPH).locator("g.n:visible").count() == 0
    beside.cell(GRAPH).get_by_role("button", name="Bring it back").click()
    beside.cell(GRAPH).locator('g.n[data-name="other"]').wait_for()
    assert page.locator(TAB).count() == 0
    beside.cell(GRAPH).get_by_role("button", name="Open beside the code").click()
    page.locator(f"{TAB} g.n").first.wait_for()
    page.evaluate(f"() => {PANEL}.sessionContext.session.kernel.restart().then(() => null)")
    page.locator(f"{TAB} .tfnb.is-ended").wait_for(timeout=SECONDS * 1000)
    assert "kernel of this view has ended" in page.locator(TAB).inner_text()
    beside.trap.quiet()


@pytest.mark.slow
def test_views_may_ask_for_cells_to_be_run(beside: Notebook) -> None:
    assert not beside.page.evaluate(RUN_CELLS, ["no such cell"])
    assert beside.page.evaluate(RUN_CELLS, ["cell2", "cell4"])
    beside.cell(LAST).get_by_text("ran last").wait_for()
    becomes(beside, "() => document.querySelectorAll('.jp-InputPrompt')[4].textContent", "[7]:")
    assert beside.ask("len(In)") in ("8", "9")
    beside.edit(MODEL, "x = tf", "1 / 0; x = tf")
    assert beside.page.evaluate(RUN_CELLS, ["cell2", "cell4"])
    beside.cell(MODEL).get_by_text("ZeroDivisionError").first.wait_for()
    beside.holds("True")
    becomes(beside, "() => document.querySelectorAll('.jp-InputPrompt')[4].textContent", "[7]:")
