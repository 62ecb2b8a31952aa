"""The whole way in a real JupyterLab: run all, see the graph and the curves, click, run a cell again, save."""
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
    """x = tf.placeholder(tf.float32, [None, 8], name="x")
y = tf.placeholder(tf.float32, [None, 1], name="y")
with tf.name_scope("hidden"):
    w = tf.Variable(tf.random_normal([8, 4], seed=1), name="weights")
    h = tf.nn.relu(tf.matmul(x, w))
with tf.name_scope("loss"):
    loss = tf.reduce_mean(tf.square(tf.reduce_sum(h, 1, keep_dims=True) - y))""",
    """train = tf.train.AdamOptimizer(0.01).minimize(loss)
tf.summary.scalar("loss", loss)
merged = tf.summary.merge_all()
init = tf.global_variables_initializer()
sess = tf.Session()
sess.run(init)""",
    "%graph",
    "%live",
    """data = np.random.RandomState(0).rand(64, 8).astype(np.float32)
for step in range(200):
    sess.run([train, merged], {x: data, y: data.sum(1, keepdims=True)})""",
    'names = [op.name for op in tf.get_default_graph().get_operations()]\nprint(len(names), len(set(names)))',
    'print("weights", sess.run(w).sum())',
]
MODEL, GRAPH, LIVE, NAMES, WEIGHTS = 1, 3, 4, 6, 7


@pytest.fixture(scope="module")
def lab(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab with the notebook."""
    folder = tmp_path_factory.mktemp("lab")
    write_notebook(folder / "network.ipynb", CELLS)
    lab = Lab(folder)
    yield lab
    lab.close()


@pytest.fixture(scope="module")
def notebook(chromium: Any, lab: Lab) -> Iterator[Notebook]:
    """The notebook, open, after "run all"."""
    page = chromium.new_page(viewport={"width": 1300, "height": 1800})
    notebook = Notebook(page, lab, "network.ipynb")
    notebook.run_all()
    yield notebook
    page.close()


def picture(notebook: Notebook, name: str) -> None:
    """A screenshot for human eyes, where $TFNB_SCREENSHOTS names a folder."""
    folder = os.environ.get("TFNB_SCREENSHOTS")
    if folder:
        notebook.page.wait_for_timeout(500)
        notebook.page.screenshot(path=str(Path(folder) / f"{name}.png"))


def test_the_graph_opens_by_a_click_that_reaches_the_kernel(notebook: Notebook) -> None:
    cell = notebook.cell(GRAPH)
    cell.locator('g.n[data-name="hidden/"] .fold').click()
    cell.locator('g.n[data-name="hidden/MatMul"]').wait_for()
    cell.locator('g.n[data-name="hidden/weights/"] .ttl').click()
    cell.locator(".tfnb-details").get_by_text("VariableV2").wait_for()
    assert "line 4" in cell.locator(".tfnb-where").inner_text()
    picture(notebook, "graph")
    assert cell.locator(".tfnb-error").count() == 0


def test_the_live_board_shows_the_loss(notebook: Notebook) -> None:
    board = notebook.cell(LIVE)
    board.locator(".tfnb-line").first.wait_for(state="attached")
    assert "loss" in board.locator("figcaption").first.inner_text()
    board.locator(".tfnb-plot").first.hover()
    assert "step" in board.locator(".tfnb-tip").first.inner_text()
    picture(notebook, "live")
    assert board.locator(".tfnb-error").count() == 0


def test_a_cell_that_is_run_again_doubles_nothing_and_keeps_the_weights(notebook: Notebook) -> None:
    before = [notebook.cell(i).locator(".jp-OutputArea-output").inner_text() for i in (NAMES, WEIGHTS)]
    notebook.run(MODEL)
    notebook.run(MODEL)
    notebook.run(NAMES)
    notebook.run(WEIGHTS)
    after = [notebook.cell(i).locator(".jp-OutputArea-output").inner_text() for i in (NAMES, WEIGHTS)]
    assert after == before
    picture(notebook, "again")


def test_what_is_saved_shows_without_a_kernel(notebook: Notebook) -> None:
    cells = notebook.saved()["cells"]
    for index in (GRAPH, LIVE):
        kinds = {kind for output in cells[index]["outputs"] for kind in output.get("data", {})}
        assert {"image/svg+xml", "text/plain"} <= kinds
    assert not [output for cell in cells for output in cell["outputs"] if output["output_type"] == "error"]
