"""Trainings on disk in real front ends: marks and earlier runs on curves, zoom, the table of runs, hostile names."""
from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.conftest import Open
from tests.browser.lab import Notebook

EVIL = "<img src=x onerror=alert(1)>"
CELLS = ["""%load_ext tfnb
import tfnb as tf, numpy as np, shutil
%config Tfnb.runs_folder = "kept"
shutil.rmtree("kept", ignore_errors=True)
value = tf.Variable(1.0); shrink = value.assign(value * 0.999)
session = tf.Session(); session.run(value.initializer); rate = 0.1""",
         f"%%train --run '{EVIL}' --steps 40 --foreground\nloss_now = session.run(shrink)",
         "session.run(value.initializer)",
         "%%train --run lenet --steps 200000 --lr rate --as run\nloss_now = session.run(shrink)\nleft = 1 - loss_now",
         "%runs"]
LINES, TIP = ".tfnb-line", ".tfnb-tip"


@pytest.fixture(scope="module")
def notebook(opener: Open) -> Iterator[Notebook]:
    notebook = opener("runs", CELLS)
    for cell in range(4):
        notebook.run(cell)
    yield notebook
    assert notebook.trap.errors == []


def test_marks_zoom_and_earlier_runs(notebook: Notebook) -> None:
    cell, page = notebook.cell(3), notebook.page
    notebook.holds("run.steps > 50")
    cell.locator(".tfnb-rate input[type=text]").fill("0.01")
    cell.locator(".tfnb-rate input[type=text]").press("Enter")
    notebook.holds("len(run.marks) == 1")
    cell.get_by_role("button", name="End the training").click()
    notebook.holds("not run.active")
    cell.locator(".tfnb-plot").nth(1).locator(".tfnb-mark").nth(1).wait_for(state="attached")
    assert cell.locator(".tfnb-mark title").first.inner_html().startswith("rate 0.1 → 0.01 at step ")
    cell.get_by_label("other runs").check()
    cell.locator(f"{LINES}.is-other").first.wait_for(state="attached")
    cell.locator(".tfnb-plot").first.scroll_into_view_if_needed()
    box = cell.locator(".tfnb-plot").first.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.4, middle)
    cell.locator(TIP).nth(1).wait_for()
    steps = [each.inner_text() for each in cell.locator(f"{TIP} small").all()]
    assert steps[0] == steps[1] and EVIL in cell.locator(TIP).first.inner_text()
    notebook.picture("training with marks", 3)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, middle, steps=3)
    page.mouse.up()
    cell.get_by_role("button", name="Show all").click()
    cell.get_by_role("button", name="Show all").wait_for(state="hidden")


def test_the_table_draws_filters_renames_deletes_and_takes_back(notebook: Notebook) -> None:
    notebook.holds("run.steps > 50")
    notebook.holds("run.stop() or not run.active")      # its first points reach the disk after 5 s, or at its end
    notebook.run(4)
    cell = notebook.cell(4)
    rows = cell.locator("tbody tr")
    assert rows.count() == 2 and EVIL in rows.nth(1).inner_text()
    for place in range(2):
        rows.nth(place).get_by_role("checkbox").check()
        cell.locator(f".tfnb-legend button >> nth={place}").wait_for()
    notebook.picture("table of runs", 4)
    rows.nth(1).get_by_role("button", name="Rename").click()
    cell.get_by_label(f"New name of {EVIL}").fill("first")
    cell.get_by_label(f"New name of {EVIL}").press("Enter")
    cell.get_by_role("cell", name="first", exact=True).wait_for()
    cell.get_by_label("Filter").fill("loss_now<0.5 lenet")
    cell.get_by_text("1 of 2 in kept/").wait_for()
    cell.get_by_label("Filter").fill("")
    cell.get_by_text("2 in kept/").wait_for()
    rows.nth(1).get_by_role("button", name="Delete").click()
    cell.get_by_role("button", name="Take back what was deleted").click()
    cell.get_by_role("cell", name="first", exact=True).wait_for()
    notebook.holds("sorted(each.name for each in tf.notebook.runs()) == ['first', 'lenet']")
