"""Cells that must run again, in both front ends: faded outputs, a line in each with its button, by mouse and keys."""
from __future__ import annotations

import pytest

from tests.browser.conftest import Open
from tests.browser.lab import DARK, LIGHT, Notebook

CELLS = [
    "%load_ext tfnb\nimport numpy as np\nimport tfnb as tf",
    "hidden = 16",
    """x = tf.placeholder(tf.float32, [None, 3], name="x")
h = tf.layers.dense(x, hidden, tf.nn.tanh, name="h")
y = tf.layers.dense(h, 1, name="out")
loss = tf.reduce_mean(tf.square(y - 1.0), name="loss")""",
    "train = tf.train.AdamOptimizer(0.05).minimize(loss)",
    """sess = tf.InteractiveSession()
sess.run(tf.global_variables_initializer())
batch = np.random.RandomState(0).rand(32, 3).astype(np.float32)""",
    "history = [sess.run([train, loss], {x: batch})[1] for _ in range(50)]\nprint(history[0] > history[-1])",
    "print('units', sess.run(h, {x: batch}).shape[1])",
    "print('nothing of the model')",
]
SIZE, MODEL, OPTIMIZER, SESSION, LOOP, SHOW, OTHER = range(1, 8)
OPACITY = "(el) => Number(getComputedStyle(el).opacity)"


@pytest.fixture
def notebook(opener: Open) -> Notebook:
    """The notebook, all run, with its first size."""
    notebook = opener("stale", CELLS)
    notebook.run_all()
    return notebook


def first_output(notebook: Notebook, cell: int) -> float:
    """The opacity of a cell's first output."""
    return float(notebook.cell(cell).locator(".jp-OutputArea-child").first.evaluate(OPACITY))


def resize(notebook: Notebook, old: int, new: int) -> None:
    """Change the size of the layer, and wait for what it makes out of date."""
    notebook.edit(SIZE, str(old), str(new))
    notebook.run(SIZE)
    notebook.cell(SHOW).get_by_text(f"which reads hidden ({old} → {new})").wait_for()


def test_all_that_depends_on_a_value_is_faded_and_runs_again_by_one_button(notebook: Notebook) -> None:
    assert "up to date" in notebook.output(MODEL) and "ops" not in notebook.output(MODEL)
    notebook.cell(MODEL).locator("summary").press("Enter")
    assert " ops · 4 variables" in notebook.output(MODEL), "the rest unfolds"
    resize(notebook, 16, 24)
    for cell in (MODEL, OPTIMIZER, SESSION, LOOP, SHOW):
        assert "run again: " in notebook.output(cell), cell
    assert first_output(notebook, SHOW) < 0.8 and first_output(notebook, OTHER) == 1
    for theme in (LIGHT, DARK):
        notebook.theme(theme)
        notebook.picture(f"stale {theme}", SIZE, OTHER)
    button = notebook.cell(SHOW).get_by_role("button", name="Run 5 stale cells")
    button.focus()
    button.press("Enter")
    notebook.cell(SHOW).get_by_text("units 24").wait_for()
    notebook.page.wait_for_function("() => !document.querySelector('.tfnb-old')")
    assert "units 24" in notebook.output(SHOW) and first_output(notebook, SHOW) == 1
    assert "True" in notebook.output(LOOP)
    assert "initialized h/kernel, h/bias, out/kernel" in notebook.output(MODEL)
    notebook.picture("run again", SIZE, OTHER)
    notebook.trap.quiet()
