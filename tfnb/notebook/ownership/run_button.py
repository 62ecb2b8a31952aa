"""The button "Run 3 stale cells" in the lines under cells, in JupyterLab and Notebook.

Protocol with the front end, widget kind "cells", which is on display nowhere: trait `state` has token, the
`data-tfnb-run` of our buttons; ids of the cells to run, in order; and note. A press sends {type: "do", name: "expect"},
for the front end may run the cells itself, then {type: "do", name: "run"} if it does not.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.badge import TOKEN
from tfnb.notebook.frontend.widget import ActingView
from tfnb.notebook.ownership.hooks import Hooks
from tfnb.notebook.ownership.rerun import run_stale, stale


class RunButton(ActingView):
    """The listener to the buttons of all badges of a notebook."""

    kind = "cells"

    def __init__(self, hooks: Hooks) -> None:
        super().__init__()
        self.hooks = hooks
        self._told: dict[str, Any] = {}
        hooks.badges.listeners.add(self)

    def forms(self) -> dict[str, str]:
        """Nothing that is seen."""
        return {"text/plain": ""}

    def widget_state(self) -> dict[str, Any]:
        """See the module's docstring."""
        keys = [cell.key for cell in stale() if cell.key in self.hooks.sources]
        return {"token": TOKEN, "ids": [key for key in keys if isinstance(key, str)], "note": self.note}

    def update(self) -> None:
        """Let the front end know which cells must run again; it learns of the buttons when there are some."""
        self.note, state = "", self.widget_state()
        if state != self._told and (self.widget is not None or state["ids"] and shell.forgets_widgets()):
            self._told = state
            self.bundle(self.forms())
            self.tell()

    def acts(self) -> Mapping[Any, Callable[[], str]]:
        """See the module's docstring."""
        return {"run": self._run, "expect": self._expect}

    def _run(self) -> str:
        self.hooks.expected.clear()
        left = run_stale()
        return left.head() if left else ""

    def _expect(self) -> str:
        self.hooks.expected.update(cell.key for cell in stale())
        return ""
