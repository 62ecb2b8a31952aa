"""Every view in both front ends: opened, clicked, seen in the page and in the kernel, in light and in dark."""
from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import Open
from tests.browser.contrast import faint
from tests.browser.lab import DARK, LIGHT, Notebook
from tests.browser.views import CASES, PREPARED, Step, ViewCase


@pytest.fixture(scope="module")
def views(opener: Open) -> Notebook:
    """A notebook with a cell for each view, after "run all"."""
    notebook = opener("views", [*PREPARED, *(case.code for case in CASES)])
    notebook.run_all()
    return notebook


def place(case: ViewCase) -> int:
    """The place of the cell of a view."""
    return len(PREPARED) + CASES.index(case)


def do(notebook: Notebook, output: Any, step: Step) -> None:
    """Do one step of a row of the table."""
    verb, selector, *more = step
    part = output.locator(selector).first if verb != "kernel" else None
    acts = {"click": lambda: part.click(), "hover": lambda: part.hover(), "check": lambda: part.check(),
            "see": lambda: part.wait_for(), "press": lambda: part.press(*more),
            "kernel": lambda: notebook.holds(selector), "select": lambda: part.select_option(*more),
            "fill": lambda: (part.fill(*more), part.press("Enter"))}
    acts[verb]()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_a_view_opens_and_answers_clicks(views: Notebook, case: ViewCase) -> None:
    cell = views.cell(place(case))
    output = cell.locator(".jp-OutputArea").first
    for step in case.steps:
        do(views, output, step)
    for selector in case.seen:
        output.locator(selector).first.wait_for()
    for expression in case.kernel:
        views.holds(expression)
    views.picture(case.name, place(case))
    views.page.mouse.move(0, 0)
    assert output.locator(".tfnb-error:visible").count() == 0
    views.trap.quiet()


def test_all_views_can_be_read_in_light_and_dark(views: Notebook) -> None:
    for theme in (DARK, LIGHT):
        views.theme(theme)
        for case in CASES:
            cell = views.cell(place(case))
            dark = cell.locator(f".tfnb:not([data-theme='{'dark' if theme == DARK else 'light'}'])")
            assert dark.count() == 0
            if theme == DARK:
                views.picture(f"{case.name} dark", place(case))
        assert faint(views.page, ".jp-OutputArea-output") == []
    views.trap.quiet()
