"""Containers of servers, in which variables outlive sessions: one for each notebook."""
from __future__ import annotations

from typing import Any

from tfnb.opdef import registry

# Two of these by one name must agree in dtype and shape, however old the first is.
_SHAPED = frozenset({"Variable", "VariableV2", "VarHandleOp", "ConditionalAccumulator", "SparseConditionalAccumulator"})


def put_into(container: str, made: Any) -> None:
    """Let the state of a GraphDef's nodes be in a container, where they name none.

    Variables are named there by dtype and shape as well: one of another shape, which a cell made that was run again, is
    another variable.
    """
    for node in made.node:
        spec = registry.find(node.op)
        if spec is None or all(attr.name != "container" for attr in spec.attrs) or "container" in node.attr:
            continue
        node.attr["container"].s = container.encode()
        if node.op in _SHAPED:
            dims = ",".join(str(dim.size) for dim in node.attr["shape"].shape.dim)
            name = node.attr["shared_name"].s.decode() or node.name
            node.attr["shared_name"].s = f"{name} {node.attr['dtype'].type}[{dims}]".encode()
