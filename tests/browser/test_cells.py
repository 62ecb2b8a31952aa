"""Cells that own their ops, in both front ends: badges in place, stale cells run again in theirs, deletion, undo."""
from __future__ import annotations

import re

import pytest

from tests.browser.conftest import Open
from tests.browser.lab import Notebook

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
    "pass",
    'made = tf.identity(h, name="made")',
    'used = tf.identity(made, name="used")',
]
MODEL, LOSS, TRAIN, LOOP, STALE, WHY, RERUN, UNDO, MADE, USED = 1, 2, 3, 5, 6, 7, 8, 9, 10, 11
NAMES = "[op.name for op in tf.get_default_graph().get_operations()]"


@pytest.fixture(scope="module")
def notebook(opener: Open) -> Notebook:
    """The notebook, open, with all cells run."""
    notebook = opener("cells", CELLS)
    notebook.run_all()
    return notebook


@pytest.fixture
def changed(notebook: Notebook) -> Notebook:
    """The notebook after its model was changed; in it, all that stands on the model is stale."""
    old, new = ("sigmoid", "tanh") if notebook.ask("h.op.type") == "'Sigmoid'" else ("tanh", "sigmoid")
    notebook.edit(MODEL, f"tf.{old}(tf.matmul", f"tf.{new}(tf.matmul")
    notebook.run(MODEL)
    notebook.cell(TRAIN).get_by_text("run again: 'h' changed in").wait_for()
    return notebook


def test_a_cell_that_is_run_again_doubles_nothing_and_keeps_the_weights(notebook: Notebook) -> None:
    before = [notebook.ask(what) for what in (NAMES, "sess.run(W).sum()")]
    notebook.run(MODEL)
    notebook.run(MODEL)
    assert [notebook.ask(what) for what in (NAMES, "sess.run(W).sum()")] == before
    notebook.holds(f"len(set({NAMES})) == len({NAMES})")


def test_a_changed_cell_marks_others_and_they_run_again_in_their_places(changed: Notebook) -> None:
    notebook, trained = changed, changed.output(LOOP)
    notebook.cell(MODEL).locator("summary").click()
    assert "1 variable kept" in notebook.output(MODEL) and "up to date" in notebook.output(LOSS)
    notebook.run(STALE)
    assert "2 stale cells" in notebook.output(STALE)
    notebook.run(WHY)
    assert "it was Sigmoid and is Tanh" in notebook.output(WHY) or "it was Tanh and is Sigmoid" in notebook.output(WHY)
    notebook.picture("cells", MODEL, STALE)
    notebook.picture("why stale", WHY)
    notebook.run(RERUN)
    notebook.cell(TRAIN).get_by_text("up to date").wait_for()
    assert "made GradientDescent" in notebook.output(TRAIN) and "made" not in notebook.output(RERUN)
    assert notebook.cell(TRAIN).locator(".jp-OutputArea-child").count() == 2, "the old output was replaced"
    notebook.run(LOOP)
    losses = [re.findall(r"^0\.\d+$", text, re.MULTILINE) for text in (trained, notebook.output(LOOP))]
    assert len(losses[0]) == len(losses[1]) == 1 and losses[0] != losses[1]    # beside "compiled ..." on a slow machine
    notebook.trap.quiet()


def test_undo_brings_the_old_ops_back(changed: Notebook) -> None:
    changed.run(RERUN)
    changed.edit(UNDO, "pass", "%graph undo")
    changed.run(UNDO)
    assert "was undone" in changed.output(UNDO)
    changed.cell(TRAIN).get_by_text("run again: 'h' changed in").wait_for()
    changed.run(UNDO)
    changed.cell(TRAIN).get_by_text("up to date").wait_for()
    changed.cell(MODEL).get_by_text("was undone").wait_for()
    changed.picture("undo", MODEL, TRAIN)
    changed.run(MODEL)
    changed.run(RERUN)


def test_a_shape_error_is_drawn(notebook: Notebook) -> None:
    notebook.edit(LOSS, "h - 0.25", "h - tf.zeros([5])")
    notebook.run(LOSS, may_fail=True)
    notebook.cell(LOSS).locator(".tfnb-page svg").first.wait_for()
    assert "this run failed" in notebook.output(LOSS)
    notebook.picture("failed", LOSS)
    notebook.edit(LOSS, "h - tf.zeros([5])", "h - 0.25")
    notebook.run(LOSS)


def test_a_deleted_cell_takes_its_ops_along(notebook: Notebook) -> None:
    notebook.activate(MADE)
    notebook.command("notebook:delete-cell")
    notebook.run(STALE)
    notebook.cell(USED - 1).get_by_text("which was deleted").wait_for()
    notebook.holds(f"'made' not in {NAMES}")
