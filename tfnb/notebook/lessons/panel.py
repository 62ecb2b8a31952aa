"""The panel with lessons: a sentence each, the tutorial to read on, and the fix, which a button runs where it may.

Protocol with the front end, widget kind "lesson": trait `state` has lessons [{text, cells, code, runs, read, href}],
where code in `text` stands in backticks and `cells` has the ids of the cells that it names, and note. Back comes
{type: "do", name: the index of a lesson}: its code, which the panel shows, runs in the notebook.
"""
from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tfnb.core.text import cut
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.badge import STALE_COLOR
from tfnb.notebook.frontend.locations import cells_in, linked
from tfnb.notebook.frontend.widget import ActingView
from tfnb.notebook.lessons.lesson import Told

PLACES = ("", "notebooks/", "../notebooks/", "../")     # where the tutorials may be, from the notebook's folder
WIDTH = 300             # of what a note says of a value


class LessonPanel(ActingView):
    """Lessons below a cell."""

    kind = "lesson"

    def __init__(self, lessons: Sequence[Told], after: Callable[[], None] = lambda: None) -> None:
        """after: called once a fix has run."""
        super().__init__()
        self.lessons, self.after = list(lessons), after

    def acts(self) -> Mapping[Any, Callable[[], str]]:
        """The fixes that may be run, by the index of their lesson."""
        def act(code: str) -> Callable[[], str]:
            return lambda: self._run(code)
        return {str(i): act(lesson.fix) for i, lesson in enumerate(self.lessons) if lesson.runs and lesson.fix}

    def _run(self, code: str) -> str:
        try:
            return run(code)
        finally:
            self.after()

    def widget_state(self) -> dict[str, Any]:
        """See the module's docstring."""
        return {"note": self.note, "lessons": [
            {"text": each.sentence, "cells": cells_in(each.sentence), "code": each.fix,
             "runs": each.runs and bool(each.fix), "read": reading(each), "href": address(each)}
            for each in self.lessons]}

    def forms(self) -> dict[str, str]:
        """The lessons as text and as HTML."""
        return {"text/plain": "\n".join(map(text, self.lessons)), "text/html": "".join(map(_html, self.lessons))}


def run(code: str) -> str:
    """Run the code of a fix in the notebook's namespace, and return what came of it."""
    namespace = getattr(shell.current(), "user_ns", {})
    tree = ast.parse(code)
    last = tree.body[-1]
    given = last.value if isinstance(last, ast.Expr) else None
    exec(compile(ast.Module(tree.body if given is None else tree.body[:-1], []), "<fix>", "exec"), namespace)
    value = eval(compile(ast.Expression(given), "<fix>", "eval"), namespace) if given is not None else None
    return f"Done{'' if value is None else ': ' + cut(repr(value), WIDTH)}. Now run the cell again."


def reading(told: Told) -> str:
    """Return the tutorial and its section in words: "03_sessions_feeds.ipynb: A fetch and a feed"."""
    name, _, section = told.section.partition("#")
    return f"{name}.ipynb: {section}"


def address(told: Told) -> str:
    """Return the address of the section from the notebook's page; "" if the tutorials are not beside it."""
    name, _, section = told.section.partition("#")
    for place in PLACES:
        if Path(f"{place}{name}.ipynb").is_file():
            return f"{place}{name}.ipynb#{quote(section.replace(' ', '-'))}"
    return ""


def text(told: Told) -> str:
    """Return a lesson as lines of text."""
    code = "\n".join(f"    {line}" for line in told.fix.splitlines())
    return "\n".join(filter(None, [f"Lesson: {told.sentence}", code, f"  Read on in {reading(told)}"]))


def _html(told: Told) -> str:
    code = f'<pre style="margin: 4px 0 4px 12px">{escape(told.fix)}</pre>' if told.fix else ""
    href = address(told)
    read = f'<a href="{escape(href)}">{escape(reading(told))}</a>' if href else escape(reading(told))
    return (f'<div style="font: 13px system-ui, sans-serif; border-left: 3px solid {STALE_COLOR}; padding: 2px 10px; '
            f'margin: 4px 0"><div>{linked(told.sentence)}</div>{code}'
            f'<div style="font-size: 12px">Read on: {read}</div></div>')
