"""The magics about cells and their ops: `%%graph`, `%stale`, `%why`, `%op` and `%collections`. Needs IPython."""
from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from tfnb.core.text import did_you_mean
from tfnb.graph.graph import Graph
from tfnb.graph.parts.operation import Operation
from tfnb.graph.stack import all_graphs, get_default_graph
from tfnb.notebook.cells.effects import is_variable
from tfnb.notebook.graph.view import GraphView, graph_view
from tfnb.notebook.magics.arguments import (
    LineMagics,
    fetchable,
    op_names,
    parse,
    run_body,
    unquote,
    usage_errors,
)
from tfnb.notebook.ownership.collection_tree import CollectionTree, collections
from tfnb.notebook.ownership.rerun import StaleCells, StaleView, run_stale
from tfnb.notebook.ownership.why import Why, why
from tfnb.opdef import registry
from tfnb.ops.declaration.raw import raw
from tfnb.runtime.session import BaseSession


@magics_class
class CellMagics(LineMagics):
    """%%graph, %stale, %why, %op and %collections."""

    @line_magic("stale")
    @magic_arguments("stale")
    @argument("what", nargs="?", choices=["run"], help="run: run them again, in order, with the text that ran last")
    def stale(self, line: str) -> StaleCells | StaleView:
        """List the cells that don't hold any more, each with the reason and with what to run.

        `%stale`, `%stale run`
        """
        args = parse(self.stale, line)
        if args.what is None:
            return StaleView()
        with usage_errors(RuntimeError):
            return run_stale()

    @line_magic("why")
    @magic_arguments("why")
    @argument("what", help="the name of an op, a tensor or a variable, or an expression without blanks, or in brackets")
    def why(self, line: str) -> Why:
        """Say where an op comes from, what its cell's last run did to it, why it is stale, and what depends on it.

        `%why loss`, `%why train_step`, `%why layer1/weights`
        """
        args = parse(self.why, line)
        with usage_errors(KeyError, TypeError):
            return why(self._asked(args.what))

    def _asked(self, word: str) -> Any:
        """A name of the user's (also of what was replaced), else of an op."""
        name = unquote(word)
        if name.isidentifier() and name in self.ip.user_ns and fetchable(self.ip.user_ns[name]):
            return self.ip.user_ns[name]
        return self._fetchable(word)

    @line_magic("op")
    @magic_arguments("op")
    @argument("what", help="a type of op, like Conv2D; or an op or tensor of the graph, by name or expression")
    def op(self, line: str) -> None:
        """Print what a type of op takes and gives: its call, dtypes and shapes, an example. Of a node, its attrs too.

        `%op MatMul`, `%op loss`
        """
        name = unquote(parse(self.op, line).what)
        if registry.find(name) is None:
            near = did_you_mean(name, sorted(registry.names()))
            if near and name not in self.ip.user_ns and not did_you_mean(name, op_names()) and name not in op_names():
                raise UsageError(f"expected a type of op, or an op of the graph, got {name!r}{near}")
            found = self._fetchable(name)
            node = getattr(found, "op", found)
            attrs = [f"{attr}={node.get_attr(attr)!r}" for attr in node.attrs if not attr.startswith("_")]
            print(f"{node.name}: {node.type}({', '.join([*(x.name for x in node.inputs), *attrs])})\n")
            name = node.type
        print(getattr(raw, name).__doc__)

    @line_magic("collections")
    @magic_arguments("collections")
    @argument("key", nargs="?", help="only this collection")
    @argument("--owner", metavar="CELL", help="only entries of the cell with this number: 3 or [3]")
    def collections(self, line: str) -> CollectionTree:
        """Show the collections of the default graph: what is in them, and which cell and line put it there.

        `%collections`, `%collections trainable_variables`, `%collections --owner 3`
        """
        args = parse(self.collections, line)
        with usage_errors(KeyError, LookupError):
            return collections(unquote(args.key) if args.key else None, args.owner)

    @cell_magic("graph")
    @magic_arguments("graph")
    @argument("name", nargs="?", help="what to call the cell: one of that name is replaced, also under another id")
    @argument("--scope", metavar="NAME", help="the name scope for the ops of the cell")
    @argument("--device", metavar="NAME", help="the device for the ops of the cell")
    @argument("--reset", action="store_true", help="forget the values of the cell's variables, in all open sessions")
    @argument("--show", action="store_true", help="draw the graph afterwards")
    @argument("--no-own", action="store_true", help="let the ops belong to nobody: a run again adds more")
    def graph_cell(self, line: str, cell: str) -> Any:
        """Run the cell with options for the ops it makes. Cells without this magic own their ops as well.

        `%%graph encoder --scope encoder --device /cpu:0 --show`
        """
        __tracebackhide__ = True
        args = parse(self.graph_cell, line)
        if args.name:
            self.hooks.name_cell(unquote(args.name))
        if args.no_own:
            self.hooks.cells.disown()
        versions = {graph: graph.version for graph in all_graphs()}
        with ExitStack() as around:
            default = get_default_graph()
            for graph in dict.fromkeys([default, *versions]):           # the cell may go on in any of them
                if args.scope:                                          # with a slash no name is used up
                    around.enter_context(graph.name_scope(unquote(args.scope) + "/" * (graph is not default)))
                if args.device:
                    around.enter_context(graph.device(unquote(args.device)))
            value = run_body(self.ip, cell)
        made = {graph: graph.made_since(versions.get(graph, 0)) for graph in all_graphs()}
        if args.reset:
            self._forget_values([op for ops in made.values() for op in ops if is_variable(op)])
        if args.show:
            return self._shown(made, unquote(args.scope) if args.scope else "")
        return value

    def _shown(self, made: dict[Graph, list[Operation]], scope: str) -> GraphView:
        """The graph in which the cell has made most, its scope open."""
        graph = max(made, key=lambda each: len(made[each])) if any(made.values()) else get_default_graph()
        if graph is get_default_graph() and any(op.name.startswith(f"{scope}/") for op in graph.get_operations()):
            return graph_view(scope)
        view = graph_view(graph)
        return view.expand(scope) if f"{scope}/" in view.model.nodes else view

    def _forget_values(self, variables: list[Operation]) -> None:
        for session in {id(s): s for s in self.ip.user_ns.values() if isinstance(s, BaseSession)}.values():
            for op in variables:
                session._store.forget(op)
