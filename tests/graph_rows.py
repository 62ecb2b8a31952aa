"""Comparing whole graphs with TensorFlow's: the same program is run by both, and its nodes are written as rows.

A row: (name, type, names of the inputs, names of the control inputs, colocation groups), in the order of creation.
"""
from __future__ import annotations

import re
from typing import Any

ROWS = """
result = [(op.name, op.type, [t.name for t in op.inputs], sorted(c.name for c in op.control_inputs),
           sorted(c.decode()[5:] for c in op.colocation_groups())) for op in tf.get_default_graph().get_operations()]
"""

Row = tuple[str, str, list[str], list[str], list[str]]


def rows_here(program: str, tf: Any) -> list[Row]:
    """The rows of the default graph after `program`, run by this library."""
    scope: dict[str, Any] = {"tf": tf}
    exec(program + ROWS, scope)
    found: list[Row] = scope["result"]
    return found


def rows_there(program: str, oracle: Any) -> list[Row]:
    """The rows of the default graph after `program`, run by real TensorFlow."""
    found: list[Row] = oracle(program + ROWS)
    return found


INSIDE = re.compile(r"^(.*gradients.*_grad)/(?!tuple/)[^:]*.*")


def outside(rows: list[Row]) -> list[Row]:
    """The rows that are not inside of "X_grad/": for the few gradients that are put together differently.

    Where another node takes one of these, it is called "X_grad/*".
    """
    return [(name, kind, [_short(i) for i in inputs], sorted({_short(c) for c in control}),
             sorted({_short(c) for c in groups}))
            for name, kind, inputs, control, groups in rows if _short(name) == name]


def _short(name: str) -> str:
    return INSIDE.sub(r"\1/*", name)
