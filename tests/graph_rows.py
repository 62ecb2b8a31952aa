"""Comparing whole graphs with TensorFlow's: the same program is run by both, and its nodes are written as rows.

A row: (name, type, names of the inputs, names of the control inputs, colocation groups), in the order of creation. How
the gradient of an op is put together is each library's own affair: nodes inside of "X_grad/" are left out, and where
another node takes one of them it is called "X_grad/*".
"""
from __future__ import annotations

import re
from typing import Any

ROWS = """
result = [(op.name, op.type, [t.name for t in op.inputs], [c.name for c in op.control_inputs],
           [c.decode()[5:] for c in op.colocation_groups()]) for op in tf.get_default_graph().get_operations()]
"""
INSIDE = re.compile(r"^(.*gradients.*_grad)/(?!tuple/)[^:]*.*")

Row = tuple[str, str, list[str], list[str], list[str]]


def rows_here(program: str, tf: Any) -> list[Row]:
    """The rows of the default graph after `program`, run by this library."""
    scope: dict[str, Any] = {"tf": tf}
    exec(program + ROWS, scope)
    return _outside(scope["result"])


def rows_there(program: str, oracle: Any) -> list[Row]:
    """The rows of the default graph after `program`, run by real TensorFlow."""
    return _outside(oracle(program + ROWS))


def _short(name: str) -> str:
    return INSIDE.sub(r"\1/*", name)


def _outside(rows: list[Row]) -> list[Row]:
    return [(name, kind, [_short(i) for i in inputs], sorted({_short(c) for c in control}),
             sorted({_short(c) for c in groups}))
            for name, kind, inputs, control, groups in rows if _short(name) == name]
