"""Calls that fail in a cell, in both front ends: drawn as one box below the error, with what they got."""
from __future__ import annotations

import re

import pytest

from tests.browser.conftest import Open
from tests.browser.lab import DARK, LIGHT, Notebook

CELLS = [
    "%load_ext tfnb\nimport tfnb as tf",
    """x = tf.placeholder(tf.float32, [None, 24], name="x")
y = tf.placeholder(tf.float32, [None, 10], name="labels")""",
    "h = tf.layers.dense(x, 24, tf.nn.relu, name='hidden')",
    "loss = tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=h)",
    "h + y",
]
INPUTS, LAYER, LOSS, PRODUCT = 1, 2, 3, 4
DRAWING = ".jp-OutputArea svg"
TEXTS = """(svg) => [...svg.querySelectorAll("g.n")].map((node) =>
    [...node.querySelectorAll("text")].map((one) => one.textContent))"""
LETTERS = """(svg) => Math.min(...[...svg.querySelectorAll("text")].map((one) =>
    parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a))"""


@pytest.fixture(scope="module")
def notebook(opener: Open) -> Notebook:
    """The notebook, open, with what the failing calls take."""
    notebook = opener("failed-calls", CELLS)
    for cell in range(LAYER + 1):
        notebook.run(cell)
    return notebook


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_failed_loss_is_one_box_with_its_arguments(notebook: Notebook, theme: str) -> None:
    notebook.theme(theme)
    notebook.run(LOSS, may_fail=True)
    drawing = notebook.cell(LOSS).locator(DRAWING).filter(has_text="softmax_cross_entropy_with_logits()")
    drawing.wait_for()
    nodes = drawing.evaluate(TEXTS)
    assert [name for name, *_ in nodes if "softmax" in name] == ["softmax_cross_entropy_with_logits()"]
    assert len(nodes) == 3, "the call and its two tensors"
    assert {node[-1] for node in nodes} >= {"h", "y"}, "by their Python names"
    lines = drawing.text_content()
    assert re.search(r"logits \?×24 ✗", lines) and re.search(r"labels \?×10 ✗", lines)
    assert drawing.evaluate(LETTERS) >= 10.9
    assert "Incompatible shapes" in notebook.output(LOSS) and "`h`" in notebook.output(LOSS)
    notebook.picture(f"failed-call-{theme}", LOSS)
    notebook.trap.quiet()


def test_a_failed_operator_leaves_no_ops(notebook: Notebook) -> None:
    before = notebook.ask("len(tf.get_default_graph().get_operations())")
    notebook.run(PRODUCT, may_fail=True)
    notebook.cell(PRODUCT).locator(DRAWING).filter(has_text="h + y").wait_for()
    assert notebook.ask("len(tf.get_default_graph().get_operations())") == before
