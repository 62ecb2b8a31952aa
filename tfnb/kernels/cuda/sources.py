"""The source that kernels on a GPU have for each primitive.

`math.*` becomes libdevice's functions, which exist for float32 and float64 alike. What is not there is expanded as on
the CPU; nothing is a call of a device function of ours (that would need a GPU only to compile).
"""
from __future__ import annotations

from tfnb.kernels.block import Value
from tfnb.kernels.printer import OPERATORS, has_operator
from tfnb.kernels.scalar.number_types import kind
from tfnb.kernels.scalar.primitives import PRIMITIVES

_OPERATORS = frozenset({*OPERATORS, "convert", "where"})


def has_source(name: str, type: str) -> bool:
    """Return whether a kernel on a GPU has source for this primitive over operands of `type`."""
    if name in PRIMITIVES and PRIMITIVES[name].cuda:
        return kind(type) == "f"
    if name in _OPERATORS:
        return name in ("convert", "where") or has_operator(name, type)
    return name == "column"


def template(value: Value) -> str:
    """Return the source of a value, with places for its operands; "" if it is an operator."""
    if value.primitive in _OPERATORS:
        return ""
    if value.primitive == "column":
        return "int32(j)"
    function = PRIMITIVES[value.primitive].cuda
    return f"{value.type}(math.{function}({', '.join(f'{{{i}}}' for i in range(len(value.args)))}))"
