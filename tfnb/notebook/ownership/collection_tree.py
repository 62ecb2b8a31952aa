"""`%collections`: the collections of a graph, each entry with the cell and line that made it."""
from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from tfnb.core.text import counted, did_you_mean
from tfnb.graph.graph import Graph
from tfnb.graph.parts.collection import op_of
from tfnb.graph.stack import get_default_graph
from tfnb.notebook.cells.compare import form
from tfnb.notebook.drawing.geometry import shorten
from tfnb.notebook.frontend.locations import linked, place, source
from tfnb.notebook.ownership.hooks import active

OPEN = 12               # entries of a collection that is shown open
MOST = 200              # entries shown of one
CSS = "font: 13px system-ui, sans-serif"
WIDE = 60               # letters of a line of code


@dataclass(frozen=True, slots=True)
class Item:
    """An entry: its name, what it is ("VariableV2 float32[784, 10]"), the label of its cell, where it was made
    ("[3] line 2") and the text of that line.
    """

    name: str
    what: str
    cell: str
    where: str = ""
    source: str = ""

    def text(self) -> str:
        """One line."""
        return "  ".join(filter(None, [self.name, self.what, self.cell]))


@dataclass(frozen=True, slots=True)
class CollectionTree:
    """Collections by key, with their entries; `title` says of what."""

    title: str
    lists: tuple[tuple[str, tuple[Item, ...]], ...]

    def __repr__(self) -> str:
        lines = [self.title]
        for key, items in self.lists:
            lines.append(f"  {key}  {len(items)}")
            lines += [f"    {item.text()}" for item in items[:MOST]]
            lines += [f"    … {len(items) - MOST} more"] if len(items) > MOST else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = f"<div style='font-weight:600;margin-bottom:4px'>{escape(self.title)}</div>"
        return f'<div style="{CSS}">{head}{"".join(_list_html(key, items) for key, items in self.lists)}</div>'


def _list_html(key: str, items: tuple[Item, ...]) -> str:
    rows = "".join(_row_html(item) for item in items[:MOST])
    more = f"<tr><td colspan='4'>… {len(items) - MOST} more</td></tr>" if len(items) > MOST else ""
    opened = " open" if len(items) <= OPEN else ""
    return (f"<details{opened} style='margin:2px 0'><summary style='cursor:pointer'><code>{escape(key)}</code> "
            f"<span style='opacity:.7'>{len(items)}</span></summary>"
            f"<table style='margin:2px 0 6px 16px'>{rows}{more}</table></details>")


def _row_html(item: Item) -> str:
    code = escape(shorten(item.source, WIDE))
    cells = (f"<b>{escape(item.name)}</b>", escape(item.what),
             linked(item.where or item.cell),
             f'<code style="white-space:nowrap" title="{escape(item.source)}">{code}</code>' if code else "")
    style = "text-align:left;padding:1px 10px 1px 0;white-space:nowrap"
    return "<tr>" + "".join(f"<td style='{style}'>{cell}</td>" for cell in cells) + "</tr>"


def collections(key: str | None = None, owner: str | None = None, graph: Graph | None = None) -> CollectionTree:
    """The collections of a graph (the default one): what is in them, and which cell put it there.

    key: only this collection; owner: only entries of the cell with this label ("[3]" or "3"). Raises KeyError for a
    key that is not there, and LookupError for a cell that owns no entry, with the nearest name or what there is.
    """
    graph = graph or get_default_graph()
    lists = {name: values for name, values in graph._collections.lists.items() if values and isinstance(name, str)}
    if key is not None and key not in lists:
        raise KeyError(f"there is no collection {key!r}"
                       + (did_you_mean(key, lists) or f", but {', '.join(lists) or 'none'}"))
    hooks = active()
    labels = hooks.cells.labels if hooks else {}
    items = {name: [_item(graph, name, value, labels) for value in values] for name, values in lists.items()}
    wanted = None if owner is None else f"[{owner.strip('[]')}]"
    owners = {item.cell for each in items.values() for item in each} - {""}
    if wanted is not None and wanted not in owners:
        raise LookupError(f"no cell {wanted} put anything there; there are {' '.join(sorted(owners)) or 'none'}")
    chosen = {name: tuple(item for item in each if wanted in (None, item.cell)) for name, each in items.items()
              if key in (None, name)}
    found = sorted((name, each) for name, each in chosen.items() if each)
    return CollectionTree(counted(len(found), "collection")
                          + (f" with entries of {wanted}" if wanted else ""), tuple(found))


def _item(graph: Graph, key: str, value: Any, labels: Mapping[Hashable, str]) -> Item:
    op = op_of(value)
    owner = graph._collections.owner_of(key, value) if op is None else op.owner
    cell = labels.get(owner, "")
    if op is None:
        return Item(shorten(repr(value), 80), type(value).__name__, cell)
    what = f"{op.type} {form(op.outputs[0])}" if op.outputs else op.type
    return Item(str(getattr(value, "name", op.name)).removesuffix(":0"), what, cell, place(op), source(op))
