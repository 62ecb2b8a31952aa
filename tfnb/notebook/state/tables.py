"""Tables that a reader sorts and clicks into, as a widget, as HTML and as text: what views of state are made of.

Protocol with the front end (`extension/src/sheet.ts`), widget kind "sheet": the trait `state` holds
    {title, note, buttons: [[message, label]], tables: [table], heat, graph (null, or what graph_view.py shows)},
    and of a profile timeline (debug/timeline_view.py), of runs filter (a text) and live (null, or what board.py shows);
a table is {id, title, note, columns: [{title, tip, number}], rows: [{id, cells}], sort: [column, descending] or null,
picked}, a cell {t: text, cells: ids of the cells that it names, v: what it sorts by, spark, hist, acts, bad, edit,
swatch, check} (what is empty is left out), heat see `heat.py`. The front end says
    {type: "pick", table, row}    a row was clicked, or again ("")
    {type: "act", act, row}       a button in a row, or (no row) in the head
    {type: "sort", table, column, descending}
    {type: "edit", table, row, text}        what was typed into a cell that has `edit`, the name of the place
    {type: "graph", message}      what the graph asks; "live": the board
    {type: "filter", text}        what was typed to narrow the table
    {type: "zoom", panel, row, column} a cell of a heat map, {type: "whole"} back to all of it
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfnb.notebook.drawing.svg import short
from tfnb.notebook.drawing.svg import text as escaped
from tfnb.notebook.frontend.badge import BAD_COLOR
from tfnb.notebook.frontend.locations import cells_in, linked
from tfnb.notebook.plots.panels import SPARKS, sparkline

WIDE = 48               # letters of a cell in the text form
BARS = 12               # letters of a histogram
MOST_ROWS = 200         # of the text and HTML forms


@dataclass(frozen=True, slots=True)
class Cell:
    """One place of a table: its text, and what it sorts by (the text, if None).

    spark: numbers drawn as a line; hist: the counts of two histograms over the same bins; acts: (message, label) of
    buttons, with a tip or without; bad: to be drawn as a warning; edit: what the reader may type here, "" for nothing;
    swatch: the place of a colour; check: whether the box here, which sends "check", is ticked (1 or 0), None for no
    box.
    """

    text: str = ""
    value: float | str | None = None
    spark: tuple[float, ...] = ()
    hist: tuple[tuple[int, ...], ...] = ()
    acts: tuple[tuple[str, ...], ...] = ()
    bad: bool = False
    edit: str = ""
    swatch: int | None = None
    check: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the state for the browser; no number is NaN."""
        value = self.value
        found = {"t": self.text, "v": value if not isinstance(value, float) or math.isfinite(value) else None,
                 "spark": [v for v in self.spark if math.isfinite(v)], "hist": [list(h) for h in self.hist],
                 "acts": [list(act) for act in self.acts], "bad": self.bad, "edit": self.edit,
                 "cells": cells_in(self.text), "swatch": self.swatch, "check": self.check}
        return {key: v for key, v in found.items() if v is not None and v is not False and v not in ([], {}, "")}

    def as_text(self) -> str:
        """The cell where nothing is drawn: curves as bars of eight heights."""
        good = np.array([v for v in self.spark if math.isfinite(v)])
        drawn = [sparkline(good, 12)] if good.size else []
        drawn += [bars(counts) for counts in self.hist]
        drawn += ["✓"] if self.check else []
        return " ".join([*drawn, *([self.text] if self.text else [])])


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column; tip: what it means; number: to the right."""

    title: str
    tip: str = ""
    number: bool = False


@dataclass(slots=True)
class Table:
    """Rows (id, cells) under columns. sort: (column, descending) or None as they come; picked: the id of a row."""

    name: str
    columns: Sequence[Column]
    rows: Sequence[tuple[str, Sequence[Cell]]]
    title: str = ""
    note: str = ""
    sort: tuple[int, bool] | None = None
    picked: str = ""
    pickable: bool = field(default=True)

    def sorted_rows(self) -> list[tuple[str, Sequence[Cell]]]:
        """The rows in the order in which they are shown; those without a value last."""
        if self.sort is None:
            return list(self.rows)
        place, descending = self.sort
        keys: dict[str, Any] = {
            name: cells[place].text if cells[place].value is None and cells[place].text else cells[place].value
            for name, cells in self.rows}
        known = [row for row in self.rows if keys[row[0]] is not None and keys[row[0]] == keys[row[0]]]
        rest = [row for row in self.rows if not (keys[row[0]] is not None and keys[row[0]] == keys[row[0]])]
        words = any(isinstance(keys[row[0]], str) for row in known)
        return sorted(known, key=lambda row: str(keys[row[0]]) if words else keys[row[0]],
                      reverse=descending) + rest

    def as_json(self) -> dict[str, Any]:
        """Return the state for the browser."""
        return {"id": self.name, "title": self.title, "note": self.note, "picked": self.picked,
                "pickable": self.pickable, "sort": list(self.sort) if self.sort is not None else None,
                "columns": [{"title": c.title, "tip": c.tip, "number": c.number} for c in self.columns],
                "rows": [{"id": name, "cells": [cell.as_json() for cell in cells]} for name, cells in self.rows]}

    def as_text(self) -> str:
        """Lines with columns of equal width."""
        rows = [[_cut(cell.as_text()) for cell in cells] for _, cells in self.sorted_rows()[:MOST_ROWS]]
        used = [i for i in range(len(self.columns)) if not rows or any(row[i] for row in rows)]
        head = [self.columns[i].title for i in used]
        body = [[row[i] for i in used] for row in rows]
        widths = [max(map(len, column)) for column in zip(head, *body, strict=True)] if head else []
        lines = [_line(row, widths, [self.columns[i].number for i in used]) for row in (head, *body)]
        more = len(self.rows) - len(rows)
        parts = [self.title, self.note, *(lines if rows else []), f"... and {more:,} more" if more > 0 else ""]
        return "\n".join(part for part in parts if part)

    def as_html(self) -> str:
        """A table with nothing in it that runs or loads; curves are letters."""
        used = [i for i in range(len(self.columns)) if any(cells[i].as_text() for _, cells in self.rows)]
        head = "".join(_td("th", self.columns[i].title, self.columns[i].number, self.columns[i].tip) for i in used)
        rows = ("<tr>" + "".join(_td("td", cells[i].as_text(), self.columns[i].number, "", cells[i].bad)
                                 for i in used) + "</tr>" for _, cells in self.sorted_rows()[:MOST_ROWS])
        more = len(self.rows) - MOST_ROWS
        title = f"<p><b>{escaped(self.title)}</b></p>" if self.title else ""
        note = f"<p>{escaped(self.note)}</p>" if self.note else ""
        rest = f"<p>... and {more:,} more</p>" if more > 0 else ""
        return f"{title}{note}<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{rest}" \
            if self.rows else title + note


def bars(counts: Sequence[int]) -> str:
    """A histogram as at most `BARS` letters."""
    wide = -(-len(counts) // BARS) or 1
    counts = [sum(counts[i:i + wide]) for i in range(0, len(counts), wide)]
    most = max(counts, default=0)
    return "".join(SPARKS[math.ceil(7 * count / most)] if most else " " for count in counts)


def _td(tag: str, content: str, number: bool, tip: str = "", bad: bool = False) -> str:
    warning = f";color:{BAD_COLOR};font-weight:600" if bad else ""
    style = f"text-align:{'right' if number else 'left'};white-space:nowrap{warning}"
    title = f' title="{escaped(tip)}"' if tip else ""
    return f'<{tag} style="{style}"{title}>{linked(content)}</{tag}>'


def _line(row: Iterable[str], widths: Sequence[int], numbers: Sequence[bool]) -> str:
    return "  ".join(cell.rjust(w) if n else cell.ljust(w) for cell, w, n in
                     zip(row, widths, numbers, strict=True)).rstrip()


def _cut(content: str) -> str:
    line = " ".join(content.split())
    return line if len(line) <= WIDE else "…" + line[1 - WIDE:]


def words_cell(content: object) -> Cell:
    """A cell of text."""
    return Cell(str(content))


def number_cell(value: float | None, digits: int = 4, bad: bool = False) -> Cell:
    """A number in a few digits; empty for None and NaN."""
    if value is None or value != value:
        return Cell()
    return Cell(short(value, digits), float(value), bad=bad)


def share_cell(share: float) -> Cell:
    """A share as a percentage, a warning where it is not 0."""
    if not share:
        return Cell("0", 0.0)
    return Cell("<0.1%" if share < 0.001 else f"{share:.1%}", share, bad=True)
