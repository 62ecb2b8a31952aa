"""Statements of cells behind the nodes of a drawing: what a cursor lights up, and where a click leads.

For the JupyterLab extension (`extension/lab`); cells are named by the ids of the front end, so that they may move.
"""
from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterable
from typing import Any

from tfnb.core.source import frames_of, label
from tfnb.graph.parts.operation import Operation
from tfnb.notebook.drawing.scene import Scene
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.locations import cell_link, parsed
from tfnb.notebook.graph.model import Model
from tfnb.notebook.graph.read import OpInfo

MOST_TEXT = 200         # letters of a line, by which the front end finds it again after an edit
Statement = tuple[str, int, int, str]           # id of the cell, first and last line, text of the first


def code_lines(model: Model, scene: Scene) -> dict[str, Any]:
    """Return {"cells": {id: [[first line, last line, text of the first, keys of visible nodes]]}, "nodes": {key:
    [[id, index in that list]]}}: the statements that made ops, and for each node those of its first op.

    An op belongs to each statement of a cell on its stack: the line that made it, then the call of that function.
    """
    keys = {cell: key for key, cell in (shell.cells.labels.items() if shell.cells is not None else ())}
    cells: dict[str, dict[Statement, list[str]]] = {}
    nodes: dict[str, tuple[Statement, ...]] = {}
    known: dict[tuple[Any, ...], tuple[Statement, ...]] = {}
    for shown in (*scene.nodes, *scene.groups):
        node = model.nodes.get(shown.key)
        stacks = list(dict.fromkeys(_stacks(node.ops() if node is not None else (), keys, known)))
        nodes[shown.key] = next(filter(None, stacks), ())
        for place in dict.fromkeys(place for stack in stacks for place in stack):
            cells.setdefault(place[0], {}).setdefault(place, []).append(shown.key)
    index = {place: i for found in cells.values() for i, place in enumerate(found)}
    return {"cells": {cell: [[*place[1:], those] for place, those in found.items()] for cell, found in cells.items()},
            "nodes": {key: [[place[0], index[place]] for place in stack] for key, stack in nodes.items() if stack}}


def _stacks(infos: Iterable[OpInfo], keys: dict[str, Any],
            known: dict[tuple[Any, ...], tuple[Statement, ...]]) -> Iterable[tuple[Statement, ...]]:
    """The statements on the stack of each op, innermost first; `known` keeps them by stack."""
    for info in infos:
        op = info.origin
        if isinstance(op, Operation):
            key = (op.owner, tuple(map(id, op._recorded[::2])), op._recorded[1::2])     # code hashes its constants
            if key not in known:
                known[key] = tuple(dict.fromkeys(_statements(op, keys)))
            yield known[key]


def _statements(op: Operation, keys: dict[str, Any]) -> Iterable[Statement]:
    frames = frames_of(op._recorded)
    for code, line in frames:
        owner = op.owner if code is frames[-1][0] else keys.get((label(code) or "").removeprefix("cell "))
        if label(code) and cell_link(owner):
            first, last = _statement(code.co_filename, line)
            yield str(owner), first, last, linecache.getline(code.co_filename, first).strip()[:MOST_TEXT]


def _statement(filename: str, line: int) -> tuple[int, int]:
    """First and last line of the statement around a line of a cell, without the body of a compound one."""
    return next(((first, last) for first, last in _spans(filename) if first <= line <= last), (line, line))


@functools.lru_cache(maxsize=64)
def _spans(filename: str) -> list[tuple[int, int]]:
    """Simple statements and heads of compound ones. A cell's file name carries a hash of its text."""
    tree = parsed(filename)
    found = [node for node in (ast.walk(tree) if tree else ()) if isinstance(node, ast.stmt)]
    return sorted((node.lineno, _end(node)) for node in found)


def _end(node: ast.stmt) -> int:
    body: list[ast.stmt] = getattr(node, "body", [])
    return max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
