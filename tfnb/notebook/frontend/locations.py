"""Place where an op was made, in the few words and links that tables have room for."""
from __future__ import annotations

from collections.abc import Hashable
from urllib.parse import quote

from tfnb.graph.parts.operation import Operation

NAMELESS = "run "           # begins the keys of cells whose front end tells no id


def place(op: Operation) -> str:
    """The cell or file and the line: "[3] line 2", "model.py:17"."""
    return op.made_at.partition(": ")[0].removeprefix("cell ").replace("],", "]")


def source(op: Operation) -> str:
    """The text of that line; "" where it is not known."""
    return op.made_at.partition(": ")[2].strip("`")


def cell_link(key: Hashable) -> str:
    """The address of a cell within its page, which JupyterLab, Notebook 7 and pages of nbconvert follow.

    "" for what has no id of a front end.
    """
    return f"#cell-id={quote(key)}" if isinstance(key, str) and not key.startswith(NAMELESS) else ""
