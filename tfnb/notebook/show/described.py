"""Variables, sessions, feeds and watched values in a tree: with the values that open sessions hold now.

Nothing is run, and no session waits: the memory of variables is read as it is, also while a training goes on.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tfnb.core.text import counted
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import graph_of
from tfnb.notebook.cells.effects import is_variable
from tfnb.notebook.debug.edge_values import Values, Watched
from tfnb.notebook.frontend.fetch import open_sessions
from tfnb.notebook.graph.paint import amount_text
from tfnb.notebook.show.array_page import words_of
from tfnb.notebook.show.tree import MOST_PARTS, Part, tree_of
from tfnb.runtime.session import BaseSession
from tfnb.variables.variable import Variable

NO_VALUE = "no value yet: run its initializer, or %vars --init"


def show_tree(value: Any, name: str = "") -> Part:
    """Describe anything: arrays, containers, variables, sessions, feeds, watched values."""
    return tree_of(name, value, _describe)


def _describe(name: str, value: Any) -> Part | None:
    if isinstance(value, Variable):
        return variable_part(value, name)
    if isinstance(value, BaseSession):
        return session_part(value, name)
    if isinstance(value, Watched):
        return Part(name, value.text if value.array is None else words_of(value.array), value.array)
    if isinstance(value, Mapping) and not isinstance(value, Values) and value and all(
            isinstance(key, Tensor) for key in value):
        return feed_part(value, name)
    return None


def variable_part(variable: Variable, name: str = "") -> Part:
    """Describe a variable, and its value in each open session on its graph; that of the only one at once."""
    op = variable._variable.op
    shape = ", ".join("?" if size is None else str(size) for size in variable.shape.as_list() or ()) \
        if variable.shape.ndims is not None else "?"
    kind = f"tf.Variable '{variable.name}'  {variable.dtype.base_dtype.name}[{shape}]"
    made = getattr(op, "made_at", "").partition(": `")[0]
    words = "  ".join(filter(None, (kind, "" if variable.trainable else "not trainable", made and f"made at {made}")))
    sessions = open_sessions(graph_of(op))
    if not sessions:
        return Part(name, f"{words}  (no session is open)")
    if len(sessions) == 1:
        value = value_part("", next(iter(sessions.values())), op)
        return Part(name, words, value.array, (value,) if value.array is None or value.array.size < 2 else
                    (Part("", value.words),))
    return Part(name, words, parts=tuple(value_part(each, session, op) for each, session in sessions.items()))


def value_part(name: str, session: BaseSession, op: Operation) -> Part:
    """Describe the value of a variable in a session."""
    if session._store.lent(op) is not None:
        return Part(name, "its value is on a GPU: `sess.run` fetches it")
    array = session._store.peek(op)
    return Part(name, NO_VALUE, bad=True) if array is None else Part(name, words_of(array), array)


def session_part(session: BaseSession, name: str = "") -> Part:
    """Describe a session: its graph, whether it is open, and its variables with their values."""
    ops = session.graph.get_operations()
    found = [op for op in ops if is_variable(op)]
    arrays = [session._store.peek(op) for op in found] if not session._closed else []
    without = sum(array is None for array in arrays)
    held = amount_text("memory", sum(array.nbytes for array in arrays if array is not None))
    state = "closed" if session._closed else "open"
    words = [f"{type(session).__name__}: {state}", f"graph of {counted(len(ops), 'op')}",
             counted(len(found), "variable")]
    words += [held] if not session._closed else []
    words += [f"{without:,} without a value"] if without else []
    parts = () if session._closed else tuple(value_part(op.name, session, op) for op in found[:MOST_PARTS])
    return Part(name, " · ".join(words), parts=parts, more=len(found) - len(parts) if parts else 0, bad=bool(without))


def feed_part(feed: Mapping[Any, Any], name: str = "") -> Part:
    """Describe a feed: what goes into each tensor, and whether its shape fits there."""
    return Part(name, f"feed of {counted(len(feed), 'tensor')}", parts=tuple(_fed(feed.items())))


def _fed(pairs: Iterable[tuple[Tensor, Any]]) -> Iterable[Part]:
    for tensor, value in pairs:
        part = show_tree(value, tensor.name)
        shape = np.shape(value) if isinstance(value, (np.ndarray, np.generic, int, float, bool)) else None
        if shape is not None and not tensor.shape.is_compatible_with(shape):
            yield Part(part.name, f"{part.words}  does not fit {tensor.dtype.name}{tensor.shape}", part.array, bad=True)
        else:
            yield part
