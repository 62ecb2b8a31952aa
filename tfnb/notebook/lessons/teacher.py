"""The teacher of a notebook: looks at each cell that has run or failed, and shows the lessons that apply."""
from __future__ import annotations

import ast
import logging
from collections.abc import Callable, Hashable, Mapping
from types import MappingProxyType
from typing import Any

from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import all_graphs
from tfnb.notebook.cells.state import Run
from tfnb.notebook.cells.statements import python_of
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.settings import settings
from tfnb.notebook.lessons.evidence import Evidence, after_error
from tfnb.notebook.lessons.failures import ARRAYS
from tfnb.notebook.lessons.lesson import Told, tell
from tfnb.notebook.lessons.panel import LessonPanel, text
from tfnb.notebook.lessons.table import LESSONS
from tfnb.notebook.run_store import train_panel

MOST = 3                # lessons below one cell
log = logging.getLogger(__name__)


class Teacher:
    """Recognises mistakes, cell after cell. shadowed: name -> (the tensor that it was, the cell that gave it away);
    after: called once a fix has run."""

    def __init__(self, after: Callable[[], None] = lambda: None) -> None:
        self.after = after
        self.shadowed: dict[str, tuple[Any, str]] = {}
        self.told: list[Told] = []                  # below the running cell
        self.said: dict[Told, Hashable] = {}        # of cells that ran to their end -> the cell: once is enough

    def look(self, error: BaseException | None, names: Mapping[str, Any], run: Run | None) -> None:
        """Look at the error of a cell that failed, before what the cell made is taken back."""
        self._note_shadows(names, run)
        self.told = of_error(error, self.shadowed) if error is not None else []

    def tell(self, cell: str, ip: Any, run: Run | None) -> None:
        """Show the lessons below the running cell, also those of its text, if it ran to its end ("" otherwise)."""
        if cell and settings.lessons and not cell.lstrip().startswith("%%train"):
            self.told = self._of_cell(cell, ip, run)
        if self.told:
            panel = LessonPanel(self.told, self.after)
            shell.show(panel.bundle(panel.forms()), f"tfnb-lesson-{shell.running}")

    def _of_cell(self, cell: str, ip: Any, run: Run | None) -> list[Told]:
        try:
            code = "\n" * cell.lstrip().startswith("%%") + python_of(cell, ip.transform_cell)
            seen = Evidence(ast.parse(code), ip.user_ns, _made(run), self.shadowed)
        except Exception:               # no Python, or a shell that can't tell
            return []
        return [told for told in judge(seen) if self.said.setdefault(told, shell.running) == shell.running]

    def _note_shadows(self, names: Mapping[str, Any], run: Run | None) -> None:
        """Note which names of tensors mean values since the running cell."""
        for name, value in run.names.items() if run is not None else ():
            if type(value) is Tensor and issubclass(type(names.get(name)), ARRAYS):
                self.shadowed[name] = value, run.label if run is not None else ""
        for name in [name for name in self.shadowed if not issubclass(type(names.get(name)), ARRAYS)]:
            del self.shadowed[name]


def of_error(error: BaseException, shadowed: Mapping[str, tuple[Any, str]] = MappingProxyType({})) -> list[Told]:
    """Return the lessons on an error, while what made it is there still. Never raises."""
    try:
        seen = after_error(error, shadowed=shadowed) if settings.lessons else None
        return judge(seen) if seen is not None else []
    except Exception:
        log.debug("no evidence of an error", exc_info=True)
        return []


def _explain(error: BaseException) -> list[str]:
    """The lessons on an error of a training, as text."""
    return [text(told) for told in of_error(error)]


train_panel.explain = _explain


def judge(seen: Evidence) -> list[Told]:
    """Return what the lessons of the table say of some evidence. Never raises: a lesson that can't judge is silent."""
    found: list[Told] = []
    for lesson in LESSONS:
        if lesson.failed == (seen.error is not None) and len(found) < MOST:
            try:
                found += [tell(lesson, words) for words in lesson.recognise(seen)]
            except Exception:
                log.debug("the lesson %s could not judge", lesson.name, exc_info=True)
    return found[:MOST]


def _made(run: Run | None) -> list[Operation]:
    """The ops that a cell made, in graphs that it changed."""
    return [op for graph in (all_graphs() if run is not None else ())
            if run is not None and graph.version != run.versions.get(graph, 0)
            for op in graph.get_operations() if op.owner == run.key]
