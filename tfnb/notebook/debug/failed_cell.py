"""A failed call as a drawing: one box below the tensors that it got, marked where they don't fit.

It is made before the ops of the cell are taken back."""
from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace

from tfnb.graph.closure import closure
from tfnb.graph.parts.operation import Operation
from tfnb.notebook.debug.failed_call import Argument, FailedCall
from tfnb.notebook.frontend.shell import Bundle
from tfnb.notebook.frontend.widget import with_widget
from tfnb.notebook.graph.read import OpInfo, from_op
from tfnb.notebook.graph.view import GraphView, graph_view

FEW = 4                 # nodes of a scope that is drawn open


def partial_graph(failed: FailedCall, owner: Hashable) -> GraphView:
    """Return what failed, what it takes, and what of this the cell made; lines say parameters and shapes."""
    def taken(op: Operation) -> Iterable[Operation]:
        return [t.op for t in op.inputs] if op.owner == owner and op.owner is not None else ()

    ops = closure([tensor.op for tensor in failed.tensors], taken)
    order = {op: i for i, op in enumerate(failed.tensors[0].graph.get_operations())}
    names = {argument.tensor.op: argument.text for argument in failed.arguments if argument.tensor is not None}
    read = [(op, from_op(op)) for op in sorted(ops, key=lambda op: order.get(op, 0))]
    infos = [replace(info, names=(names[op],) if names.get(op) else (), inputs=info.inputs if taken(op) else (),
                     control=info.control if taken(op) else ()) for op, info in read]
    arrays = [OpInfo(_array(argument), "array", shapes=(argument.shape,))
              for argument in failed.arguments if argument.tensor is None and argument.shape]
    view = graph_view([*infos, *arrays, _as_op(failed)], depth=1, title=f"{failed.function} failed", level="ops")
    for scope in sorted({op.name.rpartition("/")[0] for op in names} - {""}):
        if len(getattr(view.model.nodes.get(f"{scope}/"), "children", ())) in range(1, FEW + 1):
            view.expand(scope)
    return view


def _as_op(failed: FailedCall) -> OpInfo:
    """The call as a node: its name, its plain arguments, and those that lines lead to."""
    plain = [_plain(argument) for argument in failed.arguments if argument.tensor is None and not argument.shape]
    wired = [argument for argument in failed.arguments if argument.tensor is not None or argument.shape]
    inputs = tuple(f"{a.tensor.op.name}:{a.tensor.value_index}" if a.tensor is not None else f"{_array(a)}:0"
                   for a in wired)
    name = failed.function.rpartition(".")[2] if failed.function.endswith("()") else failed.function
    return OpInfo(_unscoped(name), ", ".join(plain) or failed.function.removesuffix("()"), inputs, failed=True,
                  parameters=tuple(f"{a.parameter} {a.shape}{'' if a.fits else ' ✗'}".strip() for a in wired))


def _array(argument: Argument) -> str:
    return _unscoped(argument.text or argument.parameter)


def _unscoped(name: str) -> str:
    """A name whose slashes make no scopes."""
    return name.replace("/", "∕")


def _plain(argument: Argument) -> str:
    return f"{argument.parameter}={argument.text}{'' if argument.fits else ' ✗'}".lstrip("=")


def bundle(view: GraphView) -> Bundle:
    """Its forms, with no widget: the graph is gone."""
    return with_widget(view.forms(), None, view.script)
