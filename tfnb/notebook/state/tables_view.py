"""The view of tables and heat maps: what the views of variables, slots and checkpoints have in common."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfnb.core.errors import OpError
from tfnb.notebook.drawing.heat_map import Picture, Window, panel_json
from tfnb.notebook.drawing.heat_map_svg import heat_svg
from tfnb.notebook.drawing.svg import text as escaped
from tfnb.notebook.frontend.locations import cells_in, linked
from tfnb.notebook.frontend.widget import View
from tfnb.notebook.graph.view import GraphView
from tfnb.notebook.state.tables import Table


class Inside:
    """Stands for the widget of a graph or board that is part of another view."""

    def __init__(self, around: View) -> None:
        self._around = around

    def send(self, content: Any, buffers: Any = None) -> None:
        """A message to the browser."""
        if self._around.widget is not None:
            self._around.widget.send(content, *([buffers] if buffers is not None else []))

    def __setattr__(self, name: str, value: Any) -> None:
        """Its state is part of the state of the view around it."""
        super().__setattr__(name, value)
        if name == "state":
            self._around.tell()


class SheetView(View):
    """Tables and heat maps under a title. A subclass fills `tables` and `panels`, and says what clicks mean.

    panels: (title, picture) of heat maps; buttons: (message, label) in the head; note: a line beside the title;
    panels_first: the heat maps stand above the tables; graph: a drawing above them.
    """

    kind = "sheet"

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title, self.note = title, ""
        self.buttons: list[tuple[str, str]] = []
        self.tables: list[Table] = []
        self.panels: list[tuple[str, Picture]] = []
        self.panels_title, self.panels_first = "", False
        self.graph: GraphView | None = None

    # what a subclass says

    def pick(self, table: str, row: str) -> None:
        """A row was clicked."""

    def act(self, act: str, row: str) -> None:
        """A button in a row, or in the head (row ""), was pressed."""

    def edit(self, table: str, row: str, text: str) -> None:
        """Something was typed into a row."""

    def zoom(self, panel: int, row: int, column: int) -> None:
        """A cell of a heat map was clicked."""

    def whole(self) -> None:
        """The whole of each heat map is wanted again."""

    @property
    def window(self) -> Window | None:
        """The part of the matrices that the heat maps show; None for all."""
        return None

    # forms

    @property
    def state(self) -> dict[str, Any]:
        """The sort order of the tables and what is picked in them; may be assigned to see the same again."""
        return {"sort": {t.name: list(t.sort) for t in self.tables if t.sort is not None},
                "picked": {t.name: t.picked for t in self.tables if t.picked}}

    @state.setter
    def state(self, state: Mapping[str, Any]) -> None:
        """Raises ValueError for unknown keys, tables and columns."""
        unknown = sorted(set(state) - {"sort", "picked"})
        if unknown:
            raise ValueError(f"the state of this view has sort and picked, not {', '.join(unknown)}")
        with self._lock:
            for name, (column, descending) in state.get("sort", {}).items():
                self._sort(name, column, descending)
            for name, row in state.get("picked", {}).items():
                self.pick(name, row)
            self.tell()

    def table(self, name: str) -> Table:
        """The table of that name. Raises ValueError if there is none now."""
        for table in self.tables:
            if table.name == name:
                return table
        raise ValueError(f"there is no table {name!r} here, but {', '.join(t.name for t in self.tables) or 'none'}")

    def _sort(self, name: str, column: int, descending: bool) -> None:
        table = self.table(name)
        if not 0 <= column < len(table.columns):
            raise ValueError(f"the table {name!r} has the columns 0 to {len(table.columns) - 1}, not {column}")
        table.sort = column, bool(descending)

    def widget_state(self) -> dict[str, Any]:
        """The state that the browser shows."""
        heat = {"title": self.panels_title, "panels": [panel_json(*one) for one in self.panels],
                "zoomed": self.window is not None, "first": self.panels_first} if self.panels else None
        return {"title": self.title, "note": self.note, "cells": cells_in(self.note), "heat": heat,
                "buttons": [list(button) for button in self.buttons],
                "graph": self.graph.widget_state() if self.graph is not None else None,
                "tables": [table.as_json() for table in self.tables]}

    def svg(self) -> str:
        """The heat maps as SVG; "" where there are none."""
        return heat_svg(self.panels, self.panels_title or self.title) if self.panels else ""

    def forms(self) -> dict[str, str]:
        """Text, and the heat maps as SVG where they come first, else the tables as HTML with the heat maps below."""
        words = [self.title, self.note, *(table.as_text() for table in self.tables)]
        words += [f"{name}: {'×'.join(map(str, drawn.shape)) or 'one number'}, up to {drawn.limit:.4g}"
                  for name, drawn in self.panels]
        found = {"text/plain": "\n".join(part for part in words if part)}
        if self.panels_first:
            return found | {"image/svg+xml": self.svg()}
        head = f"<p><b>{escaped(self.title)}</b> {linked(self.note)}</p>"
        return found | {"text/html": head + "".join(table.as_html() for table in self.tables) + self.svg()}

    # the browser

    def hear(self, message: Mapping[str, Any]) -> None:
        """Answer a request of the front end; what can't be done is said in the note."""
        kind, row = message.get("type"), str(message.get("row", ""))
        try:
            if kind == "pick":
                self.pick(str(message.get("table", "")), row)
            elif kind == "act":
                self.act(str(message.get("act", "")), row)
            elif kind == "sort":
                self._sort(str(message.get("table", "")), _place(message, "column"), bool(message.get("descending")))
                return                                       # the browser has done it already
            elif kind == "edit":
                self.edit(str(message.get("table", "")), row, str(message.get("text", "")))
            elif kind == "graph" and self.graph is not None and isinstance(message.get("message"), Mapping):
                self.graph.hear(message["message"])
            elif kind == "zoom" and _place(message, "panel") in range(len(self.panels)):    # it may be gone by now
                self.zoom(_place(message, "panel"), _place(message, "row"), _place(message, "column"))
            elif kind == "whole" and self.panels:
                self.whole()
        except (ValueError, OSError, OpError) as problem:
            self.note = problem.message if isinstance(problem, OpError) else str(problem)
        self.tell()


def _place(message: Mapping[str, Any], name: str) -> int:
    """A number of a row, column or panel in a message. Raises ValueError if it is none."""
    value = message.get(name, 0)
    if not isinstance(value, int):
        raise ValueError(f"`{name}` must be an integer, got {value!r}")
    return value
