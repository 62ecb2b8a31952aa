"""Every view in both front ends: opened, clicked, seen in the page and in the kernel, in light and in dark."""
from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import Open
from tests.browser.contrast import faint
from tests.browser.lab import DARK, LIGHT, Notebook
from tests.browser.views import CASES, PREPARED, Step, ViewCase

ACTIVE = "window.jupyterapp.shell.currentWidget.content.activeCellIndex"
# Puts the focus on the first part of a cell's view that can be clicked, and notes which get it from then on: by their
# names without numbers, for views draw themselves anew while a training runs. Returns how many parts Tab stops at.
WATCH_FOCUS = """(cell) => {
    const area = document.querySelectorAll(".jp-CodeCell")[cell].querySelector(".jp-OutputArea");
    const parts = [...area.querySelectorAll("button, input, select, summary, canvas, [data-bar], g.n")]
        .filter((one) => one.checkVisibility() && !one.disabled);
    const name = (one) => (["data-name", "data-bar", "aria-label"].map((key) => one.getAttribute(key)).find(Boolean) ||
        one.textContent).replace(/[0-9][0-9.,e+-]*/g, "#");
    const left = new Set(parts.map(name));
    area.addEventListener("focusin", (event) => left.delete(name(event.target)));
    window.missed = () => [...left];
    document.activeElement?.blur();
    area.querySelector("button, input, select, summary, canvas, [tabindex]")?.focus();
    return area.querySelectorAll("button, input, select, summary, canvas, a[href], [tabindex]").length;
}"""


@pytest.fixture(scope="module")
def views(opener: Open) -> Notebook:
    """A notebook with a cell for each view, after "run all"."""
    notebook = opener("views", [*PREPARED, *(case.code for case in CASES)])
    notebook.run_all()
    try:
        notebook.page.locator(".tfnb").first.wait_for()
    except Exception as problem:
        raise AssertionError(f"no view is a widget; in the console: {notebook.trap.errors}; the first output: "
                             f"{notebook.output(len(PREPARED))[:2000]}") from problem
    return notebook


def place(case: ViewCase) -> int:
    """The place of the cell of a view."""
    return len(PREPARED) + CASES.index(case)


def do(notebook: Notebook, output: Any, step: Step) -> None:
    """Do one step of a row of the table."""
    verb, what, *more = step
    if verb == "kernel":
        notebook.holds(what)
    elif verb == "key":
        notebook.page.keyboard.press(what)
    else:
        part = output.locator(what).first
        acts = {"see": part.wait_for, "click": part.click, "hover": part.hover, "check": part.check,
                "select": part.select_option, "fill": part.fill, "focus": part.focus}
        acts[verb](*more)
        if verb == "fill":
            part.press("Enter")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_a_view_opens_and_answers_clicks(views: Notebook, case: ViewCase) -> None:
    cell = views.cell(place(case))
    output = cell.locator(".jp-OutputArea").first
    views.activate(place(case))
    for step in case.keys:
        do(views, output, step)
    views.page.wait_for_function(f"() => {ACTIVE} === {place(case)}")
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


def test_all_that_can_be_clicked_is_reached_by_tab(views: Notebook) -> None:
    for case in CASES:
        parts = views.page.evaluate(WATCH_FOCUS, place(case))
        for _ in range(2 * parts):              # what scrolls gets the focus, too
            if not views.page.evaluate("() => window.missed().length"):
                break
            views.page.keyboard.press("Tab")
        assert views.page.evaluate("() => window.missed()") == [], case.name


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
