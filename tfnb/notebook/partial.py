"""What a failing cell had made, up to the op whose input shapes don't fit: drawn before it is taken back."""
from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

from tfnb.graph.operation import Operation
from tfnb.notebook.graph_read import OpInfo, from_op
from tfnb.notebook.graph_view import GraphView, graph_view

DEEPEST = 8             # errors that an error came from


def attempted(error: BaseException | None) -> Operation | None:
    """The op that could not be made, if that is what `error` is about, or what it came from."""
    for _ in range(DEEPEST):
        if error is None:
            break
        found: Operation | None = getattr(error, "attempt", None)
        if found is not None:
            return found
        error = error.__cause__ or error.__context__
    return None


def partial_graph(failed: Operation, owner: Hashable) -> GraphView:
    """The op that failed, what it takes, and what of this the cell made; edges say the shapes that don't fit."""
    names: dict[str, OpInfo] = {}
    todo = [t.op for t in failed.inputs]
    while todo:
        op = todo.pop()
        if op.name not in names:
            inside = op.owner == owner and op.owner is not None
            info = from_op(op)
            names[op.name] = info if inside else replace(info, inputs=(), control=())
            todo += [t.op for t in op.inputs] if inside else []
    order = {op.name: i for i, op in enumerate(failed.graph.get_operations())}
    infos = sorted(names.values(), key=lambda info: order.get(info.name, 0))
    scopes = {name.rpartition("/")[0] for name in (failed.name, *(t.op.name for t in failed.inputs))} - {""}
    view = graph_view([*infos, replace(from_op(failed), failed=True)], depth=1, title=f"{failed.name!r} failed")
    for scope in sorted(scopes):
        if f"{scope}/" in view.model.nodes:
            view.expand(scope)
    return view


def bundle(view: GraphView) -> dict[str, Any]:
    """Its forms, with no widget: the graph is gone."""
    return {"text/plain": view.to_text(), "image/svg+xml": view.svg()}
