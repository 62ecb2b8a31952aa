"""The Python names that a notebook binds to tensors, ops and variables."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfnb.graph.graph import Graph
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.python_names import key_of, names_in
from tfnb.graph.stack import graph_of
from tfnb.notebook.frontend import shell


def python_names(graph: Graph, namespace: Mapping[str, Any] | None = None) -> dict[str, list[str]]:
    """Return the Python names of the tensors and ops of a graph (graph/parts/python_names.py: `names_in`).

    namespace: by default that of the running IPython.
    """
    return names_in(getattr(shell.current(), "user_ns", {}) if namespace is None else namespace, graph)


def name_of(tensor: Tensor | Operation, namespace: Mapping[str, Any] | None = None) -> str:
    """Return the first Python name of a tensor or op; "" if it has none."""
    names = python_names(graph_of(tensor), namespace).get(key_of(tensor, tensor.graph))
    return names[0] if names else ""
