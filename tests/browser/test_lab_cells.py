"""Cells that own their ops in a real JupyterLab: badges in place, stale cells run again in theirs, deletion, undo."""
from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.lab import Lab, Notebook, write_notebook

pytest.importorskip("jupyterlab", reason="JupyterLab is not installed")

CELLS = [
    "%load_ext tfnb\nimport numpy as np\nimport tfnb as tf",
    """x = tf.placeholder(tf.float32, [None, 3], name="x")
W = tf.Variable(tf.ones([3, 2]), name="W")
h = tf.sigmoid(tf.matmul(x, W), name="h")""",
    'loss = tf.reduce_mean(tf.square(h - 0.25), name="loss")',
    'train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)\nprint("made", train.name)',
    """sess = tf.InteractiveSession()
sess.run(tf.global_variables_initializer())
batch = np.random.RandomState(0).rand(32, 3).astype(np.float32)""",
    "for _ in range(100): sess.run(train, {x: batch})\nprint(sess.run(loss, {x: batch}))",
    "%stale",
    "%why train",
    "%stale run",
    "%collections",
    "pass",
]
MODEL, LOSS, TRAIN, LOOP, STALE, WHY, RERUN, COLLECTIONS, UNDO = 1, 2, 3, 5, 6, 7, 8, 9, 10


@pytest.fixture(scope="module")
def lab(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A server with the notebook, twice."""
    folder = tmp_path_factory.mktemp("cells")
    write_notebook(folder / "cells.ipynb", CELLS)
    write_notebook(folder / "seven.ipynb", CELLS[:RERUN + 1])
    lab = Lab(folder)
    yield lab
    lab.close()


@pytest.fixture(scope="module")
def notebook(chromium: Any, lab: Lab) -> Iterator[Notebook]:
    """The notebook, open, with all cells run."""
    page = chromium.new_page(viewport={"width": 1250, "height": 1700})
    notebook = Notebook(page, lab, "cells.ipynb")
    notebook.run_all()
    yield notebook
    page.close()


def output(notebook: Notebook, cell: int) -> str:
    """The text of a cell's outputs."""
    return str(notebook.cell(cell).locator(".jp-OutputArea").first.inner_text())


def edit(notebook: Notebook, cell: int, old: str, new: str) -> None:
    """Change the text of a cell."""
    notebook.page.evaluate("""([i, old, made]) => {
        const model = window.jupyterapp.shell.currentWidget.content.widgets[i].model.sharedModel;
        model.setSource(model.getSource().replace(old, made));
    }""", [cell, old, new])


def picture(notebook: Notebook, name: str, first: int, last: int) -> None:
    """A screenshot of some cells for human eyes, where $TFNB_SCREENSHOTS names a folder."""
    folder = os.environ.get("TFNB_SCREENSHOTS")
    if folder:
        notebook.page.wait_for_timeout(400)
        top, bottom = notebook.cell(first).bounding_box(), notebook.cell(last).bounding_box()
        notebook.page.screenshot(path=str(Path(folder) / f"{name}.png"), clip={
            "x": top["x"], "y": top["y"], "width": top["width"], "height": bottom["y"] + bottom["height"] - top["y"]})


def test_a_changed_cell_marks_others_and_they_run_again_in_their_places(notebook: Notebook) -> None:
    assert "fresh" in output(notebook, TRAIN) and "made GradientDescent" in output(notebook, TRAIN)
    trained = output(notebook, LOOP)
    edit(notebook, MODEL, "tf.sigmoid(tf.matmul(x, W)", "tf.tanh(tf.matmul(x, W)")
    notebook.run(MODEL)
    notebook.cell(TRAIN).get_by_text("STALE: 'h' changed in").wait_for()
    assert "1 variable kept" in output(notebook, MODEL) and "fresh" in output(notebook, LOSS)
    notebook.run(STALE)
    assert "1 stale cell" in output(notebook, STALE)
    notebook.run(WHY)
    assert "it was Sigmoid and is Tanh" in output(notebook, WHY)
    picture(notebook, "cells", MODEL, STALE)
    picture(notebook, "why", WHY, WHY)
    notebook.run(RERUN)
    notebook.cell(TRAIN).get_by_text("fresh").wait_for()
    assert "made GradientDescent" in output(notebook, TRAIN) and "made" not in output(notebook, RERUN)
    assert notebook.cell(TRAIN).locator(".jp-OutputArea-child").count() == 2, "the old output was replaced"
    notebook.run(LOOP)
    assert float(output(notebook, LOOP)) != float(trained)


def test_undo_brings_the_old_ops_back(notebook: Notebook) -> None:
    edit(notebook, UNDO, "pass", "%graph undo")
    notebook.run(UNDO)
    assert "run [4] was undone" in output(notebook, UNDO)
    notebook.cell(TRAIN).get_by_text("STALE: 'h' changed in").wait_for()
    notebook.run(UNDO)
    notebook.cell(TRAIN).get_by_text("fresh").wait_for()
    notebook.cell(MODEL).get_by_text("was undone").wait_for()
    picture(notebook, "undo", MODEL, TRAIN)


def test_collections_open_and_close(notebook: Notebook) -> None:
    notebook.run(COLLECTIONS)
    details = notebook.cell(COLLECTIONS).locator("details").filter(has_text="trainable_variables")
    assert details.get_attribute("open") is not None
    assert "VariableV2 float32[3, 2]" in details.inner_text() and "line 2" in details.inner_text()
    picture(notebook, "collections", COLLECTIONS, COLLECTIONS)
    details.locator("summary").click()
    assert details.get_attribute("open") is None


def test_a_shape_error_is_drawn(notebook: Notebook) -> None:
    edit(notebook, LOSS, "h - 0.25", "h - tf.zeros([5])")
    notebook.page.evaluate("(i) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = i; }", LOSS)
    notebook.command("notebook:run-cell")
    drawing = notebook.cell(LOSS).locator(".jp-RenderedSVG").first
    drawing.wait_for()
    assert "this run failed" in output(notebook, LOSS)
    picture(notebook, "failed", LOSS, LOSS)


def test_a_deleted_cell_takes_its_ops_along(notebook: Notebook) -> None:
    notebook.page.evaluate("(i) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = i; }", LOSS)
    notebook.command("notebook:delete-cell")
    notebook.page.evaluate("(i) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = i; }", STALE - 1)
    notebook.command("notebook:run-cell")
    notebook.cell(TRAIN - 1).get_by_text("which was deleted").wait_for()


def test_notebook_7_does_the_same(chromium: Any, lab: Lab) -> None:
    pytest.importorskip("notebook", reason="Notebook is not installed")
    page = chromium.new_page(viewport={"width": 1250, "height": 1700})
    notebook = Notebook(page, lab, "seven.ipynb", app="notebooks")
    notebook.run_all()
    edit(notebook, MODEL, "tf.sigmoid(tf.matmul(x, W)", "tf.tanh(tf.matmul(x, W)")
    notebook.run(MODEL)
    notebook.cell(TRAIN).get_by_text("STALE: 'h' changed in").wait_for()
    notebook.run(RERUN)
    notebook.cell(TRAIN).get_by_text("fresh").wait_for()
    assert "made GradientDescent" in output(notebook, TRAIN) and "made" not in output(notebook, RERUN)
    page.close()
