"""Lessons below cells, in both front ends: the Fix button, what follows it, links to cells; strings stay strings."""
from __future__ import annotations

import pytest

from tests.browser.conftest import Open
from tests.browser.lab import Notebook
from tests.browser.test_hostile import PAYLOADS

CELLS = [
    "%load_ext tfnb\nimport numpy as np\nimport tfnb as tf",
    """x = tf.placeholder(tf.float32, [None, 2], name="x")
w = tf.Variable([[1.0], [2.0]], name="w")
loss = tf.reduce_sum(tf.matmul(x, w), name="loss")
sess = tf.InteractiveSession()
rows = np.ones([3, 2], np.float32)""",
    "print(sess.run(loss, {x: rows}))",
    "loss = sess.run(loss, {x: rows})",
    f"held = {{{PAYLOADS[0]!r}: x}}\nnp.mean(held[{PAYLOADS[0]!r}])",
    "%vars",
]
MODEL, RUN, SHADOW, HOSTILE, VARS = 1, 2, 3, 4, 5


@pytest.fixture(scope="module")
def notebook(opener: Open) -> Notebook:
    """The notebook, open, with its model."""
    notebook = opener("lessons", CELLS)
    notebook.run(0)
    notebook.run(MODEL)
    return notebook


def test_fix_initializes_what_has_no_value(notebook: Notebook) -> None:
    notebook.run(RUN, may_fail=True)
    lesson = notebook.cell(RUN).locator(".tfnb-lessons")
    lesson.get_by_text("has no value in this session yet").wait_for()
    assert "tf.notebook.initialize(sess)" in lesson.inner_text()
    notebook.holds("sess._store.array(w.op) is None")
    lesson.get_by_role("button", name="Fix").click()
    lesson.get_by_text("Now run the cell again").wait_for()
    notebook.picture("lesson", RUN)
    notebook.run(RUN)
    assert notebook.output(RUN).strip() == "9.0" and not lesson.count()


def test_a_name_gets_its_tensor_back(notebook: Notebook) -> None:
    notebook.run(SHADOW)
    notebook.cell(SHADOW).get_by_text("loss_value = sess.run(loss, {x: rows})").wait_for()
    notebook.run(RUN, may_fail=True)
    lesson = notebook.cell(RUN).locator(".tfnb-lessons")
    lesson.get_by_text("is no tensor any more").wait_for()
    label = str(notebook.cell(SHADOW).locator(".jp-InputPrompt").inner_text()).rstrip(":")
    assert lesson.get_by_role("link").first.inner_text() == label
    lesson.get_by_role("button", name="Fix").click()
    notebook.holds("isinstance(loss, tf.Tensor)")
    notebook.run(RUN)
    assert notebook.output(RUN).strip() == "9.0"


def test_links_lead_to_cells(notebook: Notebook) -> None:
    notebook.run(VARS)
    notebook.page.set_viewport_size({"width": 1250, "height": 500})
    notebook.cell(VARS).scroll_into_view_if_needed()
    notebook.cell(VARS).get_by_role("link", name="line 2").click()
    notebook.cell(MODEL).locator(".tfnb-marked").wait_for()
    notebook.page.set_viewport_size({"width": 1250, "height": 1700})


def test_strings_of_the_program_stay_strings(notebook: Notebook) -> None:
    notebook.run(HOSTILE, may_fail=True)
    notebook.cell(HOSTILE).locator(".tfnb-lessons pre").get_by_text("onerror").wait_for()
    notebook.page.wait_for_timeout(200)
    notebook.trap.quiet()
