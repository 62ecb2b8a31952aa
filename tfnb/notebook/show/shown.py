"""`%show`: any result as a page that folds; an array with sliders. And the forms in which notebooks show our objects.

`install` lets a shell show variables, sessions and watched values so; arrays and what holds them of the user's own only
if `%config Tfnb.show_arrays = True`.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tfnb.notebook.debug.edge_values import Values, Watched
from tfnb.notebook.debug.enlarged import Enlargement
from tfnb.notebook.drawing.tensor_stats import as_reals
from tfnb.notebook.frontend.settings import settings
from tfnb.notebook.frontend.shell import Bundle
from tfnb.notebook.frontend.widget import with_widget
from tfnb.notebook.show.array_page import sample
from tfnb.notebook.show.described import session_part, show_tree
from tfnb.notebook.show.tree import as_html, as_text, has_arrays
from tfnb.notebook.state.tables_view import SheetView
from tfnb.runtime.session import BaseSession
from tfnb.variables.variable import Variable

LARGE = 1 << 22         # elements that an array with sliders draws; of larger ones a sample
OURS = (Variable, BaseSession, Watched, Values)
THEIRS = (np.ndarray, dict, list, tuple)        # that are shown so on request


class Page:
    """A value as a page that folds, without a kernel. Printed, an indented line for each part."""

    def __init__(self, value: Any, name: str = "") -> None:
        self.root = show_tree(value, name)

    def forms(self) -> dict[str, str]:
        """Text and HTML."""
        return {"text/plain": as_text(self.root), "text/html": as_html(self.root)}

    def __repr__(self) -> str:
        return as_text(self.root)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Bundle:
        return with_widget(self.forms(), None)


class ArrayView(SheetView):
    """An array as heat maps with sliders over its examples and channels; without a kernel a page."""

    def __init__(self, array: np.ndarray, name: str = "") -> None:
        super().__init__("")
        self.page = Page(array, name)
        part = sample(array, LARGE)
        title = name or "array"
        if part.size < array.size:
            title += f" ({part.size:,} of its {array.size:,} elements, evenly spaced)"
        self.large = Enlargement(title, [("", part)])

    def forms(self) -> dict[str, str]:
        """Text and HTML."""
        return self.page.forms()

    def widget_state(self) -> dict[str, Any]:
        """The heat maps, with their sliders."""
        return super().widget_state() | {"heat": self.large.as_json()}

    def hear(self, message: Mapping[str, Any]) -> None:
        """A slider was moved, or a cell clicked; what can't be done is said in the note."""
        try:
            self.large.hear(message)
        except ValueError as problem:
            self.note = str(problem)
        self.tell()


def show(value: Any, name: str = "") -> Page | ArrayView:
    """Show a value so that it folds: arrays as heat maps with their figures, dicts and lists of them as a tree.

    Variables have the value that open sessions hold, sessions their variables, feeds the tensors that they are for;
    nothing is run. An array alone has sliders over its examples and channels. name: what to call it. Of large arrays a
    sample is read; a picture has 10 kB at most, a page 24 pictures.

    >>> tf.notebook.show({"loss": 0.5, "h": [[1.0, 2.0]]}, "result")
    result  dict: 2 items
      loss  0.5
      h  list: 1 item
        [0]  list: 2 items
          [0]  1.0
          [1]  2.0
    """
    array = value.array if isinstance(value, Watched) else value
    if isinstance(array, np.ndarray) and array.size > 1 and as_reals(array.reshape(-1)[:0]) is not None:
        return ArrayView(array, name)
    return Page(value, name)


def install(ip: Any) -> Callable[[], None]:
    """Let a shell show our objects as pages. Returns what takes it back."""
    html, plain = (ip.display_formatter.formatters[kind] for kind in ("text/html", "text/plain"))
    for kind in OURS:
        html.for_type(kind, _html)
    plain.for_type(BaseSession, lambda session, printer, cycle: printer.text(session_part(session).words))

    def changed(name: str, value: Any) -> None:
        if name == "show_arrays":
            for kind in THEIRS:
                html.for_type(kind, _html_of_arrays) if value else html.pop(kind, None)

    def remove() -> None:
        settings.listeners.remove(changed)
        changed("show_arrays", False)
        for kind in OURS:
            html.pop(kind, None)
        plain.pop(BaseSession, None)

    settings.listeners.append(changed)
    changed("show_arrays", settings.show_arrays)
    return remove


def _html(value: Any) -> str | None:
    return as_html(show_tree(value)) if settings.view_format != "text" else None


def _html_of_arrays(value: Any) -> str | None:
    return _html(value) if has_arrays(value) else None
