"""The source that kernels on a GPU have for each primitive.

`math.*` becomes libdevice's functions, which exist for float32 and float64 alike. What is not there is expanded as on
the CPU; nothing is a call of a device function of ours (that would need a GPU only to compile).
"""
from __future__ import annotations

from tfnb.kernels.block import Value
from tfnb.kernels.printer import OPERATORS, constructor, has_operator
from tfnb.kernels.scalar.number_types import HALVES, kind
from tfnb.kernels.scalar.primitives import PRIMITIVES

_OPERATORS = frozenset({*OPERATORS, "convert", "where"})


def has_source(name: str, type: str) -> bool:
    """Return whether a kernel on a GPU has source for this primitive over operands of `type`."""
    if name in PRIMITIVES and PRIMITIVES[name].cuda:
        return kind(type) == "f"
    if name in _OPERATORS:
        return name in ("convert", "where") or has_operator(name, type)
    return name == "column"


def stored(type: str) -> str:
    """Return the dtype of array elements of a type: the bits of 16-bit floats, which are computed in float32."""
    return "uint16" if type in HALVES else type


def cast(text: str, have: str, want: str) -> str:
    """Return the source of a value of type `have` as `want`; a 16-bit float becomes, or is made of, a float32."""
    if have in HALVES:
        return f"from_{have}({text})"
    return f"to_{want}({text})" if want in HALVES else f"{constructor(want)}({text})"


def template(value: Value) -> str:
    """Return the source of a value, with places for its operands; "" if it is an operator."""
    if value.primitive in _OPERATORS:
        return ""
    if value.primitive == "column":
        return "int32(j)"
    function = PRIMITIVES[value.primitive].cuda
    return f"{value.type}(math.{function}({', '.join(f'{{{i}}}' for i in range(len(value.args)))}))"
