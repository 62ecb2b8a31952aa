"""A notebook that is opened again, in both front ends: its views answer while its kernel lives, and show without it."""
from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import Open
from tests.browser.lab import SECONDS, Notebook

CELLS = [
    "%load_ext tfnb\nimport tfnb as tf",
    'with tf.name_scope("model"):\n    w = tf.Variable([1.0, 2.0], name="w")\nsess = tf.InteractiveSession()\n'
    "sess.run(w.initializer)",
    "view = %graph\nview",
    "table = %vars\ntable",
]
GRAPH, TABLE = 2, 3


def reopened(notebook: Notebook) -> None:
    """Load the page again."""
    notebook.page.reload()
    notebook.page.wait_for_function("() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel",
                                    timeout=SECONDS * 1000)


@pytest.mark.slow
def test_views_are_there_again_with_and_without_the_kernel(opener: Open) -> None:
    notebook = opener("reopened", CELLS)
    notebook.run_all()
    outputs = [output for cell in notebook.saved()["cells"] for output in cell["outputs"]]
    kinds = {kind for output in outputs for kind in output.get("data", ())}
    assert kinds == {"image/svg+xml", "text/html", "text/plain", "application/javascript"}
    reopened(notebook)
    model: Any = notebook.cell(GRAPH).locator('.tfnb-stage g.n[data-name="model/"] .fold')
    model.click(timeout=SECONDS * 1000)
    notebook.cell(GRAPH).locator('g.n[data-name="model/w/"]').wait_for()
    notebook.cell(TABLE).locator(".tfnb table").first.wait_for()
    notebook.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    reopened(notebook)
    picture = notebook.cell(GRAPH).locator(".tfnb-page svg")
    picture.wait_for()
    assert picture.bounding_box()["height"] > 60 and notebook.cell(GRAPH).locator("svg.tfnb-graph").count() == 1
    picture.locator('.n[data-name="model/"]').click()
    picture.locator('.n[data-name="model/w/"]').wait_for()
    assert "1 variable, 2 trainable numbers" in notebook.output(TABLE)
    assert notebook.page.get_by_text("Error displaying widget").count() == 0


@pytest.mark.slow
def test_views_of_a_kernel_that_was_restarted_say_so(opener: Open) -> None:
    notebook = opener("restarted", CELLS)
    notebook.run_all()
    notebook.cell(GRAPH).locator('g.n[data-name="model/"]').wait_for()
    restart = "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart().then(() => null)"
    notebook.page.evaluate(restart)
    for cell in (GRAPH, TABLE):
        notebook.cell(cell).get_by_text("The kernel of this view has ended. Run the cell again.").first.wait_for()
        assert notebook.cell(cell).locator(".tfnb.is-ended").count() == 1
    notebook.run_all()
    notebook.cell(GRAPH).locator('.tfnb:not(.is-ended) g.n[data-name="model/"]').wait_for()
    assert notebook.cell(GRAPH).locator(".is-ended").count() == 0
