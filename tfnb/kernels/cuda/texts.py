"""What a GPU has its own text for, of the words of scalar definitions.

`math.*` becomes libdevice's functions, which exist for float32 and float64 alike. What is not here is expanded as on
the CPU; nothing is a call of a device function of ours (that would need a GPU only to compile).
"""
from __future__ import annotations

from tfnb.kernels.block import Value
from tfnb.kernels.printer import INFIX, has_plain_text
from tfnb.kernels.words import kind

MATH = frozenset("exp expm1 log log1p sqrt tanh sin cos tan asin acos atan sinh cosh asinh acosh atanh erf erfc lgamma "
                 "floor ceil atan2 pow fmod exp_nonpositive".split())
_OPERATORS = frozenset({*INFIX, "neg", "invert", "abs", "convert", "where"})


def has_text(word: str, type: str) -> bool:
    """Does a kernel on a GPU have text for this word, over operands of this type?"""
    if word in MATH:
        return kind(type) == "f"
    return has_plain_text(word, type) if word in _OPERATORS else word == "column"


def template(value: Value) -> str:
    """The text of a value, with places for its operands; "" if it is an operator."""
    if value.word in _OPERATORS:
        return ""
    if value.word == "column":
        return "int32(j)"
    name = value.word.removesuffix("_nonpositive")
    return f"{value.type}(math.{name}({', '.join(f'{{{i}}}' for i in range(len(value.args)))}))"
