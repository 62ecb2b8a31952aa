"""First values for variables that have none, where others are trained already: after a cell made some anew."""
from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Any

from tfnb.core.errors import FailedPreconditionError
from tfnb.graph.graph import Graph
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation
from tfnb.graph.stack import get_default_graph
from tfnb.notebook.frontend.fetch import find_session
from tfnb.runtime.session import BaseSession, live_sessions


def initialize(session: BaseSession | None = None, among: Collection[Operation] | None = None) -> list[str]:
    """Run the initializers of the variables that have no value in the session; all others keep theirs.

    session: by default the default session, else the one open session on the graph among the notebook's variables;
    among: only variables that these ops make. Returns the names of those variables, in the order in which they got a
    value. Raises NoSessionError if it is not clear which session, and what an initializer raises.
    """
    found = session if session is not None else find_session(get_default_graph())
    todo = without_value(found, among)
    done: list[str] = []
    while todo:
        waiting: list[Any] = []
        problem: FailedPreconditionError | None = None
        for variable in todo:
            try:
                found.run(variable.initializer)
                done.append(variable.op.name)
            except FailedPreconditionError as error:        # its first value is made of that of another one
                waiting.append(variable)
                problem = error
        if len(waiting) == len(todo) and problem is not None:
            raise problem
        todo = waiting
    return done


def variables_of(graph: Graph) -> list[Any]:
    """Return the global and local variables of a graph."""
    keys = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)
    return [*dict.fromkeys(each for key in keys for each in graph.get_collection(key))]


def without_value(session: BaseSession, among: Collection[Operation] | None = None) -> list[Any]:
    """Return the variables of a session's graph that are not initialized in it; among: only those of these ops."""
    return [each for each in variables_of(session.graph)
            if (among is None or each.op in among) and session._store.peek(each.op) is None]


def initialize_new(graph: Graph, owners: Collection[Hashable]) -> list[str]:
    """Initialize the variables of these cells in the open sessions in which others have values. Returns their names."""
    made = {op for op in graph.get_operations() if op.owner in owners}
    done: dict[str, None] = {}
    for session in live_sessions(graph):
        if session._store.arrays() and without_value(session, made):
            done |= dict.fromkeys(initialize(session, made))
    return list(done)
