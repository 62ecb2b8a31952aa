"""Place where an op was made, in the few words that tables have room for; cells in texts as links to them."""
from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Hashable
from html import escape
from urllib.parse import quote

from tfnb.graph.parts.operation import Operation
from tfnb.notebook.frontend import shell

CELL = re.compile(r"(\[\d+\])(?:,? line \d+)?")
CODE = re.compile(r"`([^`]*)`")
NAMELESS = "run "           # begins the keys of cells whose front end tells no id


def place(op: Operation) -> str:
    """The cell or file and the line: "[3] line 2", "model.py:17"."""
    return op.made_at.partition(": ")[0].removeprefix("cell ").replace("],", "]")


def source(op: Operation) -> str:
    """The text of that line; "" where it is not known."""
    return op.made_at.partition(": ")[2].strip("`")


def parsed(filename: str) -> ast.Module | None:
    """Return the code of a cell or file as Python knows it; None where it is not known, or of another language."""
    try:
        text = "".join(linecache.getlines(filename))
        return ast.parse(text) if text else None
    except (SyntaxError, ValueError, RecursionError):
        return None


def cell_link(key: Hashable) -> str:
    """The address of a cell within its page, which JupyterLab, Notebook 7 and pages of nbconvert follow.

    "" for what has no id of a front end.
    """
    return f"#cell-id={quote(key)}" if isinstance(key, str) and not key.startswith(NAMELESS) else ""


def cells_in(text: str) -> dict[str, str]:
    """Return label -> id of the cells that a text names and a front end can show: {"[3]": "a1b2"}."""
    named = {found[1] for found in CELL.finditer(text)}
    known = shell.cells if named else None
    labels = {} if known is None else dict(known.labels)
    if known is not None and known.run is not None:
        labels[known.run.key] = known.run.label         # of the running cell the last one still is there
    return {label: str(key) for key, label in labels.items() if label in named and cell_link(key)}


def linked(text: str) -> str:
    """Return a text as HTML, in which "[3] line 2" is a link to that cell, if there is one, and `code` is code."""
    cells, parts, end = cells_in(text), [], 0
    for found in CELL.finditer(text):
        if found[1] in cells:
            parts += [escape(text[end:found.start()]), f'<a href="{escape(cell_link(cells[found[1]]))}" '
                      f'title="go to the cell">{escape(found[0])}</a>']
            end = found.end()
    return CODE.sub(r"<code>\1</code>", "".join([*parts, escape(text[end:])]))
