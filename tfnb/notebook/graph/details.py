"""Text of the panel beside a drawing for one node, and the drawing as an indented outline."""
from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tfnb.core.source import innermost
from tfnb.core.text import counted, cut
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.locations import cells_in
from tfnb.notebook.graph.model import Model
from tfnb.notebook.graph.read import OpInfo, op_of, shape_label
from tfnb.notebook.graph.tree import Node
from tfnb.opdef import registry

MOST_LINKS = 12         # inputs and outputs listed
LINES = 2               # of the source before and after the one that made an op
MOST_TEXT = 160         # letters of an attr
Details = dict[str, Any]


def details(model: Model, node: Node) -> Details:
    """The panel's content for a node: plain JSON values."""
    inside = {info.name for info in node.ops()}
    reads, feeds = _links(model, inside)
    bound = [name for info in node.ops() for name in model.names.get(info.name, ())]
    found: Details = {"name": node.name, "key": node.key, "names": bound[:MOST_LINKS], "form": node.form,
                      "role": node.role, "count": node.count,
                      "expandable": node.expandable, "inputs": reads[:MOST_LINKS], "outputs": feeds[:MOST_LINKS],
                      "more": [max(0, len(reads) - MOST_LINKS), max(0, len(feeds) - MOST_LINKS)]}
    if node.info is not None and node.form in ("op", "variable"):
        found |= _of_op(node.info)
        found["values"] = [{"name": f"{name}, {ago} before" if ago else name, "tensor": name, **seen.as_json()}
                           for i in range(len(node.info.shapes)) if (name := f"{node.info.name}:{i}") in model.values
                           for ago, seen in enumerate((model.values[name], *model.values[name].before))]
    else:
        types = Counter(info.type for info in node.ops())
        found["types"] = [[kind, many] for kind, many in sorted(types.items(), key=lambda item: (-item[1], item[0]))]
        found["where"] = _where(next(node.ops(), None))
        found["cells"] = cells_in(found["where"])
    return found


def _of_op(info: OpInfo) -> Details:
    spec = registry.find(info.type)
    doc = spec.doc.strip().split("\n\n")[0].replace("\n", " ") if spec is not None else ""
    outputs = [{"shape": shape, "dtype": info.dtypes[i] if i < len(info.dtypes) else ""}
               for i, shape in enumerate(info.shapes)]
    attrs = [[key, attr_text(value)] for key, value in sorted(info.attrs.items()) if not key.startswith("_")]
    attrs = [pair for pair in attrs if pair[1] not in ("", "[]")]
    return {"type": info.type, "doc": doc, "tensors": outputs, "attrs": attrs, "where": _where(info),
            "cells": cells_in(_where(info)), "source": _source(info), "change": _change(info),
            "device": str(getattr(info.origin, "device", "") or "")}


def _where(info: OpInfo | None) -> str:
    """The cell or file and the line that made an op; "" where nobody knows."""
    return str(getattr(info.origin, "made_at", "")) if info is not None else ""


def _change(info: OpInfo) -> str:
    """Return what the last run of its cell did to the node, if that ran before."""
    found = shell.last_run(info.origin) if hasattr(info.origin, "owner") else None
    return ": ".join(part for part in found if part) if found is not None else ""


def _source(info: OpInfo) -> list[list[Any]]:
    """[line number, text, 1 for that line] of the lines around the one that made an op."""
    frame = innermost(getattr(info.origin, "frames", ()) or ())
    if frame is None:
        return []
    code, line = frame
    near = [(n, linecache.getline(code.co_filename, n)) for n in range(max(1, line - LINES), line + LINES + 1)]
    return [[n, text.rstrip()[:MOST_TEXT], int(n == line)] for n, text in near if text]


def _links(model: Model, inside: set[str]) -> tuple[list[Details], list[Details]]:
    """Tensors (and control edges) that come into a set of ops and that leave it."""
    reads: dict[str, Details] = {}
    feeds: dict[str, Details] = {}
    for info in model.infos:
        here = info.name in inside
        for tensor in info.inputs:
            source = op_of(tensor)
            if here and source not in inside:
                reads.setdefault(tensor, _link(model, tensor, source))
            elif not here and source in inside:
                feeds.setdefault(info.name, _link(model, tensor, info.name))
        for source in info.control:
            if here and source not in inside:
                reads.setdefault(f"^{source}", {"name": source, "label": "runs before", "control": True})
            elif not here and source in inside:
                feeds.setdefault(f"^{info.name}", {"name": info.name, "label": "runs after", "control": True})
    return list(reads.values()), list(feeds.values())


def _link(model: Model, tensor: str, shown: str) -> Details:
    info = model.by_name.get(op_of(tensor))
    index = int(tensor.rpartition(":")[2])
    shape = info.shapes[index] if info is not None and index < len(info.shapes) else ""
    return {"name": shown, "label": shape, "control": False}


def attr_text(value: Any) -> str:
    """An attr in one short line: dtypes by name, shapes as 3×?, arrays by what is in them."""
    if isinstance(value, bytes):
        text = value.decode("utf-8", "replace")
    elif isinstance(value, np.ndarray):
        text = f"{value.dtype} {shape_label(value.shape)}: " + np.array2string(value, precision=4, threshold=12)
    elif isinstance(value, tuple) and all(size is None or isinstance(size, int) for size in value):
        text = shape_label(value)
    elif isinstance(value, (list, tuple)):
        text = f"[{', '.join(map(attr_text, value))}]"
    else:
        text = str(getattr(value, "name", value))
    return cut(" ".join(text.split()), MOST_TEXT)


def search(model: Model, text: str, most: int = 12) -> list[Details]:
    """Nodes whose name, or Python name, has `text` in it (any case): those called so first, then the shortest names.
    """
    wanted = text.strip().lower()
    if not wanted:
        return []
    bound = {key: [name for name in model.names.get(node.info.name, ()) if wanted in name.lower()]
             for key, node in model.nodes.items() if node.info is not None and node.form in ("op", "variable")}
    hits = [node for key, node in model.nodes.items() if key and (
        bound.get(key) or wanted in node.name.lower() and getattr(node.parent, "name", "") != node.name)]

    def order(node: Node) -> tuple[Any, ...]:
        words = [node.label.lower(), *map(str.lower, bound.get(node.key, ()))]
        return wanted not in words, not any(wanted in word for word in words), len(node.name), node.name

    return [{"name": node.name, "key": node.key, "role": node.role, "what": ", ".join(
        [node.info.type if node.info is not None else f"{node.count} ops", *bound.get(node.key, ())])}
        for node in sorted(hits, key=order)[:most]]


def outline(model: Model, expanded: Iterable[str], limit: int = 200) -> str:
    """The drawing as text, for terminals and screen readers: one line a node, what it feeds after the arrow.

    Where the value of an op's first output was seen, it stands there instead of dtypes and shapes.
    """
    scene = model.scene(expanded, limit=limit)
    depth = {group.key: group for group in scene.groups}
    feeds: dict[str, list[str]] = {}
    names = {node.key: node.name for node in scene.nodes}
    bound = {node.key: node.bound for node in scene.nodes}
    for edge in scene.edges:
        feeds.setdefault(edge.source, []).append(names[edge.target])
    variables = sum(1 for node in model.nodes.values() if node.form == "variable")
    lines = [f"graph: {counted(scene.ops, 'op')}" + (f", {counted(variables, 'variable')}" if variables else "")]

    def walk(node: Node, level: int) -> Iterator[str]:
        for child in node.children.values():
            value = model.values.get(f"{child.key.removesuffix('/')}:0")
            yield "  " * level + _line(child, feeds.get(child.key, ()), value.text if value is not None else "",
                                       bound.get(child.key, ""))
            if child.key in depth:
                yield from walk(child, level + 1)

    lines += list(walk(model.root, 1))
    left = len(lines) - limit - 1
    return "\n".join(lines[:limit + 1] + ([f"  … {left} more lines"] if left > 0 else []))


def _line(node: Node, feeds: Iterable[str], value: str, bound: str) -> str:
    if node.info is not None and node.form in ("op", "variable"):
        tensors = value or " ".join(f"{dtype}[{shape}]" for dtype, shape in
                           zip(node.info.dtypes or ("",) * len(node.info.shapes), node.info.shapes, strict=False))
        tensors = f"of {', '.join(node.info.parameters)}" if node.info.parameters else tensors
        what = f"{node.label}  {node.info.type}" + (f"  {tensors}" if tensors else "")
    else:
        what = f"{node.label}/  {counted(node.count, 'op')}"
    what = f"{bound} = {what}" if bound else what
    arrow = ", ".join(feeds)
    return f"{what}  → {arrow}" if arrow else what
