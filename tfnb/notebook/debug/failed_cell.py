"""Ops that a failing cell had made, up to the one whose input shapes don't fit: drawn before it is taken back."""
from __future__ import annotations

import os
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

from tfnb.core.source import PACKAGE
from tfnb.graph.graph import Graph
from tfnb.graph.parts.collection import op_of
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.notebook.graph.read import OpInfo, from_op
from tfnb.notebook.graph.view import GraphView, graph_view

DEEPEST = 8             # errors that an error came from
MOST_INPUTS = 8         # tensors that a function got
BUILDERS = tuple(os.path.join(PACKAGE, folder, "") for folder in ("graph", "ops", "autodiff", "layers"))


@dataclass(frozen=True)
class Attempt:
    """The op that could not be made, or what a function would have returned; `inputs`: of what."""

    info: OpInfo
    inputs: tuple[Tensor, ...]

    @property
    def graph(self) -> Graph:
        """The name of the scope where it would be."""
        return self.inputs[0].graph


def attempted(error: BaseException | None) -> Attempt | None:
    """Return what could not be made, if that is what `error` is about, or what it came from."""
    first = error
    for _ in range(DEEPEST):
        if error is None:
            break
        found: Operation | None = getattr(error, "attempt", None)
        if found is not None:
            return Attempt(replace(from_op(found), failed=True), tuple(found.inputs)) if found.inputs else None
        error = error.__cause__ or error.__context__
    return _called(first) if isinstance(first, (ValueError, TypeError)) else None


def _called(error: BaseException) -> Attempt | None:
    """The function of ours that the user called, if it is one that makes ops of tensors and refused these."""
    trace = error.__traceback__
    while trace is not None and not trace.tb_frame.f_code.co_filename.startswith(PACKAGE):
        trace = trace.tb_next
    if trace is None or not trace.tb_frame.f_code.co_filename.startswith(BUILDERS):
        return None
    while trace.tb_next is not None and _wraps(trace.tb_frame, trace.tb_next.tb_frame):
        trace = trace.tb_next
    frame = trace.tb_frame
    inputs = tuple(dict.fromkeys(_tensors(_arguments(frame))))[:MOST_INPUTS]
    name = str(getattr(frame.f_locals.get("cls"), "__name__", frame.f_code.co_name)) + "()"
    names = tuple(f"{t.op.name}:{t.value_index}" for t in inputs)
    return Attempt(OpInfo(name, name, names, failed=True), inputs) if inputs else None


def _wraps(frame: FrameType, inner: FrameType) -> bool:
    """Return whether a frame is that of a decorator's function around the one that it called."""
    return any(getattr(frame.f_locals.get(name), "__code__", None) is inner.f_code for name in frame.f_code.co_freevars)


def _arguments(frame: FrameType) -> list[Any]:
    code = frame.f_code
    many = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)    # *, **
    return [frame.f_locals.get(name) for name in code.co_varnames[:many]]


def _tensors(value: Any) -> Iterator[Tensor]:
    """The tensors in an argument; of a variable what it holds."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _tensors(part)
    elif (op := op_of(value)) is not None and op.outputs and not isinstance(value, Operation):
        yield op.outputs[0]


def partial_graph(failed: Attempt, owner: Hashable) -> GraphView:
    """Return what failed, what it takes, and what of this the cell made; edges say the shapes that don't fit."""
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
    name = failed.info.name
    scopes = {name.rpartition("/")[0] for name in (name, *(t.op.name for t in failed.inputs))} - {""}
    view = graph_view([*infos, failed.info], depth=1, title=f"{name!r} failed", level="ops")
    for scope in sorted(scopes):
        if f"{scope}/" in view.model.nodes:
            view.expand(scope)
    return view


def bundle(view: GraphView) -> dict[str, Any]:
    """Its forms, with no widget: the graph is gone."""
    return {"text/plain": view.to_text(), "image/svg+xml": view.svg()}
