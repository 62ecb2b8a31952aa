"""The Python names that a notebook binds to tensors, ops and variables: `loss`, `w["h1"]`, `model.logits`."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tfnb.graph.graph import Graph
from tfnb.graph.parts.collection import op_of
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.notebook.frontend import shell

HISTORY = ("In", "Out")     # IPython's own names for what cells held
MOST = 200          # entries of a container, or attributes of an object, that are looked at


def python_names(graph: Graph, namespace: Mapping[str, Any] | None = None) -> dict[str, list[str]]:
    """Return the Python names of the tensors and ops of a graph, those of variables of the notebook first.

    namespace: by default that of the running IPython. Entries of lists, tuples and dicts, and attributes of the
    user's own objects are named one level deep. Keys are names of ops, and of tensors beyond the first output
    ("split:1").
    """
    if namespace is None:
        namespace = getattr(shell.current(), "user_ns", {})
    found: dict[str, list[str]] = {}
    known = [(name, value) for name, value in namespace.items() if not name.startswith("_") and name not in HISTORY]
    inner = [pair for name, value in known for pair in _parts(name, value)]
    for name, value in [*known, *inner]:
        key = _key(value, graph)
        if key and name not in found.setdefault(key, []):
            found[key].append(name)
    return found


def name_of(tensor: Tensor | Operation, namespace: Mapping[str, Any] | None = None) -> str:
    """Return the first Python name of a tensor or op; "" if it has none."""
    names = python_names(tensor.graph, namespace).get(_key(tensor, tensor.graph))
    return names[0] if names else ""


def _key(value: Any, graph: Graph) -> str:
    op = None if isinstance(value, type) else op_of(value)
    if op is None or op.graph is not graph or op._dead:
        return ""
    return value.name if isinstance(value, Tensor) and value.value_index else op.name


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The named parts of a container or of an object of the user's classes; a large one has none."""
    if isinstance(value, (list, tuple)) and len(value) <= MOST:
        fields = getattr(value, "_fields", None)
        yield from ((f"{name}.{fields[i]}" if fields else f"{name}[{i}]", part) for i, part in enumerate(value))
    elif isinstance(value, dict) and len(value) <= MOST:
        yield from ((f"{name}[{key!r}]", part) for key, part in value.items() if isinstance(key, (str, int)))
    elif type(value).__module__ == "__main__":
        attributes = getattr(value, "__dict__", {})
        if len(attributes) <= MOST:
            yield from ((f"{name}.{key}", part) for key, part in attributes.items() if not key.startswith("_"))
