"""The source that kernels on a CPU have for each primitive: an operator, a call by its name, or of the C library."""
from __future__ import annotations

from tfnb.kernels.block import Value
from tfnb.kernels.llvm.intrinsics import has_instructions
from tfnb.kernels.printer import OPERATORS, has_operator
from tfnb.kernels.scalar.number_types import kind
from tfnb.kernels.scalar.primitives import PRIMITIVES
from tfnb.kernels.scalar.scipy_functions import SCIPY

_OPERATORS = frozenset({*OPERATORS, "convert"}) - {"integer_divide", "integer_power"}


def of_library(name: str, type: str) -> bool:
    """Return whether a primitive over floats of a type is a call of libm's or SciPy's function or of a routine, one
    number at a time: what has neither instructions nor an expansion."""
    row = PRIMITIVES.get(name)
    return row is not None and bool(row.libm or row.scipy or row.routine) and kind(type) == "f" \
        and not row.instruction(type) and row.definition(type) is None


def has_source(name: str, type: str) -> bool:
    """Return whether a kernel on the CPU has source for this primitive over operands of `type`."""
    if of_library(name, type):
        return True
    if name in _OPERATORS:
        return name == "convert" or has_operator(name, type)
    return name == "column" or name not in SCIPY and has_instructions(name, type)


def template(value: Value) -> str:
    """Return the source of a value, with places for its operands; "" if it is an operator."""
    if value.primitive in _OPERATORS:
        return ""
    places = ", ".join(f"{{{i}}}" for i in range(len(value.args)))
    return f"{'math.' * of_library(value.primitive, value.type)}{value.primitive}({places})"
